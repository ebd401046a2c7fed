/* The linear table: built, opened, searched, read. */
#include "index/linear.h"

#include <stdlib.h>

#include "index/scan_codes.h"

enum { PART_GROUPS, PART_PAYLOADS, PART_MARKS };
enum { PARAMETER_BITS, PARAMETER_COUNT, PARAMETER_NARROW, PARAMETER_APART };
enum { PIECE = 1024, MAX_WORDS = 4 };

/* Word 0 apart. Formerly: the records behind each other; in blocks, but without marks. */
enum { APART_FORMERLY = 1, APART_WITHOUT_MARKS = 2, APART = 3 };

#define MAX_COUNT (UINT64_C(1) << 40)

struct linear {
    struct segment *segment;
    struct scan_codes codes;
};

/* What a linear table is like: in groups of whole codes, or with word 0 apart. */
struct linear_shape {
    uint32_t bits;
    bool narrow, apart;
};

static uint64_t group_bytes(uint64_t count, struct linear_shape shape)
{
    return (count + SCAN_GROUP - 1) / SCAN_GROUP * SCAN_GROUP *
           (shape.apart ? 1 : code_words(shape.bits)) * sizeof(uint64_t);
}

static uint64_t payload_bytes(uint64_t count, struct linear_shape shape)
{
    if (shape.apart)
        return (count + SCAN_BLOCK_RECORDS - 1) / SCAN_BLOCK_RECORDS * sizeof(struct scan_block);
    return count * (shape.narrow ? sizeof(uint32_t) : sizeof(uint64_t));
}

static uint64_t bytes_of_marks(uint64_t count, struct linear_shape shape)
{
    return shape.apart ? scan_mark_words(count) * sizeof(uint64_t) : 0;
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

static void put_linear_code(struct segment *segment, struct linear_shape shape, uint64_t at,
                            const uint64_t *code, uint64_t payload)
{
    const size_t words = shape.apart ? 1 : code_words(shape.bits);
    uint64_t *groups = (uint64_t *)(void *)segment_fill(segment, PART_GROUPS);
    void *out = segment_fill(segment, PART_PAYLOADS);
    for (size_t word = 0; word < words; word++)
        groups[scan_place(at, words) + word * SCAN_GROUP] =
            shape.bits == 32 ? code[0] & UINT32_MAX : code[word];
    uint64_t *marks = (uint64_t *)(void *)segment_fill(segment, PART_MARKS);
    if (shape.apart && payload % 16 < DOPPEL_INDEX_SCANNED_MARKED)
        marks[at / 64] |= UINT64_C(1) << at % 64;
    if (shape.apart)
        ((struct scan_block *)out)[at / SCAN_BLOCK_RECORDS].records[at % SCAN_BLOCK_RECORDS] =
            (struct scan_record){{code[1], code[2], code[3]}, payload};
    else if (shape.narrow)
        ((uint32_t *)out)[at] = (uint32_t)payload;
    else
        ((uint64_t *)out)[at] = payload;
}

static void fill_segment(struct segment *segment, struct linear_shape shape,
                         struct code_stream *stream)
{
    uint64_t codes[PIECE * MAX_WORDS], payloads[PIECE], at = 0;
    size_t n, words = code_words(shape.bits);
    stream->rewind(stream->context);
    while ((n = stream->read(stream->context, codes, payloads, PIECE)) != 0)
        for (size_t i = 0; i < n && at < stream->count; i++, at++)
            put_linear_code(segment, shape, at, codes + i * words, payloads[i]);
    struct scan_block *blocks = (struct scan_block *)(void *)segment_fill(segment, PART_PAYLOADS);
    for (uint64_t i = 0; shape.apart && i * SCAN_BLOCK_RECORDS < at; i++)
        blocks[i].sum = scan_block_sum(&blocks[i]);
}

enum doppel_status linear_build(uint32_t bits, bool apart, struct code_stream *stream,
                                const struct segment_target *target, struct segment **out,
                                struct doppel_error *error)
{
    const struct linear_shape shape = {bits, !apart && payloads_are_narrow(stream), apart};
    struct segment_plan plan = {.table = SEGMENT_LINEAR};
    struct segment *segment;
    if (stream->count > MAX_COUNT)
        return doppel_fail(error, DOPPEL_E_LIMIT, "too many codes for a linear table");
    plan.parameters[PARAMETER_BITS] = bits;
    plan.parameters[PARAMETER_COUNT] = stream->count;
    plan.parameters[PARAMETER_NARROW] = shape.narrow;
    plan.parameters[PARAMETER_APART] = apart ? APART : 0;
    plan.part_bytes[PART_GROUPS] = group_bytes(stream->count, shape);
    plan.part_bytes[PART_PAYLOADS] = payload_bytes(stream->count, shape);
    plan.part_bytes[PART_MARKS] = bytes_of_marks(stream->count, shape);
    enum doppel_status status = segment_create(&plan, target, &segment, error);
    if (status)
        return status;
    fill_segment(segment, shape, stream);
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
    uint64_t narrow = plan->parameters[PARAMETER_NARROW], apart = plan->parameters[PARAMETER_APART];
    const struct linear_shape shape = {(uint32_t)bits, narrow, apart};
    return plan->table == SEGMENT_LINEAR &&
           (bits == 32 || bits == 64 || bits == 128 || bits == 256) && count <= MAX_COUNT &&
           narrow <= 1 && (!apart || (bits == 256 && apart == APART)) && !(narrow && apart) &&
           plan->part_bytes[PART_GROUPS] == group_bytes(count, shape) &&
           plan->part_bytes[PART_PAYLOADS] == payload_bytes(count, shape) &&
           plan->part_bytes[PART_MARKS] == bytes_of_marks(count, shape);
}

enum doppel_status linear_open(struct segment *segment, struct linear **out,
                               struct doppel_error *error)
{
    const uint64_t *parameters = segment->plan.parameters;
    if (parameters[PARAMETER_APART] == APART_FORMERLY ||
        parameters[PARAMETER_APART] == APART_WITHOUT_MARKS) {
        segment_release(segment);
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "a table of the index was made by an earlier version: rebuild it");
    }
    struct linear *table = is_valid_segment_plan(&segment->plan) ? calloc(1, sizeof *table) : NULL;
    if (!table) {
        bool sound = is_valid_segment_plan(&segment->plan);
        segment_release(segment);
        return sound ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a table of the index")
                     : doppel_fail(error, DOPPEL_E_CORRUPT,
                                   "the parameters of a linear table of the index are wrong");
    }
    table->segment = segment;
    const void *payloads = segment->parts[PART_PAYLOADS], *marks = segment->parts[PART_MARKS];
    table->codes =
        (struct scan_codes){.groups = (const uint64_t *)(const void *)segment->parts[PART_GROUPS],
                            .blocks = parameters[PARAMETER_APART] ? payloads : NULL,
                            .marks = parameters[PARAMETER_APART] ? marks : NULL,
                            .payloads = payloads,
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

const struct scan_codes *linear_codes(const struct linear *table)
{
    return &table->codes;
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
    const size_t words = code_words(table->codes.bits);
    size_t n = 0;
    for (; n < count && first + n < table->codes.count; n++)
        scan_read(&table->codes, first + n, out_codes + n * words, out_payloads + n);
    return n;
}
