/* Texts by their meaning, from the inside. */
#ifndef DOPPEL_SEARCH_SEMANTIC_INTERNAL_H
#define DOPPEL_SEARCH_SEMANTIC_INTERNAL_H

#include <doppel/search_semantic.h>

#include "core/array.h"

/* A chunk of a text that has a vector: characters, and those of its text. */
struct semantic_chunk {
    uint64_t start, end, total;
    uint32_t number, count; /* among the chunks of its text that have one */
};

/* A chunk of an item that is near one of the query. */
struct semantic_hit {
    uint64_t item;
    struct semantic_chunk chunk;
    uint32_t query; /* chunk */
    float cosine;
};

struct doppel_semantic {
    struct doppel_run *run;
    struct doppel_library *library;
    struct doppel_semantic_options options;
    struct doppel_vector_index *index;
    struct doppel_text *text;
    struct doppel_vector_background *background; /* NULL: there are too few vectors */
    uint64_t background_of;                      /* vectors, when it was made */

    /* of the text at hand */
    ARRAY(struct semantic_chunk) chunks;
    float *rows;
    ARRAY(struct semantic_hit) hits;
};

/* Cut a text, and embed its chunks. */
enum doppel_status semantic_embed(struct doppel_semantic *semantic, const char *bytes, size_t size,
                                  struct doppel_error *error);

/* Recompute the background where there are twice as many vectors by now. */
enum doppel_status semantic_weigh(struct doppel_semantic *semantic, struct doppel_error *error);

/* The least cosine of two chunks of texts that have so many pairs of them; 2: it cannot be told. */
float semantic_threshold(const struct doppel_semantic *semantic, double pairs);

/* Put the hits together, text by text. @param results empty; of_item is set */
enum doppel_status semantic_take_near_items(struct doppel_semantic *semantic,
                                            struct doppel_semantic_results *results,
                                            struct doppel_error *error);

/* Id of a chunk in the index, and back. */
enum { SEMANTIC_ID_BYTES = 160 };
void semantic_id(uint64_t item, const struct semantic_chunk *chunk, char out[SEMANTIC_ID_BYTES]);
bool semantic_parse_id(const char *id, uint64_t *item, struct semantic_chunk *chunk);

#endif
