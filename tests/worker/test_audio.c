/* The program doppel-worker with recordings: the same peaks as in this process, limits kept. */
#include "helper.h"

#include <doppel/media.h>

#include "core/bytes.h"
#include "audio_track.h"

/* Samples as they are, which need not be resampled. */
static struct doppel_outcome hash(struct doppel_pool *pool, const struct recording *recording)
{
    struct doppel_order order = {.scheme = DOPPEL_SCHEME_PEAKS32,
                                 .version = 1,
                                 .pcm = DOPPEL_PCM_F32LE,
                                 .pcm_rate = AUDIO_RATE,
                                 .pcm_channels = 1};
    int fd = file_of(recording->samples, recording->count * sizeof *recording->samples);
    assert_int_equal(doppel_pool_submit(pool, fd, &order, 7, NULL), DOPPEL_OK);
    return next(pool);
}

static void assert_peaks_of(const struct doppel_outcome *outcome, const struct recording *recording)
{
    struct doppel_audio_track wanted = audio_track(recording);
    size_t size = doppel_audio_track_size(&wanted, false);
    uint8_t *bytes = malloc(size);
    doppel_audio_track_write(&wanted, false, bytes);
    assert_int_equal(outcome->error.status, DOPPEL_OK);
    assert_int_equal(outcome->tag, 7);
    assert_int_equal(outcome->kind, DOPPEL_KIND_AUDIO);
    assert_int_equal(outcome->fingerprint.scheme, DOPPEL_SCHEME_PEAKS32);
    assert_int_equal(outcome->fingerprint.version, 1);
    assert_int_equal(outcome->fingerprint.count, 0);
    assert_int_equal(outcome->attachment_size, size);
    assert_memory_equal(outcome->attachment, bytes, size);
    free(bytes);
    doppel_audio_track_free(&wanted);
}

/* One after the other by the same worker: nothing of the last audio is left in the next. The long
 * one does not fit a frame. */
static void test_same_as_in_process(void **state)
{
    (void)state;
    struct doppel_pool *pool = true_pool(0);
    static const double seconds[] = {8, 300, 3, .5};
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        struct recording recording = audio_music(seconds[i], i);
        struct doppel_outcome outcome = hash(pool, &recording);
        assert_peaks_of(&outcome, &recording);
        doppel_outcome_free(&outcome);
        free(recording.samples);
    }
    doppel_pool_free(pool);
}

static void test_silence(void **state)
{
    (void)state;
    struct doppel_pool *pool = true_pool(0);
    struct recording recording = audio_silence(20);
    struct doppel_outcome outcome = hash(pool, &recording);
    assert_peaks_of(&outcome, &recording);
    doppel_outcome_free(&outcome);
    free(recording.samples);
    doppel_pool_free(pool);
}

static void test_longest_audio(void **state)
{
    (void)state;
    struct doppel_pool *pool = true_pool(4);
    struct recording recording = audio_music(4.5, 1);
    struct doppel_outcome outcome = hash(pool, &recording);
    assert_int_equal(outcome.error.status, DOPPEL_E_LIMIT);
    assert_null(outcome.attachment);
    doppel_outcome_free(&outcome);
    recording.count = audio_samples(3.9);
    outcome = hash(pool, &recording);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    doppel_outcome_free(&outcome);
    free(recording.samples);
    doppel_pool_free(pool);
}

/* The first two minutes of a WAV, however large it is. */
static void test_chromaprint_of_a_large_file(void **state)
{
    (void)state;
    enum { RATE = 44100, BYTES = 1100 << 20 };
    static const uint8_t sizes[] = "\x10\0\0\0\1\0\1\0\x44\xac\0\0\x88\x58\1\0\2\0\x10";
    const struct doppel_order order = {.scheme = DOPPEL_SCHEME_CHROMAPRINT, .version = 1};
    struct doppel_pool *pool = true_pool(0);
    uint8_t header[44] = "RIFF\0\0\0\0WAVEfmt ";
    memcpy(header + 16, sizes, sizeof sizes);
    memcpy(header + 36, "data", 4);
    put_u32(header + 4, BYTES + 36);
    put_u32(header + 40, BYTES);
    int fd = file_of(header, sizeof header);
    assert_int_equal(ftruncate(fd, BYTES + 44), 0);
    assert_int_equal(doppel_pool_submit(pool, fd, &order, 7, NULL), DOPPEL_OK);
    struct doppel_outcome outcome = next(pool);
    doppel_pool_free(pool);
    if (outcome.error.status == DOPPEL_E_UNSUPPORTED)
        skip();
    assert_string_equal(outcome.error.message, "");
    assert_true(outcome.fingerprint.count > 0);
    doppel_outcome_free(&outcome);
}

static void test_wrong_orders(void **state)
{
    (void)state;
    struct doppel_pool *pool = true_pool(0);
    static const struct doppel_order orders[] = {
        {.scheme = DOPPEL_SCHEME_PEAKS32, .version = 9},
        {.scheme = DOPPEL_SCHEME_PEAKS32, .version = 1},
        {.scheme = DOPPEL_SCHEME_PEAKS32, .version = 1, .pcm = 99},
        {.scheme = DOPPEL_SCHEME_PEAKS32, .version = 1, .pcm = DOPPEL_PCM_U8, .pcm_rate = 0},
        {.scheme = DOPPEL_SCHEME_PEAKS32,
         .version = 1,
         .pcm = DOPPEL_PCM_U8,
         .pcm_rate = UINT32_MAX,
         .pcm_channels = UINT32_MAX}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        int fd = file_of("no audio at all\n", 16);
        assert_int_equal(doppel_pool_submit(pool, fd, &orders[i], i, NULL), DOPPEL_OK);
        struct doppel_outcome outcome = next(pool);
        expect_refusal(&outcome);
    }
    doppel_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_in_process),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_longest_audio),
        cmocka_unit_test(test_wrong_orders),
        cmocka_unit_test(test_chromaprint_of_a_large_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
