/* Codes in an array, to be joined; numbers are positions. For tests and benchmarks. */
#ifndef TESTS_INDEX_CODE_LIST_H
#define TESTS_INDEX_CODE_LIST_H

#include <stdlib.h>
#include <string.h>

#include <doppel/index.h>

struct list {
    uint64_t *codes;
    size_t count, words, at;
    struct doppel_index_codes face;
};

static inline size_t read_list(void *context, uint64_t *codes, uint32_t *numbers, size_t max)
{
    struct list *list = context;
    size_t count = list->count - list->at < max ? list->count - list->at : max;
    memcpy(codes, list->codes + list->at * list->words, count * list->words * sizeof *codes);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)(list->at + i);
    list->at += count;
    return count;
}

static inline void rewind_list(void *context)
{
    ((struct list *)context)->at = 0;
}

/* Zeros, with room for a word more; NULL without memory. Given (list_free). */
static inline struct list *list_new(size_t count, size_t words)
{
    struct list *list = calloc(1, sizeof *list);
    uint64_t *codes = calloc(count * words + 1, sizeof *codes);
    if (!list || !codes) {
        free(list);
        free(codes);
        return NULL;
    }
    *list = (struct list){codes, count, words, 0, {count, read_list, rewind_list, list}};
    return list;
}

static inline void list_free(struct list *list)
{
    free(list->codes);
    free(list);
}

#endif
