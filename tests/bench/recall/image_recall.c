/* image_recall DIR...: how many edited pictures doppel finds again, at which false-positive rate.
 * Edits are made here; one half of the originals calibrates, the other is reported on. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "edits.h"
#include "report.h"

static const char USAGE[] =
    "usage: image_recall [OPTION...] DIR...\n"
    "  --seed N            of the edits' amounts and places (default 1)\n"
    "  --jobs N            threads (default: one a processor)\n"
    "  --quick             at most 40 originals\n"
    "  --samples DIR       write the edits of the first original as PNG\n"
    "  --variants FILE     the originals that are no strangers, two names a line and a tab "
    "between;\n"
    "                      without it those that score 100 at most laid over each other, or\n"
    "                      whose edges agree by .35\n"
    "  --dump-calibration  calibrate on all originals and print the C table\n";

struct settings {
    struct collect_options collect;
    bool dump;
    const char *variants;
    char **folders;
};

static bool parse(int argc, char **argv, struct settings *out)
{
    static const struct option OPTIONS[] = {{"seed", required_argument, NULL, 's'},
                                            {"jobs", required_argument, NULL, 'j'},
                                            {"quick", no_argument, NULL, 'q'},
                                            {"samples", required_argument, NULL, 'p'},
                                            {"variants", required_argument, NULL, 'v'},
                                            {"dump-calibration", no_argument, NULL, 'd'},
                                            {NULL, 0, NULL, 0}};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    out->collect.seed = 1;
    out->collect.jobs = processors > 0 ? (unsigned)processors : 1;
    for (int option; (option = getopt_long(argc, argv, "j:", OPTIONS, NULL)) != -1;) {
        if (option == 's')
            out->collect.seed = strtoull(optarg, NULL, 10);
        else if (option == 'j')
            out->collect.jobs = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'q')
            out->collect.limit = 40;
        else if (option == 'p')
            out->collect.samples = optarg;
        else if (option == 'v')
            out->variants = optarg;
        else if (option == 'd')
            out->dump = true;
        else
            return false;
    }
    out->folders = argv + optind;
    return optind < argc && out->collect.jobs > 0;
}

/** Classes first: what is borderline for the pixels follows from them. */
static void calibrate(const struct collection *list, const bool *variants,
                      struct rate_options *options, struct calibration *out)
{
    struct half *half = calloc(1, sizeof *half);
    rate_half(list, variants, options, half);
    calibrate_classes(half, out);
    free(half->findings);
    *half = (struct half){0};
    options->calibration = out;
    rate_half(list, variants, options, half);
    calibrate_pixels(half, out);
    free(half->findings);
    free(half);
}

static void report(const struct collection *list, const bool *variants, unsigned jobs)
{
    struct half *calibrating = calloc(1, sizeof *calibrating), *held = calloc(1, sizeof *held);
    struct half *builtin = calloc(1, sizeof *builtin);
    struct calibration calibration = {0};
    struct alike_count *alike = calloc((size_t)alike_count, sizeof *alike);
    struct rate_options options = {
        .jobs = jobs, .calibration = &calibration_builtin, .limit = -log10(DOPPEL_IMAGE_MAX_FPR)};
    held->held = builtin->held = true;
    calibrate(list, variants, &options, &calibration);
    rate_half(list, variants, &options, calibrating);
    rate_half(list, variants, &options, held);
    options.calibration = &calibration_builtin;
    rate_half(list, variants, &options, builtin);
    rate_alike(list, variants, &options, alike);
    report_recall(list, held);
    report_carried(list, calibrating, held);
    report_product(list, builtin);
    report_alike(alike);
    report_nearest(builtin);
    free(alike);
    struct half *halves[] = {calibrating, held, builtin};
    for (int i = 0; i < 3; i++) {
        free(halves[i]->findings);
        free(halves[i]);
    }
}

static void dump(const struct collection *list, const bool *variants, unsigned jobs)
{
    struct calibration calibration = {0};
    struct rate_options options = {.jobs = jobs, .calibration = &calibration_builtin};
    for (size_t i = 0; i < list->count; i++)
        list->subjects[i].held = false;
    calibrate(list, variants, &options, &calibration);
    dump_calibration(&calibration);
}

int main(int argc, char **argv)
{
    struct settings settings = {0};
    if (!parse(argc, argv, &settings)) {
        fputs(USAGE, stderr);
        return 2;
    }
    time_t begin = time(NULL);
    struct collection list = collect(settings.folders, &settings.collect);
    report_collection(&list);
    bool *variants = calloc(list.count * list.count, sizeof *variants);
    if (!settings.variants)
        find_variants(&list, variants);
    else if (!read_variants(&list, settings.variants, variants))
        fprintf(stderr, "%s: cannot be read\n", settings.variants);
    if (settings.dump)
        dump(&list, variants, settings.collect.jobs);
    else
        report(&list, variants, settings.collect.jobs);
    printf("%.0f s\n", difftime(time(NULL), begin));
    free(variants);
    collection_free(&list);
    return 0;
}
