/* The indexes in which pictures are searched for. */
#ifndef DOPPEL_MATCH_IMAGES_TABLES_H
#define DOPPEL_MATCH_IMAGES_TABLES_H

#include <doppel/index.h>
#include <doppel/match.h>

struct doppel_matcher;

struct tables {
    struct doppel_index *codes; /* under which pictures are found */
    struct doppel_index *asks;  /* by which pictures ask, so that what was cropped from a query is
                                   found too; NULL when both are the same */
    struct doppel_index *full;  /* 256 bits of full frames; NULL when not looked up */
};

/** @param out given (tables_free), empty on failure */
enum doppel_status tables_make(const struct doppel_matcher *matcher, struct tables *out,
                               struct doppel_error *error);
void tables_free(struct tables *tables);

/** Insert the codes of the picture in a slot under a payload. */
enum doppel_status tables_insert(struct tables *tables, const struct doppel_matcher *matcher,
                                 uint32_t slot, uint64_t payload, struct doppel_error *error);

/** Remove all codes of a payload. DOPPEL_OK; DOPPEL_E_MEMORY: then it is found still. */
enum doppel_status tables_remove(struct tables *tables, uint64_t payload);

/** Visit what is within the radius of some codes in one of the tables. */
enum doppel_status tables_search(const struct doppel_index *table, const uint64_t *codes,
                                 size_t count, uint32_t radius, doppel_index_visitor *visitor,
                                 void *context, struct doppel_error *error);

#endif
