/* The linear table: built, opened, searched, read. */
#include "index/linear.h"

#include <stdlib.h>

#include "index/scan_codes.h"

enum { PART_GROUPS, PART_PAYLOADS };
enum { PARAMETER_BITS, PARAMETER_COUNT, PARAMETER_NARROW };
enum { PIECE = 1024, MAX_WORDS = 4 };

#define MAX_COUNT (UINT64_C(1) << 40)

struct linear {
    struct segment *segment;
    struct scan_codes codes;
};

static uint64_t group_bytes(uint64_t count, uint32_t bits)
{
    return (count + SCAN_GROUP - 1) / SCAN_GROUP * SCAN_GROUP * code_words(bits) * sizeof(uint64_t);
}

static uint64_t payload_bytes(uint64_t count, bool narrow)
{
    return count * (narrow ? sizeof(uint32_t) : sizeof(uint64_t));
}

/* ---- building ---- */

/* Most callers number their things: 32 bits a payload do. */
static bool payloads_are_narrow(struct code_stream *stream)
{
    uint64_t codes[PIECE * MAX_WORDS], payloads[PIECE], all = 0;
    size_t n;
    stream->rewind(stream->context);
    while ((n = stream->read(stream->context, codes, payloads, PIECE)) != 0)
        for (size_t i = 0; i < n; i++)
            all |= payloads[i];
    return all <= UINT32_MAX;
}

static void fill_segment(struct segment *segment, uint32_t bits, bool narrow,
                         struct code_stream *stream)
{
    uint64_t codes[PIECE * MAX_WORDS], payloads[PIECE], at = 0;
    uint64_t *groups = (uint64_t *)(void *)segment_fill(segment, PART_GROUPS);
    void *out = segment_fill(segment, PART_PAYLOADS);
    size_t n, words = code_words(bits);
    stream->rewind(stream->context);
    while ((n = stream->read(stream->context, codes, payloads, PIECE)) != 0)
        for (size_t i = 0; i < n && at < stream->count; i++, at++) {
            for (size_t word = 0; word < words; word++)
                groups[scan_place(at, words) + word * SCAN_GROUP] =
                    bits == 32 ? codes[i] & UINT32_MAX : codes[i * words + word];
            if (narrow)
                ((uint32_t *)out)[at] = (uint32_t)payloads[i];
            else
                ((uint64_t *)out)[at] = payloads[i];
        }
}

enum doppel_status linear_build(uint32_t bits, struct code_stream *stream,
                                const struct segment_target *target, struct segment **out,
                                struct doppel_error *error)
{
    bool narrow = payloads_are_narrow(stream);
    struct segment_plan plan = {.table = SEGMENT_LINEAR};
    struct segment *segment;
    if (stream->count > MAX_COUNT)
        return doppel_fail(error, DOPPEL_E_LIMIT, "too many codes for a linear table");
    plan.parameters[PARAMETER_BITS] = bits;
    plan.parameters[PARAMETER_COUNT] = stream->count;
    plan.parameters[PARAMETER_NARROW] = narrow;
    plan.part_bytes[PART_GROUPS] = group_bytes(stream->count, bits);
    plan.part_bytes[PART_PAYLOADS] = payload_bytes(stream->count, narrow);
    enum doppel_status status = segment_create(&plan, target, &segment, error);
    if (status)
        return status;
    fill_segment(segment, bits, narrow, stream);
    status = segment_seal(segment, error);
    if (status)
        segment_release(segment);
    else
        *out = segment;
    return status;
}

/* ---- opening ---- */

static bool is_valid_segment_plan(const struct segment_plan *plan)
{
    uint64_t bits = plan->parameters[PARAMETER_BITS], count = plan->parameters[PARAMETER_COUNT];
    uint64_t narrow = plan->parameters[PARAMETER_NARROW];
    return plan->table == SEGMENT_LINEAR &&
           (bits == 32 || bits == 64 || bits == 128 || bits == 256) && count <= MAX_COUNT &&
           narrow <= 1 && plan->part_bytes[PART_GROUPS] == group_bytes(count, (uint32_t)bits) &&
           plan->part_bytes[PART_PAYLOADS] == payload_bytes(count, narrow);
}

enum doppel_status linear_open(struct segment *segment, struct linear **out,
                               struct doppel_error *error)
{
    const uint64_t *parameters = segment->plan.parameters;
    struct linear *table = is_valid_segment_plan(&segment->plan) ? calloc(1, sizeof *table) : NULL;
    if (!table) {
        bool sound = is_valid_segment_plan(&segment->plan);
        segment_release(segment);
        return sound ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a table of the index")
                     : doppel_fail(error, DOPPEL_E_CORRUPT,
                                   "the parameters of a linear table of the index are wrong");
    }
    table->segment = segment;
    table->codes =
        (struct scan_codes){.groups = (const uint64_t *)(const void *)segment->parts[PART_GROUPS],
                            .payloads = segment->parts[PART_PAYLOADS],
                            .narrow = parameters[PARAMETER_NARROW] != 0,
                            .bits = (uint32_t)parameters[PARAMETER_BITS],
                            .count = parameters[PARAMETER_COUNT],
                            .segment = segment};
    *out = table;
    return DOPPEL_OK;
}

void linear_free(struct linear *table)
{
    if (!table)
        return;
    segment_release(table->segment);
    free(table);
}

struct segment *linear_segment(const struct linear *table)
{
    return table->segment;
}

uint32_t linear_bits(const struct linear *table, uint64_t *out_count)
{
    *out_count = table->codes.count;
    return table->codes.bits;
}

/* ---- use ---- */

enum doppel_status linear_search(const struct linear *table, struct query *queries, size_t count,
                                 size_t k, struct doppel_error *error)
{
    bool done = k ? scan_nearest(&table->codes, queries, count, k)
                  : scan_within(&table->codes, queries, count);
    return done ? DOPPEL_OK
                : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a search");
}

size_t linear_read(const struct linear *table, uint64_t first, size_t count, uint64_t *out_codes,
                   uint64_t *out_payloads)
{
    const struct scan_codes *codes = &table->codes;
    size_t words = code_words(codes->bits), n = 0;
    for (; n < count && first + n < codes->count; n++) {
        size_t place = scan_place(first + n, words);
        const void *payload = scan_payload_at(codes, first + n);
        segment_touch(table->segment, payload, sizeof(uint32_t));
        for (size_t word = 0; word < words; word++) {
            const uint64_t *at = codes->groups + place + word * SCAN_GROUP;
            segment_touch(table->segment, at, sizeof *at);
            out_codes[n * words + word] = *at;
        }
        out_payloads[n] = scan_payload(codes, first + n);
    }
    return n;
}
