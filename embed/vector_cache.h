/* Vectors that were paid for, kept: a file of SQLite's, which any number of processes share.
 *
 * A vector is found by the digest of its text and by the model, of which the file has the vector of
 * the probe: by that, a service that has another model under the same name is noticed. */
#ifndef DOPPEL_EMBED_VECTOR_CACHE_H
#define DOPPEL_EMBED_VECTOR_CACHE_H

#include <stdbool.h>

#include <doppel/embedder.h>

struct vector_cache;

/**
 * Open it, or make it.
 *
 * @param most_bytes of the file, about; beyond, the oldest vectors go
 * @param out        given (vector_cache_close); untouched on failure
 * @param out_renewed a damaged one was quarantined, and another begun
 * @return DOPPEL_OK; DOPPEL_E_FORMAT: it is something else; DOPPEL_E_VERSION; DOPPEL_E_BUSY;
 *         DOPPEL_E_IO; DOPPEL_E_NO_SPACE; DOPPEL_E_MEMORY
 */
enum doppel_status vector_cache_open(const char *path, uint64_t most_bytes,
                                     struct vector_cache **out, bool *out_renewed,
                                     struct doppel_error *error);

/* Open one that is there, and leave a damaged one as it is. To list what it has, and to forget.
 * @return also DOPPEL_E_NOT_FOUND; DOPPEL_E_CORRUPT */
enum doppel_status vector_cache_open_existing(const char *path, struct vector_cache **out,
                                              struct doppel_error *error);

/* A file that was found to be damaged is quarantined. NULL is fine. */
void vector_cache_close(struct vector_cache *cache);

/* What answers now. Borrowed. */
struct cached_model {
    const struct doppel_embedder_identity *identity;
    const float *probe; /* its dimension is the identity's */
    const char *place;  /* of the service: its URL */
    bool trusted;       /* whatever this place had before */
};

/**
 * Find the model among those that are known, by its name, its prefix and the vector of its probe;
 * or note it. What is got and put is of this one from then on.
 *
 * @param out_revision that it has there; its own, where it is new
 * @return DOPPEL_OK; DOPPEL_E_VERSION: this place had another model by this name; DOPPEL_E_CORRUPT:
 *         the cache is of no use any more; and as vector_cache_put
 */
enum doppel_status vector_cache_choose(struct vector_cache *cache, const struct cached_model *model,
                                       char out_revision[33], struct doppel_error *error);

/* Look a vector up; what is damaged is not there.
 * @param out_row NULL: whether there is one is wanted alone
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND; DOPPEL_E_CORRUPT, as above; DOPPEL_E_IO; _MEMORY */
enum doppel_status vector_cache_get(struct vector_cache *cache, const struct doppel_digest *text,
                                    float *out_row, struct doppel_error *error);

/* A vector of a text. */
struct cached_vector {
    struct doppel_digest text;
    const float *row; /* borrowed */
};

/* Keep vectors: all of them survive the end of this process once it returns, however that ends.
 * @return DOPPEL_OK; DOPPEL_E_NO_SPACE; DOPPEL_E_BUSY; DOPPEL_E_CORRUPT, as above; _IO; _MEMORY */
enum doppel_status vector_cache_put(struct vector_cache *cache, const struct cached_vector *vectors,
                                    size_t count, struct doppel_error *error);

#endif
