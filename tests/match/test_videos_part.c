/* Parts of items: upright cuts, which are the middles of wide videos, and videos with their bars.
 */
#include <math.h>
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
    double start, end; /* of its first segment, in the item */
};

static bool note_first(void *context, const struct doppel_found *found)
{
    struct first_found *first = context;
    if (found->borderline)
        return true;
    *first = (struct first_found){true, found->id, found->match, found->match.segments->b_start,
                                  found->match.segments->b_end};
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

/* A video, and what it is with its bars: those of another clip. */
static struct doppel_video_track barred_track(const struct clip *image, const struct clip *whole,
                                              uint64_t *state)
{
    struct doppel_video_track track = wide_track(image, whole, state);
    track.has_whole = true;
    track.has_middle = false;
    for (size_t i = 0; i < track.count; i++) {
        track.frames[i].whole = track.frames[i].middle;
        track.frames[i].middle = (struct doppel_code){{0}};
    }
    return track;
}

/* What lies in another video with its bars meets what was kept of it with them, to its times. */
static void test_wholes_meet(void **unused)
{
    (void)unused;
    uint64_t state = 94;
    struct clip clips[3];
    for (int i = 0; i < 3; i++)
        clips[i] = video_make(40, 20, &state);
    struct doppel_video_track barred = barred_track(&clips[0], &clips[1], &state);
    struct doppel_video_track stranger = barred_track(&clips[0], &clips[2], &state);
    struct doppel_videos *videos = NULL;
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        const struct showing part = {8, 28, 1, .1, 8, mirrored};
        struct doppel_video_track query = clip_shown(&clips[1], &part, &state);
        assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
        assert_int_equal(doppel_videos_add(videos, 3, &stranger, NULL), DOPPEL_OK);
        assert_false(find_first(videos, &query).any);
        assert_int_equal(doppel_videos_add(videos, 5, &barred, NULL), DOPPEL_OK);
        struct first_found first = find_first(videos, &query);
        assert_true(first.any && first.id == 5);
        assert_int_equal(first.match.view.mirrored, mirrored);
        assert_true(first.match.view.item_whole && !first.match.view.item_middle);
        assert_false(first.match.transform.cropped);
        assert_true(fabs(first.start - 8) < 1 && fabs(first.end - 28) < 1);
        assert_int_equal(doppel_videos_remove(videos, 5, NULL), DOPPEL_OK);
        assert_false(find_first(videos, &query).any);
        doppel_videos_free(videos);
        doppel_video_track_free(&query);
    }
    doppel_video_track_free(&barred);
    doppel_video_track_free(&stranger);
    for (int i = 0; i < 3; i++)
        free(clips[i].codes);
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

/* Codes of a part have its bit in their payloads, of middles are a second apart, and none of what
 * is flat. */
static void check_codes_of_part(bool whole)
{
    uint64_t state = 92;
    struct clip clip = video_make(60, 60, &state);
    struct doppel_video_track track =
        whole ? barred_track(&clip, &clip, &state) : wide_track(&clip, &clip, &state);
    const uint32_t time = (UINT32_C(1) << 30) - 1;
    struct doppel_video_code_list list;
    size_t parts = 0;
    uint32_t last = 0;
    for (size_t i = 0; i < track.count; i += 3)
        track.frames[i].middle = track.frames[i].whole = (struct doppel_code){{0}};
    assert_int_equal(doppel_video_codes(9, &track, &list, NULL), DOPPEL_OK);
    for (size_t i = 0; i < list.count; i++) {
        uint32_t low = (uint32_t)list.payloads[i];
        assert_int_equal(list.payloads[i] >> 32, 9);
        assert_int_equal(low >> 30, i < track.count ? 0 : whole ? 1 : 2);
        if (i < track.count)
            continue;
        assert_true(list.codes[i] != 0);
        assert_true(!parts || (low & time) >= last + (whole ? 1 : 1000));
        last = low & time;
        parts++;
    }
    assert_true(whole ? parts == track.count - (track.count + 2) / 3 : parts > 10 && parts <= 60);
    free(list.codes);
    free(list.payloads);
    track.has_middle = track.has_whole = false; /* as of a library that was made before */
    assert_int_equal(doppel_video_codes(9, &track, &list, NULL), DOPPEL_OK);
    assert_int_equal(list.count, track.count);
    free(list.codes);
    free(list.payloads);
    doppel_video_track_free(&track);
    free(clip.codes);
}

static void test_codes_of_parts(void **unused)
{
    (void)unused;
    check_codes_of_part(false);
    check_codes_of_part(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_middles_meet),
        cmocka_unit_test(test_wholes_meet),
        cmocka_unit_test(test_codes_of_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
