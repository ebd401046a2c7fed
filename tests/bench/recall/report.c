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

static double mean_recall(const struct collection *list, const struct half *half, enum rule rule,
                          double limit)
{
    double sum = 0;
    for (int edit = 0; edit < edit_count; edit++)
        sum += recall(list, half, edit, rule, limit);
    return sum / edit_count;
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

static void print_cells(const struct collection *list, const struct half *half, int edit,
                        double limits[RULES][RATE_COUNT])
{
    for (int rule = 0; rule < RULES; rule++) {
        printf(" |");
        for (int i = 0; i < RATE_COUNT; i++) {
            double value = edit < edit_count
                               ? recall(list, half, edit, (enum rule)rule, limits[rule][i])
                               : mean_recall(list, half, (enum rule)rule, limits[rule][i]);
            printf(edit < edit_count ? " %4.0f" : " %4.1f", value);
        }
    }
}

void report_recall(const struct collection *list, const struct half *half)
{
    double limits[RULES][RATE_COUNT];
    for (int rule = 0; rule < RULES; rule++)
        for (int i = 0; i < RATE_COUNT; i++)
            limits[rule][i] = limit_at(&half->strangers, (enum rule)rule, RATES[i]);
    printf("\nRecall %% on the held half, at false-positive rates realised over %llu pairs of an "
           "edit and another original\n(1e-4: %.0f false pairs, 1e-5: %.0f, 1e-6: %.0f, none: 0)\n",
           (unsigned long long)half->strangers.pairs, 1e-4 * (double)half->strangers.pairs,
           1e-5 * (double)half->strangers.pairs, 1e-6 * (double)half->strangers.pairs);
    printf("%-14s |%-20s |%-20s |%-20s | median\n", "", " one 64-bit hash", " all views",
           " and pixels");
    printf("%-14s", "edit");
    for (int rule = 0; rule < RULES; rule++)
        printf(" | 1e-4 1e-5 1e-6 none");
    printf(" | d64 d256\n");
    for (int edit = 0; edit < edit_count; edit++) {
        printf("%-14s", edits[edit].name);
        print_cells(list, half, edit, limits);
        printf(" | %3d %4d\n", median_distance(list, half, edit, false),
               median_distance(list, half, edit, true));
    }
    printf("%-14s", "mean");
    print_cells(list, half, edit_count, limits);
    printf(" |\n");
}

void report_carried(const struct collection *list, const struct half *calibrating,
                    const struct half *held)
{
    static const char *const NAMES[RULES] = {"one 64-bit hash", "all views", "views and pixels"};
    printf("\nLimits of the calibrating half, on the held half:\n");
    for (int rule = 0; rule < RULES; rule++)
        for (int i = 0; i < 3; i++) {
            double limit = limit_at(&calibrating->strangers, (enum rule)rule, RATES[i]);
            printf("  %-16s at %.0e: realised %.1e, mean recall %.1f\n", NAMES[rule], RATES[i],
                   rate_at(&held->strangers, (enum rule)rule, limit),
                   mean_recall(list, held, (enum rule)rule, limit));
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
    printf("  at the default limit %.0e: %.0f false pairs of %llu, mean recall %.1f; "
           "with --check pixels %.0f false pairs, %.1f\n",
           DOPPEL_IMAGE_MAX_FPR,
           rate_at(&builtin->strangers, RULE_VIEWS, limit) * (double)builtin->strangers.pairs,
           (unsigned long long)builtin->strangers.pairs,
           mean_recall(list, builtin, RULE_VIEWS, limit),
           rate_at(&builtin->strangers, RULE_PIXELS, limit) * (double)builtin->strangers.pairs,
           mean_recall(list, builtin, RULE_PIXELS, limit));
    for (int edit = 0; edit < edit_count; edit++)
        printf("%s%s %.0f/%.0f",
               edit % 8 ? ", "
               : edit   ? ",\n    "
                        : "    ",
               edits[edit].name, recall(list, builtin, edit, RULE_VIEWS, limit),
               recall(list, builtin, edit, RULE_PIXELS, limit));
    printf("\n");
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
        "FULL", "TRIMMED", "CROP", "FULL_TURNED", "TRIMMED_TURNED", "CROP_TURNED"};
    printf("const struct calibration calibration_builtin = {\n    {\n");
    for (int class = 0; class < JUDGE_CLASSES; class ++) {
        printf("        [JUDGE_%s] = {", NAMES[class]);
        for (int i = 0; i < CALIBRATION_POINTS; i++)
            printf("%.2ff, ", (double)calibration->log_rate[class][i]);
        printf("},\n");
    }
    printf("    },\n    {");
    for (int i = 0; i <= PIXELS_BINS; i++)
        printf("%.2ff, ", (double)calibration->pixels_log_rate[i]);
    printf("},\n};\n");
}
