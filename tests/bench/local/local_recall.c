/* local_recall ORIGINALS STRANGERS FOLDER...: of how many pictures a part is found again among
 * those of the folders, by their keypoints; how many strangers are given a match; and what it
 * costs; with MOST in the environment, of at most so many pictures. Strangers are other pictures of
 * the folders, which are in no folder that originals are in.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doppel/local.h>

#include "../recall/steps.h"
#include "parts.h"
#include "pictures.h"

/* ---- pictures ---- */

struct costs {
    double features, queries;
    size_t pictures, asked;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct doppel_fingerprint points_of(const struct image *image, struct costs *costs)
{
    size_t count = (size_t)image->width * (size_t)image->height;
    uint8_t *grey = malloc(count);
    struct doppel_fingerprint out = {0};
    for (size_t i = 0; i < count; i++)
        grey[i] = clamp_byte(pixel_luma(image->pixels[i]));
    const struct doppel_plane plane = {grey, (uint32_t)image->width, (uint32_t)image->height,
                                       (size_t)image->width};
    double begin = now();
    if (doppel_local_features(&plane, &out, NULL))
        abort();
    costs->features += now() - begin;
    costs->pictures++;
    free(grey);
    return out;
}

/* ---- answers ---- */

struct answer {
    uint64_t wanted;
    bool found;
    uint64_t first; /* match of another; -1: none */
    double first_rate;
    struct doppel_local_verdict verdict;
};

static bool note_match(void *context, uint64_t id, bool is_match,
                       const struct doppel_local_verdict *verdict)
{
    struct answer *answer = context;
    if (is_match && id == answer->wanted) {
        answer->found = true;
        answer->verdict = *verdict;
    } else if (answer->first == UINT64_MAX) {
        answer->first = id;
        answer->first_rate = verdict->false_positive_rate;
        if (!answer->found)
            answer->verdict = *verdict;
    }
    return true;
}

struct bench {
    struct doppel_local_set *set;
    struct costs costs;
    struct doppel_local_options options;
};

static struct answer ask(struct bench *bench, const struct image *image, uint64_t wanted)
{
    struct answer answer = {.wanted = wanted, .first = UINT64_MAX, .first_rate = 1};
    struct doppel_fingerprint query = points_of(image, &bench->costs);
    double begin = now();
    if (doppel_local_find(bench->set, &query, &bench->options, note_match, &answer, NULL))
        abort();
    bench->costs.queries += now() - begin;
    bench->costs.asked++;
    doppel_fingerprint_free(&query);
    return answer;
}

static void fill_set(struct bench *bench, struct picture_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct image image = pictures_load(list->paths[i]);
        if (!image.pixels)
            continue;
        struct doppel_fingerprint points = points_of(&image, &bench->costs);
        if (doppel_local_set_add(bench->set, kept, &points, NULL))
            abort();
        list->paths[kept++] = list->paths[i];
        doppel_fingerprint_free(&points);
        image_free(&image);
    }
    list->count = kept;
    printf("%zu pictures, %.1f ms each for the points\n", kept,
           1e3 * bench->costs.features / (double)bench->costs.pictures);
}

struct edit_count {
    size_t asked, found, inliers;
    size_t shown, shown_found; /* of parts that show something */
    size_t others;             /* others than the original that were given as matches */
};

/* Ask with a picture that shows picture `at` of the list; by `whole` is told whether it shows
 * something. */
static void ask_made(struct bench *bench, const struct image *made, const struct image *whole,
                     size_t at, struct edit_count *count)
{
    const struct answer answer = ask(bench, made, at);
    const bool shown = part_shows_something(whole);
    count->asked++;
    count->found += answer.found;
    count->shown += shown;
    count->shown_found += shown && answer.found;
    count->inliers += answer.found ? answer.verdict.inliers : 0;
    count->others += answer.first != UINT64_MAX && answer.first_rate <= 1e-3;
}

static void ask_edit(struct bench *bench, const struct picture_list *list, size_t at,
                     const struct part_edit *edit, struct edit_count *count)
{
    struct image others[3], in = pictures_load(list->paths[at]);
    struct random random = random_seeded(at, edit->name, "");
    for (size_t k = 0; k < 3; k++)
        others[k] = pictures_load(list->paths[(at + (k + 1) * (list->count / 4)) % list->count]);
    struct image made = edit->apply(&in, others, &random);
    ask_made(bench, &made, edit->is_crop ? &made : &in, at, count);
    image_free(&made);
    image_free(&in);
    for (int k = 0; k < 3; k++)
        image_free(&others[k]);
}

static void ask_step(struct bench *bench, const struct picture_list *list, size_t at,
                     const struct step_edit *edit, double amount, struct edit_count *count)
{
    struct image in = pictures_load(list->paths[at]);
    struct random random = random_seeded(at, edit->name, "");
    struct image edited = edit->apply(&in, amount, &random);
    struct image made = part_recoded(&edited, 85);
    ask_made(bench, &made, &made, at, count);
    image_free(&made);
    image_free(&edited);
    image_free(&in);
}

static void print_count(const char *name, double goal, const struct edit_count *count)
{
    printf("%-28s %5.1f %%  goal %3.0f  %5.1f %% of %zu that show something  %4.1f inliers, "
           "others %zu\n",
           name, 100. * (double)count->found / (double)count->asked, goal,
           100. * (double)count->shown_found / (double)(count->shown + !count->shown), count->shown,
           (double)count->inliers / (double)(count->found + !count->found), count->others);
    fflush(stdout);
}

/* Edits of image_steps, of whole pictures, that codes of views are short of. */
static const struct whole_edit {
    const char *name;
    double amount;
} whole_edits[] = {
    {"corner crop, %", 10},
    {"corner crop, %", 20},
    {"corner crop, %", 25},
    {"one side, %", 20},
    {"one side, %", 25},
    {"crop, text, tones, %", 3},
    {"crop, text, tones, %", 6},
    {"crop, text, tones, %", 9},
    {"crop, text, tones, %", 12},
    {"stickers", 1},
    {"stickers", 2},
    {"phone screenshot", 1},
};

static const struct step_edit *step_edit_by_name(const char *name)
{
    const struct step_edit *edit = step_edits;
    while (strcmp(edit->name, name))
        edit++;
    return edit;
}

static void ask_edits(struct bench *bench, const struct picture_list *list, size_t originals)
{
    originals = originals < list->count ? originals : list->count;
    const size_t step = list->count / originals;
    for (int edit = 0; edit < part_edit_count; edit++) {
        struct edit_count count = {0};
        for (size_t i = 0; i < originals; i++)
            ask_edit(bench, list, i * step, &part_edits[edit], &count);
        print_count(part_edits[edit].name, part_edits[edit].goal, &count);
    }
    for (size_t edit = 0; edit < sizeof whole_edits / sizeof *whole_edits; edit++) {
        struct edit_count count = {0};
        char name[64];
        for (size_t i = 0; i < originals; i++)
            ask_step(bench, list, i * step, step_edit_by_name(whole_edits[edit].name),
                     whole_edits[edit].amount, &count);
        snprintf(name, sizeof name, "%s: %g", whole_edits[edit].name, whole_edits[edit].amount);
        print_count(name, 0, &count);
    }
}

static void ask_strangers(struct bench *bench, const struct picture_list *list,
                          const struct picture_list *strangers, size_t most)
{
    size_t asked = 0, matched = 0;
    bench->options.near_misses = 1;
    for (size_t i = 0; i < strangers->count && asked < most; i++) {
        struct image image = pictures_load(strangers->paths[i]);
        if (!image.pixels)
            continue;
        struct answer answer = ask(bench, &image, UINT64_MAX - 1);
        asked++;
        matched += answer.first_rate <= 1e-3;
        if (answer.first != UINT64_MAX && answer.first_rate < 1)
            printf("stranger %.2e inliers %u of %u distance %u: %s %s\n", answer.first_rate,
                   answer.verdict.inliers, answer.verdict.points, answer.verdict.distance,
                   strangers->paths[i], list->paths[answer.first]);
        image_free(&image);
    }
    printf("strangers: %zu of %zu given a match at 1e-3\n", matched, asked);
}

int main(int argc, char **argv)
{
    struct bench bench = {.options = doppel_local_options_default()};
    if (argc < 5) {
        fputs("usage: local_recall ORIGINALS STRANGERS STRANGERS-FOLDER FOLDER...\n", stderr);
        return 2;
    }
    struct picture_list list = {0}, strangers = {0};
    pictures_list(argv[3], &strangers);
    for (int i = 4; i < argc; i++)
        pictures_list(argv[i], &list);
    pictures_order(&list);
    pictures_order(&strangers);
    if (doppel_local_set_new(&bench.set, NULL))
        return 1;
    fill_set(&bench, &list);
    ask_edits(&bench, &list, (size_t)atoi(argv[1]));
    printf("%.1f ms a query\n", 1e3 * bench.costs.queries / (double)bench.costs.asked);
    ask_strangers(&bench, &list, &strangers, (size_t)atoi(argv[2]));
    printf("%.1f ms a query\n", 1e3 * bench.costs.queries / (double)bench.costs.asked);
    doppel_local_set_free(bench.set);
    return 0;
}
