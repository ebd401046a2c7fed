/**
 * doppel/embedder.h: vectors of texts, wherever they come from: a static model of a folder
 * (doppel/embed.h), or a service that embeds (doppel/embed_endpoint.h). Part of doppel/embed.h.
 *
 *     struct doppel_embedder_options options = doppel_embedder_options_default();
 *     options.folder = "models";
 *     options.name = "potion-base-8M";
 *     doppel_embedder_open(&options, &embedder, &error);
 *     doppel_embedder_embed(embedder, &texts, rows, each, &error);
 *
 * Who keeps vectors keeps the identity of what made them beside these, and compares it with that of
 * what makes more. An embedder is of one thread at a time; others may be used beside it, also of
 * the same model.
 */
#ifndef DOPPEL_EMBED_EMBEDDER_H
#define DOPPEL_EMBED_EMBEDDER_H

#include <doppel/embed.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DOPPEL_EMBEDDER_MAX_NAME = 255, /**< bytes */
    DOPPEL_EMBEDDER_MOST_REQUESTS = 16
};

/** What vectors depend on, but the texts. Zeroed, but for what is set: it can be kept, and compared
 * by its fields. */
struct doppel_embedder_identity {
    char name[DOPPEL_EMBEDDER_MAX_NAME + 1]; /**< of the model: for people */
    char revision[33];  /**< 32 hex digits, which another model or prefix never has: that of struct
                           doppel_model_info or struct doppel_endpoint_info */
    uint32_t dimension; /**< 1 to DOPPEL_MODEL_MAX_DIMENSION */
    char prefix[DOPPEL_MODEL_MAX_PREFIX + 1]; /**< what stands before every text; "": nothing */
};

/**
 * Whether vectors of one can be compared with vectors of the other: revision, dimension and prefix
 * are the same. A model that was given another name is the same.
 *
 * @param kept of vectors that are there. @param now of those that are to be compared with them
 * @return DOPPEL_OK; DOPPEL_E_VERSION: no, and why not, in a sentence. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_embedder_check_identity(
    const struct doppel_embedder_identity *kept, const struct doppel_embedder_identity *now,
    struct doppel_error *error);

/** How much was done so far. */
struct doppel_embedder_usage {
    uint64_t texts;     /**< that were given; each is one of the next four, or was not reached */
    uint64_t embedded;  /**< have a vector, which was made */
    uint64_t cached;    /**< have one that was there: in the cache, or of an equal text */
    uint64_t too_short; /**< no vector: see doppel_model_embed, doppel_endpoint_embed */
    uint64_t refused;   /**< no vector: the service does not take them */
    uint64_t kept;      /**< of the embedded: the cache has them now */
    uint64_t tokens;    /**< as a service counts them, with those of probes; 0: it does not */
    uint64_t requests;  /**< that were sent, with those that were tried again; 0: a static model */
};

/** All is borrowed for doppel_embedder_open, but for what `endpoint` says of its own. */
struct doppel_embedder_options {
    const char *folder; /**< of models */
    const char *name;   /**< of the model in it */
    bool exact;         /**< see struct doppel_model_open_options */
    /** A service instead; NULL: none. Where `folder` has a whitened model by the name of its model,
     * the service is asked for that one's base, with its prefix, and what it answers is compared
     * with what the file knows of it: `known` does not matter then. */
    const struct doppel_endpoint_options *endpoint;

    /** Of a service: a file that keeps its vectors, in a folder that is there; NULL: none. Texts
     * are not in it, but their digests. Any number of processes share it. Where it is damaged, or
     * the disk is full, a notice says so, and what cannot be kept is not. That a text was refused
     * is kept as well: its status is DOPPEL_E_FORMAT then, and on_refused is not called. */
    const char *cache;
    uint64_t cache_bytes; /**< of that file, about; beyond, the oldest vectors go; default 8 GB */
    bool retry_refused;   /**< send texts that the cache knows to be refused, too */
    double price;         /**< of a million tokens; 0: not known */
    double max_cost; /**< doppel_embedder_embed stops when what was counted, and is in flight, costs
                        more; 0: never */
    /** Of a service: how many are in flight at a time, up to DOPPEL_EMBEDDER_MOST_REQUESTS; 0: one;
     * default 4. They share all waiting. The endpoint's callbacks are called from other threads
     * then, one at a time but for `stopped`. */
    uint32_t requests;
    void (*on_notice)(void *context, const char *sentence); /**< NULL: not wanted */
    void *context;
};

DOPPEL_API struct doppel_embedder_options doppel_embedder_options_default(void);

struct doppel_embedder;

/**
 * Choose a model where none was named: that of the vectors that are there, else the only one.
 *
 * @param folder of models
 * @param kept   the model of the vectors; NULL: there are none
 * @param out    its name, DOPPEL_MODEL_MAX_NAME + 1 bytes; untouched on failure
 * @param out_count how many models were looked at: all of the folder, unless the model of the
 *         vectors was found; also set on failure
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND: there is none, or none of several is that of the vectors;
 *         DOPPEL_E_ARGUMENT: there are several, and no vectors; as doppel_models_list. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_embedder_choose(const char *folder,
                                                     const struct doppel_embedder_identity *kept,
                                                     char *out, size_t *out_count,
                                                     struct doppel_error *error);

/**
 * Map the model and check every byte of it, some 0.2 ms a MB: vectors are kept, and those of a
 * damaged one would be wrong for good. Or ask the service for its probe. Where the cache knows its
 * model by another revision, as probes are rounded otherwise, that is the one.
 *
 * Of a whitened model (doppel_model_whiten) its base is opened so, and every vector of that is
 * whitened. A cache has vectors of the base, so that no text is embedded twice.
 *
 * @param out given (doppel_embedder_free); untouched on failure
 * @return as doppel_model_open, but DOPPEL_E_CORRUPT for damage anywhere, or doppel_endpoint_open;
 *         DOPPEL_E_ARGUMENT: also a name or prefix that is longer than an identity can hold, or a
 *         cost without a price; DOPPEL_E_VERSION: also a service that had another model by this
 *         name, as the cache says, unless `known` of the endpoint's options says which one it is;
 *         or the base of a whitened model is another one by now
 */
DOPPEL_API enum doppel_status doppel_embedder_open(const struct doppel_embedder_options *options,
                                                   struct doppel_embedder **out,
                                                   struct doppel_error *error);
DOPPEL_API void doppel_embedder_free(struct doppel_embedder *embedder);

/** Borrowed for its life. */
DOPPEL_API const struct doppel_embedder_identity *doppel_embedder_identity(
    const struct doppel_embedder *embedder);

/** Whether its vectors are whitened: then `name` and `revision` of its identity are those of the
 * whitened model. */
DOPPEL_API bool doppel_embedder_is_whitened(const struct doppel_embedder *embedder);

/** Of a service, the unit vector of the probe: kept beside an identity, it makes struct
 * doppel_endpoint_known. Of a whitened model that of its base. Borrowed for its life; NULL: a
 * static model, which needs none. */
DOPPEL_API const float *doppel_embedder_probe(const struct doppel_embedder *embedder);

/**
 * Vectors of texts, each of length 1.
 *
 * @param rows room for `count` × dimension floats: the vector of text i begins at rows + i ×
 *        dimension; zeros where there is none
 * @param each NULL, or `count` of: DOPPEL_OK; or why there is none, as doppel_model_embed and
 *        doppel_endpoint_embed state it
 * @return as those; DOPPEL_E_LIMIT: also that it has cost more than it may. Vectors that came
 *         before a failure stay, and are in the cache; so is what came before a process was killed,
 *         but for the requests that were in flight.
 */
DOPPEL_API enum doppel_status doppel_embedder_embed(struct doppel_embedder *embedder,
                                                    const struct doppel_model_texts *texts,
                                                    float *rows, enum doppel_status *each,
                                                    struct doppel_error *error);

DOPPEL_API struct doppel_embedder_usage doppel_embedder_usage(
    const struct doppel_embedder *embedder);

/** What texts will take. */
struct doppel_embedder_estimate {
    uint64_t texts;     /**< that were shown; each is one of the next three */
    uint64_t wanted;    /**< are to be embedded */
    uint64_t cached;    /**< are in the cache */
    uint64_t too_short; /**< are not sent; of a static model it is not known before */
    uint64_t bytes;     /**< of those to be embedded, with their prefixes */
    uint64_t tokens;    /**< about, of a service: one for 4 bytes; some scripts have more */
    double cost;        /**< of these, at the price that was given */
};

/**
 * Add up what texts will take, without embedding any. Equal texts are counted each.
 * @return DOPPEL_OK; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_embedder_foresee(struct doppel_embedder *embedder,
                                                      const struct doppel_model_texts *texts,
                                                      struct doppel_embedder_estimate *estimate,
                                                      struct doppel_error *error);

/** Whether that may be spent. @return DOPPEL_OK; DOPPEL_E_LIMIT: more than `max_cost` */
DOPPEL_API enum doppel_status doppel_embedder_check_cost(
    const struct doppel_embedder *embedder, const struct doppel_embedder_estimate *estimate,
    struct doppel_error *error);

/* ---- whitened models ---- */

/** All is borrowed for the call. */
struct doppel_model_whiten_options {
    const char *folder;                   /**< of models; made if there is none */
    const char *name;                     /**< of the whitened one */
    const struct doppel_embedder *base;   /**< what is whitened: no whitened one */
    const struct doppel_vectors *vectors; /**< of texts, by that; those of 65536 are looked at */
};

DOPPEL_API struct doppel_model_whiten_options doppel_model_whiten_options_default(void);

/**
 * Learn how the vectors of a model are to be whitened (doppel_vector_whitening_make), and write it
 * as a model of its own: a file of 2 × dimension² bytes, which appears when it is whole. By its
 * name an embedder is opened as by any other. Its revision is a digest of that of its base and of
 * the numbers: its vectors meet neither those of the base nor those of another whitening. If there
 * is one of this name and revision, nothing is written.
 *
 * @param out what was written; untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: the name, or `base` is whitened, or `vectors` have another
 *         dimension; DOPPEL_E_EMPTY: there are fewer vectors than dimensions; DOPPEL_E_FORMAT: one
 *         holds what is no number; DOPPEL_E_BUSY: another model has this name; DOPPEL_E_IO;
 *         DOPPEL_E_NO_SPACE; DOPPEL_E_MEMORY
 *
 * Thread-safe; of several that write other models by one name at a time, one wins. Source: see
 * doppel_vector_whitening_make.
 */
DOPPEL_API enum doppel_status doppel_model_whiten(const struct doppel_model_whiten_options *options,
                                                  struct doppel_model_info *out,
                                                  struct doppel_error *error);

/* ---- what a cache has ---- */

/** A model of a service, of which a cache has vectors. */
struct doppel_embedder_cached {
    struct doppel_embedder_identity identity;
    uint64_t vectors;
    uint64_t refused; /**< texts that the service refused, as the cache remembers */
};

/** @return false: no more */
typedef bool doppel_embedder_cached_visitor(void *context,
                                            const struct doppel_embedder_cached *model);

/** Visit the models of a cache by name. A file that is not there has none.
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED; DOPPEL_E_FORMAT; DOPPEL_E_VERSION; DOPPEL_E_CORRUPT;
 *         DOPPEL_E_BUSY; DOPPEL_E_IO; DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_embedder_cache_list(const char *path,
                                                         doppel_embedder_cached_visitor *visit,
                                                         void *context, struct doppel_error *error);

/** Remove all vectors of the models of a name, and that services had them: their room is used
 * again. What a process that uses one of them still puts is not found. @return as
 * doppel_embedder_cache_list; DOPPEL_E_NOT_FOUND: there is no such model. Thread-safe. */
DOPPEL_API enum doppel_status doppel_embedder_cache_forget(const char *path, const char *name,
                                                           struct doppel_error *error);

#ifdef __cplusplus
}
#endif

#endif
