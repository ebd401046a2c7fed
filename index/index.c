/* Codes and payloads of an index: made, inserted, removed, freed. */
#include "index/index_room.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

struct doppel_index_options doppel_index_options_default(void)
{
    return (struct doppel_index_options){.bits = 64, .design_radius = 16, .threads = 1};
}

enum doppel_status doppel_index_new(const struct doppel_index_options *options,
                                    struct doppel_index **out, struct doppel_error *error)
{
    if (options->bits != 64 && options->bits != 256)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "an index of %u-bit codes is not known: 64 or 256", options->bits);
    struct doppel_index *index = calloc(1, sizeof *index);
    if (!index)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an index");
    index->options = *options;
    index->words = options->bits / 64;
    *out = index;
    return DOPPEL_OK;
}

void doppel_index_free(struct doppel_index *index)
{
    if (!index)
        return;
    free(index->groups);
    free(index->payloads);
    free(index);
}

size_t doppel_index_count(const struct doppel_index *index)
{
    return index->count;
}

/* Where word 0 of a code lies; word w is SCAN_GROUP × w further. */
static uint64_t *code_at(const struct doppel_index *index, size_t position)
{
    return index->groups + position / SCAN_GROUP * SCAN_GROUP * index->words +
           position % SCAN_GROUP;
}

/* Room for `wanted` codes, in whole groups. */
static bool set_capacity(struct doppel_index *index, size_t wanted)
{
    size_t bytes;
    if (wanted > SIZE_MAX - SCAN_GROUP)
        return false;
    wanted = (wanted + SCAN_GROUP - 1) / SCAN_GROUP * SCAN_GROUP;
    if (!size_multiply(wanted, index->words * sizeof(uint64_t), &bytes) || bytes > PTRDIFF_MAX)
        return false;
    uint64_t *groups = realloc(index->groups, bytes);
    if (!groups)
        return false;
    index->groups = groups;
    void *payloads =
        realloc(index->payloads, wanted * (index->wide ? sizeof(uint64_t) : sizeof(uint32_t)));
    if (!payloads)
        return false;
    index->payloads = payloads;
    index->capacity = wanted;
    return true;
}

/* Growing by half: at most a third is slack. */
static bool reserve(struct doppel_index *index, size_t count)
{
    if (count <= index->capacity)
        return true;
    size_t half_more = index->capacity + index->capacity / 2;
    return set_capacity(index, half_more > count ? half_more : count);
}

void doppel_index_reserve(struct doppel_index *index, size_t count)
{
    if (count > index->capacity)
        (void)set_capacity(index, count);
}

static void set_payload(struct doppel_index *index, size_t position, uint64_t payload)
{
    if (index->wide)
        ((uint64_t *)index->payloads)[position] = payload;
    else
        ((uint32_t *)index->payloads)[position] = (uint32_t)payload;
}

/* Most callers number their things: 32 bits a payload do until a wider one comes. */
static bool widen(struct doppel_index *index, const uint64_t *payloads, size_t count)
{
    bool fits = true;
    for (size_t i = 0; i < count && fits; i++)
        fits = payloads[i] <= UINT32_MAX;
    if (index->wide || fits)
        return true;
    uint64_t *wide = malloc(index->capacity * sizeof *wide);
    if (!wide)
        return false;
    for (size_t i = 0; i < index->count; i++)
        wide[i] = index_payload(index, i);
    free(index->payloads);
    index->payloads = wide;
    index->wide = true;
    return true;
}

enum doppel_status doppel_index_insert(struct doppel_index *index, const uint64_t *codes,
                                       const uint64_t *payloads, size_t count,
                                       struct doppel_error *error)
{
    size_t end;
    if (__builtin_add_overflow(index->count, count, &end) || !reserve(index, end) ||
        !widen(index, payloads, count))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu more codes in the index",
                           count);
    for (size_t i = 0; i < count; i++) {
        uint64_t *code = code_at(index, index->count);
        /* A new group is begun with zeros: the scan reads whole groups. */
        if (index->count % SCAN_GROUP == 0)
            memset(code, 0, SCAN_GROUP * index->words * sizeof *code);
        for (size_t word = 0; word < index->words; word++)
            code[word * SCAN_GROUP] = codes[i * index->words + word];
        set_payload(index, index->count++, payloads[i]);
    }
    return DOPPEL_OK;
}

/* The last code takes the place of a removed one: results are sorted, the order of codes is free.
 */
size_t doppel_index_remove(struct doppel_index *index, uint64_t payload)
{
    size_t removed = 0;
    for (size_t i = 0; i < index->count;) {
        if (index_payload(index, i) != payload) {
            i++;
            continue;
        }
        size_t last = --index->count;
        for (size_t word = 0; word < index->words; word++)
            code_at(index, i)[word * SCAN_GROUP] = code_at(index, last)[word * SCAN_GROUP];
        set_payload(index, i, index_payload(index, last));
        removed++;
    }
    return removed;
}
