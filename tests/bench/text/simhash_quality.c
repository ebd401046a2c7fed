/* How far SimHashes of texts of a given similarity lie from each other. */
#include <stdio.h>
#include <stdlib.h>

#include "changes.h"
#include "parts.h"
#include "readings.h"
#include "truth.h"

enum { TEXTS = 4000, BITS = 64, BINS = 6, RADII = 8 };

static const unsigned radii[RADII] = {1, 3, 5, 6, 7, 8, 10, 12};

/* Pairs by similarity: bin i holds those from edges[i] to edges[i + 1]. */
static const double edges[BINS + 1] = {0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01};

struct distances {
    size_t counts[BITS + 1];
    size_t all;
};

static int bin_of(double similarity)
{
    int bin = 0;
    while (bin + 1 < BINS && similarity >= edges[bin + 1])
        bin++;
    return bin;
}

static unsigned distance_of(const struct readings *readings, uint32_t a, uint32_t b)
{
    return (unsigned)__builtin_popcountll(readings->items[a].simhash ^ readings->items[b].simhash);
}

static void add(struct distances *distances, unsigned distance)
{
    distances->counts[distance]++;
    distances->all++;
}

static double share_within(const struct distances *distances, unsigned radius)
{
    size_t count = 0;
    for (unsigned i = 0; i <= radius; i++)
        count += distances->counts[i];
    return distances->all ? (double)count / (double)distances->all : 0;
}

static unsigned median(const struct distances *distances)
{
    unsigned radius = 0;
    while (radius < BITS && share_within(distances, radius) < 0.5)
        radius++;
    return radius;
}

/* All pairs; those that are not in the truth are less similar than it goes. */
static void count_all(const struct readings *readings, const struct true_pairs *truth,
                      struct distances bins[BINS])
{
    size_t next = 0;
    for (uint32_t a = 0; a < readings->count; a++)
        for (uint32_t b = a + 1; b < readings->count; b++) {
            const struct true_pair *pair = &truth->items[next];
            bool known = next < truth->count && pair->a == a && pair->b == b;
            add(&bins[known ? bin_of(pair->similarity) : 0], distance_of(readings, a, b));
            next += known;
        }
}

static void print_row(const char *name, const struct distances *distances)
{
    printf("| %s | %zu | %u |", name, distances->all, median(distances));
    for (size_t i = 0; i < RADII; i++)
        printf(" %.3g |", share_within(distances, radii[i]));
    puts("");
}

static void print_pairs(const struct documents *documents)
{
    static struct distances bins[BINS];
    struct doppel_text_options options = doppel_text_options_default();
    struct readings readings = readings_of(documents, &options);
    struct true_pairs truth = true_pairs_of(documents, false, options.shingle, edges[1]);
    count_all(&readings, &truth, bins);
    for (int bin = BINS - 1; bin >= 0; bin--) {
        char name[32];
        snprintf(name, sizeof name, "from %.1f", edges[bin]);
        print_row(name, &bins[bin]);
    }
    free(truth.items);
    readings_free(&readings);
}

/* Of different families, without what packages share. */
static void print_strangers(bool held)
{
    struct documents_wish wish = {.folders = document_folders,
                                  .held = held,
                                  .min_words = 50,
                                  .max_count = TEXTS,
                                  .own_words = true};
    struct distances strangers = {0};
    struct doppel_text_options options = doppel_text_options_default();
    struct documents documents = documents_load(&wish);
    struct readings readings = readings_of(&documents, &options);
    for (uint32_t a = 0; a < readings.count; a++)
        for (uint32_t b = a + 1; b < readings.count; b++)
            if (documents.items[a].family != documents.items[b].family)
                add(&strangers, distance_of(&readings, a, b));
    print_row("strangers", &strangers);
    readings_free(&readings);
    documents_free(&documents);
}

void part_simhash(bool held)
{
    struct documents_wish wish = {
        .folders = document_folders, .held = held, .min_words = 50, .max_count = TEXTS};
    struct documents documents = documents_load(&wish), all = documents_with_copies(&documents);
    printf("\nSimHash of %zu texts and as many changed copies\n| Jaccard | pairs | median |",
           documents.count);
    for (size_t i = 0; i < RADII; i++)
        printf(" <= %u |", radii[i]);
    puts("\n|---|---|---|---|---|---|---|---|---|---|---|");
    print_pairs(&all);
    print_strangers(held);
    documents_free_copies(&all);
    documents_free(&documents);
}
