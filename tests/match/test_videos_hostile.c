/* Videos that are made to take long: hundreds of thousands of runs, of equal codes, of few codes,
 * of codes that hardly differ. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "videos.h"

/* A search that is quadratic in them does not end within the time of a test. */
enum { RUNS = 100000, FEW = 50 };

static bool pass(void *context, const struct doppel_found *found)
{
    (void)found;
    ++*(size_t *)context;
    return true;
}

/* @param codes that come in turns @param step_ms from one run to the next */
static struct doppel_video_track endless(size_t codes, uint32_t step_ms, unsigned noise,
                                         uint64_t *state)
{
    struct doppel_video_track track = {.count = RUNS, .box = {0, 0, 1, 1}};
    struct doppel_code few[FEW];
    track.frames = malloc(RUNS * sizeof *track.frames);
    for (size_t i = 0; i < codes; i++)
        few[i] = video_code(state);
    for (uint32_t i = 0; i < RUNS; i++) {
        struct doppel_code code = few[i % codes];
        video_flip(&code, noise, state);
        track.frames[i] = (struct doppel_video_frame){code, i * step_ms, i * step_ms, {{0}}, {{0}}};
    }
    track.duration_ms = (uint64_t)RUNS * step_ms;
    return track;
}

static void try_videos(const struct doppel_video_track *a, const struct doppel_video_track *b)
{
    struct doppel_video_search options = doppel_video_search_default();
    struct doppel_videos *videos = NULL;
    struct doppel_match match;
    size_t count = 0;
    assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_add(videos, 1, b, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_find(videos, a, &options, pass, &count, NULL), DOPPEL_OK);
    assert_int_equal(doppel_match_videos(a, b, &options, &match, NULL), DOPPEL_OK);
    assert_true(a != b || (count == 1 && match.segment_count > 0));
    free((void *)match.segments);
    doppel_videos_free(videos);
}

static void ends(void **unused)
{
    (void)unused;
    static const struct {
        size_t codes;
        uint32_t step_ms;
        unsigned noise;
    } clips[] = {{1, 250, 0}, {1, 1, 0}, {1, 250, 3}, {FEW, 250, 0}, {FEW, 1, 3}, {7, 4000, 6}};
    uint64_t state = 3;
    for (size_t i = 0; i < sizeof clips / sizeof *clips; i++) {
        struct doppel_video_track track =
            endless(clips[i].codes, clips[i].step_ms, clips[i].noise, &state);
        struct clip clip = video_make(60, 12, &state);
        struct doppel_video_track usual = video_whole(&clip, &state);
        try_videos(&track, &track);
        try_videos(&usual, &track);
        try_videos(&track, &usual);
        free(clip.codes);
        doppel_video_track_free(&usual);
        doppel_video_track_free(&track);
    }
}

/* Times that go back are refused, not followed. */
static void refuses_disorder(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    struct clip clip = video_make(60, 12, &state);
    struct doppel_video_track track = video_whole(&clip, &state);
    struct doppel_video_search options = doppel_video_search_default();
    struct doppel_videos *videos = NULL;
    size_t count = 0;
    assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
    uint32_t was = track.frames[5].end_ms;
    track.frames[5].end_ms = track.frames[6].start_ms + 1;
    assert_int_equal(doppel_videos_add(videos, 1, &track, NULL), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_videos_find(videos, &track, &options, pass, &count, NULL),
                     DOPPEL_E_ARGUMENT);
    track.frames[5].end_ms = was;
    assert_int_equal(doppel_videos_add(videos, 1, &track, NULL), DOPPEL_OK);
    doppel_videos_free(videos);
    doppel_video_track_free(&track);
    free(clip.codes);
}

/* Nothing is found of nothing, and in nothing. */
static void takes_nothing(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    struct clip clip = video_make(60, 12, &state);
    struct doppel_video_track track = video_whole(&clip, &state), none = {0};
    struct doppel_video_search options = doppel_video_search_default();
    struct doppel_videos *videos = NULL;
    struct doppel_match match;
    size_t count = 0;
    assert_int_equal(doppel_videos_over(NULL, NULL, NULL, &videos, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_frames(videos), 0);
    assert_int_equal(doppel_videos_find(videos, &track, &options, pass, &count, NULL), DOPPEL_OK);
    doppel_videos_free(videos);
    assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_add(videos, 0, &none, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_find(videos, &track, &options, pass, &count, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_find(videos, &none, &options, pass, &count, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_remove(videos, 0, NULL), DOPPEL_OK);
    assert_int_equal(count, 0);
    assert_int_equal(doppel_match_videos(&none, &track, &options, &match, NULL), DOPPEL_OK);
    assert_int_equal(match.segment_count, 0);
    assert_int_equal(doppel_match_videos(&none, &none, &options, &match, NULL), DOPPEL_OK);
    assert_int_equal(match.segment_count, 0);
    doppel_videos_free(videos);
    doppel_video_track_free(&track);
    free(clip.codes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_nothing),
        cmocka_unit_test(refuses_disorder),
        cmocka_unit_test(ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
