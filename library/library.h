/**
 * doppel/library.h: a library of fingerprints on disk.
 * Uses core, text, index, match and store.
 *
 * A library is a directory with `catalogue.db`. One writer, any number of readers. Handles belong
 * to one thread.
 */
#ifndef DOPPEL_LIBRARY_H
#define DOPPEL_LIBRARY_H

#include <stdbool.h>

#include <doppel/core.h>
#include <doppel/library_cache.h>
#include <doppel/library_decisions.h>
#include <doppel/library_items.h>
#include <doppel/library_jobs.h>
#include <doppel/library_lists.h>
#include <doppel/library_lookups.h>
#include <doppel/library_upkeep.h>
#include <doppel/match.h>
#include <doppel/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- library ---- */

struct doppel_library;

/** A file in the library. Ids count from 1 and are never used twice, also not by texts. */
struct doppel_item {
    uint64_t id;
    char *path; /**< absolute, as bytes; "": it has no file, is known by its codes alone (or is
                   damaged); given: doppel_item_free */
    struct doppel_file_stamp stamp; /**< zero without a file */
    int64_t added_ns;
    uint64_t duration_ms, damaged_ms; /**< of recordings and videos, as their tracks say */
    bool damaged_length;           /**< what is kept of it cannot be believed: then there is none */
    struct doppel_audio_tags tags; /**< of recordings likewise */
    struct doppel_record record;   /**< `error` only where doppel_library_each says so */
};

DOPPEL_API void doppel_item_free(struct doppel_item *item);

struct doppel_library_options {
    bool create, read_only, durable;
    bool
        drop_unused; /**< a library that this opening made goes again when nothing was kept in it */
    bool no_rebuild; /**< an index that is not there, or damaged, though items are to be in it, is
                        not made by a question, which fails: DOPPEL_E_NOT_FOUND, _CORRUPT */
};

/** @param directory the library; with `create` it and those above it are made, for this user only.
 * @param options NULL: all false
 * @param out given (doppel_library_close). DOPPEL_E_NOT_FOUND, _IO, _CORRUPT, _FORMAT (the
 * catalogue is not doppel's), _VERSION, _BUSY, _ARGUMENT (no directory). */
DOPPEL_API enum doppel_status doppel_library_open(const char *directory,
                                                  const struct doppel_library_options *options,
                                                  struct doppel_library **out,
                                                  struct doppel_error *error);
/** Close; what was not committed is taken back. */
DOPPEL_API void doppel_library_close(struct doppel_library *library);

/** Read as of one moment until doppel_library_end_reading: what is asked meanwhile agrees, and no
 * look-up takes a lock of its own. Of a library that is open to be read; not nested, and not for
 * what takes long (groups). The moment moves on when what an index needs is gone by then. */
DOPPEL_API void doppel_library_begin_reading(struct doppel_library *library);
DOPPEL_API void doppel_library_end_reading(struct doppel_library *library);

enum doppel_added {
    DOPPEL_ADDED_NEW,
    DOPPEL_ADDED_UNCHANGED,
    DOPPEL_ADDED_UPDATED,
    DOPPEL_ADDED_MOVED,
    DOPPEL_ADDED_ELSEWHERE /**< imported without its path, which has other bytes here */
};

/**
 * Remember a file. The same path again updates its item (same id when its bytes are the same, else
 * a new id); a path that is gone whose bytes turn up elsewhere is moved.
 *
 * @param path absolute, any bytes
 * @param record with a fingerprint: what could not be fingerprinted is no item. Or with a digest
 * alone, no kind and no scheme, of bytes that needed no other look; of an item of these bytes that
 * has a fingerprint, it stays
 * @return DOPPEL_E_ARGUMENT for those; with any other failure (DOPPEL_E_BUSY after five seconds of
 * waiting for another writer, _IO, …) of this call or of doppel_library_remove all since the last
 * commit is taken back; when DOPPEL_OK, the item survives SIGKILL (with `durable`, power loss)
 * after the next doppel_library_commit
 */
DOPPEL_API enum doppel_status doppel_library_add(struct doppel_library *library, const char *path,
                                                 const struct doppel_file_stamp *stamp,
                                                 const struct doppel_record *record,
                                                 enum doppel_added *out_added, uint64_t *out_id,
                                                 struct doppel_error *error);

/** The same, of a file that was decided of: that it came in, the log of the decision tells. */
DOPPEL_API enum doppel_status doppel_library_add_decided(
    struct doppel_library *library, const char *path, const struct doppel_file_stamp *stamp,
    const struct doppel_record *record, enum doppel_added *out_added, uint64_t *out_id,
    struct doppel_error *error);

/**
 * The same, of what has no file: what was read of a file that is nowhere, or a code.
 * @param name   of which, and of its codes, the digest is made where that is zero; NULL: of these
 * @param former the item whose place it takes, which goes; what is said of that one is said of it.
 *               0: none
 */
DOPPEL_API enum doppel_status doppel_library_add_without_file(struct doppel_library *library,
                                                              const struct doppel_record *record,
                                                              const char *name, uint64_t former,
                                                              uint64_t *out_id,
                                                              struct doppel_error *error);

/** The item without a file that is meant by a record and what is said of it: what
 * doppel_library_import would update.
 * @param out_id 0: there is none. @param out_same it has the same bytes, or codes */
DOPPEL_API enum doppel_status doppel_library_find_without_file(struct doppel_library *library,
                                                               const struct doppel_record *record,
                                                               const struct doppel_metadata *about,
                                                               uint64_t *out_id, bool *out_same,
                                                               struct doppel_error *error);

/**
 * Remember an item that comes from another library or a list of fingerprints, and what is said of
 * it. Its file need not be here, and it need not have one: such items are searched and grouped like
 * others.
 *
 * With a path, it is an item at that path, as doppel_library_add has it, but that the file is not
 * looked for; what is known here of the same bytes at the same path stays. Without one it is known
 * by its `external_id`, lists and scheme: what is there under the same ones is updated in place,
 * same id; or, where it has no such id, by its digest.
 *
 * @param item `id` and lengths are not looked at; `added_ns` of a new one is kept, if it lies
 * before now; a digest of zeros, without a path, is made from the codes
 * @param about as doppel_library_set_metadata takes it; may be NULL
 * @return DOPPEL_E_ARGUMENT, with a sentence, for what is no item: nothing is taken back then; else
 * as doppel_library_add
 */
DOPPEL_API enum doppel_status doppel_library_import(struct doppel_library *library,
                                                    const struct doppel_item *item,
                                                    const struct doppel_metadata *about,
                                                    enum doppel_added *out_added, uint64_t *out_id,
                                                    struct doppel_error *error);

/**
 * Codes or digests of a list on their way into a library, many at a time: what comes of it is what
 * doppel_library_import or _add_exact of one after the other makes, but that the log has first that
 * all came in, then that all are on a list. Not thread-safe.
 */
struct doppel_code_batch;

/** @param about what is said of all; borrowed for its life
 * @param out given (doppel_code_batch_free) */
DOPPEL_API enum doppel_status doppel_code_batch_new(struct doppel_library *library,
                                                    const struct doppel_metadata *about,
                                                    struct doppel_code_batch **out,
                                                    struct doppel_error *error);
DOPPEL_API void doppel_code_batch_free(struct doppel_code_batch *batch);

/** Whether an item can be one of a batch: one code of an image that came without a path, a digest
 * or an attachment; but for `phash64`. Thread-safe. */
DOPPEL_API bool doppel_code_batch_takes(const struct doppel_item *item);

struct doppel_list_code {
    const struct doppel_item *item;          /**< which the batch takes */
    const char *name;                        /**< its external id; NULL: it has none */
    struct doppel_list_tags tags;            /**< as labels, of the lists that it comes with */
    const struct doppel_exact_digest *exact; /**< in place of the item; NULL: none */
};

/** Put such an item behind the others; copied. Nothing is written yet.
 * @param out_full it is time for doppel_code_batch_write
 * @return as doppel_library_import; of a digest as doppel_library_add_exact */
DOPPEL_API enum doppel_status doppel_code_batch_add(struct doppel_code_batch *batch,
                                                    const struct doppel_list_code *code,
                                                    bool *out_full, struct doppel_error *error);

/** They come for a list that is made again: what is on it as it is, is passed over; the rest is
 * told to the sync, and not committed. @param sync borrowed for the life of the batch */
DOPPEL_API void doppel_code_batch_for_sync(struct doppel_code_batch *batch,
                                           struct doppel_list_sync *sync);

/** Take those that were added into the library, and commit. After a failure all of them are
 * forgotten, and what the library wrote since its last commit is taken back.
 * @param counts by what came of them, DOPPEL_ADDED_NEW and so on; increased */
DOPPEL_API enum doppel_status doppel_code_batch_write(struct doppel_code_batch *batch,
                                                      uint64_t *counts, struct doppel_error *error);

/** Begin to change the library: nobody else changes it until the commit. What adds and removes
 * begins by itself. @param out_last_id the last id that was given to anything; may be NULL. As
 * doppel_library_add. */
DOPPEL_API enum doppel_status doppel_library_begin(struct doppel_library *library,
                                                   uint64_t *out_last_id,
                                                   struct doppel_error *error);

/** Make what was added or removed since the last commit permanent. */
DOPPEL_API enum doppel_status doppel_library_commit(struct doppel_library *library,
                                                    struct doppel_error *error);

/** Take back what was added or removed since the last commit; others may change the library. */
DOPPEL_API void doppel_library_rollback(struct doppel_library *library);

/** The item of a path whose file is unchanged and whose fingerprint is of this scheme and version,
 * so that it need not be read. DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_library_known(struct doppel_library *library, const char *path,
                                                   const struct doppel_file_stamp *stamp,
                                                   const struct doppel_scheme *scheme,
                                                   uint64_t *out_id);

/** What is known of the item at a path, without its fingerprint. */
struct doppel_known {
    uint64_t id;
    bool unchanged; /**< the file is as it was when it was read, and the item is undamaged */
    struct doppel_digest digest;
    enum doppel_kind kind;
    enum doppel_scheme_id scheme;
    uint16_t version;
};

/** @param stamp of the file as it is; NULL: not known, as changed. DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_library_get_by_path(struct doppel_library *library,
                                                         const char *path,
                                                         const struct doppel_file_stamp *stamp,
                                                         struct doppel_known *out,
                                                         struct doppel_error *error);

/** The first item with these bytes, and the first of them whose file is gone, which would be moved
 * by an addition; 0: there is none. @param out_gone NULL: not asked for, and no file is looked at
 */
DOPPEL_API enum doppel_status doppel_library_by_bytes(struct doppel_library *library,
                                                      const struct doppel_digest *digest,
                                                      uint64_t *out_first, uint64_t *out_gone,
                                                      struct doppel_error *error);

/** The first item after `after` (0: of all) with these bytes; 0: there is none. */
DOPPEL_API enum doppel_status doppel_library_next_by_bytes(struct doppel_library *library,
                                                           const struct doppel_digest *digest,
                                                           uint64_t after, uint64_t *out,
                                                           struct doppel_error *error);

/** The first item after `after` (0: of all) that is a lossless picture with these pixels; 0: there
 * is none. */
DOPPEL_API enum doppel_status doppel_library_by_pixels(struct doppel_library *library,
                                                       const struct doppel_digest *pixels,
                                                       uint64_t after, uint64_t *out,
                                                       struct doppel_error *error);

/** What an item or a text is called. */
struct doppel_name {
    char *path;      /**< of a text that of its corpus; NULL: there is no file to be read again */
    char *record_id; /**< of a text; NULL: nothing */
    uint64_t line;   /**< of a text; 0: of a file */
    enum doppel_kind kind;
    struct doppel_digest content; /**< by which manual labels know it: of the bytes of a file, of
                                     the normalised content of a text */
};
DOPPEL_API void doppel_name_free(struct doppel_name *name);

/** @param out given (doppel_name_free). DOPPEL_E_NOT_FOUND; DOPPEL_E_CORRUPT. */
DOPPEL_API enum doppel_status doppel_library_name(struct doppel_library *library, uint64_t id,
                                                  struct doppel_name *out,
                                                  struct doppel_error *error);

/** @param out given (doppel_item_free). DOPPEL_E_NOT_FOUND; DOPPEL_E_CORRUPT for a damaged item. */
DOPPEL_API enum doppel_status doppel_library_get(struct doppel_library *library, uint64_t id,
                                                 bool with_attachment, struct doppel_item *out,
                                                 struct doppel_error *error);
DOPPEL_API enum doppel_status doppel_library_by_path(struct doppel_library *library,
                                                     const char *path, struct doppel_item *out,
                                                     struct doppel_error *error);
/** The first item with these bytes, before those of which nothing else is known.
 * DOPPEL_E_NOT_FOUND.
 */
DOPPEL_API enum doppel_status doppel_library_by_digest(struct doppel_library *library,
                                                       const struct doppel_digest *digest,
                                                       uint64_t *out_id,
                                                       struct doppel_error *error);

/** Remove an item or a text, also a damaged one. DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_library_remove(struct doppel_library *library, uint64_t id,
                                                    struct doppel_error *error);

/**
 * Visit all items in order of id; the item is borrowed; false ends it (DOPPEL_E_CANCELLED; a
 * failure that the visitor told in the same `error` stays there). Fingerprints are loaded,
 * attachments not.
 *
 * A damaged item is visited too, so that it can be reported: it has `record.error`
 * (DOPPEL_E_CORRUPT and a sentence with its id), no fingerprint, and a path that may be "".
 * **Visitors look at record.error first.** What others commit meanwhile is not seen. Within a visit
 * no other begins; other calls are fine.
 */
typedef bool doppel_item_visitor(void *context, const struct doppel_item *item);
DOPPEL_API enum doppel_status doppel_library_each(struct doppel_library *library,
                                                  doppel_item_visitor *visitor, void *context,
                                                  struct doppel_error *error);

/** The same from an id on. */
DOPPEL_API enum doppel_status doppel_library_each_from(struct doppel_library *library,
                                                       uint64_t first, doppel_item_visitor *visitor,
                                                       void *context, struct doppel_error *error);

/* ---- a copy ---- */

/** @return false to end it */
typedef bool doppel_library_progress(void *context, uint64_t done_bytes, uint64_t total_bytes);

/**
 * Copy the library as of this moment, while others read it and write to it.
 * @param directory of the copy: not there, or empty. It appears when it is whole: synced, opened,
 * its derived indexes made.
 * @param progress may be NULL
 * @return DOPPEL_E_ARGUMENT: something is there; DOPPEL_E_IO; DOPPEL_E_CORRUPT; DOPPEL_E_CANCELLED
 */
DOPPEL_API enum doppel_status doppel_library_backup(struct doppel_library *library,
                                                    const char *directory,
                                                    doppel_library_progress *progress,
                                                    void *context, struct doppel_error *error);

/* ---- decisions ---- */

/** Numbers are written to disk: new ones go to the end. */
enum doppel_decision {
    DOPPEL_DECISION_NEW,
    DOPPEL_DECISION_DUPLICATE,
    DOPPEL_DECISION_REVISION,
    DOPPEL_DECISION_PART,
    DOPPEL_DECISION_TOO_SHORT,
    DOPPEL_DECISION_UNREADABLE,
    DOPPEL_DECISION_CONFLICT,
    DOPPEL_DECISION_IGNORED /**< new here, but not where the upstream was asked */
};

/** "new", "duplicate", …; static storage. Thread-safe. */
DOPPEL_API const char *doppel_decision_name(enum doppel_decision decision);

/** Why it was decided so. */
enum doppel_decision_reason {
    DOPPEL_BECAUSE_NONE,         /**< nothing is like it; or a sentence says why */
    DOPPEL_BECAUSE_KNOWN,        /**< an unchanged file at its path */
    DOPPEL_BECAUSE_MOVED,        /**< a file whose former path is gone */
    DOPPEL_BECAUSE_SAME_PATH,    /**< other bytes at a path */
    DOPPEL_BECAUSE_SAME_ID,      /**< an id that came before */
    DOPPEL_BECAUSE_IDENTICAL,    /**< the same bytes */
    DOPPEL_BECAUSE_SAME_CONTENT, /**< the same words or pixels */
    DOPPEL_BECAUSE_MARKED,       /**< a manual label */
    DOPPEL_BECAUSE_NEAR,
    DOPPEL_BECAUSE_NEWER, /**< near, of the same source, with a later date */
    DOPPEL_BECAUSE_PART,  /**< a small part of something */
    DOPPEL_BECAUSE_CONTAINED,
    DOPPEL_BECAUSE_CONTAINS,
    DOPPEL_BECAUSE_OVERLAPS,
    DOPPEL_BECAUSE_BENIGN,  /**< it matches something on an allow-list */
    DOPPEL_BECAUSE_UPSTREAM /**< the upstream has it */
};

/** "same-content", …; static storage; of DOPPEL_BECAUSE_NONE NULL. Thread-safe. */
DOPPEL_API const char *doppel_decision_reason_name(enum doppel_decision_reason reason);

/** The inverse; DOPPEL_BECAUSE_NONE of NULL and of what is no such name. Thread-safe. */
DOPPEL_API enum doppel_decision_reason doppel_decision_reason_of(const char *name);

/** What to do with a record whose id came before. */
enum doppel_same_id {
    DOPPEL_SAME_ID_UPDATE, /**< its text takes the place of the former: a revision, unless it is the
                              same content */
    DOPPEL_SAME_ID_SKIP,   /**< the first stays: a duplicate */
    DOPPEL_SAME_ID_ERROR   /**< a conflict */
};

/** Where a record comes from. Borrowed; NULL: not known. */
struct doppel_origin {
    const char *source;
    const char *date; /**< ISO 8601, or seconds since 1970 */
};

/** A date as doppel_keep_compare takes it: the end of the year, day or second that is given, as
 * nothing earlier is known for sure. INT64_MAX: it cannot be read, or is NULL. Thread-safe. */
DOPPEL_API int64_t doppel_date_ns(const char *date);

/**
 * Decide what a text is to one that came before it.
 *
 * The whole rule, for a record in order of input (dedup and ingest keep it, and agree):
 *  1. What cannot be read is `unreadable`.
 *  2. An id that came before: as `enum doppel_same_id` says.
 *  3. The same normalised content as an earlier record: `duplicate` of that one's representative,
 *     "same-content".
 *     A manual label that it is the same as an earlier text: `duplicate`, "marked".
 *  4. Too short: `too_short`; later ones with the same content are its duplicates.
 *  5. The first earlier representative that shares a band and is within the limit of similarity:
 *     `duplicate`, "near"; `revision` when both have the same source and the record a later date.
 *  6. The first earlier representative that shares a band and contains the record, or is contained
 * in it, by the limit of containment: `part` when the record is the smaller one by half or more,
 * else `revision`.
 *  7. `new`.
 * By ingest, representatives that a person marked as distinct from it, and texts that are on
 * disabled lists alone, are passed over; one of the same content as a text of a benign list, near
 * one or part of one is `new`, "benign", and to hold one says nothing. A record becomes a
 * representative unless an earlier representative is within the limit of similarity: so a part and
 * most revisions are representatives too, and every duplicate is near its representative: no
 * chains. A text that an update took the place of is forgotten: it leads no more, and no later
 * record is a duplicate of it.
 *
 * @param match of doppel_match_texts that returned true, record against item
 * @return DOPPEL_DECISION_DUPLICATE, _REVISION or _PART. Thread-safe.
 */
DOPPEL_API enum doppel_decision doppel_decide(const struct doppel_match *match,
                                              const struct doppel_origin *record,
                                              const struct doppel_origin *item);

/* ---- what an upstream is to be asked about ---- */

/** An item or a text that is new here, until an upstream has said whether it is new there, too. */
struct doppel_queued {
    uint64_t id;
    uint64_t token; /**< random, drawn when it came into the queue: so it is known again there */
};

DOPPEL_API enum doppel_status doppel_library_queue_upstream(struct doppel_library *library,
                                                            uint64_t id,
                                                            struct doppel_error *error);

/** The first in the queue after the id `after`. DOPPEL_E_NOT_FOUND: there is none. */
DOPPEL_API enum doppel_status doppel_library_next_upstream(struct doppel_library *library,
                                                           uint64_t after,
                                                           struct doppel_queued *out,
                                                           struct doppel_error *error);

/** Whether an id is in the queue. */
DOPPEL_API enum doppel_status doppel_library_waits_upstream(struct doppel_library *library,
                                                            uint64_t id, bool *out,
                                                            struct doppel_error *error);

/** It was answered, or is no more. @param decision what it is by that; a text's row says so
 * @param out_waited false: somebody else had the answer first */
DOPPEL_API enum doppel_status doppel_library_leave_upstream(struct doppel_library *library,
                                                            uint64_t id,
                                                            enum doppel_decision decision,
                                                            bool *out_waited,
                                                            struct doppel_error *error);

/* ---- texts: records of corpora, in order of input ---- */

/** A text as the library remembers it. Strings and arrays are borrowed. */
struct doppel_library_text {
    uint64_t id;
    const char *record_id; /**< what its corpus calls it; NULL: nothing */
    struct doppel_origin origin;
    const char *path; /**< of the file in which its line stands; NULL: in none that can be
                         read again */
    uint64_t line, offset, size; /**< of the line, in the file, its newline not counted */
    int64_t added_ns;
    struct doppel_digest content; /**< of the normalised text */
    uint64_t words;
    bool too_short;
    enum doppel_decision decision;
    bool leads;               /**< later texts are compared with it */
    uint64_t leader;          /**< id of the text that it follows; 0: none */
    const uint16_t *lanes;    /**< its MinHash signature; of what is too short it may say nothing */
    uint32_t lane_count;      /**< 128 or 256 */
    uint64_t simhash;         /**< of its shingles, for people who ask by SQL; 0: none */
    uint64_t shingle_total;   /**< how many it has; 0: not known */
    const uint32_t *shingles; /**< `shingle_total` of them, ascending, when they were kept and are
                                 asked for; else NULL */
    struct doppel_error error; /**< status != OK: it is damaged, and only its id is known */
};

/** How the texts of the library were read, and the limits they were decided by; either may be NULL.
 * DOPPEL_E_NOT_FOUND: there are none yet. */
DOPPEL_API enum doppel_status doppel_library_text_options(struct doppel_library *library,
                                                          struct doppel_text_options *out_options,
                                                          struct doppel_text_limits *out_limits,
                                                          struct doppel_error *error);

/** Say how its texts are read and decided, before the first one is added: a library keeps to one
 * way. DOPPEL_E_VERSION with a sentence that says in what they differ: it has another one. As
 * doppel_library_add. */
DOPPEL_API enum doppel_status doppel_library_set_text_options(
    struct doppel_library *library, const struct doppel_text_options *options,
    const struct doppel_text_limits *limits, struct doppel_error *error);

/** Remember a text. `id` and `error` are not looked at; `added_ns` is kept, if it lies between 1970
 * and now, else it is now. As doppel_library_add; also
 * DOPPEL_E_ARGUMENT for signatures of another length than the library's. */
DOPPEL_API enum doppel_status doppel_library_add_text(struct doppel_library *library,
                                                      const struct doppel_library_text *text,
                                                      uint64_t *out_id, struct doppel_error *error);

/** Which texts are wanted. Zero-initialised: all, without shingles. */
struct doppel_text_query {
    uint64_t first, last;  /**< ids; last 0: to the end */
    const char *record_id; /**< NULL: any */
    bool shingles;         /**< load those that were kept */
    bool files; /**< items that are files of text, read as the library's texts are, are visited too:
                   without a record id, and with line 0 */
};

/** The text is borrowed; false ends the visit, as of items. Damaged ones are visited too:
 * **visitors look at text->error first.** */
typedef bool doppel_library_text_visitor(void *context, const struct doppel_library_text *text);

/** Visit texts in order of id, which is that of input; of one record id no more is read than those.
 * Within a visit of several no other begins; one text (first = last) may be visited at any time,
 * other calls are fine. */
DOPPEL_API enum doppel_status doppel_library_each_text(struct doppel_library *library,
                                                       const struct doppel_text_query *query,
                                                       doppel_library_text_visitor *visitor,
                                                       void *context, struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
