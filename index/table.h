/* An immutable segment behind whichever table it holds. */
#ifndef DOPPEL_INDEX_TABLE_H
#define DOPPEL_INDEX_TABLE_H

#include "index/hits.h"
#include "index/postings/postings.h"
#include "index/scan_codes.h"
#include "index/segment/segment.h"
#include "index/stream.h"

struct table;

/** 64-bit words a code takes; 0 of postings. */
size_t table_words(const struct doppel_index_options *options);

/* What a table is made of: one of these. */
struct table_source {
    struct code_stream *codes;             /* Hamming, bands */
    struct posting_stream *items;          /* postings */
    const struct postings_merge *postings; /* likewise */
};

/** Build the table that suits what is to be in it, and open it. */
enum doppel_status table_build(const struct doppel_index_options *options,
                               const struct table_source *source,
                               const struct segment_target *target, struct table **out,
                               struct doppel_error *error);

/** Whether so many codes are better looked at one by one. */
bool table_is_linear(const struct doppel_index_options *options, uint64_t count);

/** @param segment taken also on failure. DOPPEL_E_FORMAT when it is of other options. */
enum doppel_status table_open(const struct doppel_index_options *options, struct segment *segment,
                              struct table **out, struct doppel_error *error);
void table_free(struct table *table);
struct segment *table_segment(const struct table *table);

/** Codes, or postings; and how many of them differ. */
uint64_t table_count(const struct table *table, uint64_t *out_distinct);

/** NULL when it is no table of postings. */
const struct postings *table_postings(const struct table *table);

/* Memory that a searching thread uses again and again. Zeroed it is empty. */
struct table_scratch {
    struct hamming_scratch *hamming;
    struct bands_scratch *bands;
};
void table_scratch_free(struct table_scratch *scratch);

/** All within each query's radius; or, with k, in each query's hits the k nearest of those that
 * are there and those of the table, sorted.
 * @param counts added to */
enum doppel_status table_search(const struct table *table, struct table_scratch *scratch,
                                struct query *queries, size_t count, size_t k,
                                struct doppel_index_counts *counts, struct doppel_error *error);

/** Whether the codes are only scanned: with word 0 apart. */
bool table_is_scanned(const struct doppel_index_options *options);

/** The codes of a linear table, as they lie; NULL of others. */
const struct scan_codes *table_codes(const struct table *table);

/** As hamming_read. */
size_t table_read(const struct table *table, uint64_t first, size_t count, uint64_t *out_codes,
                  uint64_t *out_payloads);

#endif
