/* The set of videos: what is found, where, at which speed, and how sure that is. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "videos.h"

enum { VIDEOS = 20, VIDEO_SECONDS = 120, MOST_SEGMENTS = 16 };

/* What a search visits. */
struct visits {
    size_t count;
    uint64_t id;
    struct doppel_match match;
    struct doppel_segment segments[MOST_SEGMENTS];
};

static bool note(void *context, const struct doppel_found *found)
{
    struct visits *visits = context;
    if (!visits->count++) {
        visits->id = found->id;
        visits->match = found->match;
        for (size_t i = 0; i < found->match.segment_count && i < MOST_SEGMENTS; i++)
            visits->segments[i] = found->match.segments[i];
    }
    return true;
}

static struct visits find(const struct doppel_videos *videos,
                          const struct doppel_video_track *query)
{
    struct visits visits = {0};
    struct doppel_video_search options = doppel_video_search_default();
    assert_int_equal(doppel_videos_find(videos, query, &options, note, &visits, NULL), DOPPEL_OK);
    return visits;
}

/* ---- a set of strangers ---- */

struct shelf {
    struct clip clips[VIDEOS];
    struct doppel_video_track tracks[VIDEOS];
    struct doppel_videos *videos;
    uint64_t state;
};

static int shelf_make(void **out)
{
    struct shelf *shelf = calloc(1, sizeof *shelf);
    shelf->state = 88172645463325252u;
    assert_int_equal(doppel_videos_new(&shelf->videos, NULL), DOPPEL_OK);
    for (uint64_t i = 0; i < VIDEOS; i++) {
        shelf->clips[i] = video_make(VIDEO_SECONDS, 12, &shelf->state);
        shelf->tracks[i] = video_whole(&shelf->clips[i], &shelf->state);
        assert_int_equal(doppel_videos_add(shelf->videos, i, &shelf->tracks[i], NULL), DOPPEL_OK);
    }
    *out = shelf;
    return 0;
}

static int shelf_free(void **state)
{
    struct shelf *shelf = *state;
    for (size_t i = 0; i < VIDEOS; i++) {
        free(shelf->clips[i].codes);
        doppel_video_track_free(&shelf->tracks[i]);
    }
    doppel_videos_free(shelf->videos);
    free(shelf);
    return 0;
}

/* ---- tests ---- */

static void finds_itself(void **state)
{
    struct shelf *shelf = *state;
    for (uint64_t i = 0; i < VIDEOS; i++) {
        struct visits visits = find(shelf->videos, &shelf->tracks[i]);
        assert_int_equal(visits.count, 1);
        assert_int_equal(visits.id, i);
        assert_int_equal(visits.match.relation, DOPPEL_RELATION_SAME);
        assert_int_equal(visits.match.segment_count, 1);
        assert_true(visits.segments[0].a_start < .01 && visits.segments[0].b_start < .01);
        assert_true(fabs(visits.segments[0].a_end - VIDEO_SECONDS) < .01);
        assert_true(visits.segments[0].speed == 1);
        assert_true(visits.match.false_positive_rate <= 1e-3);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { CLIPS = 400 };

static void finds_clips(void **state)
{
    struct shelf *shelf = *state;
    double errors[4 * CLIPS], speeds[CLIPS];
    for (int i = 0; i < CLIPS; i++) {
        double length = video_uniform(&shelf->state, 8, 30);
        double from = video_uniform(&shelf->state, 0, VIDEO_SECONDS - length);
        double speed = i % 2 ? video_uniform(&shelf->state, .75, 1.35) : 1;
        struct showing showing = {from, from + length, speed, 0, 8, i % 3 == 0};
        struct doppel_video_track clip =
            clip_shown(&shelf->clips[i % VIDEOS], &showing, &shelf->state);
        struct visits visits = find(shelf->videos, &clip);
        assert_int_equal(visits.count, 1);
        assert_int_equal(visits.id, i % VIDEOS);
        const struct doppel_segment *segment = &visits.segments[0];
        errors[4 * i] = fabs(segment->a_start);
        errors[4 * i + 1] = fabs(segment->a_end - length / speed);
        errors[4 * i + 2] = fabs(segment->b_start - from);
        errors[4 * i + 3] = fabs(segment->b_end - from - length);
        speeds[i] = fabs(segment->speed - speed);
        if (getenv("VERBOSE"))
            print_message(
                "%d: seg %zu: %.2f-%.2f %.2f-%.2f speed %.3f | true %.2f-%.2f %.2f %.3f score "
                "%.1f %s\n",
                i, visits.match.segment_count, segment->a_start, segment->a_end, segment->b_start,
                segment->b_end, segment->speed, from, from + length, length / speed, speed,
                visits.match.score, errors[4 * i + 2] > .3 || errors[4 * i + 3] > .3 ? "BAD" : "");
        doppel_video_track_free(&clip);
    }
    qsort(errors, (size_t)4 * CLIPS, sizeof *errors, by_value);
    qsort(speeds, CLIPS, sizeof *speeds, by_value);
    print_message("ends: median %.3f, p95 %.3f s; speed: median %.4f, p95 %.4f\n",
                  errors[2 * CLIPS], errors[4 * CLIPS * 19 / 20], speeds[CLIPS / 2],
                  speeds[CLIPS * 19 / 20]);
    assert_true(errors[2 * CLIPS] <= .1);
    assert_true(errors[4 * CLIPS * 19 / 20] <= .5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_itself),
        cmocka_unit_test(finds_clips),
    };
    return cmocka_run_group_tests(tests, shelf_make, shelf_free);
}
