/* Verification of an alignment against comparing all peaks with all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/peaks.h"
#include "match/audio/search.h"

enum { STEPS = DOPPEL_AUDIO_TIME_STEPS, ROUNDS = 60 };

static const int primes[] = {11, 17, 23, 29, 37, 41, 47, 53, 61, 71, 83, 97};

/* @return its peaks but for faint ones are given (free) */
static struct window window_of(const struct made_audio *made)
{
    struct window window = {.peaks = malloc((made->count + 1) * sizeof *window.peaks),
                            .all = made->peaks,
                            .all_count = made->count,
                            .faint_voted = true};
    assert_non_null(window.peaks);
    for (size_t i = 0; i < made->count; i++)
        if (!made->peaks[i].faint)
            window.peaks[window.count++] = made->peaks[i];
    window.last = made->count ? made->peaks[made->count - 1].time : 0;
    return window;
}

/* What the meeting counts that counts most; 0: the peak is not met. */
static double met_as(const struct made_audio *item, const struct candidate *at, int hops,
                     const struct doppel_audio_peak *peak)
{
    long time = lrint(at->speed * peak->time + at->offset) + hops * STEPS;
    long frequency = lrint(peak->frequency / at->pitch);
    double best = 0;
    for (size_t i = 0; i < item->count; i++) {
        double late = (double)labs((long)item->peaks[i].time - time) / 21;
        double high = (double)labs((long)item->peaks[i].frequency - frequency) / 70;
        if (late <= 1 && high <= 1)
            best = fmax(best, (1 - 0.7 * late * late) * (1 - 0.7 * high * high));
    }
    return best;
}

struct shift {
    int hops;
    double met[2]; /* by what meetings count; of faint peaks */
    uint32_t all[2], within[2];
};

static struct shift met_at(const struct window *window, const struct made_audio *item,
                           const struct candidate *at, int hops)
{
    struct shift shift = {.hops = hops};
    for (size_t i = 0; i < window->all_count; i++) {
        const struct doppel_audio_peak *peak = &window->all[i];
        double time = at->speed * peak->time + at->offset + hops * STEPS;
        double met = met_as(item, at, hops, peak);
        shift.met[peak->faint] += met;
        shift.all[peak->faint] += met > 0;
        shift.within[peak->faint] += time >= 0 && time < (double)at->hops * STEPS;
    }
    return shift;
}

static int most_first(const void *a, const void *b)
{
    const struct shift *left = a, *right = b;
    double x = left->met[0] + left->met[1], y = right->met[0] + right->met[1];
    return x != y ? (x < y) - (x > y) : left->hops - right->hops;
}

static struct verdict slow_check(const struct window *window, const struct made_audio *item,
                                 const struct candidate *at)
{
    struct shift here = met_at(window, item, at, 0), shifts[24];
    struct verdict verdict = {.met = here.all[0]};
    verdict.peaks = here.all[0] > here.within[0] ? here.all[0] : here.within[0];
    for (size_t i = 0; i < 24; i++)
        shifts[i] = met_at(window, item, at, i % 2 ? primes[i / 2] : -primes[i / 2]);
    qsort(shifts, 24, sizeof *shifts, most_first);
    for (int faint = 0; faint < 2; faint++) {
        double by_chance = 0, trials = 0, n = faint ? here.within[1] : verdict.peaks;
        for (size_t i = 0; i < 8; i++) {
            by_chance += shifts[i].met[faint];
            trials += shifts[i].within[faint];
        }
        by_chance = fmin(1, (by_chance + 1) / (trials + 2));
        verdict.met_by_chance = faint ? verdict.met_by_chance : by_chance;
        double met = fmin(here.met[faint], n), share = n > 0 ? met / n : 0;
        double evidence = share > by_chance ? met * log(share / by_chance) : 0;
        if (share > by_chance && met < n)
            evidence += (n - met) * log((1 - share) / (1 - by_chance));
        verdict.evidence += faint ? fmax(evidence - 2, 0) : evidence;
    }
    return verdict;
}

static struct candidate candidate_at(const struct made_audio *item, double offset)
{
    return (struct candidate){
        .hops = (uint32_t)(item->duration * STEPS_A_SECOND / STEPS), .offset = offset, 1, 1, 0};
}

static void check(const struct made_audio *heard, const struct made_audio *item, bool same_speed,
                  struct candidate *at, struct verdict *out)
{
    struct window window = window_of(heard);
    struct doppel_audio_track track = {.peaks = item->peaks, .count = item->count};
    assert_true(candidate_check(&window, &track, same_speed, at, out));
    free(window.peaks);
}

static void test_against_all_pairs(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct made_audio item = make_audio(1 + random_share(&seed) * 12, 40, &seed);
        struct hearing how = {.from = random_share(&seed) * 8 - 4,
                              .seconds = random_share(&seed) * 5,
                              .kept = random_share(&seed),
                              .added = random_share(&seed) * 60,
                              .speed = 1,
                              .pitch = 1};
        struct made_audio heard = hear(&item, &how, &seed);
        struct candidate at = candidate_at(&item, round % 3 ? how.from * STEPS_A_SECOND
                                                            : random_share(&seed) * 4000 - 1000);
        for (size_t i = 0; i < heard.count && round % 4; i++)
            heard.peaks[i].faint = random_word(&seed) % 3 != 0;
        struct window window = window_of(&heard);
        struct verdict got;
        check(&heard, &item, true, &at, &got);
        struct verdict wanted = slow_check(&window, &item, &at);
        assert_int_equal(got.met, wanted.met);
        assert_int_equal(got.peaks, wanted.peaks);
        assert_true(fabs(got.met_by_chance - wanted.met_by_chance) < 1e-9);
        assert_true(fabs(got.evidence - wanted.evidence) < 1e-6 * (1 + wanted.evidence));
        free(window.peaks);
        free(heard.peaks);
        free(item.peaks);
    }
}

/* Faint peaks that did not vote are passed over, where the others tell nothing. */
static void test_faint_where_others_tell(void **state)
{
    (void)state;
    uint64_t seed = 4;
    unsigned looked_at = 0;
    for (unsigned round = 0; round < 2 * ROUNDS; round++) {
        struct made_audio item = make_audio(12, 40, &seed);
        struct hearing how = {.from = 3,
                              .seconds = 5,
                              .kept = random_share(&seed) / 3,
                              .added = 40,
                              .speed = 1,
                              .pitch = 1};
        struct made_audio heard = hear(&item, &how, &seed);
        for (size_t i = 0; i < heard.count; i++)
            heard.peaks[i].faint = random_word(&seed) % 3 != 0;
        struct candidate at = candidate_at(&item, how.from * STEPS_A_SECOND);
        struct candidate all_at = at, others_at = at;
        struct doppel_audio_track track = {.peaks = item.peaks, .count = item.count};
        struct window window = window_of(&heard), others = window;
        struct verdict got, of_all, of_others;
        others.all = others.peaks;
        others.all_count = others.count;
        assert_true(candidate_check(&window, &track, true, &all_at, &of_all));
        assert_true(candidate_check(&others, &track, true, &others_at, &of_others));
        window.faint_voted = false;
        assert_true(candidate_check(&window, &track, true, &at, &got));
        bool faint = of_others.evidence >= 1;
        assert_true(got.evidence == (faint ? of_all.evidence : of_others.evidence));
        assert_true(at.offset == (faint ? all_at.offset : others_at.offset));
        looked_at += faint;
        free(window.peaks);
        free(heard.peaks);
        free(item.peaks);
    }
    assert_true(looked_at > ROUNDS / 4 && looked_at < 2 * ROUNDS - ROUNDS / 4);
}

/* A copy heard among others: its place is told to a part of a hop, although it was voted a hop off;
 * speed and pitch to a part of their step. */
static void test_refinement(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool scaled = round % 2;
        double speed = scaled ? 0.95 + 0.1 * random_share(&seed) : 1;
        double pitch = scaled ? 0.95 + 0.1 * random_share(&seed) : 1;
        struct hearing how = {.from = 3, .seconds = 5, .kept = 0.7, .added = 20, speed, pitch};
        struct made_audio item = make_audio(12, 40, &seed), heard = hear(&item, &how, &seed);
        struct candidate at = candidate_at(&item, how.from * STEPS_A_SECOND +
                                                      (random_share(&seed) - 0.5) * 2 * STEPS);
        at.speed = scaled ? speed + 0.004 * (random_share(&seed) - 0.5) : 1;
        at.pitch = scaled ? pitch + 0.004 * (random_share(&seed) - 0.5) : 1;
        struct verdict verdict;
        check(&heard, &item, false, &at, &verdict);
        assert_true(verdict.evidence > 50);
        double middle = heard.peaks[heard.count / 2].time;
        double wanted = how.from * STEPS_A_SECOND + speed * middle;
        assert_true(fabs(at.offset + at.speed * middle - wanted) <= 4);
        assert_true(fabs(at.speed - speed) < 0.0015 && fabs(at.pitch - pitch) < 0.0015);
        assert_true(scaled || (at.speed == 1 && at.pitch == 1));
        free(heard.peaks);
        free(item.peaks);
    }
}

static void test_nothing_to_compare(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct made_audio none = make_audio(5, 0, &seed), one = make_audio(1, 1, &seed);
    const struct made_audio *recordings[] = {&none, &one};
    for (int i = 0; i < 4; i++) {
        struct verdict verdict;
        for (double offset = -1e9; offset <= 1e9; offset += 5e8) {
            struct candidate at = candidate_at(recordings[i / 2], offset);
            check(recordings[i % 2], recordings[i / 2], i == 2, &at, &verdict);
            assert_true(verdict.met <= 1 && verdict.evidence >= 0 && verdict.evidence < 3);
        }
    }
    free(none.peaks);
    free(one.peaks);
}

/* ---- a look before ---- */

/* Whether a peak of the window lies within a hop and a bin. */
static bool is_drawn(const struct window *window, long hop, long bin)
{
    for (size_t i = 0; i < window->all_count; i++)
        if (labs((long)(window->all[i].time + STEPS / 2) / STEPS - hop) <= 1 &&
            labs((long)(window->all[i].frequency + 32) / 64 - bin) <= 1)
            return true;
    return false;
}

/* As screen_candidate, peak by peak. */
static double slow_look(const struct window *window, const struct made_audio *item,
                        const struct candidate *at)
{
    long hops = window->last / STEPS + 2, met[5] = {0}, most = 0;
    double expected = 0, variance = 1;
    for (size_t i = 0; i < item->count; i++) {
        long hop = lrint((item->peaks[i].time - at->offset) / STEPS);
        long bin = lrint(item->peaks[i].frequency / 64.0), drawn = 0;
        if (hop < 0 || hop >= hops)
            continue;
        for (long row = 0; row < hops; row++) {
            bool is = is_drawn(window, row, bin);
            drawn += is;
            if (labs(row - hop) <= 2)
                met[row - hop + 2] += is;
        }
        double chance = (double)drawn / (double)hops;
        expected += chance;
        variance += chance * (1 - chance);
    }
    for (int i = 0; i < 5; i++)
        most = met[i] > most ? met[i] : most;
    return ((double)most - expected) / sqrt(variance);
}

/* What a look says is so, and the right place is worth more than others. */
static void test_a_look(void **state)
{
    (void)state;
    uint64_t seed = 4;
    unsigned better = 0, others = 0;
    for (unsigned round = 0; round < 10; round++) {
        struct made_audio item = make_audio(8, 40, &seed);
        struct hearing how = {.from = 2, .seconds = 2, .kept = 0.4, .added = 200, 1, 1};
        struct made_audio heard = hear(&item, &how, &seed);
        struct window window = window_of(&heard);
        struct doppel_audio_track track = {.peaks = item.peaks, .count = item.count};
        struct screen *screen = screen_new(&window);
        assert_non_null(screen);
        struct candidate right = candidate_at(&item, how.from * STEPS_A_SECOND + 16);
        double worth = screen_candidate(screen, &track, &right);
        assert_true(fabs(worth - slow_look(&window, &item, &right)) < 1e-4);
        for (double offset = -2000; offset < 6000; offset += 777, others++) {
            struct candidate at = candidate_at(&item, offset);
            double there = screen_candidate(screen, &track, &at);
            assert_true(fabs(there - slow_look(&window, &item, &at)) < 1e-4);
            better += worth > there;
        }
        free(screen);
        free(window.peaks);
        free(heard.peaks);
        free(item.peaks);
    }
    assert_true(better * 100 >= others * 97);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all_pairs), cmocka_unit_test(test_faint_where_others_tell),
        cmocka_unit_test(test_refinement), cmocka_unit_test(test_nothing_to_compare),
        cmocka_unit_test(test_a_look)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
