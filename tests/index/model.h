/*
 * What an index has to answer, found by looking at every code: the judge of the public API. Nothing
 * is shared with the index but the structs of its header.
 */
#ifndef TESTS_INDEX_MODEL_H
#define TESTS_INDEX_MODEL_H

#include <doppel/index.h>

#include "core/array.h"
#include "index/codes.h"

/* The codes that are in, removed ones not. Hamming and bands. */
struct model {
    struct doppel_index_options options;
    size_t words;
    ARRAY(uint64_t) codes;    /* words each */
    ARRAY(uint64_t) payloads; /* one each */
};

struct model model_new(const struct doppel_index_options *options);
void model_free(struct model *model);
void model_insert(struct model *model, const uint64_t *codes, const uint64_t *payloads,
                  size_t count);
void model_remove(struct model *model, uint64_t payload);

/** What a request finds, in order. @param out given (free) */
size_t model_search(const struct model *model, const struct doppel_index_request *request,
                    struct doppel_index_hit **out);

/** Codes of a shape, payloads of which `payload_count` differ, and queries: near codes of the
 * model, and others. */
void model_codes(const struct model *model, enum shape shape, size_t count, uint64_t *state,
                 uint64_t *out);
void model_queries(const struct model *model, enum shape shape, size_t count, uint64_t *state,
                   uint64_t *out);

/** Ask the index in every way, and fail the test unless it answers as the model. */
void check_request(const struct doppel_index *index, const struct model *model,
                   const struct doppel_index_request *request);

#endif
