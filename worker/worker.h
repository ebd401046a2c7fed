/**
 * doppel/worker.h: a pool of worker processes that decode and fingerprint files, so that a crash, a
 * hang or a bomb costs one file. The parent's side; the child is the program `doppel-worker`.
 *
 * The pool belongs to one thread at a time. Its workers end with the process, however it ends. No
 * signal handler is installed; SIGPIPE is avoided.
 */
#ifndef DOPPEL_WORKER_H
#define DOPPEL_WORKER_H

#include <stdbool.h>

#include <doppel/core.h>
#include <doppel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_pool;

enum { DOPPEL_OCR_BYTES = 64 };

struct doppel_pool_options {
    const char *program; /**< path of doppel-worker; NULL: $DOPPEL_WORKER, else beside this program,
                            else ../libexec/doppel, else where doppel was to be installed */
    uint32_t jobs;       /**< worker processes; 0 = one a processor; default 0 */
    uint32_t timeout_ms; /**< a file's time in the worker; 0 = none; default 60 000 */
    uint64_t max_memory; /**< resident bytes of one worker, at least 128 MiB; 0 = no limit; default
                            512 MiB */
    uint64_t max_bytes;  /**< of one file; 0, the default: 1 GiB of a picture, else no limit */
    uint64_t max_pixels; /**< default 500 million */
    double max_seconds;  /**< of audio or video; 0 = no limit; default 0 */
    enum doppel_sandbox sandbox; /**< default DOPPEL_SANDBOX_AUTO */
    uint32_t switched_off;       /**< as in struct doppel_limits */
    const char *ocr; /**< as in struct doppel_run_options; at most DOPPEL_OCR_BYTES with its end */
    bool alone;      /**< each file has a worker of its own, that sees no other; default false */
    bool whole_timeout; /**< timeout_ms is of the whole file, also of a video; default false: of
                           video and audio it is the time in which it must get on by ten
                           seconds */
};

DOPPEL_API struct doppel_pool_options doppel_pool_options_default(void);

/** What came of one file. */
struct doppel_outcome {
    uint64_t tag;              /**< of the submission */
    struct doppel_error error; /**< status DOPPEL_OK, or what went wrong, without the path. With
                                  DOPPEL_OK the message is "", or worth telling: of a video whose
                                  audio cannot be read */
    enum doppel_kind kind;     /**< as recognised by the content; UNKNOWN if it was not. AUDIO with
                                  DOPPEL_E_FORMAT, of a scheme of videos: there is audio alone */
    uint32_t width, height;    /**< as shown; 0 = not known */
    uint8_t quality;           /**< 0..100 */
    struct doppel_fingerprint fingerprint; /**< given: doppel_outcome_free */
    uint8_t *attachment; /**< scheme's own extra: doppel_image_attachment_write's of phash,
                            doppel_text_attachment_write's of texts, of recordings, which have no
                            codes, doppel_audio_track_write's of all peaks, of videos
                            doppel_video_track_write's of all parts, of scheme vpdq its list as
                            text; of a thumbnail the JPEG; given; may be NULL */
    size_t attachment_size;
};

DOPPEL_API void doppel_outcome_free(struct doppel_outcome *outcome);

/**
 * Start the first worker; the others start when there is work for them.
 *
 * @param options NULL for the defaults
 * @param out     given (doppel_pool_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND when the program cannot be started; DOPPEL_E_ARGUMENT for
 * too little max_memory; DOPPEL_E_IO, DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_pool_new(const struct doppel_pool_options *options,
                                              struct doppel_pool **out, struct doppel_error *error);

/** A pool with the jobs and the limits of a run, but for its max_bytes, which whoever opens the
 * files heeds: one that the run keeps, else a new one. A program that cannot be started is
 * DOPPEL_E_IO.
 * @param run borrowed for the life of the pool: to cancel it ends a wait for the workers */
DOPPEL_API enum doppel_status doppel_pool_for_run(const struct doppel_run *run,
                                                  struct doppel_pool **out,
                                                  struct doppel_error *error);

/** The same, always a new one, whose workers see one file each (`alone`): what one of them says of
 * its file, no other file can have told it. A worker's start costs some 40 ms. */
DOPPEL_API enum doppel_status doppel_pool_alone(const struct doppel_run *run,
                                                struct doppel_pool **out,
                                                struct doppel_error *error);

/** Stop and reap the workers; what is in flight is dropped. The pool of a run goes back to it, with
 * its workers, unless something is in flight. */
DOPPEL_API void doppel_pool_free(struct doppel_pool *pool);

/** How many more can be submitted now without waiting; bounded, whatever the collection's size. */
DOPPEL_API size_t doppel_pool_room(const struct doppel_pool *pool);

/** Submitted and not yet returned by doppel_pool_next. */
DOPPEL_API size_t doppel_pool_pending(const struct doppel_pool *pool);

/** What is wanted of a file. How a text is read stands here as plain numbers: the pool does not
 * know texts (doppel/text.h: struct doppel_text_options). */
struct doppel_order {
    enum doppel_scheme_id scheme;
    uint16_t version;    /**< that the fingerprint is to have: the scheme's, or of a text
                            doppel_text_version */
    uint8_t text_format; /**< enum doppel_text_format */
    uint8_t text_unit;   /**< enum doppel_text_unit */
    uint8_t text_shingle;
    bool text_nfkc, text_fold_case, text_drop_punctuation;
    bool text_places; /**< the attachment is to have all words with their places, and the keys;
                         that of winnow32 always has */
    uint8_t
        pcm; /**< of a recording: enum doppel_pcm_format (doppel/media.h); 0: told from its bytes */
    uint32_t pcm_rate, pcm_channels;
    uint8_t video_task;      /**< of frames64: enum doppel_video_task */
    bool video_keyframes;    /**< keyframes alone, where they are near enough */
    bool video_no_audio;     /**< the attachment is to have no audio */
    uint32_t from_ms, to_ms; /**< CLOSE: every frame of this stretch; THUMBNAIL: the frame at
                                from_ms, at most to_ms pixels wide and high */
    float video_box[4];      /**< CLOSE: left, top, right, bottom (struct doppel_video_box) */
    uint32_t switched_off;   /**< the pool's own are added */
    uint8_t look;            /**< enum doppel_preview: then the scheme is not heeded */
    uint16_t look_page;      /**< PAGE: which one, from 1 on */
    uint32_t look_size;      /**< how much of it, at most */
};

/** What a file is shown by, instead of a fingerprint; the attachment has it. */
enum doppel_preview {
    DOPPEL_LOOK_NONE = 0,
    DOPPEL_LOOK_STILL, /**< a picture as a JPEG, its longest side at most look_size pixels */
    DOPPEL_LOOK_WAVE,  /**< a recording: DOPPEL_WAVE_HEAD_BYTES (milliseconds, buckets: u32 each),
                          then of each bucket the least and the largest sample, as signed bytes: up
                          to look_size of them */
    DOPPEL_LOOK_PLAIN, /**< a text as plain text, by text_format: the first look_size bytes; before
                          each page of a document but the first a form feed */
    DOPPEL_LOOK_PAGE   /**< a page of a PDF or TIFF: the size of a JPEG and the number of its
                          words, u32 each; the grey JPEG, its longest side look_size pixels; of
                          each word left, top, right and bottom, u16 each, in shares of the
                          page's 65 535; and the words, each ended by '\n' */
};

enum { DOPPEL_WAVE_HEAD_BYTES = 8, DOPPEL_PAGE_HEAD_BYTES = 8, DOPPEL_PAGE_WORD_BYTES = 8 };

enum doppel_video_task {
    DOPPEL_VIDEO_FINGERPRINT = 0, /**< the whole video */
    DOPPEL_VIDEO_CLOSE,           /**< a stretch of it frame by frame */
    DOPPEL_VIDEO_THUMBNAIL        /**< no fingerprint: a JPEG as attachment */
};

/** How far the videos are that workers are at now: media time, added up; and the pages of documents
 * that are read by OCR, of all files so far. Thread-safe. */
struct doppel_progress {
    uint64_t done_ms, expected_ms; /**< of those whose length is known */
    uint32_t videos;               /**< how many these are */
    uint64_t pages, pages_total;
};

DOPPEL_API struct doppel_progress doppel_pool_progress(const struct doppel_pool *pool);

/**
 * Hand a file to the workers.
 * @param fd    an open regular file; taken (also on failure)
 * @param order what to compute; copied
 * @param tag   comes back with the outcome
 * @return DOPPEL_OK; DOPPEL_E_BUSY without room; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_pool_submit(struct doppel_pool *pool, int fd,
                                                 const struct doppel_order *order, uint64_t tag,
                                                 struct doppel_error *error);

/**
 * Wait for an outcome, in order of completion. A worker that died, hung or ran out of memory is
 * replaced here; the file it was at gets DOPPEL_E_CRASH, _KILLED, _TIMEOUT or _MEMORY, and the
 * others of its batch go to another worker.
 *
 * @param timeout_ms  how long to wait; -1 = until there is one, 0 = only look
 * @param out         given (doppel_outcome_free); untouched unless DOPPEL_OK
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND when nothing is pending; DOPPEL_E_TIMEOUT;
 * DOPPEL_E_CANCELLED when a signal came (EINTR), or the run of the pool is cancelled; DOPPEL_E_IO
 * when workers cannot be started any more
 */
DOPPEL_API enum doppel_status doppel_pool_next(struct doppel_pool *pool, int timeout_ms,
                                               struct doppel_outcome *out,
                                               struct doppel_error *error);

/* ---- what holds a worker ---- */

enum { DOPPEL_LIBRARIES_BYTES = 1024 };

/** What a worker has laid on itself before its first file, for good (docs/worker.md). */
struct doppel_confinement {
    uint32_t landlock_abi;  /**< of the kernel; 0: it has no Landlock, or it is switched off */
    bool no_new_privileges; /**< no program that it could start had more rights */
    bool files;             /**< Landlock: it opens no file */
    bool network;           /**< Landlock, ABI 4: no TCP */
    bool scopes;            /**< Landlock, ABI 6: neither signals to others nor abstract sockets */
    bool calls;             /**< a filter of system calls (seccomp) */
    char libraries[DOPPEL_LIBRARIES_BYTES]; /**< that decode: lines of name, blank, version */
};

/**
 * Start a worker, ask what holds it, and end it.
 * @param options of which program, max_memory and sandbox count; NULL for the defaults
 * @param out     untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_UNSUPPORTED: it is not held as DOPPEL_SANDBOX_REQUIRE asks; as
 * doppel_pool_new
 */
DOPPEL_API enum doppel_status doppel_worker_examine(const struct doppel_pool_options *options,
                                                    struct doppel_confinement *out,
                                                    struct doppel_error *error);

/* ---- archives ---- */

/** A worker that unpacks archives, one after the other: ZIP, TAR (plain, .gz, .bz2, .xz, .zst), 7z,
 * RAR, and the messages of an mbox. Belongs to one thread at a time. */
struct doppel_unpacker;

/** @param run borrowed for the life of the unpacker: its limits, and whether it is cancelled.
 * @param out given (doppel_unpacker_free). DOPPEL_OK; DOPPEL_E_NOT_FOUND; DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_unpacker_new(struct doppel_run *run,
                                                  struct doppel_unpacker **out,
                                                  struct doppel_error *error);
DOPPEL_API void doppel_unpacker_free(struct doppel_unpacker *unpacker);

/** What may come of one archive. */
struct doppel_unpack_limits {
    uint64_t member_bytes, all_bytes;
    uint32_t members;
};

/** Begin with an archive; what is left of the one before is dropped. @param fd an open regular
 * file; borrowed. DOPPEL_OK; DOPPEL_E_NOT_FOUND, DOPPEL_E_IO */
DOPPEL_API enum doppel_status doppel_unpacker_begin(struct doppel_unpacker *unpacker, int fd,
                                                    const struct doppel_unpack_limits *limits,
                                                    struct doppel_error *error);

/** A file in an archive. */
struct doppel_member {
    char *name; /**< as the archive has it: anything; "#12" of a message; given
                   (doppel_member_free) */
    int fd;     /**< its bytes, in memory, sealed against all change; given; -1: see `error` */
    uint64_t size;
    int64_t mtime_s;           /**< 0: not known */
    struct doppel_error error; /**< why it alone cannot be read */
};

DOPPEL_API void doppel_member_free(struct doppel_member *member);

/** Wait for the next member, in the order of the archive.
 * @param out given (doppel_member_free); untouched unless DOPPEL_OK
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND at the end; DOPPEL_E_FORMAT: it is no archive;
 * DOPPEL_E_CANCELLED; what ends it sooner (_CORRUPT, _LIMIT, _UNSUPPORTED, _CRASH, _TIMEOUT, …) */
DOPPEL_API enum doppel_status doppel_unpacker_next(struct doppel_unpacker *unpacker,
                                                   struct doppel_member *out,
                                                   struct doppel_error *error);

/* ---- listening to an endless stream ---- */

/** A worker that decodes one stream and sends the peaks of its audio as they are known. Belongs to
 * one thread at a time. Memory stays constant. */
struct doppel_listener;

struct doppel_listen_options {
    const char *program; /**< as in doppel_pool_options */
    uint64_t max_memory; /**< as in doppel_pool_options */
    uint8_t pcm;         /**< enum doppel_pcm_format (doppel/media.h); 0: a container */
    uint32_t pcm_rate, pcm_channels;
    enum doppel_sandbox sandbox; /**< default DOPPEL_SANDBOX_AUTO */
};

DOPPEL_API struct doppel_listen_options doppel_listen_options_default(void);

/** Some of the stream. */
struct doppel_heard {
    bool gap; /**< nothing was heard from `from` to `until` */
    double from,
        until; /**< seconds of the stream: all that is known of it up to `until` was reported */
    uint8_t *attachment; /**< doppel_audio_track_write's, times from `from` on; given (free); NULL
                            of a gap */
    size_t attachment_size;
};

/** @param fd the stream; taken. @param out given (doppel_listener_free). As doppel_pool_new. */
DOPPEL_API enum doppel_status doppel_listener_new(int fd,
                                                  const struct doppel_listen_options *options,
                                                  struct doppel_listener **out,
                                                  struct doppel_error *error);
DOPPEL_API void doppel_listener_free(struct doppel_listener *listener);

/** Wait for more. @return DOPPEL_OK; DOPPEL_E_NOT_FOUND at the end of the stream; DOPPEL_E_TIMEOUT;
 * DOPPEL_E_CANCELLED when a signal came; what ended the stream otherwise (_FORMAT, _CORRUPT,
 * _CRASH, …), with its sentence */
DOPPEL_API enum doppel_status doppel_listener_next(struct doppel_listener *listener, int timeout_ms,
                                                   struct doppel_heard *out,
                                                   struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
