/* Texts, music and videos, made by formula. */
#include "media.h"

#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- texts ---- */

static void write_text(const char *path, const char *text, size_t size, bool html)
{
    FILE *out = demo_open(path, "wb");
    fputs(html ? "<html><body><pre>" : "", out);
    for (size_t i = 0; i < size; i++)
        if (html && text[i] == '<')
            fputs("&lt;", out);
        else
            fputc(text[i], out);
    fputs(html ? "</pre></body></html>" : "", out);
    if (fclose(out) != 0)
        demo_fail(path);
}

void make_texts(const char *path)
{
    static char text[1 << 20];
    FILE *in = demo_open(path, "rb");
    size_t size = fread(text, 1, sizeof text, in);
    (void)fclose(in);
    mkdir("texts", 0777);
    write_text("texts/apache.txt", text, size, false);
    write_text("texts/apache.html", text, size, true);
    write_text("texts/apache-cut.txt", text, size * 17 / 20, false);
}

/* ---- music ---- */

enum { RATE = 11025 };

/* Mono, at RATE. */
struct sound {
    double *samples; /* NULL: no memory */
    size_t count;
};

static uint32_t draw_lot(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* A made tune: three voices with overtones that decay. */
static struct sound make_tune(size_t seconds, uint32_t seed)
{
    struct sound tune = {calloc(seconds * RATE, sizeof(double)), seconds * RATE};
    uint32_t state = seed * 2654435761u + 1;
    size_t beat = RATE / 5 + draw_lot(&state, RATE / 5);
    double lowest = 90 + draw_lot(&state, 60);
    for (size_t start = 0; tune.samples && start < tune.count; start += beat)
        for (int voice = 0; voice < 3; voice++) {
            double pitch = lowest * 2 * pow(2, draw_lot(&state, 36) / 12.0);
            for (int overtone = 1; overtone < 4; overtone++)
                for (size_t i = 0; i < RATE / 3 && start + i < tune.count; i++) {
                    double seconds_in = (double)i / RATE;
                    tune.samples[start + i] += sin(2 * M_PI * pitch * overtone * seconds_in) *
                                               exp(-6 * seconds_in) / overtone;
                }
        }
    return tune;
}

static void add_noise(struct sound *sound, double loudness)
{
    uint32_t state = 5;
    for (size_t i = 0; i < sound->count; i++)
        sound->samples[i] += loudness * (draw_lot(&state, 20001) / 10000.0 - 1);
}

static void write_number(FILE *out, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc((int)(value >> 8 * i & 0xff), out);
}

/* Parts of tunes, one after the other. */
static FILE *begin_wave(const char *path, size_t seconds)
{
    uint32_t bytes = (uint32_t)seconds * RATE * 2;
    FILE *out = demo_open(path, "wb");
    fputs("RIFF", out);
    write_number(out, 36 + bytes, 4);
    fputs("WAVEfmt ", out);
    write_number(out, 16, 4);
    write_number(out, 1 | 1 << 16, 4); /* PCM, mono */
    write_number(out, RATE, 4);
    write_number(out, RATE * 2, 4);
    write_number(out, 2 | 16 << 16, 4); /* bytes a sample, bits */
    fputs("data", out);
    write_number(out, bytes, 4);
    return out;
}

static void write_part(FILE *out, const struct sound *sound, size_t from_seconds, size_t seconds)
{
    for (size_t i = from_seconds * RATE; i < (from_seconds + seconds) * RATE; i++) {
        double sample = fmax(-1, fmin(1, sound->samples[i] / 6));
        write_number(out, (uint32_t)(int32_t)(sample * 32000), 2);
    }
}

static void write_wave(const char *path, const struct sound *sound, size_t from_seconds,
                       size_t seconds)
{
    FILE *out = begin_wave(path, seconds);
    write_part(out, sound, from_seconds, seconds);
    if (fclose(out) != 0)
        demo_fail(path);
}

void make_music(void)
{
    struct sound tunes[] = {make_tune(20, 1), make_tune(20, 2), make_tune(20, 3), make_tune(6, 7),
                            make_tune(12, 8)};
    for (size_t i = 0; i < sizeof tunes / sizeof *tunes; i++)
        if (!tunes[i].samples)
            demo_fail("music");
    mkdir("music", 0777);
    write_wave("music/tune-0.wav", &tunes[0], 0, 20);
    write_wave("music/tune-1.wav", &tunes[1], 0, 20);
    write_wave("music/tune-2.wav", &tunes[2], 0, 20);
    write_wave("music/tune-1-part.wav", &tunes[1], 5, 10);
    FILE *mix = begin_wave("broadcast.wav", 33);
    write_part(mix, &tunes[3], 0, 6);
    write_part(mix, &tunes[0], 2, 15);
    write_part(mix, &tunes[4], 0, 12);
    if (fclose(mix) != 0)
        demo_fail("broadcast.wav");
    add_noise(&tunes[2], 1);
    write_wave("heard.wav", &tunes[2], 8, 5);
    for (size_t i = 0; i < sizeof tunes / sizeof *tunes; i++)
        free(tunes[i].samples);
}

/* ---- videos ---- */

enum { FRAME_RATE = 10, SCENE_FRAMES = 20, PICTURE_WIDTH = 640, PICTURE_HEIGHT = 480 };

/* A window that moves over a picture. */
static struct image draw_frame(const struct image *picture, unsigned at, uint32_t width)
{
    struct image window = edit_crop(picture, 6 * at, 4 * at, PICTURE_WIDTH - 6 * SCENE_FRAMES,
                                    PICTURE_HEIGHT - 4 * SCENE_FRAMES);
    struct image frame = edit_shrink(&window, width, width * 3 / 4);
    image_free(&window);
    return frame;
}

/* A JPEG after the other, each a chunk "00dc". @return bytes of all */
static uint32_t write_frames(FILE *out, unsigned first, unsigned count, uint32_t width, int quality)
{
    long begun = ftell(out);
    struct image picture = {0};
    for (unsigned i = first; i < first + count; i++) {
        unsigned scene = i / SCENE_FRAMES, at = i % SCENE_FRAMES;
        if (at == 0 || !picture.pixels) {
            image_free(&picture);
            picture =
                draw_image(scene * 5 % DRAW_SUBJECTS, 20 + scene, PICTURE_WIDTH, PICTURE_HEIGHT);
        }
        if (!picture.pixels)
            demo_fail("a picture");
        struct image frame = draw_frame(&picture, at, width);
        char *bytes = NULL;
        size_t size = 0;
        FILE *jpeg = open_memstream(&bytes, &size);
        if (!jpeg || !frame.pixels || !write_jpeg_to(jpeg, &frame, quality) || fclose(jpeg) != 0)
            demo_fail("a frame");
        fputs("00dc", out);
        write_number(out, (uint32_t)size, 4);
        fwrite(bytes, 1, size, out);
        if (size & 1)
            fputc(0, out);
        free(bytes);
        image_free(&frame);
    }
    image_free(&picture);
    return (uint32_t)(ftell(out) - begun);
}

/* The heads of an AVI of Motion JPEG: of the file, of its stream, and of a frame. */
static void write_avi_heads(FILE *out, unsigned frames, uint32_t width, uint32_t bytes)
{
    const uint32_t height = width * 3 / 4;
    const uint32_t file[] = {
        1000000 / FRAME_RATE, 0, 0, 0, frames, 0, 1, 0, width, height, 0, 0, 0, 0};
    const uint32_t stream[] = {0,      0, 0,          1, FRAME_RATE, 0,
                               frames, 0, UINT32_MAX, 0, 0,          width | height << 16};
    const uint32_t frame[] = {40, width, height, 1 | 24 << 16, 0x47504a4d, width * height * 3, 0,
                              0,  0,     0};
    fputs("RIFF", out);
    write_number(out, 4 + 8 + 192 + 12 + bytes, 4);
    fputs("AVI LIST", out);
    write_number(out, 192, 4);
    fputs("hdrlavih", out);
    write_number(out, sizeof file, 4);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        write_number(out, file[i], 4);
    fputs("LIST", out);
    write_number(out, 116, 4);
    fputs("strlstrh", out);
    write_number(out, 56, 4);
    fputs("vidsMJPG", out);
    for (size_t i = 0; i < sizeof stream / sizeof *stream; i++)
        write_number(out, stream[i], 4);
    fputs("strf", out);
    write_number(out, sizeof frame, 4);
    for (size_t i = 0; i < sizeof frame / sizeof *frame; i++)
        write_number(out, frame[i], 4);
    fputs("LIST", out);
    write_number(out, 4 + bytes, 4);
    fputs("movi", out);
}

static void write_video(const char *path, unsigned first, unsigned count, uint32_t width,
                        int quality)
{
    FILE *out = demo_open(path, "wb");
    write_avi_heads(out, count, width, 0);
    uint32_t bytes = write_frames(out, first, count, width, quality);
    rewind(out);
    write_avi_heads(out, count, width, bytes);
    if (fclose(out) != 0)
        demo_fail(path);
}

void make_videos(void)
{
    write_video("diver.avi", 0, 120, 320, 85);
    write_video("trailer.avi", 20, 60, 240, 50);
}
