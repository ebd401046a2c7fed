/**
 * doppel/library.h: a library of fingerprints on disk, and the cache that spares a second scan.
 * Uses core, text, index, match and store.
 *
 * A library is a directory with `catalogue.db`. One writer, any number of readers. Handles belong
 * to one thread.
 */
#ifndef DOPPEL_LIBRARY_H
#define DOPPEL_LIBRARY_H

#include <stdbool.h>

#include <doppel/core.h>
#include <doppel/library_decisions.h>
#include <doppel/library_items.h>
#include <doppel/library_jobs.h>
#include <doppel/library_lists.h>
#include <doppel/library_upkeep.h>
#include <doppel/match.h>
#include <doppel/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what is known of a file ---- */

/**
 * A file as it was when it was read.
 *
 * A file that is written twice within the clock's step keeps its mtime. So a stamp proves that a
 * file is unchanged only when its mtime lies two seconds (FAT's step) or more before the cache or
 * library was opened: open first, then take stamps. Others are not trusted until they are put again
 * by a later run.
 */
struct doppel_file_stamp {
    uint64_t device, inode;
    int64_t size;
    int64_t mtime_ns; /**< since 1970 */
};

struct stat;

/** The stamp of a file, from what stat says of it. Thread-safe. */
DOPPEL_API struct doppel_file_stamp doppel_file_stamp_of(const struct stat *status);

/** Whether two are the same. Thread-safe. */
DOPPEL_API bool doppel_file_stamp_equal(const struct doppel_file_stamp *a,
                                        const struct doppel_file_stamp *b);

/** What was computed from a file's bytes under one scheme. */
struct doppel_record {
    struct doppel_digest digest;
    enum doppel_kind kind;
    enum doppel_scheme_id scheme;
    uint16_t version; /**< of the scheme; of texts doppel_text_version */
    uint8_t reading;  /**< how the bytes were read where that can be chosen: of texts their enum
                         doppel_text_format; of videos 1 keyframes alone, 2 without audio; of
                         recordings  1 of a video; else 0. Known to the cache only */
    uint32_t width, height;
    uint8_t quality;
    struct doppel_error error; /**< status != OK: it could not be fingerprinted, and why; else the
                                  message is "", or worth telling (doppel/worker.h) */
    struct doppel_fingerprint fingerprint; /**< empty when error.status != OK */
    struct doppel_digest pixels; /**< of a lossless picture (doppel/media.h), as its attachment has
                                    it, also when that was not asked for; zero: not known */
    uint8_t *attachment;         /**< as in doppel/worker.h; NULL unless asked for */
    size_t attachment_size;
};

DOPPEL_API void doppel_record_free(struct doppel_record *record);

/* ---- cache: files already read ---- */

struct doppel_cache;

/**
 * Open or make the cache file, and the directories above it.
 *
 * A damaged cache is renamed to `PATH.damaged`, one of another version to `PATH.old`, and begun
 * again; `*out_renewed` (may be NULL) says so. One whose damage shows later is quarantined when it
 * is closed. Processes may share a cache, and do not hinder each other.
 *
 * What goes wrong with it costs time, never a result: what was put is known as long as the cache is
 * open, also when the file is busy, damaged, full or read-only. Callers warn and go on.
 *
 * @param out given (doppel_cache_close). DOPPEL_E_FORMAT (not ours), _IO, _BUSY, _MEMORY
 */
DOPPEL_API enum doppel_status doppel_cache_open(const char *path, struct doppel_cache **out,
                                                bool *out_renewed, struct doppel_error *error);
/**
 * Write what was put and is not in the file yet. Puts and look-ups do so by themselves: every 500
 * puts, and when a second has passed; callers that are idle for longer do it.
 *
 * @return as puts do, what the file had against it: DOPPEL_E_BUSY after two seconds of waiting,
 * _IO, _CORRUPT; nothing is lost, and a second later it is tried again
 */
DOPPEL_API enum doppel_status doppel_cache_flush(struct doppel_cache *cache,
                                                 struct doppel_error *error);

/** Whether one that was left open can be used as if it was opened now: its file lies in its place,
 * and is not damaged. */
DOPPEL_API bool doppel_cache_resume(struct doppel_cache *cache);

/** Write what is pending and close. */
DOPPEL_API void doppel_cache_close(struct doppel_cache *cache);

/** The digest of an unchanged file. DOPPEL_E_NOT_FOUND when it is not known, or size, mtime, inode
 * or device differ.
 * @param path any bytes; absolute, or the same file is not known from another directory */
DOPPEL_API enum doppel_status doppel_cache_file(struct doppel_cache *cache, const char *path,
                                                const struct doppel_file_stamp *stamp,
                                                struct doppel_digest *out);

/** Remember a file's digest; a stamp that is not to be trusted is not kept. */
DOPPEL_API enum doppel_status doppel_cache_put_file(struct doppel_cache *cache, const char *path,
                                                    const struct doppel_file_stamp *stamp,
                                                    const struct doppel_digest *digest,
                                                    struct doppel_error *error);

/**
 * Tell under which limits files are read: then failures that other limits could mend (timeout,
 * crash, memory, limit) are kept, too, and known under the same limits.
 * @param limits as text that is compared. @param retry no failures are known: all are tried again
 */
DOPPEL_API enum doppel_status doppel_cache_set_limits(struct doppel_cache *cache,
                                                      const char *limits, bool retry);

/** What a record is known by. */
struct doppel_record_key {
    const struct doppel_digest *digest; /**< of the bytes; borrowed */
    enum doppel_scheme_id scheme;
    uint16_t version;
    uint8_t reading;
};

/** What is known of these bytes under this scheme and version: also failures that the bytes are to
 * blame for, or the limits (doppel_cache_set_limits), if this version of doppel found them.
 * @param with_attachment load it too, if the record has one. @param out given (doppel_record_free).
 * DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_cache_record(struct doppel_cache *cache,
                                                  const struct doppel_record_key *key,
                                                  bool with_attachment, struct doppel_record *out);

/** Remember a record in place of what is known under the same key. Failures that another try or an
 * installed decoder could mend (killed, unsupported, I/O) are not kept; nor are, where limits were
 * not told, those that other limits could. */
DOPPEL_API enum doppel_status doppel_cache_put_record(struct doppel_cache *cache,
                                                      const struct doppel_record *record,
                                                      struct doppel_error *error);

/** The outcome of a pixel check by this version of doppel of two contents, in either order: the
 * verdict is turned to make `a` the query. DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_cache_pair(struct doppel_cache *cache,
                                                const struct doppel_digest *a,
                                                const struct doppel_digest *b, bool *out_same,
                                                struct doppel_image_verdict *out_verdict);
DOPPEL_API enum doppel_status doppel_cache_put_pair(struct doppel_cache *cache,
                                                    const struct doppel_digest *a,
                                                    const struct doppel_digest *b, bool same,
                                                    const struct doppel_image_verdict *verdict,
                                                    struct doppel_error *error);

/** What was kept of the comparison of a collection: bytes whose meaning is the caller's.
 * @param collection what tells it apart, and all that the bytes depend on and do not tell
 * @param out given (free). DOPPEL_E_NOT_FOUND. */
DOPPEL_API enum doppel_status doppel_cache_joined(struct doppel_cache *cache,
                                                  const struct doppel_digest *collection,
                                                  uint8_t **out, size_t *out_size);

/** Keep them, in place of others of the collection; those of the 32 collections that were put last
 * are known. More than 512 MB are not kept. */
DOPPEL_API enum doppel_status doppel_cache_put_joined(struct doppel_cache *cache,
                                                      const struct doppel_digest *collection,
                                                      const uint8_t *data, size_t size,
                                                      struct doppel_error *error);

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

/* ---- pictures ----
 *
 * The codes of items that are pictures lie in indexes beside the catalogue, a folder for each table
 * of a scheme (doppel_image_table), as of the last commit of anybody and of this transaction. They
 * are derived: one that is not there, or is damaged, is made of the items when it is needed. */

/**
 * The pictures of the library that match one, as doppel_matcher_find visits those of a set.
 *
 * @param visitor may ask the library for items
 * @return DOPPEL_OK; DOPPEL_E_VERSION: it is of another scheme or version than this doppel makes;
 * _BUSY, _IO, _CORRUPT; _MEMORY; _CANCELLED when the visitor returned false
 */
DOPPEL_API enum doppel_status doppel_library_find_images(struct doppel_library *library,
                                                         const struct doppel_match_item *query,
                                                         const struct doppel_match_options *options,
                                                         doppel_found_visitor *visitor,
                                                         void *context, struct doppel_error *error);

/** The recordings of the library, fingerprinted as AcoustID does, that match one, as
 * doppel_chromaprints_find visits those of a set: by id; theirs is such an index, too.
 * @param max_distance bits of 32 that may differ, in the mean
 * @return as doppel_library_find_images */
DOPPEL_API enum doppel_status doppel_library_find_chromaprints(
    struct doppel_library *library, const struct doppel_fingerprint *query, uint32_t max_distance,
    doppel_found_visitor *visitor, void *context, struct doppel_error *error);

/** Who is told of what takes a while: that an index is made of the items. Each may be NULL. */
struct doppel_library_watch {
    void (*notice)(void *context, const char *sentence);
    /** @param done,total items; done is 0 at first, and total at the end */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context; /**< borrowed while the library is open */
};

/** @param watch copied; NULL: nobody */
DOPPEL_API void doppel_library_set_watch(struct doppel_library *library,
                                         const struct doppel_library_watch *watch);

/* ---- texts ----
 *
 * The signatures of texts, of files as of records, lie in such indexes, too: those of texts that
 * follow another one apart from the rest. So do the first bits of the digests of their contents. */

/** A text whose passages are looked up, in the keys of texts of winnow32. */
struct doppel_passage_lookup {
    const struct doppel_passage_request *request; /**< with a source, which is asked for texts by
                                                     their ids; borrowed */
    uint16_t version;                             /**< of the texts that are searched */
    bool followers;                               /**< also those who follow another one */
};

/**
 * The texts of the library that share a passage with one, as doppel_passages_find visits those of a
 * set of all texts of that version. Their keys lie in such indexes, too.
 * @return as doppel_library_find_images; DOPPEL_E_CANCELLED with a sentence
 */
DOPPEL_API enum doppel_status doppel_library_find_passages(
    struct doppel_library *library, const struct doppel_passage_lookup *lookup,
    doppel_found_visitor *visitor, void *context, struct doppel_error *error);

/** A signature to be looked up. */
struct doppel_text_lookup {
    enum doppel_scheme_id scheme; /**< minhash128, minhash256 or simhash64 */
    const uint64_t *code;         /**< lanes, four a word, the first lowest; or SimHash; borrowed */
    uint32_t radius;              /**< lanes or bits that may differ */
    uint32_t bands, rows; /**< of MinHash: to share one of so many bands of so many lanes; 0:
                             whatever the index has. Others than it has take longer, until it
                             is made again with these */
    bool followers;       /**< also those who follow another one */
};

/** @param distance lanes or bits that differ. Return false to end it */
typedef bool doppel_text_candidate_visitor(void *context, uint64_t id, uint32_t distance);

/**
 * Texts whose signatures are near: to be looked at, whether they are there, and are what is wanted.
 * Those who lead first, each in order of id.
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED when the visitor returned false; _BUSY, _IO, _CORRUPT;
 * _MEMORY
 */
DOPPEL_API enum doppel_status doppel_library_near_texts(struct doppel_library *library,
                                                        const struct doppel_text_lookup *lookup,
                                                        doppel_text_candidate_visitor *visitor,
                                                        void *context, struct doppel_error *error);

/** Texts that may have a content, in order of id: whose digests begin with the same 64 bits.
 * @param limit the first so many; 0: all. As doppel_library_near_texts */
DOPPEL_API enum doppel_status doppel_library_texts_of(struct doppel_library *library,
                                                      const struct doppel_digest *content,
                                                      size_t limit,
                                                      doppel_text_candidate_visitor *visitor,
                                                      void *context, struct doppel_error *error);

/** How many records there are, or fewer: the ids from the first to the last. DOPPEL_OK;
 * DOPPEL_E_IO; _CORRUPT. Takes no longer in a large library. */
DOPPEL_API enum doppel_status doppel_library_records_at_most(struct doppel_library *library,
                                                             uint64_t *out,
                                                             struct doppel_error *error);

/** The last record that has an id of its corpus, and is not damaged; 0: none has. DOPPEL_OK;
 * DOPPEL_E_IO; _CORRUPT */
DOPPEL_API enum doppel_status doppel_library_record_called(struct doppel_library *library,
                                                           const char *record_id, uint64_t *out,
                                                           struct doppel_error *error);

/** Whether others have changed the library, or somebody its manual labels, since the last call with
 * the same `version`, which is 0 at first. */
DOPPEL_API enum doppel_status doppel_library_changed(struct doppel_library *library,
                                                     int64_t *version, bool *out_changed,
                                                     struct doppel_error *error);

/* ---- recordings ----
 *
 * Items of scheme peaks32 have no codes: their peaks are the attachment
 * (doppel_audio_track_write's), of which doppel_library_add keeps the strong ones. The postings of
 * these are in an index in the folder `recordings` of the library, which changes with the items, in
 * the same transactions. It is derived: a writer rebuilds it when files of it are gone.
 *
 * A handle that has added or removed a recording keeps others from doing so until it is closed or
 * released. For the first of them, and when postings become many, it commits what was changed
 * before. */

/**
 * Make ready to add a file: when recordings or videos are concerned, by the record, by the item at
 * the path or by those with the same bytes, commit, and wait for the right to change them. So an
 * addition that follows in a transaction does not end it. In this order processes never wait for
 * each other: first for that right, then to begin.
 * @param out_tracks the handle holds the right. As doppel_library_add
 */
DOPPEL_API enum doppel_status doppel_library_prepare(struct doppel_library *library,
                                                     const char *path,
                                                     const struct doppel_record *record,
                                                     bool *out_tracks, struct doppel_error *error);

/** Commit, and let others change recordings and videos. */
DOPPEL_API enum doppel_status doppel_library_release(struct doppel_library *library,
                                                     struct doppel_error *error);

/**
 * The recordings of the library as a set, as of the last commit of anybody.
 *
 * The set reads through a connection of its own: while threads search in it, other calls with the
 * library are fine, but for this one and doppel_library_close.
 *
 * @param out borrowed until the library is closed, or until this call gives another set because
 * something was committed since; on failure the one before goes on to be good
 * @return DOPPEL_OK; DOPPEL_E_CORRUPT, _BUSY (it is rebuilt by another process), _IO, _MEMORY
 */
DOPPEL_API enum doppel_status doppel_library_recordings(struct doppel_library *library,
                                                        const struct doppel_recordings **out,
                                                        struct doppel_error *error);

/* ---- videos ----
 *
 * Items of scheme frames64 have no codes in their fingerprint, either: the frames are the
 * attachment (doppel_video_track_write's), of which doppel_library_add keeps the codes and the
 * strong peaks of the audio. The 64-bit codes are in an index in the folder `videos`, and the
 * postings of the audio are among those of doppel_library_recordings, under the same id. Both are
 * derived, as that one is. */

/** Recordings and videos that a search came upon and could not read, the first of them. */
enum { DOPPEL_UNREADABLE_MAX = 16 };
struct doppel_unreadable {
    size_t count;
    uint64_t ids[DOPPEL_UNREADABLE_MAX];
};

/** Add those that were met in a set since the last call, and those that are not in it: what is kept
 * of them is damaged, and they may be what is sought. Thread-safe, as the sets are.
 * @param kind of the set: AUDIO doppel_library_recordings, VIDEO doppel_library_videos */
DOPPEL_API void doppel_library_take_unreadable(struct doppel_library *library,
                                               enum doppel_kind kind,
                                               struct doppel_unreadable *out);

/** The videos of the library as a set. As doppel_library_recordings. */
DOPPEL_API enum doppel_status doppel_library_videos(struct doppel_library *library,
                                                    const struct doppel_videos **out,
                                                    struct doppel_error *error);

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
