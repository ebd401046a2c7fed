/* A sample of every few, against libswresample, whose filter it is, and in pieces of any size. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>

#include "core/cpu.h"
#include "media/audio/decimate.h"

enum { COUNT = 30011 };

struct outputs {
    float samples[COUNT];
    size_t count;
};

/* Noise about an offset, so that ends which are not mirrored would be seen. */
static float *make_noise(void)
{
    float *noise = malloc(COUNT * sizeof *noise);
    uint32_t state = 1;
    for (size_t i = 0; i < COUNT; i++) {
        state = state * 1664525u + 1013904223u;
        noise[i] = (float)(state >> 8) * 0x1p-24F - .2F;
    }
    return noise;
}

static void decimate_in_pieces(const float *in, size_t count, size_t step, size_t piece,
                               struct outputs *out)
{
    float given[DECIMATE_BLOCK];
    struct audio_decimator *decimator = audio_decimator_new(step);
    assert_non_null(decimator);
    out->count = 0;
    for (size_t at = 0; at <= count; at += piece) {
        size_t size = count - at < piece ? count - at : piece;
        size_t got = audio_decimate(decimator, in + at, size, given);
        memcpy(out->samples + out->count, given, got * sizeof *given);
        out->count += got;
    }
    size_t got = audio_decimate_rest(decimator, given);
    memcpy(out->samples + out->count, given, got * sizeof *given);
    out->count += got;
    audio_decimator_free(decimator);
}

static void decimate_by_swresample(const float *in, size_t count, size_t step, struct outputs *out)
{
    AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
    SwrContext *resampler = NULL;
    assert_return_code(swr_alloc_set_opts2(&resampler, &mono, AV_SAMPLE_FMT_FLTP, 11025, &mono,
                                           AV_SAMPLE_FMT_FLTP, 11025 * (int)step, 0, NULL),
                       0);
    assert_return_code(swr_init(resampler), 0);
    const uint8_t *planes[] = {(const uint8_t *)in};
    uint8_t *to[] = {(uint8_t *)out->samples};
    int got = swr_convert(resampler, to, COUNT, planes, (int)count);
    assert_true(got >= 0);
    out->count = (size_t)got;
    to[0] = (uint8_t *)(out->samples + got);
    got = swr_convert(resampler, to, COUNT - got, NULL, 0);
    assert_true(got >= 0);
    out->count += (size_t)got;
    swr_free(&resampler);
}

static void samples_are_those_of_swresample(void **state)
{
    (void)state;
    float *noise = make_noise();
    struct outputs *ours = malloc(sizeof *ours), *theirs = malloc(sizeof *theirs);
    for (size_t step = 2; step <= 17; step++) {
        decimate_in_pieces(noise, COUNT, step, 4410, ours);
        decimate_by_swresample(noise, COUNT, step, theirs);
        /* It mirrors fewer samples when it holds fewer, and may lose the last output. */
        assert_in_range(theirs->count, ours->count - 1, ours->count);
        for (size_t i = 0; i + 32 < ours->count; i++)
            if (fabsf(ours->samples[i] - theirs->samples[i]) > 2e-6F)
                fail_msg("step %zu: sample %zu is %.8f, not %.8f", step, i,
                         (double)ours->samples[i], (double)theirs->samples[i]);
    }
    free(noise);
    free(ours);
    free(theirs);
}

static void pieces_and_processors_make_no_difference(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 7, 131, 4410, DECIMATE_BLOCK};
    float *noise = make_noise();
    struct outputs *whole = malloc(sizeof *whole), *other = malloc(sizeof *other);
    const uint32_t flags = cpu_flags(), masks[] = {0, CPU_AVX2, flags};
    for (size_t step = 2; step <= 8; step += 2) {
        decimate_in_pieces(noise, COUNT, step, 4800, whole);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            cpu_mask(masks[i % 3]);
            decimate_in_pieces(noise, COUNT, step, pieces[i], other);
            cpu_mask(flags);
            assert_int_equal(other->count, whole->count);
            assert_memory_equal(other->samples, whole->samples,
                                whole->count * sizeof *whole->samples);
        }
    }
    free(noise);
    free(whole);
    free(other);
}

/* A constant stays one, to its ends, but for what is shorter than the filter. */
static void any_length_gives_its_share(void **state)
{
    (void)state;
    float ones[300];
    struct outputs *got = malloc(sizeof *got);
    for (size_t i = 0; i < 300; i++)
        ones[i] = 1;
    for (size_t step = 2; step <= 4; step++)
        for (size_t count = 0; count <= 300; count++) {
            decimate_in_pieces(ones, count, step, 100, got);
            assert_int_equal(got->count, (count + step - 1) / step);
            for (size_t i = 0; i < got->count; i++)
                if (fabsf(got->samples[i] - 1) > (count < 33 * step ? .6F : 1e-5F))
                    fail_msg("step %zu of %zu: sample %zu is %f", step, count, i,
                             (double)got->samples[i]);
        }
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_those_of_swresample),
        cmocka_unit_test(pieces_and_processors_make_no_difference),
        cmocka_unit_test(any_length_gives_its_share),
    };
    return cmocka_run_group_tests_name("media_decimate", tests, NULL, NULL);
}
