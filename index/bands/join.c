/*
 * All pairs of a band table that share a band: bucket by bucket, entries of one tag side by side. A
 * pair is visited in the first band that it shares, so nothing has to be remembered.
 */
#include <stdlib.h>

#include "core/order.h"
#include "index/bands/bands_internal.h"

enum { WAITING = 32, FEW = 24, LINE_WORDS = 8 };

struct signature_pair {
    uint32_t a, b;
};

struct joining {
    const struct bands *table;
    const struct bands_join *join;
    uint32_t band;
    struct signature_pair
        waiting[WAITING]; /* for their signatures, which are on their way to the cache */
    uint32_t waiting_count;
    ARRAY(uint32_t) entries; /* of a bucket, sorted */
};

static enum doppel_status damaged_in_join(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT, "the band table is damaged: numbers beyond it");
}

static const uint64_t *signature_at_bands(const struct bands *table, uint32_t number)
{
    return table->signatures + (uint64_t)number * table->words;
}

static bool belongs_here(const struct joining *joining, const uint64_t *a, const uint64_t *b)
{
    uint32_t rows = joining->table->shape.options.rows;
    if (!band_equal(a, b, joining->band, rows))
        return false;
    for (uint32_t earlier = 0; earlier < joining->band; earlier++)
        if (band_equal(a, b, earlier, rows))
            return false;
    return true;
}

static enum doppel_status visit_joining(const struct joining *joining, struct signature_pair pair,
                                        uint32_t distance, struct doppel_error *error)
{
    struct bands_list a, b;
    if (!bands_list_at(joining->table, pair.a, &a) || !bands_list_at(joining->table, pair.b, &b))
        return damaged_in_join(error);
    return joining->join->visitor(joining->join->context, &a, pair.a == pair.b ? &a : &b, distance)
               ? DOPPEL_OK
               : DOPPEL_E_CANCELLED;
}

static enum doppel_status verify_joining(const struct joining *joining, struct signature_pair pair,
                                         struct doppel_error *error)
{
    const struct bands *table = joining->table;
    const uint64_t *a = signature_at_bands(table, pair.a), *b = signature_at_bands(table, pair.b);
    segment_touch(table->segment, a, table->words * sizeof *a);
    segment_touch(table->segment, b, table->words * sizeof *b);
    if (!belongs_here(joining, a, b))
        return DOPPEL_OK;
    uint32_t distance = table->distance(a, b, table->shape.options.lanes, joining->join->radius);
    return distance > joining->join->radius ? DOPPEL_OK
                                            : visit_joining(joining, pair, distance, error);
}

static enum doppel_status verify_waiting_joining(struct joining *joining,
                                                 struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t i = 0; i < joining->waiting_count && !status; i++)
        status = verify_joining(joining, joining->waiting[i], error);
    joining->waiting_count = 0;
    return status;
}

static enum doppel_status await_joining(struct joining *joining, uint32_t a, uint32_t b,
                                        struct doppel_error *error)
{
    uint32_t words = joining->table->words, distinct = joining->table->shape.distinct;
    if (a >= distinct || b >= distinct)
        return damaged_in_join(error);
    for (uint32_t word = 0; word < words; word += LINE_WORDS) {
        __builtin_prefetch(signature_at_bands(joining->table, a) + word);
        __builtin_prefetch(signature_at_bands(joining->table, b) + word);
    }
    joining->waiting[joining->waiting_count++] = (struct signature_pair){a, b};
    return joining->waiting_count == WAITING ? verify_waiting_joining(joining, error) : DOPPEL_OK;
}

/* By tag, then by number. */
static void sort_entries(uint32_t *entries, size_t count)
{
    if (count > FEW)
        qsort(entries, count, sizeof *entries, compare_u32);
    else
        insertion_sort_u32(entries, count);
}

static enum doppel_status join_entries(struct joining *joining, struct doppel_error *error)
{
    const uint32_t *entries = joining->entries.items, id_mask = joining->table->id_mask;
    size_t count = joining->entries.count;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count && !((entries[i] ^ entries[k]) & ~id_mask) && !status; k++)
            status = await_joining(joining, entries[i] & id_mask, entries[k] & id_mask, error);
    return status;
}

static enum doppel_status join_bucket(struct joining *joining, uint32_t bucket,
                                      struct doppel_error *error)
{
    const uint32_t *first, *end;
    if (!bands_bucket(joining->table, joining->band, bucket, &first, &end))
        return damaged_in_join(error);
    size_t count = (size_t)(end - first);
    if (count < 2)
        return DOPPEL_OK;
    segment_touch(joining->table->segment, first, count * sizeof *first);
    joining->entries.count = 0;
    for (size_t i = 0; i < count; i++)
        if (!array_push(&joining->entries, first[i]))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a bucket of a band table");
    sort_entries(joining->entries.items, count);
    return join_entries(joining, error);
}

static enum doppel_status join_band(struct joining *joining, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t i = 0; i < joining->table->shape.buckets && !status; i++)
        status = join_bucket(joining, i, error);
    return status ? status : verify_waiting_joining(joining, error);
}

static enum doppel_status join_equal(struct joining *joining, struct doppel_error *error)
{
    const struct bands_shape *shape = &joining->table->shape;
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t i = shape->singles; i < shape->distinct && !status; i++)
        status = visit_joining(joining, (struct signature_pair){i, i}, 0, error);
    return status;
}

enum doppel_status bands_join(const struct bands *table, const struct bands_join *join,
                              struct doppel_error *error)
{
    struct joining joining = {.table = table, .join = join};
    uint32_t bands = table->shape.options.bands;
    enum doppel_status status = DOPPEL_OK;
    if (join->first_band == 0 && join->band_count)
        status = join_equal(&joining, error);
    for (uint32_t i = 0; i < join->band_count && join->first_band + i < bands && !status; i++) {
        joining.band = join->first_band + i;
        status = join_band(&joining, error);
    }
    array_free(&joining.entries);
    return status ? status : segment_damage(table->segment, error);
}
