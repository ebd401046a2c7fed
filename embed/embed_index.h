/**
 * doppel/embed_index.h: an index of vectors in a folder, with their ids: built, added to, removed
 * from, and searched, by any number of processes while one writes. Part of doppel/embed.h.
 *
 *     doppel_vector_index_open(&(struct doppel_vector_index_options){.folder = "clip.index"},
 *                              &index, &error);
 *     doppel_vector_index_search(index, &request, visit, context, &error);
 *
 * An index is of one thread at a time. What it costs: nothing at its opening that grows with its
 * size; on the disk 5 × dimension + 90 bytes a vector, and the ids.
 */
#ifndef DOPPEL_EMBED_INDEX_H
#define DOPPEL_EMBED_INDEX_H

#include <doppel/embedder.h>
#include <doppel/store.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_vector_index;

/** All is borrowed for doppel_vector_index_open. */
struct doppel_vector_index_options {
    const char *folder; /**< that is there */
    /** Make it, if it is not there, for vectors of this model; NULL: it must be there. Of vectors
     * whose model is not known, the dimension alone. */
    const struct doppel_embedder_identity *make;
    bool named;  /**< of one that is made: vectors have ids; else they are known by their numbers */
    bool write;  /**< one process at a time, unless it is shared */
    bool shared; /**< of a named one: any number of processes may write, each in its turn */
    bool durable; /**< what is added and removed survives power loss */
    bool salvage; /**< open what is left of a damaged one */
};

/**
 * @param out given (doppel_vector_index_close); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND: no such folder, or no index of vectors in it, or one
 *         that another process is creating; DOPPEL_E_BUSY: another process writes;
 * DOPPEL_E_CORRUPT; DOPPEL_E_VERSION; DOPPEL_E_IO; DOPPEL_E_NO_SPACE; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_vector_index_open(
    const struct doppel_vector_index_options *options, struct doppel_vector_index **out,
    struct doppel_error *error);
DOPPEL_API void doppel_vector_index_close(struct doppel_vector_index *index);

/** Whether a folder holds an index of vectors. */
DOPPEL_API bool doppel_vector_index_is_there(const char *folder);

/** Borrowed for its life; the dimension is that of all its vectors. */
DOPPEL_API const struct doppel_embedder_identity *doppel_vector_index_identity(
    const struct doppel_vector_index *index);
/** Whether its vectors have ids. */
DOPPEL_API bool doppel_vector_index_is_named(const struct doppel_vector_index *index);

/** How many vectors there are to be found. Where they have no ids, those that were removed count
 * until a merge drops them. Its cost grows with the number: some 10 ns each.
 * @return DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_IO */
DOPPEL_API enum doppel_status doppel_vector_index_count(struct doppel_vector_index *index,
                                                        uint64_t *out, struct doppel_error *error);

/** Its codes, to be verified, repaired and compacted by the calls of doppel/store.h; not
 * to be changed. Borrowed for its life. */
DOPPEL_API struct doppel_store_index *doppel_vector_index_codes(struct doppel_vector_index *index);

/** Vectors to be added, and their ids. */
struct doppel_vector_index_rows {
    const struct doppel_vectors *vectors;
    const char *(*id)(void *context, size_t row); /**< of a named index; borrowed for the call */
    void *context;
};

/**
 * Add vectors, behind those that are there: their numbers go on from the last. One whose id is
 * there takes the place of that one; of several with one id among those to be added, the last
 * stays, and how many did not is a notice of the run.
 *
 * @param run borrowed: cancelling, progress ("vectors"); NULL: none
 * @return DOPPEL_OK: all are there; DOPPEL_E_ARGUMENT: another dimension, or an id is missing or
 *         empty; DOPPEL_E_FORMAT: a vector holds what is no number; DOPPEL_E_CANCELLED;
 *         DOPPEL_E_IO; DOPPEL_E_NO_SPACE; DOPPEL_E_MEMORY. Then none is there, but of more than 4
 *         million whole runs of so many may be.
 */
DOPPEL_API enum doppel_status doppel_vector_index_add(struct doppel_vector_index *index,
                                                      const struct doppel_vector_index_rows *rows,
                                                      struct doppel_run *run,
                                                      struct doppel_error *error);

/** Remove a vector by its id, or, where they have none, by its number. @return DOPPEL_OK;
 * DOPPEL_E_NOT_FOUND; others as doppel_vector_index_add */
DOPPEL_API enum doppel_status doppel_vector_index_remove(struct doppel_vector_index *index,
                                                         const char *id,
                                                         struct doppel_error *error);

/** Remove all vectors whose ids begin with some letters: all or none. @return DOPPEL_OK, also where
 * there are none; others as doppel_vector_index_add */
DOPPEL_API enum doppel_status doppel_vector_index_remove_all(struct doppel_vector_index *index,
                                                             const char *prefix,
                                                             struct doppel_error *error);

/** An id. @param is_there false: its vector is lost, with a damaged segment say. @return false: no
 * more */
typedef bool doppel_vector_id_visitor(void *context, const char *id, bool is_there);

/** Visit all ids, by number; the visitor changes nothing in the index.
 * @return as doppel_vector_index_search; DOPPEL_E_ARGUMENT: its vectors have no ids */
DOPPEL_API enum doppel_status doppel_vector_index_each_id(struct doppel_vector_index *index,
                                                          doppel_vector_id_visitor *visit,
                                                          void *context,
                                                          struct doppel_error *error);

/** What is found. */
struct doppel_vector_found {
    size_t query;    /**< number of the query in the request */
    uint64_t number; /**< of the vector: never used again once it is removed */
    const char *id;  /**< NULL: its number is its id; borrowed for the call */
    float cosine;
};

/** @return false: no more */
typedef bool doppel_vector_found_visitor(void *context, const struct doppel_vector_found *found);

struct doppel_vector_index_request {
    const struct doppel_vectors *queries; /**< of the index' dimension */
    float min_cosine;                     /**< -1 to 1 */
    size_t nearest;                       /**< at most so many of each; 0: all */
    float recall;     /**< the share to find at least, 0.5 to 0.999, as a sample of the index says;
                         0: all */
    uint32_t threads; /**< 0: one */
    struct doppel_index_counts *counts; /**< added to; NULL: not counted */
};

/**
 * Visit what is near each query: by query, the nearest first, and by number.
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: another dimension; DOPPEL_E_FORMAT: a query holds what is
 * no number; DOPPEL_E_CORRUPT: a segment is damaged, which is named; DOPPEL_E_CANCELLED: by the
 *         visitor; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_vector_index_search(
    struct doppel_vector_index *index, const struct doppel_vector_index_request *request,
    doppel_vector_found_visitor *visit, void *context, struct doppel_error *error);

/**
 * Copy it as of one moment, while others write to it.
 * @param folder made; nothing may be there
 * @return DOPPEL_OK; DOPPEL_E_IO; DOPPEL_E_NO_SPACE; DOPPEL_E_MEMORY; DOPPEL_E_NOT_FOUND: segments
 *         are merged faster than they can be copied
 */
DOPPEL_API enum doppel_status doppel_vector_index_copy(struct doppel_vector_index *index,
                                                       const char *folder,
                                                       struct doppel_error *error);

/** A vector of a sample. @param id NULL: it has none. @return false: no more */
typedef bool doppel_vector_sample_visitor(void *context, const char *id, const float *row);

/** Visit some vectors, at even distances among all that there are; removed ones are left out.
 * @return as doppel_vector_index_search */
DOPPEL_API enum doppel_status doppel_vector_index_sample(struct doppel_vector_index *index,
                                                         size_t most,
                                                         doppel_vector_sample_visitor *visit,
                                                         void *context, struct doppel_error *error);

/** For a reader: see what was committed since. */
DOPPEL_API enum doppel_status doppel_vector_index_refresh(struct doppel_vector_index *index,
                                                          struct doppel_error *error);

#ifdef __cplusplus
}
#endif

#endif
