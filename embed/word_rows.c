/* Lists of words: each word as texts have it, its numbers, and a weight by its place. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "embed/model_source.h"
#include "embed/tokenizer/normalize.h"
#include "embed/tokenizer/points.h"

void word_rows_begin(struct word_rows *rows, struct model_source *source, uint32_t dimension)
{
    *rows = (struct word_rows){.source = source};
    source->head.kind = DOPPEL_MODEL_WORD_LIST;
    source->head.dimension = dimension;
}

/* Only letters and their marks, or only digits: what a text is taken apart into. */
static bool is_one_word(const char *word, size_t size)
{
    bool letters = false, digits = false;
    for (size_t at = 0; at < size;) {
        uint32_t point = point_next(word, size, &at);
        if (point_is_letter(point) || point_is_mark(point))
            letters = true;
        else if (point_is_number(point))
            digits = true;
        else
            return false;
    }
    return letters != digits;
}

static bool is_zero(const float *numbers, uint32_t dimension)
{
    for (uint32_t i = 0; i < dimension; i++)
        if (numbers[i] != 0)
            return false;
    return true;
}

static bool prepare_folding(struct word_rows *rows)
{
    struct model_source *source = rows->source;
    rows->folding = calloc(1, sizeof *rows->folding);
    return rows->folding &&
           array_push(&source->normalizers, (struct text_step){.kind = STEP_NFC}) &&
           array_push(&source->normalizers, (struct text_step){.kind = STEP_LOWERCASE}) &&
           array_push(&source->normalizers, (struct text_step){0}) &&
           array_push(&source->splits, (struct text_step){0});
}

static bool append_numbers(struct word_rows *rows, const float *numbers)
{
    for (uint32_t i = 0; i < rows->source->head.dimension; i++)
        if (!array_push(&rows->numbers, numbers[i]))
            return false;
    return true;
}

bool word_rows_add(struct word_rows *rows, const char *word, size_t size, const float *numbers)
{
    struct model_source *source = rows->source;
    uint64_t place = rows->words++;
    if (!rows->folding && !prepare_folding(rows))
        return false;
    normalize(rows->folding, source->normalizers.items, word, size, &word, &size);
    if (rows->folding->failed)
        return false;
    if (!size || place >= UINT32_MAX || !is_one_word(word, size) ||
        is_zero(numbers, source->head.dimension))
        return true;
    struct trie_key key = {model_source_keep(source, word, size), (uint32_t)size, ROOT_WORD,
                           (uint32_t)place};
    return key.bytes && array_push(&source->keys, key) && append_numbers(rows, numbers);
}

/* ---- the end ---- */

static int compare_words(const void *left, const void *right)
{
    const struct trie_key *a = left, *b = right;
    int order = memcmp(a->bytes, b->bytes, a->size < b->size ? a->size : b->size);
    if (order)
        return order;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static int compare_word_places(const void *left, const void *right)
{
    const struct trie_key *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

/* Of those that are one word in lower case, the first stays. */
static void drop_repeated_words(struct model_source *source)
{
    size_t kept = 0;
    struct trie_key *keys = source->keys.items;
    qsort(keys, source->keys.count, sizeof *keys, compare_words);
    for (size_t i = 0; i < source->keys.count; i++)
        if (!i || keys[i].size != keys[i - 1].size ||
            memcmp(keys[i].bytes, keys[i - 1].bytes, keys[i].size) != 0)
            keys[kept++] = keys[i];
    source->keys.count = kept;
    qsort(keys, kept, sizeof *keys, compare_word_places);
}

/* Smooth inverse frequency; how frequent a word is, is not in the list, but Zipf's law has it of
 * its place. Source: Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence
 * Embeddings" (2017). */
static float weight_of_place(uint64_t place, uint64_t words)
{
    const double smooth = 3e-3, euler = 0.5772156649015329;
    double share = 1 / ((double)(place + 1) * (log((double)words) + euler));
    return (float)(smooth / (smooth + share));
}

/* Rows by place, without those of repeated words; a weight each. */
static enum doppel_status settle_rows(struct word_rows *rows, const uint32_t *places, size_t count)
{
    struct model_source *source = rows->source;
    uint32_t dimension = source->head.dimension;
    size_t from = 0;
    source->weights = malloc((source->keys.count + 1) * sizeof *source->weights);
    if (!source->weights)
        return DOPPEL_E_MEMORY;
    for (size_t i = 0; i < source->keys.count; i++) {
        struct trie_key *key = &source->keys.items[i];
        while (from < count && places[from] != key->value)
            from++;
        memmove(rows->numbers.items + i * dimension, rows->numbers.items + from * dimension,
                dimension * sizeof *rows->numbers.items);
        source->weights[i] = weight_of_place(key->value, rows->words);
        key->value = (uint32_t)i;
    }
    source->matrix = rows->numbers.items;
    rows->numbers.items = NULL;
    source->head.rows = source->head.tokens = source->head.vocabulary =
        (uint32_t)source->keys.count;
    return DOPPEL_OK;
}

static enum doppel_status finish_rows(struct word_rows *rows, const char *path,
                                      struct doppel_error *error)
{
    struct model_source *source = rows->source;
    size_t count = source->keys.count;
    if (!count)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "%s: has no words of letters or digits with numbers", path);
    if (count > MODEL_MAX_TOKENS)
        return doppel_fail(error, DOPPEL_E_LIMIT, "%s: %zu words are more than doppel takes", path,
                           count);
    uint32_t *places = malloc(count * sizeof *places);
    enum doppel_status status = places ? DOPPEL_OK : DOPPEL_E_MEMORY;
    for (size_t i = 0; i < count && places; i++)
        places[i] = source->keys.items[i].value;
    drop_repeated_words(source);
    if (!status)
        status = settle_rows(rows, places, count);
    free(places);
    return status ? doppel_fail(error, status, "no memory for %s", path) : DOPPEL_OK;
}

enum doppel_status word_rows_end(struct word_rows *rows, const char *path,
                                 enum doppel_status status, struct doppel_error *error)
{
    if (!status)
        status = finish_rows(rows, path, error);
    array_free(&rows->numbers);
    if (rows->folding)
        normalizing_free(rows->folding);
    free(rows->folding);
    return status;
}
