/* A camera that does not move: all that it shows is somewhat alike, at any time and speed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "videos.h"

enum { MOST_SEGMENTS = 16, PLACE_BITS = 26, PLACE_MS = 1500, PIECES = 12 };

/* One background, before which something else stands every second and a half. */
static struct clip camera_make(double seconds, uint64_t *state)
{
    struct clip clip = {.count = (size_t)(seconds * 1000 / VIDEO_FRAME_MS)};
    const struct doppel_code background = video_code(state);
    struct doppel_code now = background;
    clip.codes = malloc((clip.count + 1) * sizeof *clip.codes);
    for (size_t i = 0; i < clip.count; i++) {
        if (i % (PLACE_MS / VIDEO_FRAME_MS) == 0) {
            now = background;
            video_flip(&now, PLACE_BITS, state);
        }
        clip.codes[i] = now;
    }
    return clip;
}

struct seen {
    size_t count;
    bool uncertain;
    struct doppel_segment segments[MOST_SEGMENTS];
};

static bool note_seen(void *context, const struct doppel_found *found)
{
    struct seen *seen = context;
    if (found->borderline)
        return true;
    assert_true(found->match.segment_count <= MOST_SEGMENTS);
    seen->count = found->match.segment_count;
    seen->uncertain = found->match.time_uncertain;
    for (size_t i = 0; i < seen->count; i++)
        seen->segments[i] = found->match.segments[i];
    return true;
}

static struct seen find_in(const struct doppel_video_track *item,
                           const struct doppel_video_track *query)
{
    struct doppel_videos *videos = NULL;
    struct doppel_video_search options = doppel_video_search_default();
    struct seen seen = {0};
    assert_int_equal(doppel_videos_new(&videos, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_add(videos, 1, item, NULL), DOPPEL_OK);
    assert_int_equal(doppel_videos_find(videos, query, &options, note_seen, &seen, NULL),
                     DOPPEL_OK);
    doppel_videos_free(videos);
    return seen;
}

/* Whether one segment is told, where it is. */
static bool is_told(const struct seen *seen, const struct showing *showing)
{
    const struct doppel_segment *segment = &seen->segments[0];
    return seen->count == 1 && fabs(segment->b_start - segment->a_start - showing->from) < .4 &&
           segment->a_end - segment->a_start > .9 * (showing->to - showing->from);
}

/* Pieces of 8 to 20 s, among 80 s: one segment each, at speed 1; where it is, or it is uncertain.
 */
static void test_a_piece_is_told_once_and_at_speed_one(void **unused)
{
    (void)unused;
    unsigned right = 0;
    for (uint64_t seed = 1; seed <= PIECES; seed++) {
        uint64_t state = seed * 977;
        struct clip clip = camera_make(80, &state);
        struct doppel_video_track item = video_whole(&clip, &state);
        double from = video_uniform(&state, 0, 55);
        struct showing showing = {from, from + video_uniform(&state, 8, 20), 1, .1, 4, false};
        struct doppel_video_track query = clip_shown(&clip, &showing, &state);
        struct seen seen = find_in(&item, &query);
        assert_int_equal(seen.count, 1);
        assert_true(seen.segments[0].speed == 1);
        assert_true(seen.uncertain || is_told(&seen, &showing));
        right += !seen.uncertain;
        doppel_video_track_free(&query);
        doppel_video_track_free(&item);
        free(clip.codes);
    }
    assert_in_range(right, PIECES * 3 / 4, PIECES);
}

/* Something that the camera did not show then, of the same background: nobody knows when. */
static void test_what_fits_anywhere_is_uncertain(void **unused)
{
    (void)unused;
    uint64_t state = 55;
    struct clip clip = camera_make(60, &state), other = {.count = 200};
    other.codes = malloc(other.count * sizeof *other.codes);
    for (size_t i = 0; i < other.count; i++) {
        if (i % 40) {
            other.codes[i] = other.codes[i - 1];
            continue;
        }
        for (int word = 0; word < 4; word++) { /* what most of three moments have */
            uint64_t x = clip.codes[400].word[word], y = clip.codes[800].word[word],
                     z = clip.codes[1200].word[word];
            other.codes[i].word[word] = (x & y) | (y & z) | (x & z);
        }
        video_flip(&other.codes[i], PLACE_BITS, &state);
    }
    struct doppel_video_track item = video_whole(&clip, &state);
    struct doppel_video_track query = video_whole(&other, &state);
    struct seen seen = find_in(&item, &query);
    assert_int_equal(seen.count, 1);
    assert_true(seen.uncertain);
    doppel_video_track_free(&query);
    doppel_video_track_free(&item);
    free(clip.codes);
    free(other.codes);
}

/* What an item shows twice is no contradiction. */
static void test_what_comes_twice_is_told_twice(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    struct clip clip = camera_make(20, &state), other = video_make(30, 20, &state);
    struct doppel_video_track item = video_track(80);
    const struct showing whole = {0, 20, 1, 0, 4, false}, between = {0, 30, 1, 0, 4, false};
    video_show(&clip, &whole, &item, &state);
    video_show(&other, &between, &item, &state);
    video_show(&clip, &whole, &item, &state);
    struct doppel_video_track query = clip_shown(&clip, &whole, &state);
    struct seen seen = find_in(&item, &query);
    assert_int_equal(seen.count, 2);
    assert_false(seen.uncertain);
    assert_true(seen.segments[0].repeat != seen.segments[1].repeat);
    for (size_t i = 0; i < 2; i++)
        assert_true(seen.segments[i].speed == 1 &&
                    seen.segments[i].a_end - seen.segments[i].a_start > 19);
    doppel_video_track_free(&query);
    doppel_video_track_free(&item);
    free(clip.codes);
    free(other.codes);
}

static bool share_half(double x_start, double x_end, double y_start, double y_end)
{
    double shared = fmin(x_end, y_end) - fmax(x_start, y_start);
    return shared > .51 * fmin(x_end - x_start, y_end - y_start);
}

/* Segments that say two things of one time, and are not told to be repeats. */
static unsigned count_untold(const struct seen *seen)
{
    unsigned untold = 0;
    for (size_t i = 0; i < seen->count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct doppel_segment *x = &seen->segments[i], *y = &seen->segments[j];
            untold += (share_half(x->a_start, x->a_end, y->a_start, y->a_end) ||
                       share_half(x->b_start, x->b_end, y->b_start, y->b_end)) &&
                      !x->repeat && !y->repeat;
        }
    return untold;
}

/* A dance of 3 to 7 s that comes again and again: of a cut of it one segment is not a repeat, and
 * no time of either is told twice but by repeats. */
static void test_loops_are_told_to_be_repeats(void **unused)
{
    (void)unused;
    unsigned repeats = 0;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        uint64_t state = seed * 7919;
        double period = video_uniform(&state, 3, 7), noise = video_uniform(&state, 0, 12);
        struct clip dance = video_make(period, 60, &state);
        struct doppel_video_track item = video_track(5 * period), query = video_track(2 * period);
        const struct showing once = {0, period, 1, 0, 2, false};
        const struct showing cut = {period / 3, period, 1, .1, (unsigned)noise, false};
        for (int i = 0; i < 4; i++)
            video_show(&dance, &once, &item, &state);
        video_show(&dance, &cut, &query, &state);
        video_show(&dance, &once, &query, &state);
        struct seen seen = find_in(&item, &query);
        unsigned primary = 0;
        for (size_t i = 0; i < seen.count; i++)
            primary += !seen.segments[i].repeat;
        assert_true(primary > 0);
        assert_int_equal(count_untold(&seen), 0);
        repeats += (unsigned)seen.count - primary;
        doppel_video_track_free(&query);
        doppel_video_track_free(&item);
        free(dance.codes);
    }
    assert_true(repeats >= 16);
}

/* Of a copy of all of a video the lengths tell the speed, or leave it open; a little less at both
 * ends is none. */
static void test_whole_copies_have_their_speed(void **unused)
{
    (void)unused;
    static const struct {
        double from, to, speed;
    } cases[] = {{0, 9, .8},   {0, 9, .94},  {0, 9, .97}, {0, 9, 1.03}, {0, 9, 1.2},  {0, 9, 1.3},
                 {.5, 8.5, 1}, {.3, 8.9, 1}, {0, 8.6, 1}, {.6, 9, 1},   {.1, 8.95, 1}};
    uint64_t state = 81;
    unsigned off = 0, open = 0;
    for (int i = 0; i < 4; i++) {
        struct clip clip = video_make(9, 30, &state);
        struct doppel_video_track item = video_whole(&clip, &state);
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
            const struct showing shown = {cases[j].from, cases[j].to, cases[j].speed, 0, 8, false};
            struct doppel_video_track query = clip_shown(&clip, &shown, &state);
            struct seen seen = find_in(&item, &query);
            assert_true(seen.count > 0);
            off += !seen.uncertain && fabs(seen.segments[0].speed / cases[j].speed - 1) > .01;
            open += seen.uncertain;
            doppel_video_track_free(&query);
        }
        doppel_video_track_free(&item);
        free(clip.codes);
    }
    print_message("%u of 44 speeds are off, %u are open\n", off, open);
    assert_true(off <= 6 && open <= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_piece_is_told_once_and_at_speed_one),
        cmocka_unit_test(test_what_fits_anywhere_is_uncertain),
        cmocka_unit_test(test_what_comes_twice_is_told_twice),
        cmocka_unit_test(test_loops_are_told_to_be_repeats),
        cmocka_unit_test(test_whole_copies_have_their_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
