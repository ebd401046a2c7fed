/* Items of postings of all shapes, and a table built of them: for the tests of postings. */
#ifndef TESTS_INDEX_POSTING_ITEMS_H
#define TESTS_INDEX_POSTING_ITEMS_H

#include "index/codes.h"
#include "index/postings/postings_internal.h"

enum items_kind { EVEN, SKEWED_KEYS, ONE_KEY, DISORDER, REPEATS, FAR_APART, KINDS };

struct item {
    uint64_t payload;
    uint32_t length;
    struct doppel_index_posting *postings;
    size_t count;
};

struct fixture {
    uint32_t key_bits;
    struct item *items;
    size_t count, at, passes;
    uint64_t postings;
    struct postings *table;
};

static inline uint32_t make_key(enum items_kind kind, uint32_t key_bits, uint64_t *seed)
{
    uint64_t key = random_word(seed) >> (64 - key_bits);
    if (kind == ONE_KEY)
        return (1u << key_bits) - 1;
    if (kind == SKEWED_KEYS && random_word(seed) % 2)
        key = key >> (random_word(seed) % key_bits);
    return (uint32_t)key;
}

static inline int compare_positions(const void *a, const void *b)
{
    const struct doppel_index_posting *left = a, *right = b;
    return (left->position > right->position) - (left->position < right->position);
}

static inline struct item make_item(enum items_kind kind, uint32_t key_bits, size_t count,
                                    uint64_t *seed)
{
    struct item item = {.payload = random_word(seed), .count = count};
    item.length = (uint32_t)(count ? 1 + random_word(seed) % (3 * count) : random_word(seed) % 3);
    if (kind == FAR_APART)
        item.length = 1 + (uint32_t)(random_word(seed) % 200000000);
    item.postings = calloc(count + 1, sizeof *item.postings);
    assert_non_null(item.postings);
    for (size_t i = 0; i < count; i++)
        item.postings[i] = (struct doppel_index_posting){
            make_key(kind, key_bits, seed),
            (uint32_t)(random_word(seed) % (kind == REPEATS ? 1 : item.length))};
    if (kind != DISORDER && count)
        qsort(item.postings, count, sizeof *item.postings, compare_positions);
    return item;
}

static inline bool read_item(void *context, uint64_t *payload, uint32_t *length,
                             const struct doppel_index_posting **postings, size_t *count)
{
    struct fixture *f = context;
    if (f->at == f->count)
        return false;
    const struct item *item = &f->items[f->at++];
    *payload = item->payload;
    *length = item->length;
    *postings = item->postings;
    *count = item->count;
    return true;
}

static inline void rewind_items(void *context)
{
    struct fixture *f = context;
    f->at = 0;
    f->passes++;
}

static inline struct posting_stream stream_of(struct fixture *f)
{
    return (struct posting_stream){f, f->count, f->postings, read_item, rewind_items};
}

static inline struct fixture make_items(enum items_kind kind, uint32_t key_bits, size_t count,
                                        size_t each)
{
    struct fixture f = {.key_bits = key_bits, .count = count};
    uint64_t seed = kind * 1000 + key_bits * 100 + count;
    f.items = calloc(count + 1, sizeof *f.items);
    assert_non_null(f.items);
    for (size_t i = 0; i < count; i++) {
        f.items[i] = make_item(kind, key_bits, i % 5 == 4 ? 0 : each, &seed);
        f.postings += f.items[i].count;
    }
    return f;
}

static inline void build(struct fixture *f, uint64_t memory_bytes)
{
    struct postings_options options = {f->key_bits, memory_bytes};
    struct posting_stream stream = stream_of(f);
    struct segment_target target = {0};
    struct segment *segment = NULL;
    assert_int_equal(postings_build(&options, &stream, &target, &segment, NULL), DOPPEL_OK);
    assert_int_equal(postings_open(segment, &f->table, NULL), DOPPEL_OK);
}

static inline void free_fixture(struct fixture *f)
{
    postings_free(f->table);
    for (size_t i = 0; i < f->count; i++)
        free(f->items[i].postings);
    free(f->items);
}

#endif
