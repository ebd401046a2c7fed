/* Upright cuts: what is left of a wide video on an upright screen is its middle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "videos.h"

/* What the search visits first, and as no near miss. */
struct first_found {
    bool any;
    uint64_t id;
    struct doppel_match match;
};

static bool note_first(void *context, const struct doppel_found *found)
{
    struct first_found *first = context;
    if (found->borderline)
        return true;
    *first = (struct first_found){true, found->id, found->match};
    return false;
}

static struct first_found find_first(const struct doppel_videos *videos,
                                     const struct doppel_video_track *query)
{
    struct doppel_video_search options = doppel_video_search_default();
    struct first_found first = {0};
    (void)doppel_videos_find(videos, query, &options, note_first, &first, NULL);
    return first;
}

/* A wide video; its middles are those of another clip. */
static struct doppel_video_track wide_track(const struct clip *whole, const struct clip *middle,
                                            uint64_t *state)
{
    struct doppel_video_track track = video_whole(whole, state);
    track.has_middle = true;
    for (size_t i = 0; i < track.count; i++) {
        size_t frame = track.frames[i].start_ms / VIDEO_FRAME_MS;
        track.frames[i].middle = middle->codes[frame < middle->count ? frame : middle->count - 1];
        video_flip(&track.frames[i].middle, 4, state);
    }
    return track;
}

/* What one is to the other: an upright cut, a whole whose upright cut is known, two that share
 * their middles alone; as they are, and mirrored. */
static void test_middles_meet(void **unused)
{
    (void)unused;
    uint64_t state = 91;
    struct clip clips[4];
    for (int i = 0; i < 4; i++)
        clips[i] = video_make(40, 20, &state);
    struct doppel_video_track wide = wide_track(&clips[0], &clips[1], &state);
    struct doppel_video_track other = wide_track(&clips[2], &clips[1], &state);
    struct doppel_video_track stranger = wide_track(&clips[2], &clips[3], &state);
    const struct showing part = {8, 28, 1, .1, 8, false}, mirrored = {8, 28, 1, .1, 8, true};
    struct doppel_video_track cut = clip_shown(&clips[1], &part, &state);
    struct doppel_video_track turned = clip_shown(&clips[1], &mirrored, &state);
    const struct {
        const struct doppel_video_track *query, *item;
        bool found, mirrored, middle, item_middle;
    } cases[] = {
        {&cut, &wide, true, false, false, true},   {&turned, &wide, true, true, false, true},
        {&wide, &cut, true, false, true, false},   {&wide, &turned, true, true, true, false},
        {&other, &wide, true, false, true, true},  {&stranger, &wide, false, false, false, false},
        {&cut, &stranger, false, false, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doppel_videos *videos = NULL;
        struct doppel_video_search options = doppel_video_search_default();
        struct doppel_match pair;
        assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
        assert_int_equal(doppel_videos_add(videos, 5, cases[i].item, NULL), DOPPEL_OK);
        struct first_found first = find_first(videos, cases[i].query);
        assert_int_equal(first.any, cases[i].found);
        if (first.any) {
            assert_int_equal(first.match.view.mirrored, cases[i].mirrored);
            assert_int_equal(first.match.view.middle, cases[i].middle);
            assert_int_equal(first.match.view.item_middle, cases[i].item_middle);
            assert_int_equal(first.match.transform.cropped, cases[i].item_middle);
        }
        assert_int_equal(doppel_match_videos(cases[i].query, cases[i].item, &options, &pair, NULL),
                         DOPPEL_OK);
        assert_int_equal(pair.segment_count > 0, cases[i].found);
        free((void *)pair.segments);
        /* and nothing of it stays */
        assert_int_equal(doppel_videos_remove(videos, 5, NULL), DOPPEL_OK);
        assert_int_equal(doppel_videos_frames(videos), 0);
        assert_false(find_first(videos, cases[i].query).any);
        doppel_videos_free(videos);
    }
    struct doppel_video_track *tracks[] = {&wide, &other, &stranger, &cut, &turned};
    for (int i = 0; i < 5; i++)
        doppel_video_track_free(tracks[i]);
    for (int i = 0; i < 4; i++)
        free(clips[i].codes);
}

/* Codes of middles have bit 31 of their payloads, are a second apart, and none of what is flat. */
static void test_codes_of_middles(void **unused)
{
    (void)unused;
    uint64_t state = 92;
    struct clip clip = video_make(60, 60, &state);
    struct doppel_video_track track = wide_track(&clip, &clip, &state);
    struct doppel_video_code_list list;
    size_t middles = 0;
    uint32_t last = 0;
    for (size_t i = 0; i < track.count; i += 3)
        track.frames[i].middle = (struct doppel_code){{0}};
    assert_int_equal(doppel_video_codes(9, &track, &list, NULL), DOPPEL_OK);
    for (size_t i = 0; i < list.count; i++) {
        uint32_t low = (uint32_t)list.payloads[i];
        assert_int_equal(list.payloads[i] >> 32, 9);
        assert_int_equal(low >> 31, i >= track.count);
        if (i < track.count)
            continue;
        assert_true(list.codes[i] != 0);
        assert_true(!middles || (low & INT32_MAX) >= last + 1000);
        last = low & INT32_MAX;
        middles++;
    }
    assert_true(middles > 10 && middles <= 60);
    free(list.codes);
    free(list.payloads);
    track.has_middle = false; /* as of a library that was made before */
    assert_int_equal(doppel_video_codes(9, &track, &list, NULL), DOPPEL_OK);
    assert_int_equal(list.count, track.count);
    free(list.codes);
    free(list.payloads);
    doppel_video_track_free(&track);
    free(clip.codes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_middles_meet),
        cmocka_unit_test(test_codes_of_middles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
