/* The set of a text's shingles: 32 bits each, ascending, each once. */
#include "text/sketch.h"

#include <stdlib.h>
#include <string.h>

#include "core/order.h"

enum { DIGIT_BITS = 11, DIGITS = 3, DIGIT_VALUES = 1 << DIGIT_BITS, SMALL_SET = 48 };

void shingle_set_free(struct shingle_set *set)
{
    free(set->values);
    free(set->spare);
    *set = (struct shingle_set){0};
}

static bool grow_shingle_set(uint32_t **values, size_t capacity)
{
    uint32_t *grown = realloc(*values, capacity * sizeof **values);
    if (grown)
        *values = grown;
    return grown;
}

static enum doppel_status reserve_shingle_set(struct shingle_set *set, size_t count,
                                              struct doppel_error *error)
{
    if (count <= set->capacity)
        return DOPPEL_OK;
    if (count > UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "a text of more than 2^32 shingles");
    size_t capacity = 2 * count;
    if (!grow_shingle_set(&set->values, capacity) || !grow_shingle_set(&set->spare, capacity))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu shingles", count);
    set->capacity = capacity;
    return DOPPEL_OK;
}

enum doppel_status shingle_set_add(struct shingle_set *set, const uint64_t *hashes, size_t count,
                                   struct doppel_error *error)
{
    enum doppel_status status = reserve_shingle_set(set, set->count + count, error);
    if (status)
        return status;
    uint32_t *out = set->values + set->count;
    for (size_t i = 0; i < count; i++)
        out[i] = (uint32_t)hashes[i];
    set->count += count;
    return DOPPEL_OK;
}

static void sort_shingles_by_digit(const uint32_t *from, size_t count, unsigned shift, uint32_t *to)
{
    uint32_t places[DIGIT_VALUES] = {0};
    for (size_t i = 0; i < count; i++)
        places[from[i] >> shift & (DIGIT_VALUES - 1)]++;
    uint32_t place = 0;
    for (size_t i = 0; i < DIGIT_VALUES; i++) {
        uint32_t here = places[i];
        places[i] = place;
        place += here;
    }
    for (size_t i = 0; i < count; i++)
        to[places[from[i] >> shift & (DIGIT_VALUES - 1)]++] = from[i];
}

static void sort_shingles(struct shingle_set *set)
{
    if (set->count <= SMALL_SET) {
        insertion_sort_u32(set->values, set->count);
        return;
    }
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        sort_shingles_by_digit(set->values, set->count, digit * DIGIT_BITS, set->spare);
        uint32_t *sorted = set->spare;
        set->spare = set->values;
        set->values = sorted;
    }
}

void shingle_set_end(struct shingle_set *set)
{
    sort_shingles(set);
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++)
        if (!kept || set->values[i] != set->values[kept - 1])
            set->values[kept++] = set->values[i];
    set->count = kept;
}
