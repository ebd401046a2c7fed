/* The band table: its options and parameters checked, its parts found, its records read in order.
 */
#include "index/bands/bands_internal.h"

#include <stdlib.h>

enum doppel_status bands_options_check(const struct bands_options *options,
                                       struct doppel_error *error)
{
    uint32_t lanes = options->lanes, bands = options->bands, rows = options->rows;
    if (!lanes || lanes % 4 || lanes > BANDS_MAX_LANES)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%u lanes: a signature has 4 to %d of them, a multiple of 4", lanes,
                           BANDS_MAX_LANES);
    if (!bands || bands > BANDS_MAX_BANDS || !rows || rows > lanes / bands)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%u bands of %u lanes do not fit a signature of %u lanes; at most %d "
                           "bands",
                           bands, rows, lanes, BANDS_MAX_BANDS);
    return DOPPEL_OK;
}

struct segment_plan bands_plan(const struct bands_shape *shape)
{
    const struct bands_options *options = &shape->options;
    uint64_t repeated = shape->distinct - shape->singles;
    struct segment_plan plan = {.table = SEGMENT_BANDS};
    plan.parameters[BANDS_PARAMETER_VERSION] = BANDS_VERSION;
    plan.parameters[BANDS_PARAMETER_LANES] = options->lanes;
    plan.parameters[BANDS_PARAMETER_BANDS] = options->bands;
    plan.parameters[BANDS_PARAMETER_ROWS] = options->rows;
    plan.parameters[BANDS_PARAMETER_COUNT] = shape->count;
    plan.parameters[BANDS_PARAMETER_DISTINCT] = shape->distinct;
    plan.parameters[BANDS_PARAMETER_SINGLES] = shape->singles;
    plan.parameters[BANDS_PARAMETER_BUCKETS] = shape->buckets;
    plan.part_bytes[BANDS_SIGNATURES] = (uint64_t)shape->distinct * options->lanes * 2;
    plan.parameters[BANDS_PARAMETER_PAYLOAD_BYTES] = shape->payload_bytes;
    plan.part_bytes[BANDS_PAYLOADS] = shape->count * shape->payload_bytes;
    plan.part_bytes[BANDS_STARTS] = repeated ? (repeated + 1) * sizeof(uint32_t) : 0;
    plan.part_bytes[BANDS_OFFSETS] =
        (uint64_t)options->bands * (shape->buckets + 1ull) * sizeof(uint32_t);
    plan.part_bytes[BANDS_ENTRIES] = (uint64_t)options->bands * shape->distinct * sizeof(uint32_t);
    return plan;
}

/* The shape that the parameters tell; false when they cannot be a band table's. */
static bool read_shape_segment_plan(const struct segment_plan *plan, struct bands_shape *out)
{
    const uint64_t *parameters = plan->parameters;
    for (int i = BANDS_PARAMETER_LANES; i <= BANDS_PARAMETER_PAYLOAD_BYTES; i++)
        if (parameters[i] > UINT32_MAX)
            return false;
    struct bands_shape shape = {
        .options = {(uint32_t)parameters[BANDS_PARAMETER_LANES],
                    (uint32_t)parameters[BANDS_PARAMETER_BANDS],
                    (uint32_t)parameters[BANDS_PARAMETER_ROWS]},
        .count = parameters[BANDS_PARAMETER_COUNT],
        .distinct = (uint32_t)parameters[BANDS_PARAMETER_DISTINCT],
        .singles = (uint32_t)parameters[BANDS_PARAMETER_SINGLES],
        .buckets = (uint32_t)parameters[BANDS_PARAMETER_BUCKETS],
        .payload_bytes = parameters[BANDS_PARAMETER_VERSION] == 1
                             ? 8
                             : (uint32_t)parameters[BANDS_PARAMETER_PAYLOAD_BYTES],
    };
    if (shape.payload_bytes != 4 && shape.payload_bytes != 8)
        return false;
    if (bands_options_check(&shape.options, NULL) || shape.distinct > shape.count ||
        shape.singles > shape.distinct || !shape.buckets ||
        (shape.singles == shape.distinct && shape.count != shape.distinct))
        return false;
    struct segment_plan wanted = bands_plan(&shape);
    *out = shape;
    return !memcmp(wanted.part_bytes, plan->part_bytes, sizeof wanted.part_bytes);
}

static const void *part_segment(const struct segment *segment, enum bands_part number)
{
    return segment->parts[number];
}

static enum doppel_status check_bands(const struct segment *segment, struct bands_shape *out,
                                      struct doppel_error *error)
{
    if (segment->plan.table != SEGMENT_BANDS)
        return doppel_fail(error, DOPPEL_E_FORMAT, "the segment is not a band table");
    uint64_t version = segment->plan.parameters[BANDS_PARAMETER_VERSION];
    if (version < 1 || version > BANDS_VERSION)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "the band table has version %llu, this program reads %d",
                           (unsigned long long)version, BANDS_VERSION);
    if (!read_shape_segment_plan(&segment->plan, out))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the band table's parameters are damaged");
    return DOPPEL_OK;
}

enum doppel_status bands_open(struct segment *segment, struct bands **out,
                              struct doppel_error *error)
{
    struct bands_shape shape;
    enum doppel_status status = check_bands(segment, &shape, error);
    struct bands *table = status ? NULL : calloc(1, sizeof *table);
    if (!status && !table)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to open a band table");
    if (status) {
        segment_release(segment);
        return status;
    }
    table->segment = segment;
    table->shape = shape;
    table->words = shape.options.lanes / 4;
    table->id_mask = bands_id_mask(shape.distinct);
    table->distance = bands_kernel_choose();
    table->signatures = part_segment(segment, BANDS_SIGNATURES);
    table->payloads = part_segment(segment, BANDS_PAYLOADS);
    table->starts = part_segment(segment, BANDS_STARTS);
    table->offsets = part_segment(segment, BANDS_OFFSETS);
    table->entries = part_segment(segment, BANDS_ENTRIES);
    *out = table;
    return DOPPEL_OK;
}

void bands_free(struct bands *table)
{
    if (!table)
        return;
    segment_release(table->segment);
    free(table);
}

struct segment *bands_segment(const struct bands *table)
{
    return table->segment;
}

struct bands_options bands_info(const struct bands *table, uint64_t *out_count)
{
    if (out_count)
        *out_count = table->shape.count;
    return table->shape.options;
}

uint64_t bands_distinct(const struct bands *table)
{
    return table->shape.distinct;
}

bool bands_records_of(const struct bands *table, uint32_t signature, uint64_t *out_first,
                      uint64_t *out_end)
{
    const uint32_t singles = table->shape.singles, bytes = table->shape.payload_bytes;
    *out_first = signature;
    *out_end = signature + 1ull;
    if (signature >= singles) {
        const uint32_t *starts = table->starts + (signature - singles);
        segment_touch(table->segment, starts, 2 * sizeof *starts);
        *out_first = starts[0];
        *out_end = starts[1];
        if (*out_first >= *out_end || *out_end > table->shape.count)
            return false;
    }
    segment_touch(table->segment, table->payloads + *out_first * bytes,
                  (*out_end - *out_first) * bytes);
    return true;
}

/* The signature whose list holds payload number `record`: the last that starts at or before it. */
static uint32_t signature_of(const struct bands *table, uint64_t record)
{
    uint32_t singles = table->shape.singles;
    if (record < singles)
        return (uint32_t)record;
    uint32_t low = 0, high = table->shape.distinct - singles;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        segment_touch(table->segment, table->starts + middle, sizeof *table->starts);
        if (table->starts[middle] <= record)
            low = middle;
        else
            high = middle;
    }
    return singles + low;
}

size_t bands_read(const struct bands *table, uint64_t first, size_t count, uint64_t *out_codes,
                  uint64_t *out_payloads)
{
    uint64_t left = first < table->shape.count ? table->shape.count - first : 0;
    size_t n = count < left ? count : (size_t)left;
    size_t bytes = table->words * sizeof(uint64_t);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *code =
            table->signatures + (uint64_t)signature_of(table, first + i) * table->words;
        segment_touch(table->segment, code, bytes);
        memcpy(out_codes + i * table->words, code, bytes);
    }
    const uint32_t bytes_each = table->shape.payload_bytes;
    segment_touch(table->segment, table->payloads + first * bytes_each, n * bytes_each);
    for (size_t i = 0; i < n; i++)
        out_payloads[i] = bands_payload(table, first + i);
    return n;
}
