/* Tables of what was found. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Goals: percent of the queries that are found. */
static const struct goal {
    const char *edit;
    double percent;
} GOALS[] = {{"pip", 97},
             {"clip3", 95},
             {"rotate", 85},
             {"logo", 90},
             {"subtitles", 85},
             {"crop", 85},
             {"crop_mirror_speed", 70},
             {"logo_letterbox", 70},
             {"vertical", 94},
             {"square_blur", 94}};

static double goal_of(const char *edit)
{
    for (size_t i = 0; i < sizeof GOALS / sizeof *GOALS; i++)
        if (!strcmp(GOALS[i].edit, edit))
            return GOALS[i].percent;
    return 100;
}

/* ---- failures ---- */

static void print_failure(const struct report *report, size_t number)
{
    const struct truth *truth = &report->truths->list[number];
    const struct asked *asked = &report->asked[number];
    printf("%s %s (%s)%s: ", truth->edit, truth->clip, truth->amounts,
           truth->is_static ? " static" : "");
    if (!asked->item)
        printf("missed, 10^%.1f", -asked->score);
    else if (!asked->place)
        printf("elsewhere, %.2f-%.2f at %.2f-%.2f, not %.2f-%.2f at %.2f-%.2f",
               asked->segment.a_start, asked->segment.a_end, asked->segment.b_start,
               asked->segment.b_end, truth->a_start, truth->a_end, truth->b_start, truth->b_end);
    else
        printf("found, 10^%.1f", -asked->score);
    if (!isnan(asked->compared))
        printf("; compared 10^%.1f", -asked->compared);
    if (asked->place && !asked->slope)
        printf("; speed %.3f, not %.3f", asked->segment.speed, truth->speed);
    if (!isnan(asked->wrong_score))
        printf("; %zu wrong, the best %s 10^%.1f", asked->wrong,
               report->clips->list[asked->wrong_video].name, -asked->wrong_score);
    printf("\n");
}

void report_failures(const struct report *report)
{
    for (size_t i = 0; i < report->truths->count; i++)
        if (!report->asked[i].place || report->asked[i].wrong || report->asked[i].contradictory ||
            (!report->asked[i].slope && !report->asked[i].uncertain))
            print_failure(report, i);
    printf("\n");
}

/* ---- recall ---- */

/** What is counted of an edit. */
struct tally {
    size_t queries, item, place, uncertain, mirrored, wrong;
    size_t compared; /**< not found, but a comparison says 1e-4 or less */
    size_t timed, slope, contradictory;
    double wrong_score, seconds, slowest;
};

static void count_in(struct tally *tally, const struct asked *asked)
{
    tally->queries++;
    tally->item += asked->item;
    tally->place += asked->place;
    tally->uncertain += asked->place && asked->uncertain;
    tally->mirrored += asked->place && asked->mirrored;
    tally->wrong += asked->wrong;
    tally->compared += asked->compared >= 4;
    tally->timed += asked->place && !asked->uncertain;
    tally->slope += asked->place && !asked->uncertain && asked->slope;
    tally->contradictory += asked->contradictory;
    tally->seconds += asked->seconds;
    tally->slowest = fmax(tally->slowest, asked->seconds);
    if (!(tally->wrong_score >= asked->wrong_score) && !isnan(asked->wrong_score))
        tally->wrong_score = asked->wrong_score;
}

static double percent(size_t part, size_t of)
{
    return of ? 100 * (double)part / (double)of : 0;
}

static void print_tally(const char *name, const char *goal, const struct tally *tally)
{
    printf("| %-18s | %5s | %7zu | %6.1f | %6.1f | %6.1f | %6.1f | %5zu | %9.1f | %7.1f |"
           " %8zu | %6.1f | %5zu |\n",
           name, goal, tally->queries, percent(tally->place, tally->queries),
           percent(tally->item, tally->queries), percent(tally->uncertain, tally->queries),
           percent(tally->mirrored, tally->place), tally->wrong, -tally->wrong_score,
           1000 * tally->seconds / fmax(1, (double)tally->queries), tally->compared,
           percent(tally->slope, tally->timed), tally->contradictory);
}

static bool first_of_edit(const struct truths *truths, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (!strcmp(truths->list[i].edit, truths->list[number].edit))
            return false;
    return true;
}

static struct tally tally_edit(const struct report *report, const char *edit, bool is_static)
{
    struct tally tally = {.wrong_score = NAN};
    for (size_t i = 0; i < report->truths->count; i++) {
        const struct truth *truth = &report->truths->list[i];
        if (truth->is_static == is_static && (!edit || !strcmp(truth->edit, edit)))
            count_in(&tally, &report->asked[i]);
    }
    return tally;
}

void report_recall(const struct report *report)
{
    double sum = 0;
    size_t edits = 0;
    printf("| edit               |  goal | queries |  found |   item | unsure | mirror | wrong | "
           "log10 E w |  ms     | compared |  speed | apart |\n"
           "|--------------------|-------|---------|--------|--------|--------|--------|-------|"
           "-----------|---------|----------|--------|-------|\n");
    for (size_t i = 0; i < report->truths->count; i++) {
        const char *edit = report->truths->list[i].edit;
        struct tally tally = tally_edit(report, edit, false);
        char goal[16];
        if (!first_of_edit(report->truths, i) || !tally.queries)
            continue;
        snprintf(goal, sizeof goal, "%.0f", goal_of(edit));
        print_tally(edit, goal, &tally);
        sum += percent(tally.place, tally.queries);
        edits++;
    }
    struct tally all = tally_edit(report, NULL, false), still = tally_edit(report, NULL, true);
    print_tally("all", "", &all);
    print_tally("still pictures", "", &still);
    printf("\nmean over edits %.1f (goal 93); slowest query %.0f ms\n",
           sum / fmax(1, (double)edits), 1000 * all.slowest);
}

/* ---- ends ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_errors(const char *name, double *errors, size_t count)
{
    size_t within = 0;
    if (!count)
        return;
    for (size_t i = 0; i < count; i++)
        within += errors[i] <= .5;
    qsort(errors, count, sizeof *errors, ascending);
    printf("| %-18s | %6zu | %6.3f | %6.3f | %6.3f | %6.1f |\n", name, count, errors[count / 2],
           errors[count * 9 / 10], errors[count - 1], percent(within, count));
}

/* Ends that may be off: the query's own where something else lies around the stretch. */
static size_t add_errors(const struct end *end, bool embedded, double *out)
{
    size_t count = 0;
    if (embedded)
        out[count++] = fabs(end->a);
    out[count++] = fabs(end->b);
    return count;
}

static bool has_ends(const struct truth *truth, const struct asked *asked)
{
    bool embedded = !strncmp(truth->edit, "embed", 5);
    return asked->place && truth->scenes >= 2 && !truth->is_static &&
           (embedded || !strncmp(truth->edit, "trim", 4));
}

static void report_edges(const struct report *report, const char *prefix, bool refined)
{
    double *errors = calloc(4 * report->truths->count + 1, sizeof *errors);
    char name[64];
    size_t count = 0;
    if (!errors)
        abort();
    for (size_t i = 0; i < report->truths->count; i++) {
        const struct truth *truth = &report->truths->list[i];
        const struct asked *asked = &report->asked[i];
        bool embedded = !strncmp(truth->edit, "embed", 5);
        if (!has_ends(truth, asked) || strncmp(truth->edit, prefix, strlen(prefix)) != 0)
            continue;
        count +=
            add_errors(refined ? &asked->refined_first : &asked->first, embedded, errors + count);
        count +=
            add_errors(refined ? &asked->refined_last : &asked->last, embedded, errors + count);
    }
    snprintf(name, sizeof name, "%s%s", *prefix ? prefix : "all", refined ? ", refined" : "");
    print_errors(name, errors, count);
    free(errors);
}

void report_ends(const struct report *report)
{
    static const char *const PREFIXES[] = {"trim", "embed", ""};
    printf("\nends of segments, of originals with two scenes or more; seconds from the truth\n\n"
           "|                    |   ends | median |    p90 |  worst | %% <.5s |\n"
           "|--------------------|--------|--------|--------|--------|--------|\n");
    for (int refined = 0; refined <= report->refined; refined++)
        for (int i = 0; i < 3; i++)
            report_edges(report, PREFIXES[i], refined);
}
