/**
 * doppel/stream.h: decisions on their way to other systems. Uses core, library and decide.
 *
 * What is here works until it is cancelled, on a library that other processes write to meanwhile;
 * it holds no lock of the library while it waits.
 */
#ifndef DOPPEL_STREAM_H
#define DOPPEL_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/library.h>
#include <doppel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the log as it grows ---- */

/** Who is given the entries of a log. */
struct doppel_log_follower {
    doppel_log_visitor *on_entry; /**< within a read of the library: it keeps what it wants */
    /** After each look at the log, also one that found nothing: nothing of the library is held, so
     * what takes time is done here. False: the end. NULL: none */
    bool (*on_look)(void *context, struct doppel_error *error);
    void *context;
};

struct doppel_log_follow_options {
    struct doppel_log_query query; /**< `limit` and `newest_first` are not looked at */
    bool follow;                   /**< wait for what will be logged; else end at the end */
    uint32_t poll_ms;              /**< between two looks, where nothing came; 0: 200 */
};

/**
 * Visit the entries of a log, oldest first, each once, up to 1000 between two calls of `on_look`;
 * and those that are committed later, by whichever process, until the run is cancelled.
 *
 * @param run     borrowed; asked whether to stop, ten times a second at least
 * @param library borrowed; of this thread
 * @return DOPPEL_OK at the end, when the run was cancelled, or when a callback ended it;
 *         DOPPEL_E_IO; DOPPEL_E_CORRUPT; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_log_follow(struct doppel_run *run,
                                                struct doppel_library *library,
                                                const struct doppel_log_follow_options *options,
                                                const struct doppel_log_follower *follower,
                                                struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
