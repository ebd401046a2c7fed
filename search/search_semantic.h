/**
 * doppel/search_semantic.h: a library's texts by their meaning: vectors of their chunks, kept in a
 * folder of the library beside its catalogue, and searched. Part of doppel/search.h.
 *
 * What a library holds is put into this index when it is added with it: a text that came in without
 * is not found by its meaning. A text that was removed from the library is not found either.
 *
 *     doppel_semantic_new(run, library, &options, &semantic, &error);
 *     doppel_semantic_search(semantic, text, size, &results, &error);
 *     doppel_semantic_links(semantic, &links, visit, context, &error);
 */
#ifndef DOPPEL_SEARCH_SEMANTIC_H
#define DOPPEL_SEARCH_SEMANTIC_H

#include <doppel/corpus.h>
#include <doppel/embed_index.h>
#include <doppel/library.h>
#include <doppel/library_upkeep.h>
#include <doppel/run.h>
#include <doppel/text_chunks.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_semantic;

struct doppel_semantic_options {
    struct doppel_embedder *embedder; /**< borrowed for the life of what is made of it. NULL: what
                                         the library has is compared, and no text is embedded */
    const char *directory;            /**< of the library; borrowed for the call. NULL, and no
                                         library: texts are compared alone */
    bool write; /**< texts are to be added: the index is made if need be, and the library written */
    bool durable;
    struct doppel_text_options text; /**< how texts are read */
    double max_fp_rate; /**< the share of pairs of texts by chance that may be as near; default
                           1e-5 */
    float min_cosine;   /**< or, if not 0, the least cosine of two chunks */
    bool scores; /**< max_fp_rate is a rate of scores: how much nearer two texts are than is usual
                    around the query, or, all with all, around both; finds more. Default false */
    uint32_t nearest; /**< texts to find at most; default 10 */
};

DOPPEL_API struct doppel_semantic_options doppel_semantic_options_default(void);

/**
 * @param out given (doppel_semantic_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND: the library has no such index, and `write` is not set;
 *         DOPPEL_E_VERSION: its vectors are of another model, which is named; DOPPEL_E_CORRUPT: it
 *         lacks vectors that the library knows of; as doppel_vector_index_open. One thread at a
 *         time.
 */
DOPPEL_API enum doppel_status doppel_semantic_new(struct doppel_run *run,
                                                  struct doppel_library *library,
                                                  const struct doppel_semantic_options *options,
                                                  struct doppel_semantic **out,
                                                  struct doppel_error *error);
DOPPEL_API void doppel_semantic_free(struct doppel_semantic *semantic);

/** Replace the thresholds of its options for later calls.
 * @param max_fp_rate, min_cosine as in the options; max_fp_rate 0: the default */
DOPPEL_API void doppel_semantic_set_thresholds(struct doppel_semantic *semantic, double max_fp_rate,
                                               float min_cosine);

/** What the index has, and what follows from it. */
struct doppel_semantic_state {
    uint64_t vectors; /**< of chunks */
    uint64_t pairs;   /**< by chance, whose cosines were looked at; 0: there are too few */
    float min_cosine; /**< of two texts of one chunk; 2: there are too few texts to tell one so
                         rare, and nothing is found */
    bool scored;      /**< min_cosine is a score */
    uint64_t wanted;  /**< in that case: about so many chunks are enough */
};

/** As it is now. @return as doppel_semantic_search */
DOPPEL_API enum doppel_status doppel_semantic_state(struct doppel_semantic *semantic,
                                                    struct doppel_semantic_state *out,
                                                    struct doppel_error *error);

/** Texts, each once, the rarest by chance first, or, where a cosine is asked for,
 * the nearest. Zero-initialised it is empty. */
struct doppel_semantic_results {
    struct doppel_semantic_link *links; /**< `of_item` is set; strings and segments lie here */
    size_t count;
    struct doppel_name *names; /**< of these; owned */
};
DOPPEL_API void doppel_semantic_results_free(struct doppel_semantic_results *results);

/**
 * Find texts of the same meaning: the text is embedded chunk by chunk, each is searched for, and
 * what was found is put together text by text, as doppel_dedup does it.
 *
 * @param bytes any, of the format of the options; the first 1 MB counts
 * @param results replaced; NULL: it is embedded alone, for doppel_semantic_add
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: it has no library; DOPPEL_E_MEMORY; DOPPEL_E_CORRUPT: the
 *         index is damaged; what embedding
 *         returns, and what reading the library does
 */
DOPPEL_API enum doppel_status doppel_semantic_search(struct doppel_semantic *semantic,
                                                     const char *bytes, size_t size,
                                                     struct doppel_semantic_results *results,
                                                     struct doppel_error *error);

/** The same of a file's text. @return also DOPPEL_E_NOT_FOUND; DOPPEL_E_FORMAT: no regular file;
 * DOPPEL_E_IO */
DOPPEL_API enum doppel_status doppel_semantic_search_file(struct doppel_semantic *semantic,
                                                          const char *path,
                                                          struct doppel_semantic_results *results,
                                                          struct doppel_error *error);

/**
 * The cosine of the nearest two chunks of two files' texts.
 * @param out -1: one of them has no vector
 * @return as doppel_semantic_search_file
 */
DOPPEL_API enum doppel_status doppel_semantic_compare_files(struct doppel_semantic *semantic,
                                                            const char *a, const char *b,
                                                            float *out, struct doppel_error *error);

/**
 * Tell how rare it is in a library, by chance, that a text is as near to a query as file `b` is to
 * file `a`: the rate that a link would have. Neither needs to be in the library.
 * @param out 1: one of them has no vector, or the library has too few to tell
 * @return as doppel_semantic_search_file
 */
DOPPEL_API enum doppel_status doppel_semantic_rate_files(struct doppel_semantic *semantic,
                                                         const char *a, const char *b, double *out,
                                                         struct doppel_error *error);

/** Whether an item is a text that is to have vectors, and has none: long enough, and neither it nor
 * its representative has some. @return as reading the library; DOPPEL_E_ARGUMENT: there is none */
DOPPEL_API enum doppel_status doppel_semantic_lacks(struct doppel_semantic *semantic, uint64_t item,
                                                    bool *out, struct doppel_error *error);

/** Keep the vectors of the text that was searched for last, as those of an item, once, and note in
 * the library that it has them, which is committed. One that has none is not kept.
 * @param out_chunks how many it has; may be NULL
 * @return as doppel_vector_index_add; what writing to the library does; DOPPEL_E_ARGUMENT: there is
 * no library */
DOPPEL_API enum doppel_status doppel_semantic_add(struct doppel_semantic *semantic, uint64_t item,
                                                  uint64_t *out_chunks, struct doppel_error *error);

/* ---- all with all ---- */

/** A text that is in a group by its words. */
struct doppel_semantic_grouped {
    uint64_t item;
    uint64_t group; /**< its number, from 1 */
};

/** A text, and another one that means the same in other words; all is borrowed for the visit. */
struct doppel_semantic_pair {
    uint64_t item;                  /**< in the library; 0: it is a file by itself */
    const struct doppel_name *name; /**< of it */
    uint64_t group, of_group;       /**< by their words; 0: none */
    struct doppel_semantic_link link;
};

/** Visit a pair. What is not DOPPEL_OK ends the search, which returns it. */
typedef enum doppel_status doppel_semantic_pair_visitor(void *context,
                                                        const struct doppel_semantic_pair *pair,
                                                        struct doppel_error *error);

/** What was compared, and what came of it. */
struct doppel_semantic_links_summary {
    uint64_t texts;   /**< that have vectors */
    uint64_t vectors; /**< of their chunks */
    uint64_t linked;  /**< texts */
    float min_cosine; /**< as of struct doppel_semantic_state */
    bool scored;      /**< min_cosine is a score */
};

/** All is borrowed for the call. */
struct doppel_semantic_links_options {
    const struct doppel_item_set *wanted;          /**< these alone; NULL: all */
    const struct doppel_semantic_grouped *grouped; /**< by item, each once; of one group no
                                                      two are linked */
    size_t grouped_count;
    struct doppel_semantic_links_summary *summary; /**< filled; NULL: not wanted */
};

/**
 * Link texts of a library by their meaning, from the vectors that it has: each to an earlier one,
 * as doppel_semantic_search would find it, that is not linked with half of it or more itself; of
 * the rarest eight, to one that has half of it, if there is one. So there are no chains. Not linked
 * are texts that are removed, on a list that is benign or disabled, or labelled distinct.
 *
 * The pairs are found by a join (doppel_vectors_join, of a recall of .99), and visited by the text
 * that is linked to. Needs the vectors in memory, 4 × dimension bytes each, and twice that while
 * they are read; and 20 bytes for each pair of chunks that are near: from a million on, of each
 * text those with the 128 earliest that are near, and with the 128 nearest of the others.
 *
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: it has no library; DOPPEL_E_CANCELLED; DOPPEL_E_LIMIT: 2^32
 *         vectors or more; DOPPEL_E_MEMORY; DOPPEL_E_CORRUPT: the index is damaged; what reading
 *         the library does; what `visit` returned
 */
DOPPEL_API enum doppel_status doppel_semantic_links(
    struct doppel_semantic *semantic, const struct doppel_semantic_links_options *options,
    doppel_semantic_pair_visitor *visit, void *context, struct doppel_error *error);

/** A text file to be linked with others. */
struct doppel_semantic_file {
    const char *path;
    uint64_t group; /**< that it is in by its words; 0: none */
    bool reference; /**< two of these are not linked */
};

/** All is borrowed for the call. */
struct doppel_semantic_files {
    const struct doppel_semantic_file *files; /**< an earlier one stands before */
    size_t count;
    /** Called with all that is to be embedded, before any is; then `begin`, once. What they return
     * but DOPPEL_OK ends it. NULL: not wanted. */
    enum doppel_status (*foresee)(void *context, const struct doppel_model_texts *texts,
                                  struct doppel_error *error);
    enum doppel_status (*begin)(void *context, struct doppel_error *error);
    void *context;
    struct doppel_semantic_links_summary *summary; /**< filled; NULL: not wanted */
};

/**
 * Link files, as doppel_semantic_links does it, without a library: each is read again, the first
 * 1 MB of it, and embedded, all in memory. Where cosines are chosen by a rate, vectors are whitened
 * first (doppel_vector_whiten), unless the embedder's are. `item` and `of_item` of the pairs are 0.
 * Files that cannot be read are reported to the run, which goes on.
 *
 * @return as doppel_semantic_links; what embedding returns. DOPPEL_E_ARGUMENT: there is no embedder
 */
DOPPEL_API enum doppel_status doppel_semantic_link_files(struct doppel_semantic *semantic,
                                                         const struct doppel_semantic_files *files,
                                                         doppel_semantic_pair_visitor *visit,
                                                         void *context, struct doppel_error *error);

/** Append a pair as an object (docs/formats.md). Thread-safe for different `json`. */
DOPPEL_API void doppel_semantic_pair_to_json(struct doppel_json *json,
                                             const struct doppel_semantic_pair *pair);

/* ---- with the library ---- */

/** Of which model the vectors of a library are. @param library borrowed; open to be read at least
 * @param out untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND: it has none; DOPPEL_E_CORRUPT: it lacks vectors that the
 * library knows of; as doppel_vector_index_open. One thread at a time. */
DOPPEL_API enum doppel_status doppel_semantic_model(struct doppel_library *library,
                                                    const char *directory,
                                                    struct doppel_embedder_identity *out,
                                                    struct doppel_error *error);

/** Copy the vectors of a library, if it has any, into a copy of it that has none. As of one moment,
 * while others write. @param library borrowed; open to be read at least
 * @return DOPPEL_OK; DOPPEL_E_CORRUPT: it lacks vectors that the library knows of; as
 * doppel_vector_index_copy. One thread at a time. */
DOPPEL_API enum doppel_status doppel_semantic_copy(struct doppel_library *library,
                                                   const char *directory, const char *copy,
                                                   struct doppel_error *error);

/** What an item of one library is in another. */
struct doppel_semantic_moved {
    uint64_t from, to;
};

/** Two libraries, and what came from one into the other (doppel_merge). All is borrowed. */
struct doppel_semantic_merge {
    struct doppel_library *into, *from;
    const char *into_directory, *from_directory;
    const struct doppel_semantic_moved *moved; /**< by `from`, each once */
    size_t count;
    bool durable;
};

/**
 * Take the vectors of texts along that came from another library and have none here. What is taken
 * is in memory at once. The library is committed.
 * @param out_texts how many texts they are of; set also where they cannot be taken
 * @return DOPPEL_OK; DOPPEL_E_VERSION: the vectors of the two are of other models; as
 *         doppel_semantic_new. One thread at a time.
 */
DOPPEL_API enum doppel_status doppel_semantic_merge(const struct doppel_semantic_merge *merge,
                                                    uint64_t *out_texts,
                                                    struct doppel_error *error);

/** What doppel_semantic_verify looks at. */
struct doppel_semantic_check {
    struct doppel_library *library; /**< which texts have vectors; NULL: it is not known */
    const char *directory;          /**< of the library */
    bool repair;                    /**< the library is open to be written */
    doppel_problem_visitor *visit;
    void *context;
};

/**
 * Check every byte of the vectors of a library, and whether there are those that it knows of, and
 * of no text that is gone. With `repair` go on without what is damaged or lost: the texts are
 * reported, and forgotten, so that they get their vectors when they come in again.
 * @param check borrowed
 * @return DOPPEL_OK, also where there is damage; DOPPEL_E_CANCELLED; what writing returns
 */
DOPPEL_API enum doppel_status doppel_semantic_verify(const struct doppel_semantic_check *check,
                                                     struct doppel_error *error);

/** Append a text that was found to the object that was begun last: its id, path and record, and the
 * fields of its link. */
DOPPEL_API void doppel_semantic_result_to_json(struct doppel_json *json,
                                               const struct doppel_semantic_link *link);

#ifdef __cplusplus
}
#endif

#endif
