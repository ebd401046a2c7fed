/* The choice among the tables. */
#include "index/table.h"

#include <stdlib.h>

#include "index/bands/bands.h"
#include "index/hamming/hamming.h"
#include "index/linear.h"
#include "index/vectors.h"

struct table {
    enum segment_table kind;
    union {
        struct hamming *hamming;
        struct bands *bands;
        struct linear *linear;
        struct postings *postings;
        struct vectors *vectors;
    };
};

size_t table_words(const struct doppel_index_options *options)
{
    switch (options->table) {
    case DOPPEL_INDEX_HAMMING:
        return code_words(options->bits);
    case DOPPEL_INDEX_BANDS:
        return options->lanes / 4;
    case DOPPEL_INDEX_VECTORS:
        return vector_words(options->bits / 32);
    default:
        return 0;
    }
}

/* Look-ups multiply with the part of the bits that may differ; where they meet the cost of a scan
 * was measured at 64 bits with AVX-512. */
bool table_is_linear(const struct doppel_index_options *options, uint64_t count)
{
    static const struct {
        double part; /* of the bits */
        uint64_t codes;
    } limits[] = {{4. / 64, 512},
                  {8. / 64, 2048},
                  {10. / 64, 16384},
                  {12. / 64, 131072},
                  {16. / 64, 2000000}};
    if (options->table != DOPPEL_INDEX_HAMMING)
        return false;
    double part = (double)options->design_radius / options->bits;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (part <= limits[i].part)
            return count <= limits[i].codes;
    return true;
}

bool table_is_scanned(const struct doppel_index_options *options)
{
    return options->table == DOPPEL_INDEX_HAMMING && options->bits == 256 &&
           options->design_radius == options->bits;
}

const struct scan_codes *table_codes(const struct table *table)
{
    return table->kind == SEGMENT_LINEAR ? linear_codes(table->linear) : NULL;
}

/* ---- building ---- */

static enum doppel_status build_postings(const struct doppel_index_options *options,
                                         const struct table_source *source,
                                         const struct segment_target *target, struct segment **out,
                                         struct doppel_error *error)
{
    struct postings_options postings = {.key_bits = options->key_bits};
    return source->postings ? postings_merge(source->postings, target, out, error)
                            : postings_build(&postings, source->items, target, out, error);
}

static enum doppel_status build_codes(const struct doppel_index_options *options,
                                      struct code_stream *codes,
                                      const struct segment_target *target, struct segment **out,
                                      struct doppel_error *error)
{
    struct hamming_options hamming = {options->bits, options->design_radius, options->compact};
    struct bands_options bands = {options->lanes, options->bands, options->rows};
    if (options->table == DOPPEL_INDEX_BANDS)
        return bands_build(&bands, codes, target, out, error);
    if (options->table == DOPPEL_INDEX_VECTORS)
        return vectors_build(options->bits / 32, codes, target, out, error);
    if (table_is_linear(options, codes->count))
        return linear_build(options->bits, table_is_scanned(options), codes, target, out, error);
    return hamming_build(&hamming, codes, target, out, error);
}

enum doppel_status table_build(const struct doppel_index_options *options,
                               const struct table_source *source,
                               const struct segment_target *target, struct table **out,
                               struct doppel_error *error)
{
    struct segment *segment;
    enum doppel_status status = options->table == DOPPEL_INDEX_POSTINGS
                                    ? build_postings(options, source, target, &segment, error)
                                    : build_codes(options, source->codes, target, &segment, error);
    return status ? status : table_open(options, segment, out, error);
}

/* ---- opening ---- */

static enum doppel_status open_kind(struct segment *segment, struct table *table,
                                    struct doppel_error *error)
{
    switch (table->kind) {
    case SEGMENT_HAMMING:
        return hamming_open(segment, &table->hamming, error);
    case SEGMENT_BANDS:
        return bands_open(segment, &table->bands, error);
    case SEGMENT_LINEAR:
        return linear_open(segment, &table->linear, error);
    case SEGMENT_POSTINGS:
        return postings_open(segment, &table->postings, error);
    case SEGMENT_VECTORS:
        return vectors_open(segment, &table->vectors, error);
    default:
        segment_release(segment);
        return doppel_fail(error, DOPPEL_E_FORMAT, "a segment of the index has an unknown table");
    }
}

/* Whether it holds codes such as the options ask for. */
static bool suits(const struct table *table, const struct doppel_index_options *options)
{
    uint64_t count;
    if (table->kind == SEGMENT_POSTINGS)
        return options->table == DOPPEL_INDEX_POSTINGS &&
               postings_info(table->postings).key_bits == options->key_bits;
    if (table->kind == SEGMENT_BANDS) {
        struct bands_options bands = bands_info(table->bands, NULL);
        return options->table == DOPPEL_INDEX_BANDS && bands.lanes == options->lanes &&
               bands.bands == options->bands && bands.rows == options->rows;
    }
    if (table->kind == SEGMENT_VECTORS)
        return options->table == DOPPEL_INDEX_VECTORS &&
               vectors_dimension(table->vectors, &count) == options->bits / 32;
    uint32_t bits = table->kind == SEGMENT_LINEAR ? linear_bits(table->linear, &count)
                                                  : hamming_info(table->hamming).bits;
    return options->table == DOPPEL_INDEX_HAMMING && bits == options->bits;
}

enum doppel_status table_open(const struct doppel_index_options *options, struct segment *segment,
                              struct table **out, struct doppel_error *error)
{
    struct table *table = calloc(1, sizeof *table);
    if (!table) {
        segment_release(segment);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a table of the index");
    }
    table->kind = segment->plan.table;
    enum doppel_status status = open_kind(segment, table, error);
    if (status) {
        free(table);
        return status;
    }
    if (!suits(table, options)) {
        table_free(table);
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "a segment of the index was built with other options");
    }
    *out = table;
    return DOPPEL_OK;
}

void table_free(struct table *table)
{
    if (!table)
        return;
    if (table->kind == SEGMENT_HAMMING)
        hamming_free(table->hamming);
    else if (table->kind == SEGMENT_BANDS)
        bands_free(table->bands);
    else if (table->kind == SEGMENT_POSTINGS)
        postings_free(table->postings);
    else if (table->kind == SEGMENT_VECTORS)
        vectors_free(table->vectors);
    else
        linear_free(table->linear);
    free(table);
}

struct segment *table_segment(const struct table *table)
{
    return table->kind == SEGMENT_HAMMING    ? hamming_segment(table->hamming)
           : table->kind == SEGMENT_BANDS    ? bands_segment(table->bands)
           : table->kind == SEGMENT_POSTINGS ? postings_segment(table->postings)
           : table->kind == SEGMENT_VECTORS  ? vectors_segment(table->vectors)
                                             : linear_segment(table->linear);
}

const struct postings *table_postings(const struct table *table)
{
    return table->kind == SEGMENT_POSTINGS ? table->postings : NULL;
}

uint64_t table_count(const struct table *table, uint64_t *out_distinct)
{
    uint64_t count;
    if (table->kind == SEGMENT_HAMMING) {
        struct hamming_info info = hamming_info(table->hamming);
        *out_distinct = info.distinct;
        return info.codes;
    }
    if (table->kind == SEGMENT_BANDS) {
        *out_distinct = bands_distinct(table->bands);
        (void)bands_info(table->bands, &count);
        return count;
    }
    if (table->kind == SEGMENT_POSTINGS)
        count = postings_info(table->postings).postings;
    else if (table->kind == SEGMENT_VECTORS)
        (void)vectors_dimension(table->vectors, &count);
    else
        (void)linear_bits(table->linear, &count);
    *out_distinct = count;
    return count;
}

/* ---- use ---- */

void table_scratch_free(struct table_scratch *scratch)
{
    hamming_scratch_free(scratch->hamming);
    bands_scratch_free(scratch->bands);
}

static enum doppel_status search_hamming(const struct hamming *table, struct table_scratch *scratch,
                                         struct query *queries, size_t count, size_t k,
                                         struct doppel_index_counts *counts,
                                         struct doppel_error *error)
{
    struct hamming_counts spent = {0};
    if (!scratch->hamming && (scratch->hamming = hamming_scratch_new()) == NULL)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a search");
    enum doppel_status status =
        k ? hamming_knn(table, scratch->hamming, queries, count, k, &spent, error)
          : hamming_search(table, scratch->hamming, queries, count, &spent, error);
    counts->lookups += spent.lookups;
    counts->candidates += spent.candidates;
    return status;
}

static enum doppel_status search_bands(const struct bands *table, struct table_scratch *scratch,
                                       struct query *queries, size_t count, size_t k,
                                       struct doppel_error *error)
{
    if (!scratch->bands && (scratch->bands = bands_scratch_new()) == NULL)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a search");
    enum doppel_status status = bands_search(table, scratch->bands, queries, count, k, error);
    for (size_t i = 0; i < count && k && !status; i++)
        hits_keep_nearest(queries[i].hits, k);
    return status;
}

enum doppel_status table_search(const struct table *table, struct table_scratch *scratch,
                                struct query *queries, size_t count, size_t k,
                                struct doppel_index_counts *counts, struct doppel_error *error)
{
    uint64_t distinct;
    switch (table->kind) {
    case SEGMENT_HAMMING:
        return search_hamming(table->hamming, scratch, queries, count, k, counts, error);
    case SEGMENT_BANDS:
        return search_bands(table->bands, scratch, queries, count, k, error);
    case SEGMENT_VECTORS:
        return vectors_search(table->vectors, queries, count, k, counts, error);
    default:
        counts->candidates += count * table_count(table, &distinct);
        return linear_search(table->linear, queries, count, k, error);
    }
}

size_t table_read(const struct table *table, uint64_t first, size_t count, uint64_t *out_codes,
                  uint64_t *out_payloads)
{
    return table->kind == SEGMENT_HAMMING
               ? hamming_read(table->hamming, first, count, out_codes, out_payloads)
           : table->kind == SEGMENT_BANDS
               ? bands_read(table->bands, first, count, out_codes, out_payloads)
           : table->kind == SEGMENT_VECTORS
               ? vectors_read(table->vectors, first, count, out_codes, out_payloads)
               : linear_read(table->linear, first, count, out_codes, out_payloads);
}
