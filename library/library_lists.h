/**
 * doppel/library_lists.h: what people say of the items of a library: sources, ids of their own,
 * labels, lists, any JSON; digests that stand for files; files that could not be read; and asking
 * for items by SQL. Included by doppel/library.h. Ids are of items and of texts alike; changes as
 * in doppel/library_decisions.h.
 */
#ifndef DOPPEL_LIBRARY_LISTS_H
#define DOPPEL_LIBRARY_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#include <doppel/core.h>
#include <doppel/library_decisions.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_library;
struct doppel_file_stamp;
struct doppel_match;

/* ---- what is said of an item ---- */

enum doppel_list_state {
    DOPPEL_LIST_ACTIVE,   /**< its items are matched */
    DOPPEL_LIST_DISABLED, /**< an item that is on disabled lists alone is not */
    DOPPEL_LIST_BENIGN    /**< what matches one of its items is nobody's duplicate by that: stock
                             photos, logos, jingles */
};

/** "active", "disabled", "benign"; static storage. Thread-safe. */
DOPPEL_API const char *doppel_list_state_name(enum doppel_list_state state);

/** Strings are UTF-8 but for `source` and `date`, which are bytes; NULL: not said. */
struct doppel_metadata {
    char *source, *date;
    char *external_id; /**< what somebody else calls it */
    char *meta;        /**< an object in JSON */
    char **labels;     /**< by order of bytes */
    size_t label_count;
    char **lists; /**< names, by order of bytes */
    size_t list_count;
    enum doppel_list_state state; /**< of all its lists: benign if one is, disabled if all are */
};

/**
 * Add to what is said of an item or text: what is NULL stays, labels and lists are added. Lists
 * that are not there are made, active. DOPPEL_E_NOT_FOUND; DOPPEL_E_ARGUMENT (`meta` is no JSON
 * object, a name is empty, not UTF-8, has control characters, or is longer than 1000 bytes). Of a
 * text, `source`, `date` are its record's and are not to be given here.
 */
DOPPEL_API enum doppel_status doppel_library_set_metadata(struct doppel_library *library,
                                                          uint64_t id,
                                                          const struct doppel_metadata *about,
                                                          struct doppel_error *error);

/** Whether doppel_library_set_metadata would take it, which takes all back where it does not.
 * DOPPEL_E_ARGUMENT. */
DOPPEL_API enum doppel_status doppel_library_check_metadata(struct doppel_library *library,
                                                            const struct doppel_metadata *about,
                                                            struct doppel_error *error);

/** @param out given (doppel_metadata_free); of a text `source` and `date` are the record's */
DOPPEL_API enum doppel_status doppel_library_get_metadata(struct doppel_library *library,
                                                          uint64_t id, struct doppel_metadata *out,
                                                          struct doppel_error *error);
/** Labels, lists and state alone, of an item or text that is there; of another one there are none.
 * @param out given (doppel_metadata_free) */
DOPPEL_API enum doppel_status doppel_library_get_memberships(struct doppel_library *library,
                                                             uint64_t id,
                                                             struct doppel_metadata *out,
                                                             struct doppel_error *error);
DOPPEL_API void doppel_metadata_free(struct doppel_metadata *about);

/** The item that somebody else calls so; of several the last. DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_library_by_external_id(struct doppel_library *library,
                                                            const char *external_id, uint64_t *out,
                                                            struct doppel_error *error);

/** Take an item off a list, or a label off it. DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_library_remove_from_list(struct doppel_library *library,
                                                              uint64_t id, const char *list,
                                                              struct doppel_error *error);
DOPPEL_API enum doppel_status doppel_library_unlabel(struct doppel_library *library, uint64_t id,
                                                     const char *label, struct doppel_error *error);

/* ---- lists ---- */

/** What is set of a list, besides its state. Zero: nothing. */
struct doppel_list_rule {
    enum doppel_limit_kind limit_kind; /**< a distance or a similarity that matches of its items
                                            keep to, in place of the defaults; or NONE */
    double limit;                      /**< in bits or lanes; or from 0 to 1 */
    uint32_t flood; /**< an item with more matches in 24 hours is to be reviewed; 0: none is */
};

struct doppel_list {
    const char *name; /**< borrowed */
    enum doppel_list_state state;
    uint64_t items;
    struct doppel_list_rule rule;
    uint64_t matches, matches_day; /**< of its items, of all time and of the last 24 hours (in whole
                                        hours), as doppel_library_count_matches counted them */
    int64_t last_match_ns;         /**< since 1970; 0: never */
    uint64_t in_review;            /**< how many of its items are to be reviewed */
};

/** Set all of the rule of a list, which is made when it is not there. DOPPEL_E_ARGUMENT. */
DOPPEL_API enum doppel_status doppel_library_set_list_rule(struct doppel_library *library,
                                                           const char *list,
                                                           const struct doppel_list_rule *rule,
                                                           struct doppel_error *error);
/** @param out all zero where there is none, or no such list */
DOPPEL_API enum doppel_status doppel_library_get_list_rule(struct doppel_library *library,
                                                           const char *list,
                                                           struct doppel_list_rule *out,
                                                           struct doppel_error *error);

/** The widest limits of all lists. @param out_distance,out_similarity -1: no list has one
 * @param out_any whether there are any */
DOPPEL_API enum doppel_status doppel_library_list_limits(struct doppel_library *library,
                                                         int64_t *out_distance,
                                                         double *out_similarity, bool *out_any,
                                                         struct doppel_error *error);

/** How an item may match, by the lists that it is on. */
struct doppel_item_limit {
    bool by_default; /**< by the default thresholds: it is on no list, or on one without a limit */
    struct doppel_list_rule rule; /**< that of a list whose limit the match keeps to; or zero */
};
DOPPEL_API enum doppel_status doppel_library_item_limits(struct doppel_library *library,
                                                         uint64_t id,
                                                         const struct doppel_match *match,
                                                         struct doppel_item_limit *out,
                                                         struct doppel_error *error);

/** Count a match of each item that is on a list; of others none. */
DOPPEL_API enum doppel_status doppel_library_count_matches(struct doppel_library *library,
                                                           const uint64_t *ids, size_t count,
                                                           struct doppel_error *error);

/** Whether an item is to be reviewed, since it was matched too often. */
DOPPEL_API enum doppel_status doppel_library_is_reviewed(struct doppel_library *library,
                                                         uint64_t id, bool *out,
                                                         struct doppel_error *error);
/** A person has looked at it: its matches count from 0 again. DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_library_release_review(struct doppel_library *library,
                                                            uint64_t id,
                                                            struct doppel_error *error);

/** An item to be reviewed, once for each of its lists. Strings are borrowed. */
struct doppel_review {
    uint64_t item;
    const char *list, *name; /**< name NULL: it has none */
    int64_t since_ns;        /**< since 1970 */
    uint64_t matches;        /**< of the last 24 hours */
};
typedef bool doppel_review_visitor(void *context, const struct doppel_review *review);
/** By list and id. Within a visit no other begins. */
DOPPEL_API enum doppel_status doppel_library_each_review(struct doppel_library *library,
                                                         doppel_review_visitor *visitor,
                                                         void *context, struct doppel_error *error);

/** Make a list, or give it another state. */
DOPPEL_API enum doppel_status doppel_library_set_list(struct doppel_library *library,
                                                      const char *name,
                                                      enum doppel_list_state state,
                                                      struct doppel_error *error);
/** Its items stay in the library. DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_library_remove_list(struct doppel_library *library,
                                                         const char *name,
                                                         struct doppel_error *error);
typedef bool doppel_list_visitor(void *context, const struct doppel_list *list);
/** By name. Within a visit no other begins. DOPPEL_E_CORRUPT, after the others were visited: some
 * are damaged, and count as active. */
DOPPEL_API enum doppel_status doppel_library_each_list(struct doppel_library *library,
                                                       doppel_list_visitor *visitor, void *context,
                                                       struct doppel_error *error);

/** Append a list, and its items to be reviewed, to the object that was begun last. May be called
 * within a visit of lists. @return what reading the items to be reviewed returns */
DOPPEL_API enum doppel_status doppel_list_to_json(struct doppel_json *json,
                                                  struct doppel_library *library,
                                                  const struct doppel_list *list,
                                                  struct doppel_error *error);

/* ---- lists that somebody else keeps ---- */

/** What a list says of one of its items; each becomes a label of it. */
struct doppel_list_tags {
    char **items; /**< each once; not empty */
    size_t count;
    bool given; /**< the list says something of it, if only that it has none */
};

/**
 * Keep what a list says of an item, if it is on it: its tags of before are replaced, labels that
 * people or other lists gave stay.
 * @param brought     the item came into the library with the list: it is to go with its last list
 * @param out_changed whether the tags are others now
 */
DOPPEL_API enum doppel_status doppel_library_list_says(struct doppel_library *library, uint64_t id,
                                                       const char *list,
                                                       const struct doppel_list_tags *tags,
                                                       bool brought, bool *out_changed,
                                                       struct doppel_error *error);

/** What lists say of an item, by list; the tag "" is that the item came with it. Strings are
 * borrowed.
 */
typedef bool doppel_list_tag_visitor(void *context, const char *list, const char *tag);
/** Within a visit no other begins. DOPPEL_E_CANCELLED when the visitor returned false. */
DOPPEL_API enum doppel_status doppel_library_each_list_tag(struct doppel_library *library,
                                                           uint64_t id,
                                                           doppel_list_tag_visitor *visitor,
                                                           void *context,
                                                           struct doppel_error *error);

/** What became of a list: `before` and `after` are how many are on it. Of those that are removed
 * from it, `kept` stay in the library. */
struct doppel_sync_counts {
    uint64_t before, after, added, removed, kept, updated, retagged, unchanged;
    uint64_t unreadable; /**< lines of what was read; set by doppel_sync */
};

/** A list that is made again as somebody else has it, in one transaction of the library, which
 * doppel_library_commit or _rollback ends. Not thread-safe. */
struct doppel_list_sync;

/** Begin, with what is on the list. @param out given (doppel_list_sync_free) */
DOPPEL_API enum doppel_status doppel_list_sync_begin(struct doppel_library *library,
                                                     const char *list,
                                                     struct doppel_list_sync **out,
                                                     struct doppel_error *error);
DOPPEL_API void doppel_list_sync_free(struct doppel_list_sync *sync);

/** An item was taken in for the list: if it was on it before, it stays. */
DOPPEL_API void doppel_list_sync_came(struct doppel_list_sync *sync, uint64_t id, bool updated,
                                      bool retagged);

/** What becomes of the list when all others are taken off it; `kept` is not known yet. */
DOPPEL_API enum doppel_status doppel_list_sync_count(struct doppel_list_sync *sync,
                                                     struct doppel_sync_counts *out,
                                                     struct doppel_error *error);

/** Take them off. Those which came with lists alone, and are on none now, leave the library.
 * @param out as doppel_list_sync_count has it; `kept` is set */
DOPPEL_API enum doppel_status doppel_list_sync_end(struct doppel_list_sync *sync,
                                                   struct doppel_sync_counts *out,
                                                   struct doppel_error *error);

/** What an item's lists make of it. In memory while there are at most a million items on lists that
 * are not active: fit to be asked for each candidate; other processes' changes are seen after the
 * next begin, or doppel_library_has_states. */
DOPPEL_API enum doppel_status doppel_library_state_of(struct doppel_library *library, uint64_t id,
                                                      enum doppel_list_state *out,
                                                      struct doppel_error *error);

/** The item on account of which it was last decided that `id` is new, since that one is on a benign
 * list; 0: it was not decided so. */
DOPPEL_API enum doppel_status doppel_library_benign_of(struct doppel_library *library, uint64_t id,
                                                       uint64_t *out, struct doppel_error *error);

/** Whether there is any list. */
DOPPEL_API bool doppel_library_has_lists(struct doppel_library *library);

/** Whether there is a list that is benign or disabled at all. What others changed is seen from here
 * on. */
DOPPEL_API bool doppel_library_has_states(struct doppel_library *library);

/* ---- digests that stand for files ---- */

/** Numbers are written to disk. */
enum doppel_exact { DOPPEL_EXACT_MD5 = 1, DOPPEL_EXACT_SHA1 = 2, DOPPEL_EXACT_SHA256 = 3 };
enum { DOPPEL_EXACT_KINDS = 3 };

/** Those of a file. */
struct doppel_exact_digests {
    unsigned kinds;                             /**< which there are: 1 << enum doppel_exact */
    uint8_t bytes[DOPPEL_EXACT_SHA256 + 1][32]; /**< by enum doppel_exact */
};

/** 16, 20, 32. */
DOPPEL_API size_t doppel_exact_bytes(enum doppel_exact algorithm);

/** "md5", "sha1", "sha256"; "" of any other number. */
DOPPEL_API const char *doppel_exact_name(enum doppel_exact algorithm);

struct doppel_exact_digest {
    enum doppel_exact algorithm;
    const uint8_t *bytes; /**< doppel_exact_bytes of them */
    int64_t added_ns;     /**< when it came into the library that it comes from; 0: now */
};

/** An item that is known by such a digest alone: kind UNKNOWN, no fingerprint; for a path it has a
 * name that is none, "md5:0123…".
 * @param out_id new, or the one that has it already (`*out_added` false) */
DOPPEL_API enum doppel_status doppel_library_add_exact(struct doppel_library *library,
                                                       const struct doppel_exact_digest *exact,
                                                       uint64_t *out_id, bool *out_added,
                                                       struct doppel_error *error);
/** Which of them the library knows, as bits 1 << algorithm; 0: it has none, and nobody needs to
 * compute them. */
DOPPEL_API enum doppel_status doppel_library_exact_kinds(struct doppel_library *library,
                                                         unsigned *out, struct doppel_error *error);
/** DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_library_by_exact(struct doppel_library *library,
                                                      enum doppel_exact algorithm,
                                                      const uint8_t *digest, uint64_t *out_id,
                                                      struct doppel_error *error);
/** The items that stand for a file by any of its digests.
 * @param out_ids MD5's first; 0: none */
DOPPEL_API enum doppel_status doppel_library_by_any_exact(
    struct doppel_library *library, const struct doppel_exact_digests *digests,
    uint64_t out_ids[DOPPEL_EXACT_KINDS], struct doppel_error *error);

/* ---- files that could not be read ---- */

struct doppel_failure {
    const char *path; /**< borrowed */
    const struct doppel_file_stamp *stamp;
    int64_t time_ns; /**< 0: now */
    struct doppel_error error;
    const char *limits; /**< under which it failed, as text that is compared; "" where the bytes are
                           to blame, whatever the limits */
};

/** Remember why a file could not be read, until it changes. Of a file that is an item, too. */
DOPPEL_API enum doppel_status doppel_library_put_failure(struct doppel_library *library,
                                                         const struct doppel_failure *failure,
                                                         struct doppel_error *error);
/** The failure of an unchanged file, found by this version of doppel under these limits.
 * DOPPEL_E_NOT_FOUND. @param out the sentence */
DOPPEL_API enum doppel_status doppel_library_failure(struct doppel_library *library,
                                                     const char *path,
                                                     const struct doppel_file_stamp *stamp,
                                                     const char *limits, struct doppel_error *out);
/** It was read after all, or is gone. DOPPEL_OK also when there is none: that begins no change. */
DOPPEL_API enum doppel_status doppel_library_forget_failure(struct doppel_library *library,
                                                            const char *path,
                                                            struct doppel_error *error);
typedef bool doppel_failure_visitor(void *context, const struct doppel_failure *failure);
/** By path. Within a visit no other begins. DOPPEL_E_CORRUPT, after the others were visited: some
 * are damaged, and their files are read again. */
DOPPEL_API enum doppel_status doppel_library_each_failure(struct doppel_library *library,
                                                          doppel_failure_visitor *visitor,
                                                          void *context,
                                                          struct doppel_error *error);

/** Append a failure to the object that was begun last. */
DOPPEL_API void doppel_failure_to_json(struct doppel_json *json,
                                       const struct doppel_failure *failure);

/* ---- asking by SQL ---- */

/** Whether a query by an expression is to end, asked while it runs; `context` is given back to it,
 * and borrowed while the library is open. @param cancelled NULL: it is never to end */
DOPPEL_API void doppel_library_set_cancel(struct doppel_library *library,
                                          bool (*cancelled)(void *context), void *context);

/**
 * The items and texts for which an expression holds, by id.
 *
 * The expression is one of SQLite, over the columns of the documented view `items`
 * (docs/formats.md). It is run on a connection of its own that can only read this library, may use
 * no function that does more than compute, and is ended after `timeout_ms`.
 * @param expression "kind = 'image' AND width > 1000"
 * @return DOPPEL_E_ARGUMENT with SQLite's sentence for what is no expression, would write, or asks
 * for what it may not; DOPPEL_E_TIMEOUT; DOPPEL_E_CANCELLED
 */
DOPPEL_API enum doppel_status doppel_library_where(struct doppel_library *library,
                                                   const char *expression, uint32_t timeout_ms,
                                                   doppel_id_visitor *visitor, void *context,
                                                   struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
