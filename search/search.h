/**
 * doppel/search.h: a library, queried by records and codes: what in it is the same, or shares a
 * part. All of it lies in indexes that the library keeps. Uses compare and library.
 */
#ifndef DOPPEL_SEARCH_H
#define DOPPEL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/compare.h>
#include <doppel/core.h>
#include <doppel/json_writer.h>
#include <doppel/library.h>
#include <doppel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_search;

/** Let a run tell what a library has to say, and how far it is, when it makes an index of its
 * items. Searches and deciders do so while they live. @param library borrows the run, until
 * doppel_library_set_watch takes it away */
DOPPEL_API void doppel_run_watch(struct doppel_run *run, struct doppel_library *library);

/** What is searched, and how. */
struct doppel_search_options {
    struct doppel_compare_options compare; /**< what is compared, and when it matches */
    bool representatives; /**< only the first of each group of duplicates is searched, and what has
                             the same bytes is not looked up; default false */
    bool audio_of_videos; /**< videos are searched for their audio though they are no wanted kind;
                             default false */
    bool other_schemes;   /**< items of other schemes of the query's kind are searched as well, by
                             `fingerprint`; how many could not be, the results say, and one notice;
                             default false */

    /** Make the query's record by another scheme. Where that fails, for want of memory or since the
     * run is cancelled, so does the search; else what has the scheme is not compared. NULL
     * (default): so is all of it. @param name as given to the search @param out given
     * (doppel_record_free) */
    enum doppel_status (*fingerprint)(void *context, const struct doppel_record *query,
                                      const char *name, const struct doppel_scheme *scheme,
                                      struct doppel_record *out, struct doppel_error *error);
    void *fingerprint_context;

    /** Move the ends of what two videos share to where their frames say. @param query as given to
     * the search. @param match its segments may be changed. NULL (default): they stay */
    enum doppel_status (*refine)(void *context, const struct doppel_record *query,
                                 const struct doppel_item *item, struct doppel_match *match,
                                 struct doppel_error *error);
    /** Read a frame of a video as an image. What is near to the query by its code alone is compared
     * so. @param seconds into the video @param out given (doppel_record_free): by scheme phash64,
     * with its attachment; empty where the frame cannot be had. NULL (default): codes alone decide
     */
    enum doppel_status (*still)(void *context, const struct doppel_item *item, double seconds,
                                struct doppel_record *out, struct doppel_error *error);
    void *context; /**< of `refine` and `still` */
};

/**
 * The scheme by which a library is best asked for images, or audio, where nobody named one.
 *
 * @param usual of that kind
 * @return `usual`, unless the library has no item of that and items of just one other
 * scheme of the kind: then this one. Static storage.
 */
DOPPEL_API const struct doppel_scheme *doppel_search_scheme(struct doppel_library *library,
                                                            const struct doppel_scheme *usual);

/** What is compared by default, all of it. Thread-safe. */
DOPPEL_API struct doppel_search_options doppel_search_options_default(void);

/** An item that was found. */
struct doppel_search_result {
    uint64_t id;
    bool below_threshold; /**< no match, but near to one: found by `near_misses` of the options */
    struct doppel_comparison
        comparison; /**< the query is `a`; given (doppel_search_results_free) */

    /* set by doppel_search_results_apply_lists; else zero */
    enum doppel_list_state state; /**< by the lists that the item is on */
    uint64_t suppressed_by;       /**< the allow-listed item that explains it; 0: none does */
};

/** Schemes by their ids. */
enum { DOPPEL_SEARCH_SCHEMES = DOPPEL_SCHEME_FRAMES128 + 1 };

/** Items, each once, the best first, those below the threshold last. Zero-initialised it is empty.
 */
struct doppel_search_results {
    struct doppel_search_result *items;
    size_t count, capacity;
    struct doppel_unreadable unreadable; /**< items that could match: what the library keeps of them
                                            cannot be read. The run was told of each once */
    uint64_t
        not_compared[DOPPEL_SEARCH_SCHEMES]; /**< items of that scheme, all of which could match
                                                (`other_schemes` of the options); more than
                                                DOPPEL_SCHEME_COUNT_MAX are not counted */
    const char *obstacle; /**< doppel_compare_obstacle of the query; NULL: nothing stands against
                             it, or it is a code. Static storage */
};

/**
 * Append a result to the object that was begun last: its id and path, or name, its lists and
 * labels, what explains it, and the fields of its match.
 *
 * @param library where it was found
 * @param options by which it was found; NULL: the defaults
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND: it was removed meanwhile; what reading the library
 * returns. On failure nothing was appended
 */
DOPPEL_API enum doppel_status doppel_search_result_to_json(
    struct doppel_json *json, struct doppel_library *library,
    const struct doppel_compare_options *options, const struct doppel_search_result *result,
    struct doppel_error *error);

/** Append them as "not_compared":{"pdq":3}, unless all are zero. Thread-safe for different `json`.
 */
DOPPEL_API void doppel_not_compared_to_json(struct doppel_json *json,
                                            const uint64_t counts[DOPPEL_SEARCH_SCHEMES]);

/** Append them as "unreadable":[5,7], unless there are none. Thread-safe for different `json`. */
DOPPEL_API void doppel_unreadable_to_json(struct doppel_json *json,
                                          const struct doppel_unreadable *items);

/** Free what it holds and empty it; an empty one is fine. */
DOPPEL_API void doppel_search_results_free(struct doppel_search_results *results);

/** The result of an id, borrowed until the results change; NULL: it was not found. */
DOPPEL_API struct doppel_search_result *doppel_search_results_find(
    const struct doppel_search_results *results, uint64_t id);

/** Add a result that was found in another way, in its place. @param result its comparison is taken,
 * also on failure. DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_search_results_add(struct doppel_search_results *results,
                                                        struct doppel_search_result *result,
                                                        struct doppel_error *error);

/**
 * Set what the lists of a library make of the results: the state of each, and which allow-listed
 * item explains it. One that matches the query as a whole explains all others; one that matches
 * parts of it explains others whose parts lie to 80 % or more within those of all such items. Those
 * explain each other never, and none is explained by an item of disabled lists.
 * DOPPEL_OK; DOPPEL_E_MEMORY.
 */
DOPPEL_API enum doppel_status doppel_search_results_apply_lists(
    struct doppel_search_results *results, struct doppel_library *library,
    struct doppel_error *error);

/**
 * Make a search. While it lives, the run is told what the library notices.
 *
 * @param run,library borrowed for its life
 * @param options     copied, but what they borrow; NULL: the defaults
 * @param out         given (doppel_search_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_ARGUMENT
 *
 * One thread at a time.
 */
DOPPEL_API enum doppel_status doppel_search_new(struct doppel_run *run,
                                                struct doppel_library *library,
                                                const struct doppel_search_options *options,
                                                struct doppel_search **out,
                                                struct doppel_error *error);
DOPPEL_API void doppel_search_free(struct doppel_search *search);

/** Before the first search, and when others may have changed the library: take the limits of its
 * lists as they are now; tell the run, once, of items of another version, which are not found.
 * DOPPEL_OK; DOPPEL_E_IO, _MEMORY. */
DOPPEL_API enum doppel_status doppel_search_refresh(struct doppel_search *search,
                                                    struct doppel_error *error);

/**
 * What matches a record, those of the same bytes before all others.
 *
 * @param name    what the record is called in messages: its path
 * @param results replaced
 * @return DOPPEL_OK, also when nothing matches; DOPPEL_E_CORRUPT: the record is damaged;
 *         DOPPEL_E_ARGUMENT: it is of a kind that is not wanted; DOPPEL_E_CANCELLED;
 *         DOPPEL_E_MEMORY; what reading the library returns
 */
DOPPEL_API enum doppel_status doppel_search_record(struct doppel_search *search,
                                                   const struct doppel_record *record,
                                                   const char *name,
                                                   struct doppel_search_results *results,
                                                   struct doppel_error *error);

/** The same of an image or text of which only a code is known. DOPPEL_E_ARGUMENT: there is none, or
 * it is of something else; DOPPEL_E_VERSION: it is of another scheme than what is searched. */
DOPPEL_API enum doppel_status doppel_search_code(struct doppel_search *search,
                                                 const struct doppel_fingerprint *code,
                                                 struct doppel_search_results *results,
                                                 struct doppel_error *error);

/** Add the item that stands for a file by a digest of others, if there is one, to what was found
 * for it: also of a file that nothing else is known of.
 * @param record of the file; with an error, it was not read
 * @param out_found whether there is one */
DOPPEL_API enum doppel_status doppel_search_exact(struct doppel_search *search,
                                                  const struct doppel_exact_digests *digests,
                                                  const struct doppel_record *record,
                                                  struct doppel_search_results *results,
                                                  bool *out_found, struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
