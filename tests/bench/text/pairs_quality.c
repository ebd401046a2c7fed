/* Pairs that are found, against all that there are; and pairs that are near and should not be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "parts.h"
#include "search.h"
#include "truth.h"

enum { MANY = 6000, FEW = 2000, SHOWN = 12 };

struct pair_counts {
    size_t wanted, found; /* pairs of the truth within the limit */
    size_t candidates, matched,
        right; /* that the search gave; within the limit by doppel, by truth */
};

static double similarity_of(const struct true_pairs *truth, uint32_t a, uint32_t b)
{
    size_t low = 0, high = truth->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct true_pair *pair = &truth->items[middle];
        if (pair->a < a || (pair->a == a && pair->b < b))
            low = middle + 1;
        else
            high = middle;
    }
    const struct true_pair *pair = &truth->items[low];
    return low < truth->count && pair->a == a && pair->b == b ? pair->similarity : 0;
}

static struct pair_counts count_pairs(const struct readings *readings,
                                      const struct true_pairs *truth, const struct setup *setup)
{
    struct doppel_index *index =
        index_of(readings, setup->options.lanes, setup->bands, setup->rows);
    struct doppel_text_limits limits = {setup->limits.min_similarity, 2};
    struct candidates candidates = {0};
    struct pair_counts counts = {0};
    struct doppel_match match;
    for (size_t i = 0; i < truth->count; i++)
        counts.wanted += truth->items[i].similarity >= limits.min_similarity;
    for (uint32_t a = 0; a < readings->count; a++) {
        search_bands(index, &readings->items[a], setup->options.lanes, &candidates);
        for (size_t i = 0; i < candidates.count; i++) {
            uint32_t b = candidates.items[i];
            if (b <= a)
                continue;
            bool right = similarity_of(truth, a, b) >= limits.min_similarity;
            bool matched = doppel_match_texts(&readings->items[a].evidence,
                                              &readings->items[b].evidence, &limits, &match);
            counts.candidates++;
            counts.found += right && matched;
            counts.matched += matched;
            counts.right += right && matched;
        }
    }
    free(candidates.items);
    doppel_index_free(index);
    return counts;
}

static void print_pairs(const struct documents *all)
{
    static const struct {
        double limit;
        uint32_t bands, rows;
    } tries[] = {{.5, 32, 4}, {.6, 32, 4}, {.6, 25, 5}, {.7, 32, 4}, {.7, 28, 4}, {.7, 24, 4},
                 {.7, 25, 5}, {.7, 20, 6}, {.7, 16, 8}, {.8, 25, 5}, {.8, 18, 7}, {.9, 11, 11}};
    struct setup setup = setup_of("web");
    struct readings readings = readings_of(all, &setup.options);
    struct true_pairs truth = true_pairs_of(all, false, setup.options.shingle, 0.5);
    puts("| limit | bands | pairs | found | precision | candidates a text |\n"
         "|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        setup.limits.min_similarity = tries[i].limit;
        setup.bands = tries[i].bands;
        setup.rows = tries[i].rows;
        struct pair_counts counts = count_pairs(&readings, &truth, &setup);
        printf("| %.1f | %u×%u | %zu | %.4f | %.4f | %.2f |\n", tries[i].limit, setup.bands,
               setup.rows, counts.wanted, (double)counts.found / (double)counts.wanted,
               (double)counts.right / (double)counts.matched,
               (double)counts.candidates / (double)all->count);
        fflush(stdout);
    }
    free(truth.items);
    readings_free(&readings);
}

void part_pairs(bool held)
{
    struct documents_wish wish = {
        .folders = document_folders, .held = held, .min_words = 50, .max_count = MANY};
    struct documents documents = documents_load(&wish);
    printf("\n%zu texts as they are, all pairs counted exactly\n", documents.count);
    print_pairs(&documents);
    documents_free(&documents);
    wish.max_count = MANY / 2;
    documents = documents_load(&wish);
    struct documents all = documents_with_copies(&documents);
    printf("\n%zu texts and as many changed copies, all pairs counted exactly\n", documents.count);
    print_pairs(&all);
    documents_free_copies(&all);
    documents_free(&documents);
}

/* ---- unrelated items ---- */

/* Pairs of texts of different families. */
static double count_strangers(const struct documents *documents)
{
    size_t count = 0;
    for (size_t i = 0; i < documents->count; i++)
        for (size_t j = i + 1; j < documents->count; j++)
            count += documents->items[i].family != documents->items[j].family;
    return (double)count;
}

static void print_strangers(const struct documents *documents, const char *preset)
{
    struct setup setup = setup_of(preset);
    bool characters = setup.options.unit == DOPPEL_TEXT_CHARACTERS;
    double limit = setup.limits.min_similarity, all = count_strangers(documents);
    struct true_pairs pairs = true_pairs_of(documents, characters, setup.options.shingle, limit);
    size_t near = 0;
    for (size_t i = 0; i < pairs.count; i++) {
        const struct document *a = &documents->items[pairs.items[i].a];
        const struct document *b = &documents->items[pairs.items[i].b];
        if (a->family != b->family && ++near <= SHOWN)
            printf("- %.3f %s %s\n", pairs.items[i].similarity, a->path, b->path);
    }
    printf("%s: of %.0f pairs of texts of different source packages %zu (%.5f %%) are within "
           "%.2f\n\n",
           preset, all, near, 100 * (double)near / all, limit);
    free(pairs.items);
}

void part_strangers(bool held)
{
    struct documents_wish wish = {.folders = document_folders,
                                  .held = held,
                                  .min_words = 200,
                                  .max_count = FEW,
                                  .own_words = true};
    struct documents documents = documents_load(&wish);
    puts("");
    print_strangers(&documents, "ocr");
    print_strangers(&documents, "news");
    print_strangers(&documents, "web");
    documents_free(&documents);
}
