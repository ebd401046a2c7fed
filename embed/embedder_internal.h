/* What an embedder holds, and the parts of its calls. */
#ifndef DOPPEL_EMBED_EMBEDDER_INTERNAL_H
#define DOPPEL_EMBED_EMBEDDER_INTERNAL_H

#include <pthread.h>

#include <doppel/embedder.h>

#include "embed/endpoint/endpoint.h"
#include "embed/vector_cache.h"

/* By which a request is sent: a thread's own. */
struct embedder_connection {
    struct doppel_embedder *embedder;
    struct doppel_endpoint *endpoint; /* NULL: not needed yet */
    const size_t *places;             /* of a request's texts, in the caller's call */
};

struct doppel_embedder {
    struct doppel_embedder_identity identity;
    struct doppel_model *model; /* one of these two */
    struct doppel_endpoint *endpoint;
    struct doppel_vector_whitening *whitening; /* of what these make; NULL: stays as it is */
    struct vector_cache *cache;                /* NULL: none, or of no use any more */
    struct doppel_embedder_usage usage;        /* its tokens and requests are the endpoint's */
    double price, max_cost;
    uint64_t sent_bytes;                   /* of texts, with prefixes */
    bool retry_refused;                    /* what the cache has of them does not count */
    bool write_told;                       /* that something could not be kept */
    uint64_t flying_bytes;                 /* of these, of what is not answered yet */
    uint32_t requests;                     /* in flight at a time */
    pthread_mutex_t lock;                  /* of all here, while they are; and of callbacks */
    struct embedder_connection connection; /* of `endpoint` itself, which asks for the probe */
    struct embedder_connection connections[DOPPEL_EMBEDDER_MOST_REQUESTS];
    struct doppel_endpoint_options asked; /* the callbacks of the caller, alone */
    void (*on_notice)(void *context, const char *sentence);
    void *notice_context;
};

/* The cache is of no use: it is told, closed and quarantined, and the rest goes on. */
void embedder_drop_cache(struct doppel_embedder *embedder, const struct doppel_error *reason);

/* Tell what is worth knowing. */
void embedder_notice(const struct doppel_embedder *embedder, const char *format, ...)
    DOPPEL_PRINTF(2, 3);

/* The digest under which a text is kept, of which the revision has the prefix. */
struct doppel_digest embedder_text_digest(const char *text, size_t size);

/* What the cache has of a text: a vector; or zeros, as the service refused it. */
enum cached_text { TEXT_NOT_CACHED, TEXT_CACHED, TEXT_REFUSED };
/* @param out_row untouched but where it is cached */
enum cached_text embedder_find_cached(struct doppel_embedder *embedder,
                                      const struct doppel_digest *text, float *out_row);

/* Vectors from the cache, and the others from the service. As doppel_embedder_embed. */
enum doppel_status embedder_ask(struct doppel_embedder *embedder,
                                const struct doppel_model_texts *texts, float *rows,
                                enum doppel_status *each, struct doppel_error *error);

/* DOPPEL_E_LIMIT: what was counted costs more than it may. */
enum doppel_status embedder_check_spent(const struct doppel_embedder *embedder,
                                        struct doppel_error *error);

#endif
