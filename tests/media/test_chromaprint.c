/* AcoustID's fingerprints: equal to what libchromaprint makes of the same samples, and to what
 * fpcalc, where it is installed, makes of the same file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <doppel/audio.h>
#include <doppel/media.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_CHROMAPRINT
#include <chromaprint.h>
#endif

#include "audio.h"

static void put(FILE *file, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        putc((int)(value & 255), file);
}

/* A WAV file of 16 bits; `rate` only says how fast it is played. */
static char *make_wav(const int16_t *samples, size_t count, uint32_t rate, uint32_t channels)
{
    char *path = strdup("/tmp/doppel-wav-XXXXXX");
    FILE *file = fdopen(mkstemp(path), "wb");
    uint32_t bytes = (uint32_t)count * 2;
    fputs("RIFF", file);
    put(file, bytes + 36, 4);
    fputs("WAVEfmt ", file);
    put(file, 16, 4);
    put(file, 1, 2);
    put(file, channels, 2);
    put(file, rate, 4);
    put(file, rate * channels * 2, 4);
    put(file, channels * 2, 2);
    put(file, 16, 2);
    fputs("data", file);
    put(file, bytes, 4);
    for (size_t i = 0; i < count; i++)
        put(file, (uint16_t)samples[i], 2);
    fclose(file);
    return path;
}

static int16_t *music(double seconds, uint64_t seed, size_t *out_count)
{
    struct recording recording = audio_music(seconds, seed);
    int16_t *samples = calloc(recording.count, sizeof *samples);
    for (size_t i = 0; i < recording.count; i++)
        samples[i] = (int16_t)lrintf(fmaxf(-1, fminf(1, recording.samples[i] * 3)) * 32767);
    *out_count = recording.count;
    free(recording.samples);
    return samples;
}

static enum doppel_status read_path(const char *path, struct doppel_chromaprint *out)
{
    struct doppel_error error = {0};
    FILE *file = fopen(path, "rb");
    enum doppel_status status = doppel_media_read_chromaprint(fileno(file), NULL, out, &error);
    assert_int_equal(status, error.status);
    fclose(file);
    return status;
}

static void codes_are_the_librarys(void **state)
{
    (void)state;
#ifdef HAVE_CHROMAPRINT
    static const double lengths[] = {1, 4, 31.7, 140};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t count;
        struct doppel_chromaprint made;
        uint32_t *wanted = NULL;
        int size = 0;
        int16_t *samples = music(lengths[i], i, &count);
        char *path = make_wav(samples, count, AUDIO_RATE, 1);
        ChromaprintContext *maker = chromaprint_new(CHROMAPRINT_ALGORITHM_DEFAULT);
        size_t heard = count < 120 * AUDIO_RATE ? count : 120 * AUDIO_RATE;
        chromaprint_start(maker, AUDIO_RATE, 1);
        chromaprint_feed(maker, samples, (int)heard);
        chromaprint_finish(maker);
        chromaprint_get_raw_fingerprint(maker, &wanted, &size);
        assert_int_equal(read_path(path, &made), DOPPEL_OK);
        assert_int_equal(made.count, size);
        assert_true(fabs((double)made.duration_ms - lengths[i] * 1000) < 1);
        if (size)
            assert_memory_equal(made.codes, wanted, made.count * sizeof *made.codes);
        chromaprint_dealloc(wanted);
        chromaprint_free(maker);
        unlink(path);
        free(path);
        free(made.codes);
        free(samples);
    }
#else
    skip();
#endif
}

static void codes_are_those_of_fpcalc(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{44100, 2}, {48000, 1}, {22050, 2}, {8000, 1}, {11025, 2}};
    if (system("fpcalc -version >/dev/null 2>&1"))
        skip();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t count;
        struct doppel_chromaprint made;
        int16_t *samples = music(60, 10 + i, &count);
        char *path = make_wav(samples, count / 2 * 2, shapes[i][0], shapes[i][1]);
        char command[256], *text = calloc(1, 1 << 16);
        snprintf(command, sizeof command, "fpcalc -raw %s 2>/dev/null", path);
        FILE *pipe = popen(command, "r");
        size_t size = fread(text, 1, (1 << 16) - 1, pipe);
        pclose(pipe); /* it takes the end of a file for an error, and prints all the same */
        struct doppel_fingerprint wanted;
        assert_int_equal(doppel_chromaprint_parse(text, size, &wanted, NULL, NULL), DOPPEL_OK);
        assert_int_equal(read_path(path, &made), DOPPEL_OK);
        assert_int_equal(made.count, wanted.count);
        for (size_t k = 0; k < made.count; k++)
            assert_int_equal(made.codes[k], wanted.codes[k].word[0]);
        doppel_fingerprint_free(&wanted);
        unlink(path);
        free(path);
        free(text);
        free(made.codes);
        free(samples);
    }
}

static void what_is_no_audio_is_refused(void **state)
{
    (void)state;
    struct doppel_chromaprint untouched = {.count = 77};
    char path[] = "/tmp/doppel-text-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "wb");
    fputs("Not a recording.\n", file);
    fclose(file);
    assert_int_not_equal(read_path(path, &untouched), DOPPEL_OK);
    assert_null(untouched.codes);
    assert_int_equal(untouched.count, 77);
    unlink(path);
}

int main(void)
{
#ifndef HAVE_CHROMAPRINT
    (void)codes_are_those_of_fpcalc;
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes_are_the_librarys),
                                       cmocka_unit_test(what_is_no_audio_is_refused)};
#else
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes_are_the_librarys),
                                       cmocka_unit_test(codes_are_those_of_fpcalc),
                                       cmocka_unit_test(what_is_no_audio_is_refused)};
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
