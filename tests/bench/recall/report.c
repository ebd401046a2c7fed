/* Prints the tables of image_recall. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "edits.h"

void report_collection(const struct collection *list)
{
    size_t unreadable = 0, gated = 0, held = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct subject *subject = &list->subjects[i];
        unreadable += !subject->readable;
        gated += subject->readable && subject->gated;
        held += subject->readable && !subject->gated && subject->held;
    }
    printf("%zu originals: %zu not decodable here, %zu under the quality gate (in neither half), "
           "%zu calibrate, %zu held for the report; %d edits of each\n",
           list->count, unreadable, gated, list->count - unreadable - gated - held, held,
           edit_count);
}

static bool counts(const struct subject *subject, bool held)
{
    return subject->readable && !subject->gated && subject->held == held;
}

static const struct finding *finding_of(const struct half *half, size_t subject, int edit)
{
    return &half->findings[subject * (size_t)edit_count + (size_t)edit];
}

/** Percent of the pictures whose edit reaches the limit by the rule. */
static double recall(const struct collection *list, const struct half *half, int edit,
                     enum rule rule, double limit)
{
    size_t found = 0, all = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!counts(&list->subjects[i], half->held))
            continue;
        all++;
        found += finding_of(half, i, edit)->strength[rule] >= (float)(limit - 1e-6);
    }
    return all ? 100. * (double)found / (double)all : 0;
}

/** Which edits a mean is over. */
enum edit_set { THE_41 = 1, THE_OTHERS = 2, ALL_EDITS = THE_41 | THE_OTHERS };

static double mean_recall(const struct collection *list, const struct half *half, enum rule rule,
                          double limit, enum edit_set set)
{
    double sum = 0;
    int count = 0;
    for (int edit = 0; edit < edit_count; edit++) {
        if (!(set & (edits[edit].more ? THE_OTHERS : THE_41)))
            continue;
        sum += recall(list, half, edit, rule, limit);
        count++;
    }
    return sum / count;
}

static int rising(const void *a, const void *b)
{
    return *(const uint8_t *)a - *(const uint8_t *)b;
}

static int median_distance(const struct collection *list, const struct half *half, int edit,
                           bool wide)
{
    uint8_t *values = calloc(list->count + 1, 1);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (counts(&list->subjects[i], half->held))
            values[count++] = wide ? finding_of(half, i, edit)->distance256
                                   : finding_of(half, i, edit)->distance64;
    qsort(values, count, 1, rising);
    int median = values[count / 2];
    free(values);
    return median;
}

/* ---- the table ---- */

static const double RATES[] = {1e-4, 1e-5, 1e-6, 0};
enum { RATE_COUNT = sizeof RATES / sizeof *RATES };

typedef double cell_function(const struct collection *list, const struct half *half, enum rule rule,
                             double limit, int which);

static double edit_cell(const struct collection *list, const struct half *half, enum rule rule,
                        double limit, int edit)
{
    return recall(list, half, edit, rule, limit);
}

static double mean_cell(const struct collection *list, const struct half *half, enum rule rule,
                        double limit, int set)
{
    return mean_recall(list, half, rule, limit, (enum edit_set)set);
}

/** One line: a cell for each rule and rate. */
static void print_cells(const struct collection *list, const struct half *half, cell_function *cell,
                        int which)
{
    for (int rule = 0; rule < RULES; rule++) {
        printf(" |");
        for (int i = 0; i < RATE_COUNT; i++) {
            double limit = limit_at(&half->strangers, (enum rule)rule, RATES[i]);
            double value = cell(list, half, (enum rule)rule, limit, which);
            printf(cell == edit_cell ? " %4.0f" : " %4.1f", value);
        }
    }
}

static void print_heading(const struct half *half)
{
    double pairs = (double)half->strangers.pairs;
    printf("\nRecall %% on the held half, at false-positive rates realised over %.0f pairs of an "
           "edit and another original\n(1e-4: %.0f false pairs, 1e-5: %.0f, 1e-6: %.0f, none: 0)\n",
           pairs, floor(1e-4 * pairs), floor(1e-5 * pairs), floor(1e-6 * pairs));
    printf("%-14s | %-19s | %-19s | %-19s | median\n", "", "one 64-bit hash", "all views",
           "views and pixels");
    printf("%-14s", "edit");
    for (int rule = 0; rule < RULES; rule++)
        printf(" | 1e-4 1e-5 1e-6 none");
    printf(" | d64 d256\n");
}

void report_recall(const struct collection *list, const struct half *half)
{
    static const struct {
        const char *name;
        enum edit_set set;
    } MEANS[] = {{"mean of the 41", THE_41}, {"of the others", THE_OTHERS}, {"of all", ALL_EDITS}};
    print_heading(half);
    for (int edit = 0; edit < edit_count; edit++) {
        printf("%-14s", edits[edit].name);
        print_cells(list, half, edit_cell, edit);
        printf(" | %3d %4d\n", median_distance(list, half, edit, false),
               median_distance(list, half, edit, true));
    }
    for (int i = 0; i < 3; i++) {
        printf("%-14s", MEANS[i].name);
        print_cells(list, half, mean_cell, (int)MEANS[i].set);
        printf(" |\n");
    }
}

void report_carried(const struct collection *list, const struct half *calibrating,
                    const struct half *held)
{
    static const char *const NAMES[RULES] = {"one 64-bit hash", "all views", "views and pixels"};
    printf("\nLimits of the calibrating half, on the held half:\n");
    for (int rule = 0; rule < RULES; rule++)
        for (int i = 0; i < 3; i++) {
            double limit = limit_at(&calibrating->strangers, (enum rule)rule, RATES[i]);
            printf("  %-16s at %.0e: realised %.1e, mean recall of the 41 %.1f\n", NAMES[rule],
                   RATES[i], rate_at(&held->strangers, (enum rule)rule, limit),
                   mean_recall(list, held, (enum rule)rule, limit, THE_41));
        }
}

void report_product(const struct collection *list, const struct half *builtin)
{
    printf("\nThe built-in calibration, as the programs judge:\n");
    for (int i = 3; i <= 7; i++)
        printf("  stated rate <= 1e-%d: realised %.1e (codes), %.1e (with pixels)\n", i,
               rate_at(&builtin->strangers, RULE_VIEWS, i),
               rate_at(&builtin->strangers, RULE_PIXELS, i));
    double limit = -log10(DOPPEL_IMAGE_MAX_FPR);
    printf("  at the default limit %.0e: %.0f false pairs of %llu, mean recall of the 41 %.1f; "
           "with --check pixels %.0f false pairs, %.1f\n",
           DOPPEL_IMAGE_MAX_FPR,
           rate_at(&builtin->strangers, RULE_VIEWS, limit) * (double)builtin->strangers.pairs,
           (unsigned long long)builtin->strangers.pairs,
           mean_recall(list, builtin, RULE_VIEWS, limit, THE_41),
           rate_at(&builtin->strangers, RULE_PIXELS, limit) * (double)builtin->strangers.pairs,
           mean_recall(list, builtin, RULE_PIXELS, limit, THE_41));
    for (int edit = 0; edit < edit_count; edit++)
        printf("%s%s %.0f/%.0f",
               edit % 8 ? ", "
               : edit   ? ",\n    "
                        : "    ",
               edits[edit].name, recall(list, builtin, edit, RULE_VIEWS, limit),
               recall(list, builtin, edit, RULE_PIXELS, limit));
    printf("\n");
}

void report_alike(const struct alike_count *counts)
{
    struct alike_count sum = {0};
    printf("\nStrangers edited alike, at the default limit: false pairs by codes / with pixels\n");
    for (int e = 0; e < alike_count; e++) {
        const struct alike_count *count = &counts[e];
        printf("  %-14s %7llu pairs: %llu / %llu\n", alike_edits[e].name,
               (unsigned long long)count->pairs, (unsigned long long)count->false_pairs[RULE_VIEWS],
               (unsigned long long)count->false_pairs[RULE_PIXELS]);
        sum.pairs += count->pairs;
        for (int rule = 0; rule < RULES; rule++)
            sum.false_pairs[rule] += count->false_pairs[rule];
    }
    printf("  %-14s %7llu pairs: %llu / %llu\n", "all", (unsigned long long)sum.pairs,
           (unsigned long long)sum.false_pairs[RULE_VIEWS],
           (unsigned long long)sum.false_pairs[RULE_PIXELS]);
}

void report_nearest(const struct half *half)
{
    printf(
        "\nThe nearest strangers (look at them: a variant that was not found is no stranger):\n");
    for (int i = 0; i < NEAREST && half->nearest[i].query; i++)
        printf("  %.1f %s [%s] - %s\n", half->nearest[i].strength, half->nearest[i].query,
               half->nearest[i].edit, half->nearest[i].item);
}

void dump_calibration(const struct calibration *calibration)
{
    static const char *const NAMES[JUDGE_CLASSES] = {
        "FULL", "TRIMMED", "CROP", "FULL_TURNED", "TRIMMED_TURNED", "CROP_TURNED", "PARTS"};
    printf("const struct calibration calibration_builtin = {\n    {\n");
    for (int class = 0; class < JUDGE_CLASSES; class ++) {
        printf("        [JUDGE_%s] = {", NAMES[class]);
        for (int i = 0; i < CALIBRATION_POINTS; i++)
            printf("%.2ff, ", (double)calibration->log_rate[class][i]);
        printf("},\n");
    }
    printf("    },\n    {");
    for (int i = 0; i < CALIBRATION_POINTS; i++)
        printf("%.2ff, ", (double)calibration->pixels_log_rate[i]);
    printf("},\n};\n");
}
