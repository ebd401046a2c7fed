/* Exact pairs. What is common is counted for all pairs at once: through the list of the texts that
 * hold a shingle. Nothing of doppel's is used. */
#include "truth.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct shingles {
    uint64_t *hashes; /* ascending, each once */
    size_t count;
};

struct posting {
    uint64_t hash;
    uint32_t text;
};

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int compare_postings(const void *a, const void *b)
{
    const struct posting *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash)
                              : (x->text > y->text) - (x->text < y->text);
}

static void *need(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* Lower case, words with one space between them. */
static size_t normalise(const struct document *document, char *out)
{
    size_t size = 0;
    for (size_t i = 0; i < document->size; i++) {
        unsigned char c = (unsigned char)document->text[i];
        if (isalnum(c))
            out[size++] = (char)tolower(c);
        else if (size && out[size - 1] != ' ')
            out[size++] = ' ';
    }
    return size && out[size - 1] == ' ' ? size - 1 : size;
}

/* Where words, or characters, begin and end. */
static size_t units_of(const char *text, size_t size, bool characters, size_t *starts, size_t *ends)
{
    size_t count = 0;
    for (size_t at = 0; at < size; at++) {
        if (characters || at == 0 || text[at - 1] == ' ')
            starts[count++] = at;
        if (characters || text[at] != ' ')
            ends[count - 1] = at + 1;
    }
    return count;
}

static struct shingles shingles_of(const struct document *document, bool characters, unsigned width)
{
    char *text = need(malloc(document->size + 1));
    size_t size = normalise(document, text), kept = 0;
    size_t *starts = need(malloc(2 * (size + 1) * sizeof *starts)), *ends = starts + size + 1;
    size_t units = units_of(text, size, characters, starts, ends);
    size_t all = units < width ? 0 : units - width + 1;
    uint64_t *hashes = need(malloc((all + 1) * sizeof *hashes));
    for (size_t i = 0; i < all; i++)
        hashes[i] = hash_bytes(text + starts[i], ends[i + width - 1] - starts[i]);
    qsort(hashes, all, sizeof *hashes, compare);
    for (size_t i = 0; i < all; i++)
        if (!i || hashes[i] != hashes[i - 1])
            hashes[kept++] = hashes[i];
    free(text);
    free(starts);
    return (struct shingles){hashes, kept};
}

static void keep(struct true_pairs *pairs, struct true_pair pair)
{
    if (pairs->count == pairs->capacity) {
        pairs->capacity = 2 * pairs->capacity + 1024;
        pairs->items = need(realloc(pairs->items, pairs->capacity * sizeof pair));
    }
    pairs->items[pairs->count++] = pair;
}

/* Postings by hash, then text; so those of the text before which to stop are easily told. */
static struct posting *postings_of(const struct shingles *sets, size_t texts, size_t *out_count)
{
    size_t count = 0;
    for (size_t i = 0; i < texts; i++)
        count += sets[i].count;
    struct posting *postings = need(malloc((count + 1) * sizeof *postings)), *next = postings;
    for (size_t i = 0; i < texts; i++)
        for (size_t j = 0; j < sets[i].count; j++)
            *next++ = (struct posting){sets[i].hashes[j], (uint32_t)i};
    qsort(postings, count, sizeof *postings, compare_postings);
    *out_count = count;
    return postings;
}

static const struct posting *first_of(const struct posting *postings, size_t count, uint64_t hash)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (postings[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return postings + low;
}

struct true_pairs true_pairs_of(const struct documents *documents, bool characters,
                                unsigned shingle, double least)
{
    struct true_pairs pairs = {0};
    size_t texts = documents->count, count;
    struct shingles *sets = need(calloc(texts + 1, sizeof *sets));
    for (size_t i = 0; i < texts; i++)
        sets[i] = shingles_of(&documents->items[i], characters, shingle);
    struct posting *postings = postings_of(sets, texts, &count);
    uint32_t *common = need(malloc((texts + 1) * sizeof *common));
    for (size_t i = 0; i < texts; i++) {
        memset(common, 0, texts * sizeof *common);
        for (size_t j = 0; j < sets[i].count; j++)
            for (const struct posting *at = first_of(postings, count, sets[i].hashes[j]);
                 at < postings + count && at->hash == sets[i].hashes[j]; at++)
                common[at->text]++;
        for (size_t j = i + 1; j < texts; j++) {
            double all = (double)(sets[i].count + sets[j].count - common[j]);
            if (common[j] && common[j] >= least * all)
                keep(&pairs, (struct true_pair){(uint32_t)i, (uint32_t)j, common[j] / all});
        }
    }
    for (size_t i = 0; i < texts; i++)
        free(sets[i].hashes);
    free(sets);
    free(postings);
    free(common);
    return pairs;
}
