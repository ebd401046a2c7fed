/* Pictures in videos. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "videos.h"

enum { VIDEOS = 10, VIDEO_SECONDS = 100 };

struct seen {
    size_t count;
    uint64_t id;
    struct doppel_match match;
    struct doppel_segment first;
};

static bool note(void *context, const struct doppel_found *found)
{
    struct seen *seen = context;
    if (!seen->count++) {
        seen->id = found->id;
        seen->match = found->match;
        if (found->match.segment_count)
            seen->first = found->match.segments[0];
    }
    return true;
}

/* A picture whose full frame is a stranger, and which without borders is `code`. */
static struct doppel_fingerprint image_view(const struct doppel_code *code, uint64_t *state)
{
    struct doppel_fingerprint fingerprint;
    assert_int_equal(doppel_fingerprint_make(doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64), 256, 2,
                                             &fingerprint, NULL),
                     DOPPEL_OK);
    fingerprint.codes[0] = video_code(state);
    fingerprint.codes[1] = *code;
    fingerprint.positions[1] = DOPPEL_VIEW_TRIMMED;
    return fingerprint;
}

static void finds_images(void **unused)
{
    (void)unused;
    uint64_t state = 99;
    struct clip clips[VIDEOS];
    struct doppel_video_track tracks[VIDEOS];
    struct doppel_videos *videos = NULL;
    struct doppel_video_search options = doppel_video_search_default();
    assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
    for (uint64_t i = 0; i < VIDEOS; i++) {
        clips[i] = video_make(VIDEO_SECONDS, 12, &state);
        tracks[i] = video_whole(&clips[i], &state);
        assert_int_equal(doppel_videos_add(videos, i, &tracks[i], NULL), DOPPEL_OK);
    }
    for (int i = 0; i < 200; i++) {
        double time = video_uniform(&state, 1, VIDEO_SECONDS - 1);
        struct doppel_code code = clips[i % VIDEOS].codes[(size_t)(time * 1000 / VIDEO_FRAME_MS)];
        video_flip(&code, 10, &state);
        bool is_mirrored = i % 2;
        code = doppel_image_orient(&code, is_mirrored);
        struct doppel_fingerprint fingerprint = image_view(&code, &state);
        struct doppel_match_item image = {&fingerprint, i % 5 ? 100 : 20};
        struct seen seen = {0};
        assert_int_equal(doppel_videos_find_image(videos, &image, &options, note, &seen, NULL),
                         DOPPEL_OK);
        assert_int_equal(seen.count, i % 5 ? 1 : 0); /* the others are too flat */
        if (!seen.count) {
            doppel_fingerprint_free(&fingerprint);
            continue;
        }
        assert_int_equal(seen.id, i % VIDEOS);
        assert_int_equal(seen.match.transform.mirrored, is_mirrored);
        assert_int_equal(seen.match.relation, DOPPEL_RELATION_CONTAINED);
        assert_true(seen.first.a_start == 0 && seen.first.a_end == 0);
        assert_true(seen.first.b_start - .3 <= time && time <= seen.first.b_end + .3);
        struct doppel_match match;
        assert_int_equal(
            doppel_match_image_in_video(&image, &tracks[i % VIDEOS], &options, &match, NULL),
            DOPPEL_OK);
        assert_int_equal(match.segment_count, seen.match.segment_count);
        free((void *)match.segments);
        doppel_fingerprint_free(&fingerprint);
    }
    for (size_t i = 0; i < VIDEOS; i++) {
        free(clips[i].codes);
        doppel_video_track_free(&tracks[i]);
    }
    doppel_videos_free(videos);
}

/* Thousands of strangers: the rate that is promised is kept. */
static void finds_no_strangers(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    struct clip clip = video_make(2000, 12, &state);
    struct doppel_video_track track = video_whole(&clip, &state);
    struct doppel_video_search options = doppel_video_search_default();
    struct doppel_videos *videos = NULL;
    struct seen seen = {0};
    assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_add(videos, 5, &track, NULL), DOPPEL_OK);
    for (int i = 0; i < 3000; i++) {
        struct doppel_code code = video_code(&state);
        struct doppel_fingerprint fingerprint = image_view(&code, &state);
        struct doppel_match_item image = {&fingerprint, 100};
        assert_int_equal(doppel_videos_find_image(videos, &image, &options, note, &seen, NULL),
                         DOPPEL_OK);
        doppel_fingerprint_free(&fingerprint);
    }
    assert_int_equal(seen.count, 0);
    doppel_videos_free(videos);
    doppel_video_track_free(&track);
    free(clip.codes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_images),
        cmocka_unit_test(finds_no_strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
