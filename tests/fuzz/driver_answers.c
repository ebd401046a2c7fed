/* The target of workers' answers without libFuzzer: good ones of each kind, which are the seeds,
 * and changes to them. With a number, so many of each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/audio.h>
#include <doppel/image.h>
#include <doppel/text.h>
#include <doppel/video.h>

#include "answers.h"
#include "inputs.h"
#include "worker/listening.h"
#include "worker/protocol.h"

enum { MUTATIONS = 1500, MOST_SEEDS = 24, SIDE = 96, WORDS = 300 };

static struct {
    uint8_t *bytes; /* the way, then the frame */
    size_t size;
} seeds[MOST_SEEDS];
static size_t seed_count;

static struct inputs inputs;

static uint32_t next_random(void)
{
    return inputs_random(&inputs);
}

static void expect(bool good)
{
    if (!good)
        abort();
}

/* ---- good ones ---- */

static uint8_t *add_seed(enum answer_way way, size_t frame_size)
{
    expect(seed_count < MOST_SEEDS && frame_size);
    uint8_t *bytes = malloc(1 + frame_size);
    expect(bytes);
    bytes[0] = (uint8_t)way;
    seeds[seed_count].bytes = bytes;
    seeds[seed_count++].size = 1 + frame_size;
    return bytes + 1;
}

/* @param outcome taken */
static void add_outcome(enum answer_way way, struct doppel_outcome *outcome)
{
    const struct doppel_order order = answer_order(way);
    bool is_empty = !outcome->fingerprint.count && !outcome->error.status && !order.look;
    outcome->tag = ANSWER_SERIAL;
    if (is_empty) /* of recordings and videos the attachment alone tells */
        expect(!doppel_fingerprint_make(doppel_scheme_by_id(order.scheme), 256, 0,
                                        &outcome->fingerprint, NULL));
    outcome->fingerprint.scheme = order.look ? DOPPEL_SCHEME_NONE : order.scheme;
    outcome->fingerprint.version = order.version;
    size_t size = answer_size(outcome);
    expect(answer_write(outcome, add_seed(way, size), size) == size);
    doppel_outcome_free(outcome);
}

/* A picture of stripes that move. */
static struct doppel_plane draw_plane(uint8_t samples[SIDE * SIDE], uint32_t moment)
{
    for (uint32_t y = 0; y < SIDE; y++)
        for (uint32_t x = 0; x < SIDE; x++)
            samples[y * SIDE + x] =
                (uint8_t)((x * (3 + moment / 4) + y * y / 16 + 40 * (x / 32 + y / 24)) % 256);
    return (struct doppel_plane){samples, SIDE, SIDE, SIDE};
}

static void add_images(void)
{
    uint8_t samples[SIDE * SIDE];
    const struct doppel_plane plane = draw_plane(samples, 0);
    struct doppel_image_features features;
    struct doppel_outcome image = {.kind = DOPPEL_KIND_IMAGE, .width = 9, .height = 9};
    struct doppel_outcome pdq = image, still = image;
    expect(!doppel_image_features(&plane, &features, NULL));
    features.pixels.bytes[0] = 1;
    image.fingerprint = features.fingerprint;
    image.attachment = malloc(DOPPEL_IMAGE_ATTACHMENT_MOST);
    image.attachment_size = doppel_image_attachment_write(&features, image.attachment);
    add_outcome(ANSWER_PHASH, &image);
    expect(!doppel_fingerprint_make(doppel_scheme_by_id(DOPPEL_SCHEME_PDQ), 256, 1,
                                    &pdq.fingerprint, NULL));
    add_outcome(ANSWER_PDQ, &pdq);
    still.attachment = calloc(1, 40);
    still.attachment_size = 40;
    add_outcome(ANSWER_STILL, &still);
}

static void add_text(enum answer_way way, unsigned want)
{
    char words[WORDS * 8] = "";
    struct doppel_text *text;
    struct doppel_text_result result;
    const struct doppel_order order = answer_order(way);
    const struct doppel_text_options options = doppel_text_options_default();
    struct doppel_outcome outcome = {.kind = DOPPEL_KIND_TEXT};
    for (size_t i = 0, used = 0; i < WORDS; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "w%u ", next_random() % 9999);
    expect(
        !doppel_text_new(NULL, &text, NULL) &&
        !doppel_text_read(text, words, strlen(words), want | DOPPEL_TEXT_DIGEST, &result, NULL) &&
        !doppel_text_fingerprint(order.scheme, &options, &result, &outcome.fingerprint, NULL));
    outcome.attachment_size = doppel_text_attachment_size(&result);
    outcome.attachment = malloc(outcome.attachment_size);
    doppel_text_attachment_write(&result, outcome.attachment);
    doppel_text_free(text);
    add_outcome(way, &outcome);
}

/* Peaks of noise. @return given */
static uint8_t *draw_track(size_t *out_size)
{
    enum { SAMPLES = 11025 * 4 };
    struct doppel_audio *audio;
    float *noise = malloc(SAMPLES * sizeof *noise);
    for (size_t i = 0; i < SAMPLES; i++)
        noise[i] = (float)next_random() / 2147483648.0F - .5F;
    expect(!doppel_audio_new(&audio, NULL) && !doppel_audio_push(audio, noise, SAMPLES, NULL) &&
           !doppel_audio_finish(audio, NULL));
    struct doppel_audio_track track = {.duration_ms = 4000};
    track.peaks = (struct doppel_audio_peak *)(uintptr_t)doppel_audio_peaks(audio, &track.count);
    strcpy(track.tags.title, "noise");
    *out_size = doppel_audio_track_size(&track, false);
    uint8_t *bytes = malloc(*out_size);
    doppel_audio_track_write(&track, false, bytes);
    doppel_audio_free(audio);
    free(noise);
    return bytes;
}

static void add_audio(void)
{
    struct doppel_outcome peaks = {.kind = DOPPEL_KIND_AUDIO};
    struct doppel_outcome chromaprint = {.kind = DOPPEL_KIND_AUDIO};
    uint8_t frame[PROTOCOL_MAX_BYTES];
    peaks.attachment = draw_track(&peaks.attachment_size);
    struct stretch stretch = {.from = 1000, .until = 50000};
    stretch.track = peaks.attachment;
    stretch.track_size = peaks.attachment_size;
    size_t size = stretch_write(&stretch, frame, sizeof frame);
    memcpy(add_seed(ANSWER_HEARD, size), frame, size);
    add_outcome(ANSWER_PEAKS, &peaks);
    expect(!doppel_fingerprint_make(doppel_scheme_by_id(DOPPEL_SCHEME_CHROMAPRINT), 64, 30,
                                    &chromaprint.fingerprint, NULL));
    for (uint32_t i = 0; i < 30; i++) {
        chromaprint.fingerprint.codes[i].word[0] = next_random();
        chromaprint.fingerprint.positions[i] = i;
    }
    add_outcome(ANSWER_CHROMAPRINT, &chromaprint);
}

static void add_video(enum answer_way way, enum doppel_video_parts parts)
{
    uint8_t samples[SIDE * SIDE];
    struct doppel_video *video;
    struct doppel_video_track track;
    struct doppel_outcome outcome = {.kind = DOPPEL_KIND_VIDEO, .width = SIDE, .height = SIDE};
    expect(!doppel_video_new(NULL, &video, NULL));
    for (uint32_t i = 0; i < 24; i++) {
        const struct doppel_plane plane = draw_plane(samples, i);
        expect(!doppel_video_push(video, &plane, i * 250, NULL));
    }
    expect(!doppel_video_finish(video, &track, NULL));
    track.width = track.height = SIDE;
    track.duration_ms = 6000;
    track.audio = draw_track(&track.audio_size);
    expect(!doppel_video_track_write(&track, parts, &outcome.attachment, &outcome.attachment_size,
                                     NULL));
    doppel_video_track_free(&track);
    doppel_video_free(video);
    add_outcome(way, &outcome);
}

static void add_vpdq(void)
{
    struct doppel_outcome outcome = {.kind = DOPPEL_KIND_VIDEO};
    char lines[4 * 128];
    size_t used = 0;
    for (uint32_t i = 0; i < 4; i++) {
        struct doppel_vpdq_frame frame = {.number = i, .quality = 90, .seconds = i};
        frame.code.word[0] = next_random();
        used += doppel_vpdq_print(&frame, lines + used);
    }
    outcome.attachment = malloc(used);
    memcpy(outcome.attachment, lines, used);
    outcome.attachment_size = used;
    add_outcome(ANSWER_VPDQ, &outcome);
}

static void add_others(void)
{
    uint8_t frame[READY_MOST_BYTES];
    struct doppel_outcome refusal = {.kind = DOPPEL_KIND_AUDIO};
    const struct doppel_confinement held = {.landlock_abi = 4, .libraries = "libjpeg 9\n"};
    struct doppel_error end;
    size_t size = ready_write(&held, frame);
    memcpy(add_seed(ANSWER_START, size), frame, size);
    doppel_fail(&end, DOPPEL_E_CORRUPT, "it is cut short");
    size = end_write(&end, frame, sizeof frame);
    memcpy(add_seed(ANSWER_HEARD, size), frame, size);
    refusal.error = end;
    add_outcome(ANSWER_FRAMES, &refusal);
}

static void make_answers(void)
{
    add_images();
    add_text(ANSWER_MINHASH, DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SHINGLES);
    add_text(ANSWER_SIMHASH, DOPPEL_TEXT_SIMHASH | DOPPEL_TEXT_SHINGLES);
    add_text(ANSWER_WINNOW, DOPPEL_TEXT_PASSAGES);
    add_audio();
    add_video(ANSWER_FRAMES, DOPPEL_VIDEO_ALL);
    add_video(ANSWER_CLOSE, DOPPEL_VIDEO_ALL);
    add_vpdq();
    add_others();
}

/* ---- changes ---- */

static void change(uint8_t *data, size_t *size)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    for (uint32_t changes = 1 + next_random() % 4; changes; changes--) {
        /* what is behind the lengths of the frame, near the beginning, or anywhere */
        size_t from = next_random() % 4 && *size > 60 ? 41 : 1;
        size_t range = next_random() % 2 && *size - from > 80 ? 80 : *size - from;
        size_t at = from + next_random() % range;
        if (next_random() % 2)
            data[at] ^= (uint8_t)(1 << next_random() % 8);
        else
            data[at] =
                next_random() % 2 ? values[next_random() % sizeof values] : (uint8_t)next_random();
    }
    if (next_random() % 16 == 0)
        *size = 1 + next_random() % *size;
}

static bool has_fingerprint(const uint8_t *seed)
{
    enum { STATUS = 17 }; /* docs/worker.md */
    return seed[0] < ANSWER_CLOSE && !seed[STATUS];
}

static void run_changes(const uint8_t *seed, size_t seed_size)
{
    unsigned long kept = answers_kept;
    inputs_use(&inputs, seed, seed_size);
    expect(answers_kept == kept + has_fingerprint(seed));
    for (unsigned long i = 0; i < inputs.count; i++) {
        size_t size = seed_size;
        uint8_t *data = malloc(size); /* of its own, so that a step beyond it is seen */
        expect(data);
        memcpy(data, seed, size);
        change(data, &size);
        inputs_use(&inputs, data, size);
        free(data);
    }
}

int main(int argument_count, char **arguments)
{
    inputs = inputs_begin(argument_count, arguments, MUTATIONS);
    make_answers();
    for (size_t i = 0; i < seed_count; i++) {
        if (inputs.folder)
            inputs_use(&inputs, seeds[i].bytes, seeds[i].size);
        else
            run_changes(seeds[i].bytes, seeds[i].size);
        free(seeds[i].bytes);
    }
    printf("%zu seeds, %lu changes of each: %lu kept\n", seed_count, inputs.count, answers_kept);
    return 0;
}
