/* Radius searches: the engine and its peers over one set of codes, uniform, skewed, wide. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "index/index_bench.h"

enum { RADII_MAX = 6 };

static const double none = NAN;

/* One table: radii and goals in µs, for one number of codes. */
struct trial {
    const char *title;
    uint32_t radii[RADII_MAX];
    size_t radius_count;
    double goals[RADII_MAX]; /* NAN: none */
    const struct plan *plan;
    struct codes codes;
    uint64_t *queries[RADII_MAX];
    struct answers answers[RADII_MAX];
};

static void trial_start(struct trial *trial, enum codes_shape shape, uint32_t bits, size_t count)
{
    char size[32];
    trial->codes = codes_make(shape, bits, count);
    for (size_t r = 0; r < trial->radius_count; r++) {
        trial->queries[r] = queries_make(&trial->codes, trial->plan->queries, trial->radii[r]);
        trial->answers[r] = answers_new(trial->plan->queries);
    }
    print_count(size, sizeof size, count);
    printf("\n%s, %u bits, %s codes; %zu queries, half planted; CPU µs of one thread\n",
           trial->title, bits, size, trial->plan->queries);
    printf("  %-38s", "radius");
    for (size_t r = 0; r < trial->radius_count; r++)
        printf(" %9u", trial->radii[r]);
    putchar('\n');
    fflush(stdout);
}

static void trial_end(struct trial *trial)
{
    for (size_t r = 0; r < trial->radius_count; r++) {
        free(trial->queries[r]);
        answers_free(&trial->answers[r]);
    }
    codes_free(&trial->codes);
}

static void time_radii(struct trial *trial, const struct finder *finder, struct times *out)
{
    for (size_t r = 0; r < trial->radius_count; r++)
        out[r] = time_search(finder, trial->queries[r], trial->codes.words, trial->radii[r],
                             &trial->answers[r]);
}

/* `field` 0: median, 1: p99, 2: mean. */
static void print_times(const char *label, const struct times *times, size_t count, int field)
{
    double values[RADII_MAX];
    for (size_t r = 0; r < count; r++)
        values[r] = field == 0 ? times[r].median : field == 1 ? times[r].p99 : times[r].mean;
    print_row(label, values, count);
}

static void print_ratio(const char *label, const struct times *times, const double *of,
                        size_t count)
{
    double values[RADII_MAX];
    for (size_t r = 0; r < count; r++)
        values[r] = times[r].median / of[r];
    print_row(label, values, count);
}

static void print_hits(const struct trial *trial)
{
    double values[RADII_MAX];
    for (size_t r = 0; r < trial->radius_count; r++) {
        uint64_t hits = 0;
        for (size_t i = 0; i < trial->answers[r].count; i++)
            hits += trial->answers[r].hits[i];
        values[r] = (double)hits / (double)trial->answers[r].count;
    }
    print_row("hits a query, mean", values, trial->radius_count);
}

/* The peer's medians, and how many times the engine's they are. */
static void run_peer(struct trial *trial, struct finder peer, const double *engine)
{
    char label[64];
    struct times times[RADII_MAX];
    time_radii(trial, &peer, times);
    print_times(peer.name, times, trial->radius_count, 0);
    snprintf(label, sizeof label, "%s / doppel", peer.name);
    print_ratio(label, times, engine, trial->radius_count);
    fflush(stdout);
    finder_free(&peer);
}

static void print_batch(struct trial *trial, const struct finder *finder)
{
    double values[RADII_MAX];
    for (size_t r = 0; r < trial->radius_count; r++)
        values[r] = time_search_all(finder, trial->queries[r], trial->radii[r], &trial->answers[r]);
    print_row("doppel, all in one call", values, trial->radius_count);
}

static void run_engine(struct trial *trial, struct finder engine, double *out_medians)
{
    struct times times[RADII_MAX];
    size_t count = trial->radius_count;
    time_radii(trial, &engine, times);
    for (size_t r = 0; r < count; r++)
        out_medians[r] = times[r].median;
    print_row("goal", trial->goals, count);
    print_times("doppel, median", times, count, 0);
    print_ratio("doppel / goal (≤ 1)", times, trial->goals, count);
    print_times("doppel, p99", times, count, 1);
    print_times("doppel, mean", times, count, 2);
    print_batch(trial, &engine);
    print_hits(trial);
    printf("  built in %.0f ns a code; %.1f bytes a code, payload included\n",
           engine.build_seconds * 1e9 / (double)trial->codes.count,
           (double)engine.bytes / (double)trial->codes.count);
    fflush(stdout);
    finder_free(&engine);
}

/* Against the lines that have to be fetched. */
static void print_floor(const struct trial *trial, const double *medians)
{
    double floors[RADII_MAX], ratios[RADII_MAX];
    for (size_t r = 0; r < trial->radius_count; r++) {
        floors[r] = machine_lines(trial->codes.count, trial->radii[r]) *
                    trial->plan->machine.line_ns * 1e-3;
        ratios[r] = medians[r] / floors[r];
    }
    print_row("cache lines needed × latency", floors, trial->radius_count);
    print_row("doppel / that (≤ 2)", ratios, trial->radius_count);
}

static void run_peers(struct trial *trial, const double *engine)
{
    size_t count = trial->codes.count;
    if (!trial->plan->peers)
        return;
    run_peer(trial, finder_norouzi(&trial->codes), engine);
    if (trial->codes.bits == 64 || trial->codes.bits == 256)
        run_peer(trial, finder_scan(&trial->codes), engine);
#ifdef HAVE_FAISS
    if (count <= 10000000)
        run_peer(trial, finder_faiss_flat(&trial->codes), engine);
    if (count <= 1000000)
        run_peer(trial, finder_faiss_multi(&trial->codes), engine);
#else
    (void)count;
#endif
}

/* ---- the sections ---- */

static const struct {
    size_t count;
    double goals[5];
} uniform_goals[] = {
    {1000000, {0.4, 1.6, 4, 9, 32}},
    {10000000, {1, 5, 11, 46, 165}},
    {100000000, {3, 20, 50, 250, 900}},
};

static void set_goals(struct trial *trial, size_t count)
{
    for (size_t r = 0; r < RADII_MAX; r++)
        trial->goals[r] = none;
    for (size_t i = 0; i < sizeof uniform_goals / sizeof *uniform_goals; i++)
        if (uniform_goals[i].count == count)
            for (size_t r = 0; r < 5; r++)
                trial->goals[r] = uniform_goals[i].goals[r];
}

static struct trial trial_64(const struct plan *plan, const char *title, size_t count)
{
    struct trial trial = {
        .title = title, .radii = {3, 6, 8, 10, 12}, .radius_count = 5, .plan = plan};
    set_goals(&trial, count);
    return trial;
}

void section_hamming(const struct plan *plan)
{
    for (size_t i = 0; i < plan->size_count; i++) {
        double medians[RADII_MAX];
        struct trial trial = trial_64(plan, "uniform", plan->sizes[i]);
        trial_start(&trial, CODES_UNIFORM, 64, plan->sizes[i]);
        run_engine(&trial, plan_engine(plan, &trial.codes, 8, false), medians);
        print_floor(&trial, medians);
        run_peers(&trial, medians);
        trial_end(&trial);
    }
}

/* The same for uniform codes, in the same run; the goals are multiples of it. */
void section_skewed(const struct plan *plan)
{
    static const double factors[] = {2, 2, 2, 2.5, 2.5};
    for (size_t i = 0; i < plan->size_count; i++) {
        double medians[RADII_MAX], uniform[RADII_MAX];
        struct trial trial = trial_64(plan, "uniform, for comparison", plan->sizes[i]);
        trial_start(&trial, CODES_UNIFORM, 64, plan->sizes[i]);
        run_engine(&trial, plan_engine(plan, &trial.codes, 8, false), uniform);
        trial_end(&trial);
        trial.title = "skewed";
        for (size_t r = 0; r < trial.radius_count; r++)
            trial.goals[r] = factors[r] * uniform[r];
        trial_start(&trial, CODES_SKEWED, 64, plan->sizes[i]);
        run_engine(&trial, plan_engine(plan, &trial.codes, 8, false), medians);
        run_peers(&trial, medians);
        trial_end(&trial);
    }
}

void section_wide(const struct plan *plan)
{
    for (size_t i = 0; i < plan->size_count && plan->sizes[i] <= 10000000; i++) {
        size_t count = plan->sizes[i];
        double medians[RADII_MAX], goal = count == 1000000 ? 40 : count == 10000000 ? 180 : none;
        struct trial trial = {.title = "uniform",
                              .radii = {16, 31, 40, 64},
                              .radius_count = 4,
                              .goals = {none, goal, none, none},
                              .plan = plan};
        trial_start(&trial, CODES_UNIFORM, 256, count);
        run_engine(&trial, plan_engine(plan, &trial.codes, 31, false), medians);
        run_peers(&trial, medians);
        trial_end(&trial);
    }
}

void section_compact(const struct plan *plan)
{
    for (size_t i = 0; i < plan->size_count; i++) {
        double medians[RADII_MAX];
        struct trial trial = trial_64(plan, "uniform, compact (≤ 33 bytes)", plan->sizes[i]);
        for (size_t r = 0; r < RADII_MAX; r++)
            trial.goals[r] = none;
        trial_start(&trial, CODES_UNIFORM, 64, plan->sizes[i]);
        run_engine(&trial, plan_engine(plan, &trial.codes, 8, true), medians);
        trial_end(&trial);
    }
}
