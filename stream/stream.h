/**
 * doppel/stream.h: decisions on their way to other systems. Uses core, library and decide.
 *
 * These calls run until they are cancelled, or have reached the end, while other processes may
 * write to the library. They hold no lock of the library while they wait.
 */
#ifndef DOPPEL_STREAM_H
#define DOPPEL_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/decide.h>
#include <doppel/library.h>
#include <doppel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- following the log ---- */

/** Callbacks that receive the entries of a log. */
struct doppel_log_follower {
    doppel_log_visitor *on_entry; /**< called within a read of the library: copy what is wanted */
    /** Called after each look at the log, also one that found nothing. Nothing of the library is
     * held then, so slow work belongs here. False ends the call; a status in `error` becomes the
     * call's. NULL: none */
    bool (*on_look)(void *context, struct doppel_error *error);
    void *context;
};

struct doppel_log_follow_options {
    struct doppel_log_query query; /**< `limit` and `newest_first` are ignored */
    bool follow;                   /**< wait for new entries; else return at the end of the log */
    uint32_t poll_ms;              /**< between two looks at the log; 0: 200 */
};

/**
 * Visit the entries of a log, oldest first, each once, up to 1000 between two calls of `on_look`;
 * with `follow` also those that any process commits later, until the run is cancelled.
 *
 * @param run     borrowed; while waiting, it is checked for cancellation every 100 ms
 * @param library borrowed; of this thread
 * @return DOPPEL_OK at the end, when the run was cancelled, or when a callback ended it;
 *         DOPPEL_E_IO: also when the library was moved, removed or replaced; DOPPEL_E_CORRUPT;
 *         DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_log_follow(struct doppel_run *run,
                                                struct doppel_library *library,
                                                const struct doppel_log_follow_options *options,
                                                const struct doppel_log_follower *follower,
                                                struct doppel_error *error);

/* ---- decisions about the messages of a Redis stream ---- */

struct doppel_stream_options {
    const char *url; /**< redis://[USER@]HOST[:PORT]/KEY[?db=N], or rediss:// for TLS; a password
                        in it is refused */
    const char *password; /**< NULL: none */
    const char *ca_file;  /**< of rediss://: who signs for the server, in PEM; NULL: whom the system
                             trusts */
    const char *group, *consumer; /**< each process needs a consumer name of its own */
    const char
        *to; /**< the key of the stream for decisions, neither KEY nor KEY:dead; NULL: none */
    uint32_t tries; /**< a message that was read so often without an answer goes to the stream
                       KEY:dead; 0: 3 */
    uint32_t claim_after_ms; /**< messages that another consumer has held for longer are taken over;
                                0: a minute */
    uint32_t batch;          /**< messages that are read at once, at most 4096; 0: 1000 */
    bool drain;              /**< end when no message waits; else when the run is cancelled */

    const struct doppel_decide_options *decide; /**< what the decider was made with */
    /** Called with each decision once it is committed, before its message is acknowledged; false
     * ends the call. `last`: the last one of a batch. NULL: not wanted */
    bool (*on_decided)(void *context, const struct doppel_decided *decided, bool last);
    void *context;
};

struct doppel_stream_counts {
    uint64_t decided;      /**< messages, of which: */
    uint64_t replayed;     /**< texts that were in the library with their ids already */
    uint64_t quarantined;  /**< moved to KEY:dead: not a record, or tried too often; not in
                              `decided`. The run gets a notice of how many, and where */
    uint64_t lag, pending; /**< of the group, at most a second old: messages that no consumer has
                              read; those that were read and not acknowledged */
    uint64_t retries;      /**< attempts to connect again */
};

/**
 * Decide about the messages of a consumer group. A group that is missing is created, and begins
 * with the first message of the stream. A message has a field `json`, a record; or its fields are
 * those of a record: `text`, `path` (of a file below the folders of decide->fields), or `code` and
 * `scheme`.
 *
 * Once a decision is committed, it is written to `to` and its message is acknowledged, in one step:
 * each message has one decision there, whoever is killed, as long as Redis loses nothing. A text or
 * code without an id gets the id KEY/ID, of its stream and message, so that it is the same when the
 * message is delivered again. A message whose reader died is tried again in a small group, then
 * alone, then quarantined.
 *
 * @param run        borrowed; when it is cancelled, the call ends, and gives back the messages that
 *                   it has not decided about; its progress counts messages, its total those that
 *                   wait, too
 * @param decider    borrowed, of this thread; one for pushed inputs
 * @param options    borrowed for the call
 * @param out_counts NULL: not wanted. Set also when it fails
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: the address, the options, or Redis refuses; others as
 *         doppel_decider_pull; DOPPEL_E_UNSUPPORTED: built without hiredis, or no
 *         GnuTLS for rediss://; DOPPEL_E_MEMORY. If the server is away, the call waits for it
 */
DOPPEL_API enum doppel_status doppel_stream_ingest(struct doppel_run *run,
                                                   struct doppel_decider *decider,
                                                   const struct doppel_stream_options *options,
                                                   struct doppel_stream_counts *out_counts,
                                                   struct doppel_error *error);

/* ---- the log in PostgreSQL ---- */

struct doppel_log_sink_options {
    /** postgresql://USER@HOST/DATABASE, as libpq takes it. A password in it is refused: libpq finds
     * one in ~/.pgpass, or by its environment variables (PGPASSFILE, …). */
    const char *url;
    const char *name;     /**< of the library in the table, UTF-8; unique among its writers */
    bool follow;          /**< go on with new entries, until the run is cancelled */
    uint32_t patience_ms; /**< how long to wait for a server that is away; 0: for ever */
    uint32_t poll_ms;     /**< as of doppel_log_follow */
};

struct doppel_log_sink_counts {
    uint64_t written; /**< entries, by this call */
    uint64_t last;    /**< the number of the last of them; 0: there was none */
    uint64_t retries; /**< attempts to connect again */
};

/**
 * Copy the log into the table `decisions` of a database, a row an entry, each exactly once. A table
 * that is missing is created (docs/guide/streams.md has its columns).
 *
 * The call begins after the last entry that is there, and writes up to 1000 in one transaction.
 * When the connection was lost, it looks up how far it came. Two processes that write the log of
 * one library take turns. libpq is loaded by the first call. A damaged entry is left out, and
 * reported as a failed input of the run.
 *
 * @param run        borrowed; gets a notice when the server is away; when it is cancelled, the call
 *                   ends
 * @param library    borrowed; of this thread
 * @param options    borrowed for the call
 * @param out_counts NULL: not wanted. Set also when it fails
 * @return DOPPEL_OK at the end of the log, or when the run was cancelled; DOPPEL_E_ARGUMENT: the
 *         address, or the server refuses it, or the name is another library's; DOPPEL_E_BUSY: away
 *         for longer than `patience_ms`; DOPPEL_E_IO: the server refuses a statement, or the
 *         library cannot be read; DOPPEL_E_UNSUPPORTED: there is no libpq; DOPPEL_E_CORRUPT;
 *         DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_log_sink(struct doppel_run *run,
                                              struct doppel_library *library,
                                              const struct doppel_log_sink_options *options,
                                              struct doppel_log_sink_counts *out_counts,
                                              struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
