/** doppel/run.h: what the calls of the engine share while they work. Part of doppel/core.h.
 *
 * A run is made once, and given to each call, from any thread: it says how many workers, under
 * which limits, where the cache lies, when to stop, and who is notified of what happens.
 * It owns the workers and the open cache: a call takes what is idle, starts what is missing, and
 * leaves it for the next. Two runs in one process do not know of each other. */
#ifndef DOPPEL_RUN_H
#define DOPPEL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_run;

/** Whether the processes that decode are held by the kernel so that they can do nothing else. */
enum doppel_sandbox {
    DOPPEL_SANDBOX_AUTO = 0, /**< by what it has */
    DOPPEL_SANDBOX_REQUIRE,  /**< nothing is decoded with less than Landlock and seccomp */
    DOPPEL_SANDBOX_NONE      /**< by limits on memory and time alone */
};

/** Where kinds begin among the bits of switched_off, behind the formats. */
enum { DOPPEL_SWITCH_KINDS = 26 };

/** Limits on one input. */
struct doppel_limits {
    uint64_t max_bytes;    /**< of a file; 0: 1 GiB of images and texts, none of audio and video */
    uint64_t max_pixels;   /**< of an image, or of a frame; 0: 500 megapixels */
    uint64_t max_memory;   /**< bytes of a worker process; 0: no limit */
    uint32_t max_ms;       /**< duration of audio and video; 0: none */
    uint32_t timeout_ms;   /**< 0: none */
    uint32_t switched_off; /**< what is not decoded: bits 1 << enum doppel_format, and of kinds
                              1 << (DOPPEL_SWITCH_KINDS + enum doppel_kind) */
    bool whole_timeout; /**< the timeout is of audio and video as a whole too; else of ten seconds
                           without progress */
};

/** How far a call is. */
struct doppel_run_progress {
    const char *unit;         /**< what is counted: "files", "pairs"; static storage */
    bool begins;              /**< a new phase: what was counted before is over */
    bool ends;                /**< the phase is over */
    uint64_t done, total;     /**< total 0: not known yet */
    uint64_t videos;          /**< of the files, videos that are done */
    uint64_t videos_total;    /**< 0: not known yet */
    uint64_t video_ms;        /**< how long they are, with what is done of those in flight */
    uint64_t video_total_ms;  /**< an estimate */
    uint64_t video_cached_ms; /**< of video_ms: known before, which says nothing of the pace */
    uint64_t pages;           /**< of documents that are read by OCR, with those in flight */
    uint64_t pages_total;     /**< of these documents; 0: none is */
};

enum doppel_notice {
    DOPPEL_NOTICE,       /**< worth knowing */
    DOPPEL_NOTICE_DETAIL /**< what was skipped and the like */
};

/** All may be zero: one worker a processor, neither memory nor time of a worker limited (hostile
 * files want doppel_run_options_default), no cache that is kept, nobody is told. Functions
 * are called by threads of the call, those of one run one at a time, but for `cancelled`. They may
 * call what is here, but not wait for another thread that uses the run. */
struct doppel_run_options {
    uint32_t jobs; /**< workers and threads; 0: one a processor */
    struct doppel_limits limits;
    enum doppel_sandbox sandbox;
    const char *cache;  /**< the cache's file; NULL: one for each call, which leaves nothing */
    bool replace_cache; /**< what lies in the cache's place is replaced if it is no database; else
                           it is left alone */
    const char *temporary; /**< the folder of temporary files; NULL: /tmp */
    const char *worker;    /**< the program doppel-worker; NULL: as in doppel_pool_options */
    const char *ocr;       /**< scanned pages are read by OCR, in these languages, as "eng+hin",
                              and images where texts alone are wanted; NULL: nothing is */
    bool details;          /**< DOPPEL_NOTICE_DETAIL is wanted, too */
    bool retry;            /**< what could not be read before is tried again */

    /** Whether to stop soon; asked often, also from other threads. NULL: only by
     * doppel_run_cancel. */
    bool (*cancelled)(void *context);
    /** @param path what it is about, or NULL. @param text a sentence; borrowed for the call */
    void (*on_notice)(void *context, enum doppel_notice level, const char *path, const char *text);
    /** An input could not be read; the run goes on. @param path as it was given */
    void (*on_failed)(void *context, const char *path, const struct doppel_error *reason);
    void (*on_progress)(void *context, const struct doppel_run_progress *progress);
    void *context; /**< of all of these */
};

/** 500 megapixels, 512 MiB a worker, a minute; the rest is zero. Thread-safe. */
DOPPEL_API struct doppel_run_options doppel_run_options_default(void);

/**
 * @param options copied, with its strings. NULL: the defaults
 * @param out     given (doppel_run_free)
 * @return DOPPEL_OK; DOPPEL_E_MEMORY. Nothing is opened or started before it is needed.
 */
DOPPEL_API enum doppel_status doppel_run_new(const struct doppel_run_options *options,
                                             struct doppel_run **out, struct doppel_error *error);

/** End its workers, and close its cache. Nothing that was made with it may be in use. */
DOPPEL_API void doppel_run_free(struct doppel_run *run);

/** Let the calls that use the run end soon, with DOPPEL_E_CANCELLED: what is done is kept.
 * Thread-safe, and safe in a signal handler. */
DOPPEL_API void doppel_run_cancel(struct doppel_run *run);

/** Whether it is to end. Thread-safe. */
DOPPEL_API bool doppel_run_cancelled(const struct doppel_run *run);

/** What it was made with; borrowed for its life. Thread-safe. */
DOPPEL_API const struct doppel_run_options *doppel_run_get_options(const struct doppel_run *run);

/** How many threads a call may use: `jobs`, else one a processor. Thread-safe. */
DOPPEL_API uint32_t doppel_run_jobs(const struct doppel_run *run);

/** How many inputs have failed so far. Thread-safe. */
DOPPEL_API uint64_t doppel_run_failures(const struct doppel_run *run);

/* ---- for the modules that are given a run ---- */

/** Tell that an input could not be read. */
DOPPEL_API void doppel_run_failed(struct doppel_run *run, const char *path,
                                  const struct doppel_error *reason);
/** The same with a sentence, of DOPPEL_E_FORMAT. */
DOPPEL_API void doppel_run_fail_input(struct doppel_run *run, const char *path, const char *reason);
/** Tell what is worth knowing. */
DOPPEL_API void doppel_run_notice(struct doppel_run *run, const char *format, ...)
    DOPPEL_PRINTF(2, 3);
/** Tell a detail about an input. */
DOPPEL_API void doppel_run_detail(struct doppel_run *run, const char *path, const char *reason);

/** A phase begins, of `total` (0: not known) `unit`s; a literal. */
DOPPEL_API void doppel_run_begin(struct doppel_run *run, const char *unit, uint64_t total);
/** How many there will be is known now. */
DOPPEL_API void doppel_run_set_total(struct doppel_run *run, uint64_t total);
/** The phase is over: what was shown of it may be taken away. */
DOPPEL_API void doppel_run_end(struct doppel_run *run);
/** So many of them are done. As often as you like. */
DOPPEL_API void doppel_run_advance(struct doppel_run *run, uint64_t done);
/** The same, with all that there is to tell. */
DOPPEL_API void doppel_run_show(struct doppel_run *run, const struct doppel_run_progress *progress);
/** What was shown last, also after the end of its phase; nothing yet: `unit` is NULL. Thread-safe.
 */
DOPPEL_API struct doppel_run_progress doppel_run_progress_so_far(struct doppel_run *run);
/** Whether anybody is notified of the progress: else nothing need be counted. */
DOPPEL_API bool doppel_run_shows_progress(const struct doppel_run *run);

#ifdef __cplusplus
}
#endif
#endif
