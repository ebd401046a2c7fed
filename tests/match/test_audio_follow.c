/* Alignments followed over made peaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/copied_peaks.h"
#include "match/heard.h"
#include "match/audio/follow.h"

/* An item, as a source of its strong peaks. */
struct item {
    peak_array peaks;
    double duration;
};

static bool source(void *context, uint64_t id, uint32_t from, uint32_t to,
                   struct doppel_audio_track *out)
{
    (void)id;
    struct item *item = context;
    struct doppel_audio_track track = {.duration_ms = (uint64_t)lround(item->duration * 1000)};
    track.peaks = malloc((item->peaks.count + 1) * sizeof *track.peaks);
    assert_non_null(track.peaks);
    for (size_t i = 0; i < item->peaks.count; i++) {
        struct doppel_audio_peak peak = item->peaks.items[i];
        if (peak.strong && peak.time >= from && peak.time < to)
            track.peaks[track.count++] = peak;
    }
    *out = track;
    return true;
}

/* Follow from the query's peaks between two times. */
static enum doppel_status follow_from(const struct doppel_recording *query, struct item *item,
                                      double from, double to, const struct alignment *alignment,
                                      struct run *out)
{
    struct item_view view = {.source = source, .context = item};
    struct pursuit pursuit = {.query = query, .view = &view};
    size_t first = 0, end = 0;
    while (first < query->count && doppel_audio_seconds(query->peaks[first].time) < from)
        first++;
    while (end < query->count && doppel_audio_seconds(query->peaks[end].time) < to)
        end++;
    enum doppel_status status = follow(&pursuit, alignment, first, end, out);
    view_free(&view);
    return status;
}

/* A query with a copy of a part of an item in the middle of something else. */
struct scene {
    struct item item;
    peak_array query;
    double duration;
    struct copying how;
};

static void make_scene(struct scene *scene, const struct copying *how, double around, uint64_t seed)
{
    *scene = (struct scene){.how = *how};
    scene->item.duration = how->until + around;
    add_random_peaks(&scene->item.peaks, 0, scene->item.duration, &seed);
    sort_peaks(&scene->item.peaks);
    double end = how->to + (how->until - how->from) / how->speed;
    scene->duration = end + around;
    add_random_peaks(&scene->query, 0, how->to, &seed);
    copy_peaks(&scene->query, &scene->item.peaks, how, &seed);
    add_random_peaks(&scene->query, end, scene->duration, &seed);
    sort_peaks(&scene->query);
}

static void free_scene(struct scene *scene)
{
    array_free(&scene->item.peaks);
    array_free(&scene->query);
}

static struct alignment true_alignment(const struct scene *scene)
{
    const struct copying *how = &scene->how;
    double middle = doppel_audio_seconds(0);
    double offset = (how->from - middle) - (how->to - middle) * how->speed;
    return (struct alignment){1, offset * STEPS_A_SECOND, how->speed, how->pitch, 0, 0, 0, 0, 0, 0};
}

static void follow_scene(struct scene *scene, double from, double to, struct run *run)
{
    struct doppel_recording query = audio_of(&scene->query, scene->duration);
    struct alignment alignment = true_alignment(scene);
    assert_int_equal(follow_from(&query, &scene->item, from, to, &alignment, run), DOPPEL_OK);
}

static double copy_end(const struct copying *how)
{
    return how->to + (how->until - how->from) / how->speed;
}

/* Ends are as exact as peaks are dense; the line is that of the copy. */
static void test_runs_end_where_copies_do(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int trial = 0; trial < 20; trial++) {
        double share = random_share(&seed), start = 5 + 10 * random_share(&seed);
        struct copying how = {.from = start,
                              .until = start + 4 + 30 * random_share(&seed),
                              .to = 3 + 10 * random_share(&seed),
                              .speed = 0.95 + 0.1 * random_share(&seed),
                              .pitch = 0.95 + 0.1 * random_share(&seed),
                              .kept = 1 - 0.4 * share,
                              .late = 1 + 4 * share,
                              .high = 3 + 12 * share};
        struct scene scene;
        struct run run;
        make_scene(&scene, &how, 5, seed + (uint64_t)trial);
        follow_scene(&scene, how.to - 1, how.to + 3, &run);
        double within = 0.4 / how.kept;
        assert_near(run.a_start, how.to, within);
        assert_near(run.b_start, how.from, within);
        assert_near(run.a_end, copy_end(&how), within);
        assert_near(run.b_end, how.until, within);
        assert_near(run.speed, how.speed, 4 * run.speed_error + 2e-4);
        assert_near(run.pitch, how.pitch, 1e-3);
        free_scene(&scene);
    }
}

/* Whether the item has a strong peak where the true line puts a peak of the query. */
static bool is_met(const struct scene *scene, const struct alignment *line, size_t peak)
{
    const struct doppel_audio_peak *at = &scene->query.items[peak];
    double place = at->time * line->speed + line->offset, high = at->frequency / line->pitch;
    for (size_t i = 0; i < scene->item.peaks.count; i++) {
        const struct doppel_audio_peak *other = &scene->item.peaks.items[i];
        if (other->strong && fabs(other->time - place) <= MEET_TIME &&
            fabs(other->frequency - high) <= MEET_FREQUENCY)
            return true;
    }
    return false;
}

/* Of all stretches that begin and end with a met peak, the one in which those that are met most
 * outweigh twice those that are not, strong ones: in seconds. */
static void slow_best_run(const struct scene *scene, double *out_start, double *out_end)
{
    struct alignment line = true_alignment(scene);
    double best = 0;
    for (size_t i = 0; i < scene->query.count; i++) {
        double sum = 0;
        if (!scene->query.items[i].strong || !is_met(scene, &line, i))
            continue;
        for (size_t k = i; k < scene->query.count; k++) {
            if (!scene->query.items[k].strong)
                continue;
            bool met = is_met(scene, &line, k);
            sum += met ? 2 : -4;
            if (!met || sum <= best)
                continue;
            best = sum;
            *out_start = doppel_audio_seconds(scene->query.items[i].time);
            *out_end = doppel_audio_seconds(scene->query.items[k].time);
        }
    }
}

/* The ends are those of the best of all runs, but for what is told beyond the last peaks. */
static void test_runs_are_the_best_ones(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int trial = 0; trial < 8; trial++) {
        struct copying how = {.from = 5,
                              .until = 7 + 3 * random_share(&seed),
                              .to = 4,
                              .speed = 1,
                              .pitch = 1,
                              .kept = 1,
                              .late = 1,
                              .high = 3};
        struct scene scene;
        struct run run;
        double start = 0, end = 0;
        make_scene(&scene, &how, 4, seed);
        follow_scene(&scene, 4, 6.5, &run);
        slow_best_run(&scene, &start, &end);
        assert_near(doppel_audio_seconds(run.first.time), start, 0.12);
        assert_near(doppel_audio_seconds(run.last.time), end, 0.12);
        free_scene(&scene);
    }
}

/* An alignment that is off by a little is mended, so that a long recording that drifts is one. */
static void test_drift_is_one_run(void **state)
{
    (void)state;
    struct copying how = {20, 920, 12, 1.003, 1.003, 0.7, 2, 8};
    struct scene scene;
    struct run run;
    make_scene(&scene, &how, 10, 7);
    struct doppel_recording query = audio_of(&scene.query, scene.duration);
    struct alignment alignment = true_alignment(&scene);
    alignment.offset += 10 + 400 * 0.003 * STEPS_A_SECOND;
    alignment.speed = alignment.pitch = 1;
    assert_int_equal(follow_from(&query, &scene.item, 410, 415, &alignment, &run), DOPPEL_OK);
    assert_near(run.a_start, how.to, 0.12);
    assert_near(run.a_end, copy_end(&how), 0.12);
    assert_near(run.speed, 1.003, 1e-5);
    free_scene(&scene);
}

/* What reaches the end of either audio is told up to it. */
static void test_whole_audio_are_whole(void **state)
{
    (void)state;
    struct copying wholes[] = {
        {0, 40, 0, 1, 1, 1, 1, 3}, {10, 40, 0, 1, 1, 1, 1, 3}, {0, 40, 10, 1, 1, 1, 1, 3}};
    for (size_t i = 0; i < 3; i++) {
        struct scene scene;
        struct run run;
        make_scene(&scene, &wholes[i], 0, i);
        follow_scene(&scene, wholes[i].to + 20, wholes[i].to + 25, &run);
        assert_near(run.a_start, wholes[i].to, 0.005);
        assert_near(run.b_start, wholes[i].from, 0.005);
        assert_near(run.a_end, scene.duration, 0.005);
        assert_near(run.b_end, scene.item.duration, 0.005);
        free_scene(&scene);
    }
}

/* Nothing of the query is in the item: no more than some seconds are followed. */
static void test_chance_is_not_followed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct copying how = {100, 100, 100, 1, 1, 1, 1, 3};
        struct scene scene;
        struct run run = {0};
        make_scene(&scene, &how, 100, seed);
        struct doppel_recording query = audio_of(&scene.query, scene.duration);
        struct alignment alignment = true_alignment(&scene);
        enum doppel_status status = follow_from(&query, &scene.item, 50, 55, &alignment, &run);
        assert_true(status == DOPPEL_OK || status == DOPPEL_E_NOT_FOUND);
        assert_true(run.evidence < 12);
        assert_true(run.beyond < 6);
        assert_true(run.a_end - run.a_start < 8);
        free_scene(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_end_where_copies_do),
        cmocka_unit_test(test_runs_are_the_best_ones),
        cmocka_unit_test(test_drift_is_one_run),
        cmocka_unit_test(test_whole_audio_are_whole),
        cmocka_unit_test(test_chance_is_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
