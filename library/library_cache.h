/**
 * doppel/library_cache.h: what is known of a file, and the cache that spares a second scan.
 * Included by doppel/library.h.
 */
#ifndef DOPPEL_LIBRARY_CACHE_H
#define DOPPEL_LIBRARY_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/match.h>

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
    uint32_t reading; /**< how the bytes were read where that can be chosen: of texts their enum
                         doppel_text_format, and with OCR, above its 8 bits, a hash of the
                         languages; of videos 1 keyframes alone, 2 without audio; of recordings 1
                         of a video; else 0. Known to the cache only */
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
    uint32_t reading;
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

#ifdef __cplusplus
}
#endif
#endif
