/* image_steps DIR...: of pictures edited by fixed amounts, in small steps, how many are recognised.
 * image_steps --unrelated DIR...: how many pairs of different pictures are taken for the same. */
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rates.h"
#include "report.h"
#include "steps.h"

static const char USAGE[] =
    "usage: image_steps [OPTION...] DIR...\n"
    "  --rate R      the rate of a pair up to which it counts (default 1e-7)\n"
    "  --check-rate R  the rate of a pair up to which its pixels are looked at (default .125, as\n"
    "                of 128 pictures; of n it is 16 / n)\n"
    "  --limit N     at most N originals\n"
    "  --jobs N      threads (default: one a processor)\n"
    "  --seed N      of the edits' places (default 1)\n"
    "  --unrelated   compare the originals with each other, but for variants\n"
    "  --across      with --unrelated, only pairs of different DIRs\n"
    "  --variants FILE  with --unrelated, those that are of the same: two names a line, tab "
    "between\n";

enum { MOST_STEPS = 32 };

/** Of the edits of one kind and amount. */
struct step_count {
    uint64_t tried, found[RULES];
};

struct unrelated_count {
    uint64_t pairs, same[RULES][10]; /**< by the power of ten of the rate */
};

struct step_settings {
    struct collect_options collect;
    double strength, least_checked;
    bool unrelated, across;
    const char *variants;
    char **folders;
};

struct step_crew {
    const struct collection *list;
    const struct step_settings *settings;
    const bool *variants;
    struct step_count (*counts)[MOST_STEPS];
    uint64_t tiers[TIERS], edits; /* found by each, of all edits */
    struct unrelated_count unrelated;
    atomic_size_t next;
    pthread_mutex_t lock;
};

static int steps_of(const struct step_edit *edit)
{
    return (int)lround((edit->last - edit->first) / edit->step) + 1;
}

static double amount_of_step(const struct step_edit *edit, int step)
{
    return edit->first + step * edit->step;
}

/* ---- edits ---- */

/** What comes of a pair whose pixels are looked at only where its codes are near enough. */
static void leave_unchecked(const struct step_settings *settings, double by_codes,
                            double *with_pixels)
{
    if (by_codes < settings->least_checked)
        *with_pixels = by_codes;
}

static void count_step(struct step_crew *crew, const struct subject *subject,
                       const struct image *image, int which, int step)
{
    const struct step_edit *edit = &step_edits[which];
    struct random random =
        random_seeded(crew->settings->collect.seed + (uint64_t)step, subject->name, edit->name);
    struct encoding encoding = {ENCODE_JPEG, 85};
    struct image edited = edit->apply(image, amount_of_step(edit, step), &random);
    struct doppel_image_features features;
    double strength[RULES] = {0}, tiers[TIERS] = {0};
    if (features_of_image(&edited, &encoding, &features)) {
        judge_strengths(&features, &subject->original, &calibration_builtin, strength);
        judge_tiers(&features, &subject->original, tiers);
        leave_unchecked(crew->settings, strength[RULE_VIEWS], &strength[RULE_PIXELS]);
        leave_unchecked(crew->settings, tiers[TIER_TURNED], &tiers[TIER_PIXELS]);
        doppel_fingerprint_free(&features.fingerprint);
    }
    image_free(&edited);
    pthread_mutex_lock(&crew->lock);
    crew->counts[which][step].tried++;
    for (int rule = 0; rule < RULES; rule++)
        crew->counts[which][step].found[rule] += strength[rule] >= crew->settings->strength;
    for (int tier = 0; tier < TIERS; tier++)
        crew->tiers[tier] += tiers[tier] >= crew->settings->strength;
    crew->edits++;
    pthread_mutex_unlock(&crew->lock);
}

static void count_edits(struct step_crew *crew, const struct subject *subject)
{
    struct image image = image_load(subject->path, COLLECT_MAX_SIDE);
    if (image.pixels && image.width >= COLLECT_MIN_SIDE && image.height >= COLLECT_MIN_SIDE)
        for (int which = 0; which < step_edit_count; which++)
            for (int step = 0; step < steps_of(&step_edits[which]); step++)
                count_step(crew, subject, &image, which, step);
    image_free(&image);
}

/* ---- unrelated pictures ---- */

/** Which of the folders a picture is of. */
static char *const *folder_of(const struct step_crew *crew, const struct subject *subject)
{
    char *const *folder = crew->settings->folders;
    for (; *folder; folder++) {
        const size_t length = strlen(*folder);
        if (!strncmp(subject->path, *folder, length) && subject->path[length] == '/')
            break;
    }
    return folder;
}

static void count_unrelated(struct step_crew *crew, size_t i)
{
    const struct collection *list = crew->list;
    struct unrelated_count mine = {0};
    char *const *folder = folder_of(crew, &list->subjects[i]);
    for (size_t j = i + 1; j < list->count; j++) {
        double strength[RULES];
        if (!list->subjects[j].readable || list->subjects[j].gated ||
            crew->variants[i * list->count + j] ||
            (crew->settings->across && folder_of(crew, &list->subjects[j]) == folder))
            continue;
        judge_strengths(&list->subjects[i].original, &list->subjects[j].original,
                        &calibration_builtin, strength);
        mine.pairs++;
        for (int rule = RULE_VIEWS; rule < RULES; rule++)
            for (int power = 1; power < 10; power++)
                mine.same[rule][power] += strength[rule] >= power;
        if (strength[RULE_PIXELS] >= crew->settings->strength)
            printf("taken for the same (1e-%.1f by codes, 1e-%.1f with pixels): %s\t%s\n",
                   strength[RULE_VIEWS], strength[RULE_PIXELS], list->subjects[i].name,
                   list->subjects[j].name);
    }
    pthread_mutex_lock(&crew->lock);
    crew->unrelated.pairs += mine.pairs;
    for (int rule = 0; rule < RULES; rule++)
        for (int power = 0; power < 10; power++)
            crew->unrelated.same[rule][power] += mine.same[rule][power];
    pthread_mutex_unlock(&crew->lock);
}

/* ---- all ---- */

static void *work(void *context)
{
    struct step_crew *crew = context;
    for (size_t i; (i = atomic_fetch_add(&crew->next, 1)) < crew->list->count;) {
        const struct subject *subject = &crew->list->subjects[i];
        if (!subject->readable || subject->gated)
            continue;
        if (crew->settings->unrelated)
            count_unrelated(crew, i);
        else
            count_edits(crew, subject);
    }
    return NULL;
}

static void run_crew(struct step_crew *crew)
{
    pthread_t threads[64];
    unsigned count = crew->settings->collect.jobs < 64 ? crew->settings->collect.jobs : 64;
    pthread_mutex_init(&crew->lock, NULL);
    for (unsigned i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, crew);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&crew->lock);
}

static void report_steps(const struct step_crew *crew)
{
    printf("recognised, %%, at a rate of %.0e a pair: by codes / with pixels\n",
           pow(10, -crew->settings->strength));
    for (int which = 0; which < step_edit_count; which++) {
        printf("%s\n   ", step_edits[which].name);
        for (int step = 0; step < steps_of(&step_edits[which]); step++) {
            const struct step_count *count = &crew->counts[which][step];
            double tried = fmax(1, (double)count->tried);
            printf(" %g: %.0f/%.0f", amount_of_step(&step_edits[which], step),
                   100 * (double)count->found[RULE_VIEWS] / tried,
                   100 * (double)count->found[RULE_PIXELS] / tried);
        }
        printf("\n");
    }
}

static void report_tiers(const struct step_crew *crew)
{
    static const char *const names[TIERS] = {"full frames", "trimmed frames", "crops",
                                             "other orientations", "pixels"};
    printf("of %llu edits, by each tier and those before it, %%:\n",
           (unsigned long long)crew->edits);
    for (int tier = 0; tier < TIERS; tier++)
        printf("    %-20s %.1f\n", names[tier],
               100 * (double)crew->tiers[tier] / fmax(1, (double)crew->edits));
}

static void report_unrelated(const struct unrelated_count *count)
{
    printf("%llu pairs of different pictures; at most a rate of: by codes, with pixels (stated)\n",
           (unsigned long long)count->pairs);
    for (int power = 3; power < 10; power++)
        printf("  1e-%d: %llu, %llu (%.1f)\n", power,
               (unsigned long long)count->same[RULE_VIEWS][power],
               (unsigned long long)count->same[RULE_PIXELS][power],
               (double)count->pairs * pow(10, -power));
}

static bool parse_steps(int argc, char **argv, struct step_settings *out)
{
    static const struct option OPTIONS[] = {{"rate", required_argument, NULL, 'r'},
                                            {"check-rate", required_argument, NULL, 'c'},
                                            {"limit", required_argument, NULL, 'l'},
                                            {"jobs", required_argument, NULL, 'j'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"unrelated", no_argument, NULL, 'x'},
                                            {"across", no_argument, NULL, 'a'},
                                            {"variants", required_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    out->collect = (struct collect_options){.seed = 1, .originals_only = true};
    out->collect.jobs = processors > 0 ? (unsigned)processors : 1;
    out->strength = -log10(DOPPEL_IMAGE_MAX_FPR);
    out->least_checked = -log10(DOPPEL_IMAGE_BORDERLINE_FPR);
    for (int option; (option = getopt_long(argc, argv, "j:", OPTIONS, NULL)) != -1;) {
        if (option == 'r')
            out->strength = -log10(strtod(optarg, NULL));
        else if (option == 'c')
            out->least_checked = -log10(strtod(optarg, NULL));
        else if (option == 'l')
            out->collect.limit = strtoull(optarg, NULL, 10);
        else if (option == 'j')
            out->collect.jobs = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 's')
            out->collect.seed = strtoull(optarg, NULL, 10);
        else if (option == 'x')
            out->unrelated = true;
        else if (option == 'a')
            out->across = true;
        else if (option == 'v')
            out->variants = optarg;
        else
            return false;
    }
    out->folders = argv + optind;
    return optind < argc && out->collect.jobs > 0 && out->strength > 0;
}

int main(int argc, char **argv)
{
    struct step_settings settings = {0};
    if (!parse_steps(argc, argv, &settings)) {
        fputs(USAGE, stderr);
        return 2;
    }
    struct collection list = collect(settings.folders, &settings.collect);
    report_collection(&list);
    bool *variants = settings.unrelated ? calloc(list.count * list.count, sizeof *variants) : NULL;
    if (variants && settings.variants && !read_variants(&list, settings.variants, variants))
        fprintf(stderr, "%s: cannot be read\n", settings.variants);
    struct step_crew crew = {.list = &list,
                             .settings = &settings,
                             .variants = variants,
                             .counts = calloc((size_t)step_edit_count, sizeof *crew.counts)};
    run_crew(&crew);
    if (settings.unrelated) {
        report_unrelated(&crew.unrelated);
    } else {
        report_steps(&crew);
        report_tiers(&crew);
    }
    free(crew.counts);
    free(variants);
    collection_free(&list);
    return 0;
}
