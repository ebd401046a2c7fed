/* The keys of the indexes of a set of passages, on one axis: those of the first, then the others.
 */
#include "match/texts/passage_axis.h"

#include <stdlib.h>

enum doppel_status passage_axis_take(const struct doppel_passage_indexes *indexes,
                                     struct passage_axis *out, struct doppel_error *error)
{
    uint64_t length = 0;
    enum doppel_status status = DOPPEL_OK;
    *out = (struct passage_axis){.salt = indexes->salt};
    for (size_t i = 0; i < indexes->count && !status; i++) {
        status = doppel_index_axis_take(indexes->indexes[i], &out->parts[i], error);
        if (status)
            break;
        out->starts[out->count++] = length;
        length += doppel_index_axis_length(out->parts[i]);
    }
    return status;
}

void passage_axis_free(struct passage_axis *axis)
{
    for (size_t i = 0; i < axis->count; i++)
        doppel_index_axis_free(axis->parts[i]);
    axis->count = 0;
}

static void salt_keys(const struct passage_axis *axis, uint32_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        keys[i] ^= axis->salt;
}

enum doppel_status passage_axis_lengths(const struct passage_axis *axis, uint32_t *keys,
                                        size_t count, uint64_t *out_lengths,
                                        struct doppel_error *error)
{
    uint64_t *lengths = calloc(count + 1, sizeof *lengths);
    enum doppel_status status =
        lengths ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu keys", count);
    salt_keys(axis, keys, count);
    for (size_t i = 0; i < count; i++)
        out_lengths[i] = 0;
    for (size_t part = 0; part < axis->count && !status; part++) {
        status = doppel_index_lengths(axis->parts[part], keys, count, lengths, error);
        for (size_t i = 0; i < count && !status; i++)
            out_lengths[i] += lengths[i];
    }
    free(lengths);
    return status;
}

/* A lookup in one part. */
struct part_lookup {
    uint64_t start;
    doppel_index_run_visitor *visitor;
    void *context;
};

static bool visit_part_run(void *context, uint32_t key_number, uint64_t base,
                           const uint32_t *positions, size_t count)
{
    const struct part_lookup *lookup = context;
    return lookup->visitor(lookup->context, key_number, lookup->start + base, positions, count);
}

enum doppel_status passage_axis_lookup(const struct passage_axis *axis, uint32_t *keys,
                                       size_t count, doppel_index_run_visitor *visitor,
                                       void *context, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    salt_keys(axis, keys, count);
    for (size_t part = 0; part < axis->count && !status; part++) {
        struct part_lookup lookup = {axis->starts[part], visitor, context};
        status =
            doppel_index_lookup(axis->parts[part], keys, count, visit_part_run, &lookup, error);
    }
    return status;
}

struct doppel_index_place passage_axis_item(const struct passage_axis *axis, uint64_t position)
{
    size_t part = axis->count - 1;
    while (axis->starts[part] > position)
        part--;
    struct doppel_index_place place =
        doppel_index_item_at(axis->parts[part], position - axis->starts[part]);
    place.start += axis->starts[part];
    return place;
}
