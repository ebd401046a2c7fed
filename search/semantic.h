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
    float cosine, value;
};

struct doppel_semantic {
    struct doppel_run *run;
    struct doppel_library *library;
    struct doppel_semantic_options options;
    struct doppel_vector_index *index;
    struct doppel_text *text;
    struct doppel_vector_background *background; /* NULL: there are too few vectors */
    uint64_t background_of;                      /* vectors, when it was made */
    /* By scores: a sample of the library, for the levels of queries. A *value* is a score then,
     * else a cosine. */
    struct doppel_vector_cohort *cohort;

    /* of the text at hand */
    ARRAY(struct semantic_chunk) chunks;
    float *rows;
    ARRAY(float) levels; /* by scores: of its chunks */
    ARRAY(struct semantic_hit) hits;
};

/* Cut a text, and embed its chunks. */
enum doppel_status semantic_embed(struct doppel_semantic *semantic, const char *bytes, size_t size,
                                  struct doppel_error *error);

/* Fail: it was made without a library, to compare texts. */
enum doppel_status semantic_no_library(struct doppel_error *error);

/* Whether values are scores. */
static inline bool semantic_is_scored(const struct doppel_semantic *semantic)
{
    return semantic->options.scores && semantic->options.min_cosine == 0;
}

/* Recompute the background where there are twice as many vectors by now. */
enum doppel_status semantic_weigh(struct doppel_semantic *semantic, struct doppel_error *error);

/* Drop the background and the cohort. */
void semantic_weigh_no_more(struct doppel_semantic *semantic);

/* The least value of two chunks, of texts with so many pairs of chunks; 2: not known. */
float semantic_threshold(const struct doppel_semantic *semantic, double pairs);

/* Find the levels of the query's chunks. @param out_lowest 0 if values are cosines */
enum doppel_status semantic_find_levels(struct doppel_semantic *semantic, float *out_lowest,
                                        struct doppel_error *error);

/* The value of a hit of a query's chunk, from its cosine. */
float semantic_hit_value(const struct doppel_semantic *semantic, uint32_t query, float cosine);

/* The share of random pairs of texts, with so many pairs of chunks, whose nearest chunks are as
 * near; 1: not known. */
double semantic_stated_rate(const struct doppel_semantic *semantic, float value, double pairs);

/* Set cosine, score, rates and tier of a link.
 * @param hits of one item, the nearest first
 * @return false: its rate is above max_fp_rate, so it is no match */
bool semantic_weigh_item(const struct doppel_semantic *semantic, const struct semantic_hit *hits,
                         struct doppel_semantic_link *link);

/* Put the hits together, text by text. @param results empty; of_item is set */
enum doppel_status semantic_take_near_items(struct doppel_semantic *semantic,
                                            struct doppel_semantic_results *results,
                                            struct doppel_error *error);

/* The beginning of a file. @param out given (free) */
enum doppel_status semantic_read_file(const char *path, char **out, size_t *out_size,
                                      struct doppel_error *error);

/* Id of a chunk in the index, and back. */
enum { SEMANTIC_ID_BYTES = 160 };
void semantic_id(uint64_t item, const struct semantic_chunk *chunk, char out[SEMANTIC_ID_BYTES]);
bool semantic_parse_id(const char *id, uint64_t *item, struct semantic_chunk *chunk);

/* ---- what the library knows of vectors ---- */

uint64_t semantic_count(struct doppel_vector_index *index);

/* What the library knows of is not there, or damaged, as a status says, with its sentence.
 * @return DOPPEL_E_CORRUPT; another status as it is */
enum doppel_status semantic_vectors_lost(const char *folder,
                                         const struct doppel_library_vectors_count *known,
                                         enum doppel_status status, struct doppel_error *error);

/* Open it, unless it lacks what the library knows of: then it is not made, either. The folder is
 * made, if need be, where `make` is given. @return as doppel_semantic_new */
enum doppel_status semantic_open_known(struct doppel_library *library,
                                       const struct doppel_vector_index_options *options,
                                       struct doppel_vector_index **out,
                                       struct doppel_error *error);

/* Before vectors are added: those of texts that are gone are dropped, and those are noted that a
 * library from before version 15 of its catalogue has. */
enum doppel_status semantic_settle(struct doppel_library *library,
                                   struct doppel_vector_index *index, struct doppel_error *error);

/* A vector that has an id. */
struct found_chunk {
    uint64_t number;
    uint32_t count; /* that its text is to have */
    bool is_there;
};

/* Both sides. Zero-initialised it is empty. */
struct vectors_ledger {
    ARRAY(struct doppel_library_vectors) noted; /* by number; without models */
    ARRAY(struct found_chunk) found;            /* by number */
};

/* The library is read first: what is noted is there. */
enum doppel_status vectors_ledger_read(struct doppel_library *library,
                                       struct vectors_ledger *ledger, struct doppel_error *error);
enum doppel_status vectors_ledger_find(struct doppel_vector_index *index,
                                       struct vectors_ledger *ledger, struct doppel_error *error);
void vectors_ledger_free(struct vectors_ledger *ledger);

/* What both sides say of the vectors of a number. */
struct text_vectors {
    uint64_t number, item;
    uint64_t noted; /* 0: the library does not know of them */
    uint64_t there, whole;
};
enum doppel_status vectors_ledger_each(const struct vectors_ledger *ledger,
                                       enum doppel_status visit(void *context,
                                                                const struct text_vectors *text,
                                                                struct doppel_error *error),
                                       void *context, struct doppel_error *error);

/* Drop those of a number, and forget them. @param index NULL: there is none */
enum doppel_status vectors_drop(struct doppel_library *library, struct doppel_vector_index *index,
                                uint64_t number, struct doppel_error *error);

/* Those that are there are those of the item with their number. */
enum doppel_status vectors_note_found(struct doppel_library *library,
                                      const struct text_vectors *text, const char *model,
                                      struct doppel_error *error);
bool vectors_are_of_none(struct doppel_library *library, const struct text_vectors *text);

#endif
