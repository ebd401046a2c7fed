/* The portable form of a track: what is written is read, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/video.h>

#include "drawn.h"

static void fill(uint8_t *out, size_t size, uint32_t seed)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(drawn_random(seed, (uint32_t)i) % 7 ? 100 + i % 9
                                                               : drawn_random(i & 0xffff, seed));
}

/* A track as a video may give it. */
static struct doppel_video_track make_track(uint32_t seed, size_t count, size_t rectangles)
{
    struct doppel_video_track track = {.count = count,
                                       .box = {0, .125f, 1, .875f},
                                       .rectangle_count = rectangles,
                                       .width = 640 + seed,
                                       .height = 360,
                                       .sampled = (uint32_t)count * 3,
                                       .duration_ms = UINT64_C(1) << 33 | seed,
                                       .damaged_ms = seed % 3,
                                       .keyframes_only = seed & 1,
                                       .has_middle = seed & 2,
                                       .has_whole = seed & 4};
    uint32_t time = 0;
    track.frames = calloc(count + 1, sizeof *track.frames);
    for (size_t i = 0; i < count; i++) {
        struct doppel_video_frame *frame = &track.frames[i];
        fill((uint8_t *)&frame->code, sizeof frame->code, seed + (uint32_t)i / 3);
        if (track.has_middle && i % 4)
            fill((uint8_t *)&frame->middle, sizeof frame->middle, seed + (uint32_t)i);
        if (track.has_whole && i % 5)
            fill((uint8_t *)&frame->whole, sizeof frame->whole, seed + 1 + (uint32_t)i);
        time += drawn_random(seed, (uint32_t)i) % (seed % 3 ? 90000 : 700);
        frame->start_ms = time;
        time += drawn_random(seed + 1, (uint32_t)i) % 3 * 250;
        frame->end_ms = time;
    }
    track.cells = malloc(count * DOPPEL_VIDEO_CELL_BYTES + 1);
    fill(track.cells, count * DOPPEL_VIDEO_CELL_BYTES, seed);
    for (size_t i = 0; i < rectangles; i++) {
        track.rectangles[i] = (struct doppel_video_box){.1f, .2f, .5f, .6f};
        track.rectangle_cells[i] = malloc(count * DOPPEL_VIDEO_CELL_BYTES + 1);
        fill(track.rectangle_cells[i], count * DOPPEL_VIDEO_CELL_BYTES, seed + 7);
    }
    track.audio_size = seed % 5 * 10;
    track.audio = track.audio_size ? malloc(track.audio_size) : NULL;
    if (track.audio)
        fill(track.audio, track.audio_size, seed);
    return track;
}

static void assert_same(const struct doppel_video_track *a, const struct doppel_video_track *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->has_middle, b->has_middle);
    assert_int_equal(a->has_whole, b->has_whole);
    assert_memory_equal(a->frames, b->frames, a->count * sizeof *a->frames);
    assert_memory_equal(&a->box, &b->box, sizeof a->box);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->sampled, b->sampled);
    assert_true(a->duration_ms == b->duration_ms && a->damaged_ms == b->damaged_ms);
    assert_int_equal(a->keyframes_only, b->keyframes_only);
    assert_int_equal(a->audio_size, b->audio_size);
    if (a->audio_size)
        assert_memory_equal(a->audio, b->audio, a->audio_size);
}

static void assert_same_cells(const struct doppel_video_track *a,
                              const struct doppel_video_track *b)
{
    size_t size = a->count * DOPPEL_VIDEO_CELL_BYTES;
    assert_int_equal(a->rectangle_count, b->rectangle_count);
    assert_memory_equal(a->rectangles, b->rectangles, sizeof a->rectangles);
    if (!size)
        return;
    assert_memory_equal(a->cells, b->cells, size);
    for (size_t i = 0; i < a->rectangle_count; i++)
        assert_memory_equal(a->rectangle_cells[i], b->rectangle_cells[i], size);
}

/* Without cells one middle a second is kept. */
static void thin_middles(struct doppel_video_track *track)
{
    uint64_t next_ms = 0;
    for (size_t i = 0; i < track->count; i++) {
        if (track->frames[i].start_ms < next_ms)
            track->frames[i].middle = (struct doppel_code){{0}};
        else
            next_ms = track->frames[i].start_ms + UINT64_C(1000);
    }
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 40; seed++) {
        size_t count = seed < 3 ? seed : drawn_random(seed, 1) % 200;
        struct doppel_video_track track = make_track(seed, count, count ? seed % 4 : 0), back,
                                  codes;
        uint8_t *bytes;
        size_t size;
        assert_int_equal(doppel_video_track_write(&track, DOPPEL_VIDEO_ALL, &bytes, &size, NULL),
                         0);
        assert_int_equal(doppel_video_track_read(bytes, size, DOPPEL_VIDEO_ALL, &back, NULL), 0);
        assert_same(&track, &back);
        assert_same_cells(&track, &back);
        assert_int_equal(doppel_video_track_read(bytes, size, DOPPEL_VIDEO_CODES, &codes, NULL), 0);
        assert_same(&track, &codes);
        assert_null(codes.cells);
        assert_int_equal(codes.rectangle_count, 0);
        free(bytes);
        doppel_video_track_free(&back);
        doppel_video_track_free(&codes);

        assert_int_equal(doppel_video_track_write(&track, DOPPEL_VIDEO_CODES, &bytes, &size, NULL),
                         0);
        assert_int_equal(doppel_video_track_read(bytes, size, DOPPEL_VIDEO_ALL, &codes, NULL), 0);
        thin_middles(&track);
        assert_same(&track, &codes);
        assert_null(codes.cells);
        free(bytes);
        doppel_video_track_free(&codes);
        doppel_video_track_free(&track);
    }
}

static void test_the_head(void **state)
{
    (void)state;
    struct doppel_video_track track = make_track(3, 60, 2), head = {0};
    uint8_t *bytes;
    size_t size;
    assert_int_equal(doppel_video_track_write(&track, DOPPEL_VIDEO_ALL, &bytes, &size, NULL), 0);
    assert_int_equal(doppel_video_track_head(bytes, DOPPEL_VIDEO_HEAD_BYTES, &head, NULL), 0);
    assert_int_equal(head.duration_ms, track.duration_ms);
    assert_int_equal(head.sampled, track.sampled);
    assert_int_equal(head.width, track.width);
    assert_int_equal(head.keyframes_only, track.keyframes_only);
    assert_memory_equal(&head.box, &track.box, sizeof head.box);
    assert_true(!head.count && !head.frames && !head.audio && !head.rectangle_count);
    assert_int_equal(doppel_video_track_head(bytes, DOPPEL_VIDEO_HEAD_BYTES - 1, &head, NULL),
                     DOPPEL_E_CORRUPT);
    bytes[0] ^= 1;
    assert_int_equal(doppel_video_track_head(bytes, size, &head, NULL), DOPPEL_E_CORRUPT);
    free(bytes);
    doppel_video_track_free(&track);
}

/* What is read of damaged bytes holds what a track holds, or is nothing. */
static void test_damage_is_no_harm(void **state)
{
    (void)state;
    struct doppel_video_track track = make_track(3, 60, 2);
    uint8_t *bytes;
    size_t size, refused = 0;
    assert_int_equal(doppel_video_track_write(&track, DOPPEL_VIDEO_ALL, &bytes, &size, NULL), 0);
    uint8_t *copy = malloc(size);
    for (uint32_t i = 0; i < 4000; i++) {
        struct doppel_video_track back = {0};
        memcpy(copy, bytes, size);
        size_t cut = i % 4 ? size : drawn_random(i, 1) % size;
        uint32_t near = i % 2 ? 150 : (uint32_t)size;
        for (uint32_t j = 0; j <= i % 3; j++)
            copy[drawn_random(i, 2 + j) % near] ^= (uint8_t)(1u << drawn_random(i, 9 + j) % 8);
        if (doppel_video_track_read(copy, cut, DOPPEL_VIDEO_ALL, &back, NULL)) {
            assert_null(back.frames);
            refused++;
            continue;
        }
        for (size_t f = 0; f < back.count; f++)
            assert_true(back.frames[f].start_ms <= back.frames[f].end_ms &&
                        (!f || back.frames[f - 1].start_ms <= back.frames[f].start_ms));
        doppel_video_track_free(&back);
    }
    assert_true(refused > 1000);
    free(copy);
    free(bytes);
    doppel_video_track_free(&track);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_the_head),
        cmocka_unit_test(test_damage_is_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
