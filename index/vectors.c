/* A table of vectors: a segment that holds the parts of one, and the payloads of its rows. */
#include "index/vectors.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/vector_table.h>

#include "core/try.h"

enum {
    PART_ROWS = 0,
    PART_PAYLOADS = DOPPEL_VECTOR_TABLE_PARTS,
    PIECE = 256 /* codes that are read at once */
};
_Static_assert((int)DOPPEL_VECTOR_TABLE_PARTS < (int)SEGMENT_PARTS_MAX, "they fit");
_Static_assert((int)DOPPEL_VECTOR_TABLE_PARAMETERS <= (int)SEGMENT_PARAMETERS, "they fit");

struct vectors {
    struct segment *segment;
    struct doppel_vector_table table;
    uint64_t count;
    uint32_t dimension;
    const uint64_t *payloads;
};

static const double distance_one = DOPPEL_INDEX_DISTANCE_MOST / 2.0;

uint32_t doppel_index_distance_of_cosine(float cosine)
{
    const double apart = (1 - (double)cosine) * distance_one;
    return !(apart > 0)                          ? 0
           : apart >= DOPPEL_INDEX_DISTANCE_MOST ? DOPPEL_INDEX_DISTANCE_MOST
                                                 : (uint32_t)(apart + .5);
}

float doppel_index_cosine_of_distance(uint32_t distance)
{
    return (float)(1 - (double)distance / distance_one);
}

enum doppel_status vectors_check(uint32_t dimension, const uint64_t *codes, size_t count,
                                 struct doppel_error *error)
{
    const size_t words = vector_words(dimension);
    bool direction;
    for (size_t i = 0; i < count; i++)
        if (!doppel_vector_is_valid((const float *)(const void *)(codes + i * words), dimension,
                                    &direction))
            return doppel_fail(error, DOPPEL_E_FORMAT,
                               "vector %zu holds what is no number, or too large or small a one",
                               i);
    return DOPPEL_OK;
}

/* ---- building ---- */

static void plan_vectors(const struct doppel_vector_table_plan *from, uint64_t count,
                         struct segment_plan *out)
{
    *out = (struct segment_plan){.table = SEGMENT_VECTORS};
    memcpy(out->parameters, from->parameters, sizeof from->parameters);
    memcpy(out->part_bytes, from->part_bytes, sizeof from->part_bytes);
    out->part_bytes[PART_PAYLOADS] = count * sizeof(uint64_t);
}

static enum doppel_status fill_rows(struct segment *segment, uint32_t dimension,
                                    struct code_stream *stream, struct doppel_error *error)
{
    const size_t words = vector_words(dimension);
    uint64_t *payloads = (uint64_t *)(void *)segment_fill(segment, PART_PAYLOADS);
    float *rows = (float *)(void *)segment_fill(segment, PART_ROWS);
    uint64_t *codes = malloc(PIECE * words * sizeof *codes), at = 0;
    size_t got = 1;
    if (!codes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a segment of vectors");
    stream->rewind(stream->context);
    while (got && at < stream->count) {
        const uint64_t left = stream->count - at;
        got = stream->read(stream->context, codes, payloads + at, left < PIECE ? left : PIECE);
        for (size_t i = 0; i < got; i++)
            memcpy(rows + at++ * dimension, codes + i * words, dimension * sizeof *rows);
    }
    free(codes);
    return at == stream->count
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_CHANGED, "fewer vectors came than were announced");
}

enum doppel_status vectors_build(uint32_t dimension, struct code_stream *stream,
                                 const struct segment_target *target, struct segment **out,
                                 struct doppel_error *error)
{
    if (stream->count > INT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "too many vectors for a segment");
    struct doppel_vector_table_plan table = doppel_vector_table_plan(dimension, stream->count);
    uint8_t *parts[DOPPEL_VECTOR_TABLE_PARTS];
    struct segment_plan plan;
    struct segment *segment = NULL;
    enum doppel_status status;
    plan_vectors(&table, stream->count, &plan);
    TRY(segment_create(&plan, target, &segment, error));
    TRY(fill_rows(segment, dimension, stream, error));
    for (unsigned i = 0; i < DOPPEL_VECTOR_TABLE_PARTS; i++)
        parts[i] = segment_fill(segment, i);
    TRY(doppel_vector_table_fill(&table, parts, error));
    memcpy(segment->plan.parameters, table.parameters, sizeof table.parameters);
    TRY(segment_seal(segment, error));
done:
    if (!status)
        *out = segment;
    else if (segment)
        segment_release(segment);
    return status;
}

/* ---- opening ---- */

static bool read_vectors_plan(const struct segment_plan *from, struct doppel_vector_table_plan *out)
{
    memcpy(out->parameters, from->parameters, sizeof out->parameters);
    memcpy(out->part_bytes, from->part_bytes, sizeof out->part_bytes);
    return from->table == SEGMENT_VECTORS && doppel_vector_table_plan_is_valid(out) &&
           from->part_bytes[PART_PAYLOADS] == out->parameters[1] * sizeof(uint64_t);
}

enum doppel_status vectors_open(struct segment *segment, struct vectors **out,
                                struct doppel_error *error)
{
    struct doppel_vector_table_plan plan;
    const bool sound = read_vectors_plan(&segment->plan, &plan);
    struct vectors *table = sound ? calloc(1, sizeof *table) : NULL;
    if (!table) {
        segment_release(segment);
        return sound ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a table of the index")
                     : doppel_fail(error, DOPPEL_E_CORRUPT,
                                   "the parameters of a table of vectors of the index are wrong");
    }
    table->segment = segment;
    table->table.plan = plan;
    for (size_t i = 0; i < DOPPEL_VECTOR_TABLE_PARTS; i++)
        table->table.parts[i] = segment->parts[i];
    table->dimension = (uint32_t)plan.parameters[0];
    table->count = plan.parameters[1];
    table->payloads = (const uint64_t *)(const void *)segment->parts[PART_PAYLOADS];
    *out = table;
    return DOPPEL_OK;
}

void vectors_free(struct vectors *table)
{
    if (!table)
        return;
    segment_release(table->segment);
    free(table);
}

struct segment *vectors_segment(const struct vectors *table)
{
    return table->segment;
}

uint32_t vectors_dimension(const struct vectors *table, uint64_t *out_count)
{
    *out_count = table->count;
    return table->dimension;
}

/* ---- searching ---- */

/* Collects hits: all within a radius, or the k nearest. */
struct vector_hits {
    const struct vectors *table;
    const struct query *query;
    size_t k;
    bool no_memory;
};

/* What has such a distance, or a lower one, has at least this cosine. */
static float least_cosine(uint32_t distance)
{
    return distance >= DOPPEL_INDEX_DISTANCE_MOST ? -1
                                                  : doppel_index_cosine_of_distance(distance + 1);
}

static bool add_vector_hit(const struct query *query, size_t k, uint64_t payload, float cosine)
{
    const struct doppel_index_hit hit = {payload, doppel_index_distance_of_cosine(cosine),
                                         query->number};
    if (hit.distance > query->radius)
        return true;
    return k ? hits_offer(query->hits, k, &hit) : array_push(query->hits, hit);
}

/* Of k, the farthest is at the top of the heap. */
static float wanted_cosine(const struct query *query, size_t k)
{
    return k && query->hits->count == k && query->hits->items[0].distance < query->radius
               ? least_cosine(query->hits->items[0].distance)
               : least_cosine(query->radius);
}

static float note_vector_hit(void *context, uint64_t row, float cosine)
{
    struct vector_hits *found = context;
    const struct vectors *table = found->table;
    segment_touch(table->segment, table->payloads + row, sizeof *table->payloads);
    found->no_memory = !add_vector_hit(found->query, found->k, table->payloads[row], cosine);
    return found->no_memory ? 2 : wanted_cosine(found->query, found->k);
}

static void touch_vectors(void *context, const void *at, size_t bytes)
{
    const struct vector_hits *found = context;
    segment_touch(found->table->segment, at, bytes);
}

static enum doppel_status search_vectors(const struct vectors *table, const struct query *query,
                                         size_t k, struct doppel_index_counts *counts,
                                         struct doppel_error *error)
{
    struct vector_hits found = {table, query, k, false};
    struct doppel_vector_search search = {.min_cosine = wanted_cosine(query, k),
                                          .recall = query->recall,
                                          .nearest = k,
                                          .visit = note_vector_hit,
                                          .touch = touch_vectors,
                                          .context = &found};
    enum doppel_status status = doppel_vector_table_search(
        &table->table, (const float *)(const void *)query->code, &search, error);
    if (search.damaged)
        segment_found_damaged(table->segment);
    counts->lookups += search.cells;
    counts->candidates += search.candidates;
    return !status && found.no_memory
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a search")
               : status;
}

enum doppel_status vectors_search(const struct vectors *table, struct query *queries, size_t count,
                                  size_t k, struct doppel_index_counts *counts,
                                  struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count && !status; i++) {
        if (k)
            hits_make_heap(queries[i].hits);
        status = search_vectors(table, &queries[i], k, counts, error);
        if (k)
            hits_keep_nearest(queries[i].hits, k);
    }
    return status;
}

bool vectors_scan(const struct vector_run *run, const struct query *query, size_t k)
{
    const size_t words = vector_words(run->dimension);
    const float *asked = (const float *)(const void *)query->code;
    bool room = true, directed = false;
    if (!doppel_vector_is_valid(asked, run->dimension, &directed) || !directed)
        return true;
    if (k)
        hits_make_heap(query->hits);
    for (uint32_t i = 0; i < run->count && room; i++) {
        const float *own = (const float *)(const void *)(run->codes + i * words);
        if ((run->deaths[i] && run->deaths[i] <= run->clock) ||
            !doppel_vector_is_valid(own, run->dimension, &directed) || !directed)
            continue;
        const float cosine = doppel_vector_cosine(asked, own, run->dimension);
        room = add_vector_hit(query, k, run->payloads[i], cosine);
    }
    if (k)
        hits_keep_nearest(query->hits, k);
    return room;
}

/* ---- reading ---- */

size_t vectors_read(const struct vectors *table, uint64_t first, size_t count, uint64_t *out_codes,
                    uint64_t *out_payloads)
{
    const size_t words = vector_words(table->dimension), bytes = table->dimension * sizeof(float);
    const uint64_t left = first < table->count ? table->count - first : 0;
    const size_t some = left < count ? (size_t)left : count;
    const uint8_t *rows = table->table.parts[PART_ROWS] + first * bytes;
    segment_touch(table->segment, rows, some * bytes);
    segment_touch(table->segment, table->payloads + first, some * sizeof *table->payloads);
    for (size_t i = 0; i < some; i++) {
        out_codes[(i + 1) * words - 1] = 0; /* behind an odd one */
        memcpy(out_codes + i * words, rows + i * bytes, bytes);
        out_payloads[i] = table->payloads[first + i];
    }
    return some;
}
