/* A Hamming table opened: its parameters checked, its parts found. */
#include "index/hamming/table.h"

#include "index/hamming/shares.h"

#include <stdlib.h>
#include <string.h>

static bool in_range(uint64_t value, uint64_t least, uint64_t most)
{
    return value >= least && value <= most;
}

/* Whether the parameters can be meant, so that no product of them overflows. */
static bool parameters_valid(const uint64_t *parameters)
{
    uint64_t bits = parameters[PARAMETER_BITS], chunks = parameters[PARAMETER_CHUNKS];
    uint64_t prefix = parameters[PARAMETER_PREFIX];
    return in_range(parameters[PARAMETER_VERSION], HAMMING_OLD_VERSION, HAMMING_VERSION) &&
           (bits == 32 || bits == 64 || bits == 128 || bits == 256) &&
           in_range(chunks, 1, CHUNKS_MAX) && in_range(prefix, PREFIX_MIN, PREFIX_MAX) &&
           chunks * prefix <= bits && in_range(parameters[PARAMETER_GROUPS], 1, GROUPS_MAX) &&
           parameters[PARAMETER_RADIUS] <= bits &&
           parameters[PARAMETER_DISTINCT] <= HAMMING_DISTINCT_MAX &&
           parameters[PARAMETER_CODES] >= parameters[PARAMETER_DISTINCT] &&
           parameters[PARAMETER_CODES] <= UINT64_C(1) << 48 &&
           parameters[PARAMETER_REPEATED] <= parameters[PARAMETER_DISTINCT] &&
           (parameters[PARAMETER_PAYLOAD_BYTES] == 4 || parameters[PARAMETER_PAYLOAD_BYTES] == 8);
}

/* Wide codes had longer remainders. */
static bool is_made_formerly(const uint64_t *parameters)
{
    return parameters[PARAMETER_VERSION] == HAMMING_OLD_VERSION && parameters[PARAMETER_BITS] > 64;
}

static void parameters_take(struct hamming *table, const uint64_t *parameters)
{
    table->shape = hamming_shape(
        (uint32_t)parameters[PARAMETER_BITS], (uint32_t)parameters[PARAMETER_CHUNKS],
        (uint32_t)parameters[PARAMETER_PREFIX], (uint32_t)parameters[PARAMETER_GROUPS]);
    table->design_radius = (uint32_t)parameters[PARAMETER_RADIUS];
    table->payload_bytes = (uint32_t)parameters[PARAMETER_PAYLOAD_BYTES];
    table->codes = parameters[PARAMETER_CODES];
    table->distinct = parameters[PARAMETER_DISTINCT];
    table->repeated = parameters[PARAMETER_REPEATED];
    table->more = table->codes - table->distinct;
}

static bool sizes_valid(const struct hamming *table, const uint64_t *sizes)
{
    const struct hamming_shape *shape = &table->shape;
    uint64_t buckets = (uint64_t)shape->chunks << shape->prefix;
    uint64_t group_bytes = LANES * sizeof(uint32_t);
    return sizes[PART_SLOTS] == buckets * shape->slot_words * sizeof(uint32_t) &&
           sizes[PART_SPILL] % group_bytes == 0 && sizes[PART_SPILL] / group_bytes <= UINT32_MAX &&
           sizes[PART_TAILS] == tail_offset(shape, shape->chunks, table->distinct) &&
           sizes[PART_CODES] == (shape->apart ? table->distinct * shape->words * 8 : 0) &&
           sizes[PART_PAYLOADS] == table->distinct * table->payload_bytes &&
           sizes[PART_REPEATED] == (table->repeated ? (table->distinct + 63) / 64 * 8 : 0) &&
           sizes[PART_REPEATED_IDS] == table->repeated * 4 &&
           sizes[PART_REPEATED_ENDS] == table->repeated * 8 &&
           sizes[PART_MORE] == table->more * table->payload_bytes &&
           (table->more > 0) == (table->repeated > 0) && sizes[PART_PERMUTATION] == shape->bits &&
           sizes[PART_SHELLS] == (uint64_t)shape->chunks * (shape->prefix + 1) * 4;
}

static void parts_find(struct hamming *table)
{
    const uint8_t *const *parts = table->segment->parts;
    const struct hamming_shape *shape = &table->shape;
    table->slots = (const uint32_t *)(const void *)parts[PART_SLOTS];
    table->spill = (const uint32_t *)(const void *)parts[PART_SPILL];
    table->spill_groups = table->segment->plan.part_bytes[PART_SPILL] / (LANES * sizeof(uint32_t));
    for (unsigned chunk = 0; chunk < shape->chunks; chunk++)
        table->tails[chunk] = parts[PART_TAILS] + tail_offset(shape, chunk, table->distinct);
    table->apart = (const uint64_t *)(const void *)parts[PART_CODES];
    table->payloads = parts[PART_PAYLOADS];
    table->more_payloads = parts[PART_MORE];
    table->repeated_bits = (const uint64_t *)(const void *)parts[PART_REPEATED];
    table->repeated_ids = (const uint32_t *)(const void *)parts[PART_REPEATED_IDS];
    table->repeated_ends = (const uint64_t *)(const void *)parts[PART_REPEATED_ENDS];
}

/* Lookups are worth it up to a quarter of the buckets: one costs about four times what a bucket
 * does when all are read in order. */
static bool shells_count(struct hamming *table)
{
    uint32_t prefix = table->shape.prefix;
    uint64_t most = UINT64_C(1) << (prefix - 2), all = 0, shell = 1;
    for (table->shells = 0; table->shells <= prefix; table->shells++) {
        if (all + shell > most)
            break;
        table->shell_ends[table->shells] = (uint32_t)(all += shell);
        shell = shell * (prefix - table->shells) / (table->shells + 1);
    }
    table->masks = calloc(1, sizeof *table->masks);
    return table->masks;
}

static uint32_t *make_shell(uint32_t prefix, uint32_t ones, uint32_t count)
{
    uint32_t *masks = malloc(count * sizeof *masks);
    uint64_t mask = (UINT64_C(1) << ones) - 1;
    for (uint32_t i = 0; masks && i < count && mask >> prefix == 0; i++) {
        masks[i] = (uint32_t)mask;
        if (!mask)
            break;
        uint64_t low = mask & -mask, carried = mask + low; /* the next with as many ones */
        mask = carried | ((mask ^ carried) / low) >> 2;
    }
    return masks;
}

const uint32_t *shell_masks_get(const struct hamming *table, uint32_t ones)
{
    _Atomic(uint32_t *) *place = &table->masks->shells[ones];
    uint32_t *masks = atomic_load_explicit(place, memory_order_acquire), *none = NULL;
    if (masks)
        return masks;
    uint32_t count = table->shell_ends[ones] - (ones ? table->shell_ends[ones - 1] : 0);
    masks = make_shell(table->shape.prefix, ones, count);
    if (!masks || atomic_compare_exchange_strong(place, &none, masks))
        return masks;
    free(masks); /* another thread was first */
    return none;
}

enum doppel_status hamming_open(struct segment *segment, struct hamming **out,
                                struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_E_CORRUPT;
    struct hamming *table = calloc(1, sizeof *table);
    if (!table) {
        segment_release(segment);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a Hamming table");
    }
    table->segment = segment;
    const uint64_t *parameters = segment->plan.parameters;
    bool sound = segment->plan.table == SEGMENT_HAMMING && parameters_valid(parameters);
    if (sound)
        parameters_take(table, parameters);
    if (sound && is_made_formerly(parameters)) {
        status = doppel_fail(error, DOPPEL_E_VERSION,
                             "a table of the index was made by an earlier version: rebuild it");
        goto failed;
    }
    if (!sound || !sizes_valid(table, segment->plan.part_bytes)) {
        doppel_fail(error, status, "a Hamming table of the index has impossible parameters");
        goto failed;
    }
    parts_find(table);
    segment_touch(segment, segment->parts[PART_PERMUTATION], table->shape.bits);
    table->permuter = permuter_new(segment->parts[PART_PERMUTATION], table->shape.bits, &sound);
    if (!sound) {
        doppel_fail(error, status, "a Hamming table of the index is damaged");
        goto failed;
    }
    table->kernel = hamming_kernel_choose();
    if (!table->permuter || !shells_count(table) || !(table->costs = share_costs_new(table))) {
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a Hamming table");
        goto failed;
    }
    *out = table;
    return DOPPEL_OK;
failed:
    hamming_free(table);
    return status;
}

void hamming_free(struct hamming *table)
{
    if (!table)
        return;
    segment_release(table->segment);
    permuter_free(table->permuter);
    share_costs_free(table->costs);
    for (uint32_t i = 0; table->masks && i <= PREFIX_MAX; i++)
        free(atomic_load(&table->masks->shells[i]));
    free(table->masks);
    free(table);
}

struct hamming_info hamming_info(const struct hamming *table)
{
    return (struct hamming_info){.codes = table->codes,
                                 .distinct = table->distinct,
                                 .bits = table->shape.bits,
                                 .design_radius = table->design_radius,
                                 .chunks = table->shape.chunks};
}

struct segment *hamming_segment(const struct hamming *table)
{
    return table->segment;
}
