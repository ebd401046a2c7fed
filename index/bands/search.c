/*
 * Searching a band table. Queries pass through three stages, one behind the other, so that memory
 * is asked for long before it is read: the buckets' limits, their entries, the candidates'
 * signatures.
 *
 * A candidate may come from several bands. Those seen lately are skipped by a small table that may
 * forget; a hit counts only for the first band whose entries led to it, so none is reported twice.
 */
#include <stdlib.h>

#include "index/bands/bands_internal.h"

enum { STAGES = 3, WAITING = 32, SEEN_BITS = 12, LINE_BYTES = 64, LINE_LANES = 32 };

/* Where one band of a query leads. */
struct probe {
    uint64_t hash;
    uint32_t bucket;
    const uint32_t *first, *end;
};

struct band_candidate {
    uint32_t signature, band;
};

struct bands_scratch {
    struct probe probes[STAGES][BANDS_MAX_BANDS];
    /* The queries of the stages, padded as the kernels read them. */
    uint64_t codes[STAGES][BANDS_MAX_LANES / 4 + LINE_BYTES / 8];
    uint64_t seen[1 << SEEN_BITS]; /* number of the search in the high half, signature */
    uint32_t search;               /* number of the last one */
    struct band_candidate waiting[WAITING];
    uint32_t waiting_count;
};

struct band_search {
    const struct bands *table;
    struct bands_scratch *scratch;
    const struct query *query;
    size_t k; /* hits that are wanted; 0: all */
    const uint64_t *code;
    const struct probe *probes;
    uint32_t near_lines; /* of a signature, before it can be told to be too far */
};

struct bands_scratch *bands_scratch_new(void)
{
    return calloc(1, sizeof(struct bands_scratch));
}

void bands_scratch_free(struct bands_scratch *scratch)
{
    free(scratch);
}

static enum doppel_status damaged_in_search(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT, "the band table is damaged: numbers beyond it");
}

static void find_buckets(const struct bands *table, const struct query *query,
                         struct bands_scratch *scratch, size_t stage)
{
    const struct bands_shape *shape = &table->shape;
    memcpy(scratch->codes[stage], query->code, table->words * sizeof(uint64_t));
    for (uint32_t band = 0; band < shape->options.bands; band++) {
        struct probe *probe = &scratch->probes[stage][band];
        probe->hash = band_hash(query->code, band, shape->options.rows);
        probe->bucket = band_bucket(probe->hash, shape->buckets);
        __builtin_prefetch(table->offsets + (uint64_t)band * (shape->buckets + 1ull) +
                           probe->bucket);
    }
}

static bool find_entries(const struct bands *table, struct probe *probes)
{
    for (uint32_t band = 0; band < table->shape.options.bands; band++) {
        struct probe *probe = &probes[band];
        if (!bands_bucket(table, band, probe->bucket, &probe->first, &probe->end))
            return false;
        __builtin_prefetch(probe->first);
        __builtin_prefetch(probe->end - (probe->end > probe->first));
    }
    return true;
}

static bool leads_to(const struct bands *table, const struct probe *probe, uint64_t hash)
{
    return probe->bucket == band_bucket(hash, table->shape.buckets) &&
           !(((uint32_t)probe->hash ^ (uint32_t)hash) & ~table->id_mask);
}

/* Whether an earlier band has led to this signature. */
static bool came_before(const struct band_search *search, const uint64_t *signature, uint32_t band)
{
    uint32_t rows = search->table->shape.options.rows;
    for (uint32_t earlier = 0; earlier < band; earlier++)
        if (leads_to(search->table, &search->probes[earlier], band_hash(signature, earlier, rows)))
            return true;
    return false;
}

static enum doppel_status report(const struct band_search *search, uint32_t signature,
                                 uint32_t distance, struct doppel_error *error)
{
    uint64_t first, end;
    if (!bands_records_of(search->table, signature, &first, &end))
        return damaged_in_search(error);
    for (uint64_t i = first; i < end; i++) {
        struct doppel_index_hit hit = {bands_payload(search->table, i), distance,
                                       search->query->number};
        if (!(search->k ? hits_offer(search->query->hits, search->k, &hit)
                        : array_push(search->query->hits, hit)))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the hits of a search");
    }
    return DOPPEL_OK;
}

static enum doppel_status verify_band_hit(const struct band_search *search,
                                          const struct band_candidate *candidate,
                                          struct doppel_error *error)
{
    const struct bands *table = search->table;
    const struct bands_options *options = &table->shape.options;
    const uint64_t *signature = table->signatures + (uint64_t)candidate->signature * table->words;
    segment_touch(table->segment, signature, table->words * sizeof *signature);
    uint32_t radius = search->query->radius;
    uint32_t distance = table->distance(search->code, signature, options->lanes, radius);
    if (distance > radius || came_before(search, signature, candidate->band) ||
        !band_shared(search->code, signature, options))
        return DOPPEL_OK;
    return report(search, candidate->signature, distance, error);
}

static enum doppel_status verify_waiting_hits(const struct band_search *search,
                                              struct doppel_error *error)
{
    struct bands_scratch *scratch = search->scratch;
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t i = 0; i < scratch->waiting_count && !status; i++)
        status = verify_band_hit(search, &scratch->waiting[i], error);
    scratch->waiting_count = 0;
    return status;
}

/* Let a candidate wait for its signature, unless it has been seen. */
static void await_signature(const struct band_search *search, uint32_t signature, uint32_t band)
{
    struct bands_scratch *scratch = search->scratch;
    uint64_t mark = (uint64_t)scratch->search << 32 | signature;
    uint64_t *seen = &scratch->seen[signature * 0x9e3779b1u >> (32 - SEEN_BITS)];
    if (*seen == mark)
        return;
    *seen = mark;
    scratch->waiting[scratch->waiting_count++] = (struct band_candidate){signature, band};
    const uint64_t *lines = search->table->signatures + (uint64_t)signature * search->table->words;
    for (uint32_t line = 0; line < search->near_lines; line++)
        __builtin_prefetch(lines + line * (LINE_BYTES / sizeof *lines));
}

static enum doppel_status search_band(const struct band_search *search, uint32_t band,
                                      struct doppel_error *error)
{
    const struct probe *probe = &search->probes[band];
    uint32_t id_mask = search->table->id_mask, tag = (uint32_t)probe->hash;
    enum doppel_status status = DOPPEL_OK;
    segment_touch(search->table->segment, probe->first,
                  (size_t)(probe->end - probe->first) * sizeof *probe->first);
    for (const uint32_t *entry = probe->first; entry < probe->end && !status; entry++) {
        if ((*entry ^ tag) & ~id_mask)
            continue;
        if ((*entry & id_mask) >= search->table->shape.distinct)
            return damaged_in_search(error);
        await_signature(search, *entry & id_mask, band);
        if (search->scratch->waiting_count == WAITING)
            status = verify_waiting_hits(search, error);
    }
    return status;
}

static uint32_t next_search_mark(struct bands_scratch *scratch)
{
    if (!++scratch->search) {
        memset(scratch->seen, 0, sizeof scratch->seen);
        scratch->search = 1;
    }
    return scratch->search;
}

static enum doppel_status search_one_bands(const struct bands *table, struct bands_scratch *scratch,
                                           const struct query *query, size_t stage, size_t k,
                                           struct doppel_error *error)
{
    const struct bands_options *options = &table->shape.options;
    uint32_t lines = (options->lanes + LINE_LANES - 1) / LINE_LANES;
    uint32_t near = query->radius / LINE_LANES + 1;
    struct band_search search = {.table = table,
                                 .scratch = scratch,
                                 .query = query,
                                 .k = k,
                                 .code = scratch->codes[stage],
                                 .probes = scratch->probes[stage],
                                 .near_lines = near < lines ? near : lines};
    next_search_mark(scratch);
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t band = 0; band < options->bands && !status; band++)
        status = search_band(&search, band, error);
    if (!status)
        status = verify_waiting_hits(&search, error);
    scratch->waiting_count = 0;
    return status;
}

/* A query for other bands than the table has: every signature is looked at. Most share no lane. */
static enum doppel_status scan_signatures(const struct bands *table, struct bands_scratch *scratch,
                                          const struct query *query, size_t k,
                                          struct doppel_error *error)
{
    const uint32_t lanes = table->shape.options.lanes;
    const struct band_search search = {.table = table, .query = query, .k = k};
    enum doppel_status status = DOPPEL_OK;
    memcpy(scratch->codes[0], query->code, table->words * sizeof(uint64_t));
    segment_read_ahead(table->segment);
    for (uint32_t i = 0; i < table->shape.distinct && !status; i++) {
        const uint64_t *signature = table->signatures + (uint64_t)i * table->words;
        segment_touch(table->segment, signature, table->words * sizeof *signature);
        uint32_t distance = table->distance(scratch->codes[0], signature, lanes, lanes);
        bool shares = !query->bands->bands ||
                      (distance < lanes && band_shared(query->code, signature, query->bands));
        if (shares && distance <= query->radius)
            status = report(&search, i, distance, error);
    }
    return status;
}

enum doppel_status bands_search(const struct bands *table, struct bands_scratch *scratch,
                                struct query *queries, size_t count, size_t k,
                                struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    bool scans = count && queries->bands;
    for (size_t i = 0; i < count && k; i++)
        hits_make_heap(queries[i].hits);
    for (size_t i = 0; scans && i < count && !status; i++)
        status = scan_signatures(table, scratch, &queries[i], k, error);
    for (size_t i = 0; !scans && i < count + 2 && !status; i++) {
        if (i < count)
            find_buckets(table, &queries[i], scratch, i % STAGES);
        if (i >= 1 && i - 1 < count && !find_entries(table, scratch->probes[(i - 1) % STAGES]))
            status = damaged_in_search(error);
        if (i >= 2 && !status)
            status = search_one_bands(table, scratch, &queries[i - 2], (i - 2) % STAGES, k, error);
    }
    return status ? status : segment_damage(table->segment, error);
}
