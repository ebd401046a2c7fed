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
#include <doppel/decide.h>
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

/* ---- decisions about the messages of a Redis stream ---- */

struct doppel_stream_options {
    const char *url;      /**< redis://[USER@]HOST[:PORT]/KEY[?db=N]; a password in it is refused */
    const char *password; /**< NULL: none */
    const char *group, *consumer; /**< no two processes have the same consumer */
    const char *to;               /**< the key of the stream that decisions go to; NULL: to none */
    uint32_t tries; /**< a message that was read so often, and never answered, goes to the stream
                       KEY:dead; 0: 3 */
    uint32_t claim_after_ms; /**< a message that another consumer holds for longer is taken from it;
                                0: a minute */
    uint32_t batch;          /**< messages that are read at once, at most 4096; 0: 1000 */
    bool drain;              /**< end when no message waits; else when the run is cancelled */

    const struct doppel_decide_options *decide; /**< what the decider was made with */
    /** Called with each decision once it is kept, before its message is acknowledged; false ends
     * the call. `last`: of those that were decided together. NULL: nobody is */
    bool (*on_decided)(void *context, const struct doppel_decided *decided, bool last);
    void *context;
};

struct doppel_stream_counts {
    uint64_t decided;      /**< messages, of which: */
    uint64_t replayed;     /**< texts that were in the library with their ids: read again */
    uint64_t quarantined;  /**< to KEY:dead: no records, or tried too often */
    uint64_t lag, pending; /**< of the group, a second ago at most: not read by anyone yet; read,
                              and not answered */
    uint64_t retries;      /**< how often Redis was away */
};

/**
 * Decide about the messages of a consumer group, which is made where it is missing, to begin with
 * the first message. A message has a field `json`, a record; or its fields are those of a record:
 * `text`, `path` (of a file below the folders of decide->fields), or `code` and `scheme`.
 *
 * A message is acknowledged once its decision is committed, in one step with writing that to `to`:
 * each has one decision there, whoever is killed, as long as Redis loses nothing. A text or code
 * without an id is called KEY/ID by its message's, so that it is the same in another try. What
 * kills its reader is tried in small groups, then alone, then quarantined.
 *
 * @param run        borrowed; the call ends when it is cancelled, and gives back what it has not
 *                   looked at; its progress is of messages, of which so many wait
 * @param decider    borrowed, of this thread; of pushed inputs
 * @param options    borrowed for the call
 * @param out_counts NULL: not wanted. Set also when it fails
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: the address, the options, or Redis refuses; others as
 *         doppel_decider_pull; DOPPEL_E_UNSUPPORTED: TLS, or there is no hiredis; DOPPEL_E_MEMORY.
 *         A server that is away is waited for
 */
DOPPEL_API enum doppel_status doppel_stream_ingest(struct doppel_run *run,
                                                   struct doppel_decider *decider,
                                                   const struct doppel_stream_options *options,
                                                   struct doppel_stream_counts *out_counts,
                                                   struct doppel_error *error);

/* ---- the log, kept in PostgreSQL ---- */

struct doppel_log_sink_options {
    /** postgresql://USER@HOST/DATABASE, as libpq takes it. A password in it is refused: libpq finds
     * it in ~/.pgpass, or where its variables of the environment (PGPASSFILE, …) say. */
    const char *url;
    const char *name;     /**< of the library there, UTF-8: no other that writes there has it */
    bool follow;          /**< go on with what will be logged, until the run is cancelled */
    uint32_t patience_ms; /**< how long a server that is away is waited for; 0: for ever */
    uint32_t poll_ms;     /**< as of doppel_log_follow */
};

struct doppel_log_sink_counts {
    uint64_t written; /**< entries, by this call */
    uint64_t last;    /**< the number of the last of them; 0: there was none */
    uint64_t retries; /**< how often the server was away, or could not */
};

/**
 * Write the log into the table `decisions` of a database, which is made where it is missing
 * (docs/formats.md has its columns): a row an entry, all of it, each exactly once.
 *
 * It begins behind the last entry that is there, and writes up to 1000 in one transaction; when the
 * connection is lost, it asks again how far it came. Two that write of one library take turns.
 * libpq is loaded by the first call. A damaged entry is a failure of the run, and left out.
 *
 * @param run        borrowed; is notified when the server is away; cancelled, the call ends
 * @param library    borrowed; of this thread
 * @param options    borrowed for the call
 * @param out_counts NULL: not wanted. Set also when it fails
 * @return DOPPEL_OK at the end of the log, or when the run was cancelled; DOPPEL_E_ARGUMENT: the
 *         address, or the server refuses it, or the name is another library's; DOPPEL_E_BUSY: away
 *         for longer than `patience_ms`; DOPPEL_E_IO: the server refuses a statement, or the
 * library cannot be read; DOPPEL_E_UNSUPPORTED: there is no libpq; DOPPEL_E_CORRUPT; _MEMORY
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
