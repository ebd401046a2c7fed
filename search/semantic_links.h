/* Texts that are linked by their meaning, all with all, from the inside:
 *
 *     chunks and rows ─ near pairs of rows ─ of texts ─ each text to an earlier one ─ visited
 */
#ifndef DOPPEL_SEARCH_SEMANTIC_LINKS_H
#define DOPPEL_SEARCH_SEMANTIC_LINKS_H

#include "search/semantic.h"

/* A text is known by its place among `texts`, which are in order. */
struct linkable_text {
    uint64_t item;
    uint64_t group; /* by its words; 0: none */
    enum { LINKABLE_NOT_SEEN, LINKABLE, NOT_LINKABLE } state;
    bool settled; /* it is linked with half of it or more: none is linked to it */
    bool reference;
    struct doppel_digest content;
};

/* Of two texts, the second the earlier one. */
struct near_rows {
    uint32_t text, of, row, of_row;
    float cosine, value;
};

struct chosen_link {
    uint32_t text, of;
    struct doppel_semantic_link link; /* its segments are owned */
};

struct semantic_linking {
    struct doppel_semantic *semantic;
    const struct doppel_semantic_links_options *options;
    uint32_t dimension;
    ARRAY(struct semantic_chunk) chunks; /* of each row */
    ARRAY(uint64_t) items;               /* likewise */
    float *rows;
    size_t rows_room;
    uint32_t *text_of; /* of each row */
    float *levels;     /* likewise, by scores: of a level the share that counts. NULL: by cosines */
    ARRAY(struct linkable_text) texts;
    ARRAY(struct near_rows) pairs;
    size_t thin_at; /* when there are so many pairs */
    ARRAY(struct chosen_link) links;
    struct doppel_error *error;
};

enum doppel_status semantic_linking_no_memory(struct doppel_error *error);

/* Add a row. @return false without memory */
bool semantic_linking_add(struct semantic_linking *linking, uint64_t item,
                          const struct semantic_chunk *chunk, const float *row);

/* When all rows are there: which texts there are. */
enum doppel_status semantic_linking_sort(struct semantic_linking *linking,
                                         struct doppel_error *error);

/* Make the background of these rows, in place of the library's, and their levels. Call
 * semantic_weigh_no_more before the next search of the library. */
enum doppel_status semantic_linking_weigh(struct semantic_linking *linking,
                                          struct doppel_error *error);

/* Find `pairs`, by the later text, then the earlier. */
enum doppel_status semantic_linking_join(struct semantic_linking *linking,
                                         struct doppel_error *error);

/* The `stopped` callback while vectors are compared; context is a struct semantic_linking. */
bool semantic_linking_stopped(void *context);

/* Find `links`: the background of the rows is known. */
enum doppel_status semantic_linking_find(struct semantic_linking *linking,
                                         struct doppel_error *error);

/* @param summary may be NULL */
void semantic_linking_sum_up(const struct semantic_linking *linking,
                             struct doppel_semantic_links_summary *summary);
void semantic_linking_free(struct semantic_linking *linking);

#endif
