/* The set of a text's shingles: 32 bits each, ascending, each once. */
#include "text/sketch.h"

#include <stdlib.h>
#include <string.h>

enum {
    SMALL_SET = 48, /* that is sorted sooner without digits */
    FEW = 4096,     /* for smaller sets, fewer bits are enough */
    FEW_BITS = 8,
    MAX_BITS = 11,
    MAX_DIGIT_VALUES = 1 << MAX_BITS
};

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
    if (status || !count)
        return status;
    uint32_t *out = set->values + set->count;
    for (size_t i = 0; i < count; i++)
        out[i] = (uint32_t)hashes[i];
    set->count += count;
    return DOPPEL_OK;
}

/* Two digits of the values, the lower one first. */
struct digits {
    unsigned bits, shifts[2];
    uint32_t places[2][MAX_DIGIT_VALUES]; /* where the next of each value goes */
};

static void count_shingle_digits(struct digits *digits, const uint32_t *values, size_t count)
{
    uint32_t mask = (UINT32_C(1) << digits->bits) - 1, sums[2] = {0};
    for (int digit = 0; digit < 2; digit++)
        memset(digits->places[digit], 0, ((size_t)mask + 1) * sizeof *digits->places[digit]);
    for (size_t i = 0; i < count; i++)
        for (int digit = 0; digit < 2; digit++)
            digits->places[digit][values[i] >> digits->shifts[digit] & mask]++;
    for (size_t i = 0; i <= mask; i++)
        for (int digit = 0; digit < 2; digit++) {
            uint32_t here = digits->places[digit][i];
            digits->places[digit][i] = sums[digit];
            sums[digit] += here;
        }
}

static void sort_by_digit(struct digits *digits, int digit, const uint32_t *from, size_t count,
                          uint32_t *to)
{
    uint32_t mask = (UINT32_C(1) << digits->bits) - 1, *places = digits->places[digit];
    unsigned shift = digits->shifts[digit];
    for (size_t i = 0; i < count; i++)
        to[places[from[i] >> shift & mask]++] = from[i];
}

/* By their upper bits: as hashes, few have these in common. */
static void sort_upper_bits(struct shingle_set *set)
{
    struct digits digits;
    digits.bits = set->count < FEW ? FEW_BITS : MAX_BITS;
    digits.shifts[0] = 32 - 2 * digits.bits;
    digits.shifts[1] = 32 - digits.bits;
    count_shingle_digits(&digits, set->values, set->count);
    sort_by_digit(&digits, 0, set->values, set->count, set->spare);
    sort_by_digit(&digits, 1, set->spare, set->count, set->values);
}

/* Put each value in its place among those before it, from which it is not far, or drop it if it is
 * there: so even of values that were made to agree in their upper bits, no more are moved than
 * there are others of these. @return how many stay */
static size_t settle_values(uint32_t *values, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t value = values[i];
        size_t at = kept;
        while (at && values[at - 1] > value)
            at--;
        if (at && values[at - 1] == value)
            continue;
        for (size_t j = kept++; j > at; j--)
            values[j] = values[j - 1];
        values[at] = value;
    }
    return kept;
}

void shingle_set_end(struct shingle_set *set)
{
    if (set->count > SMALL_SET)
        sort_upper_bits(set);
    set->count = settle_values(set->values, set->count);
}

/* By open addressing in a table that stays in the first cache, at most a quarter full: a value's
 * place follows from its upper bits. */
size_t shingle_set_distinct(struct shingle_set *set)
{
    bool zero = false;
    size_t distinct = 0;
    if (set->count > SHINGLES_MET / 4) {
        shingle_set_end(set);
        return set->count;
    }
    memset(set->met, 0, sizeof set->met);
    for (size_t i = 0; i < set->count; i++) {
        uint32_t value = set->values[i], at = value / (UINT32_MAX / SHINGLES_MET + 1);
        while (set->met[at] && set->met[at] != value)
            at = (at + 1) % SHINGLES_MET;
        distinct += value && !set->met[at];
        set->met[at] = value;
        zero |= !value;
    }
    return distinct + zero;
}
