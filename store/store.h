/**
 * doppel/store.h: durability. A thin, checked use of SQLite (WAL): opening with a schema and its
 * version, transactions, statements that are prepared once (what the tables mean, the library
 * says); and indexes (doppel/index.h) whose codes are kept, in segment files and a log.
 *
 * A store belongs to one thread at a time. Any number of processes may read while one writes.
 */
#ifndef DOPPEL_STORE_H
#define DOPPEL_STORE_H

#include <stdbool.h>

#include <doppel/core.h>
#include <doppel/index.h>

struct sqlite3;
struct sqlite3_stmt;

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_store;

struct doppel_store_options {
    uint32_t application_id; /**< distinguished from other people's databases by it (PRAGMA
                                application_id) */
    uint32_t schema_version; /**< PRAGMA user_version */
    const char *schema;      /**< SQL that makes all tables of this version; run on a new file */
    const char *const *upgrades; /**< SQL that makes of the oldest version that can be brought up
                                    the next one, and so on to this one: run when a writer opens
                                    such a one */
    uint32_t upgrade_count;      /**< 0: older ones are not opened */
    bool create;                 /**< make the file when it is not there */
    const char *drop_but; /**< with `create`: a file that this opening made is removed when it is
                             closed without a row in any table but these ("'a','b'"); NULL: it stays
                             */
    bool read_only;
    bool durable; /**< survive power loss (synchronous=FULL); else SIGKILL only (NORMAL) */
    uint32_t busy_timeout_ms; /**< how long to wait for another writer */
    uint32_t log_pages;       /**< of 4 KB, after which what was written ahead is put in its place,
                                 mostly by a thread, while up to twice as many more are written:
                                 more are written at once, and fewer of them twice; 0: after 4096,
                                 by the writer */
    uint32_t cache_kb;        /**< of pages that are kept in memory at most; 0: SQLite's 2 MB */
};

/**
 * For a program, before it opens a store: SQLite is not to count the memory that it has, which
 * takes a lock of all threads for each piece. It holds for the whole process.
 *
 * @return false: too late, SQLite is in use already. Not thread-safe. Source:
 * https://sqlite.org/c3ref/c_config_covering_index_scan.html, SQLITE_CONFIG_MEMSTATUS
 */
DOPPEL_API bool doppel_store_skip_memory_count(void);

/**
 * Open a database, or make it: in one transaction, whoever else does the same at that moment.
 *
 * A read-only one in a place where nothing can be written is read as it lies there, without locks.
 * Triggers and views that it may hold are not run.
 *
 * @param out given (doppel_store_close)
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND (no file, or a blank one); _CORRUPT (damaged, or no
 * database at all); _FORMAT (another program's database, or no regular file); _VERSION; _IO; _BUSY;
 * _MEMORY
 */
DOPPEL_API enum doppel_status doppel_store_open(const char *path,
                                                const struct doppel_store_options *options,
                                                struct doppel_store **out,
                                                struct doppel_error *error);
DOPPEL_API void doppel_store_close(struct doppel_store *store);

/** End what another thread runs in it now, with DOPPEL_E_CANCELLED. From any thread, while it is
 * open.
 */
DOPPEL_API void doppel_store_interrupt(struct doppel_store *store);

/** The path it was opened with; lives as long as the store. */
DOPPEL_API const char *doppel_store_path(const struct doppel_store *store);

/** Run statements, separated by semicolons, that give no rows and are run once. */
DOPPEL_API enum doppel_status doppel_store_execute(struct doppel_store *store, const char *sql,
                                                   struct doppel_error *error);

/** Begin a write transaction (BEGIN IMMEDIATE; DOPPEL_E_BUSY when another process has one for
 * longer than the timeout), end it, or take it back. A commit that fails takes back all. */
DOPPEL_API enum doppel_status doppel_store_begin(struct doppel_store *store,
                                                 struct doppel_error *error);
DOPPEL_API enum doppel_status doppel_store_commit(struct doppel_store *store,
                                                  struct doppel_error *error);
DOPPEL_API void doppel_store_rollback(struct doppel_store *store);

/** Read as of one moment, whatever is committed meanwhile; no statement takes a lock of its own.
 * Within a transaction: nothing. @return whether doppel_store_end_reading is to be called */
DOPPEL_API bool doppel_store_begin_reading(struct doppel_store *store);
DOPPEL_API void doppel_store_end_reading(struct doppel_store *store, bool begun);
/** While reading as of one moment: as of now from here on. */
DOPPEL_API void doppel_store_renew_reading(struct doppel_store *store);

/**
 * A number that is another one once another connection has committed something. Where nobody has
 * written since the last call, that is seen in memory, without a call of the system.
 *
 * @param out within a transaction that of its beginning
 */
DOPPEL_API enum doppel_status doppel_store_data_version(struct doppel_store *store, int64_t *out,
                                                        struct doppel_error *error);

/** Whether the file that is open does not lie at its path any more: it was removed, renamed or
 * replaced, and what is committed is not found there. */
DOPPEL_API bool doppel_store_is_moved(struct doppel_store *store);

/** Put all that was written ahead in its place, and empty the log; readers may keep it from that:
 * then a later one does it. */
DOPPEL_API void doppel_store_empty_log(struct doppel_store *store);

/**
 * A statement, prepared once per text and reset; bind it with sqlite3_bind_*, step it with
 * doppel_store_step.
 * @param sql a string that lives as long as the store (a literal)
 * @param out borrowed until the next doppel_store_statement with the same text
 */
DOPPEL_API enum doppel_status doppel_store_statement(struct doppel_store *store, const char *sql,
                                                     struct sqlite3_stmt **out,
                                                     struct doppel_error *error);

/**
 * What could not be read since the last call, for lack of memory or by a fault of the disk: for
 * those who leave out what cannot be had, and must not take a fault for an absence.
 * @return DOPPEL_OK; DOPPEL_E_MEMORY or DOPPEL_E_IO, the first of all
 */
DOPPEL_API enum doppel_status doppel_store_read_failure(struct doppel_store *store,
                                                        struct doppel_error *error);

/** Note such a failure that is not one of a statement; others are left alone. @return the status */
DOPPEL_API enum doppel_status doppel_store_note_failure(struct doppel_store *store,
                                                        enum doppel_status status);

/** Step; `*out_row` says whether there is a row to read with sqlite3_column_*. Resets the statement
 * at its end and on failure. */
DOPPEL_API enum doppel_status doppel_store_step(struct doppel_store *store,
                                                struct sqlite3_stmt *statement, bool *out_row,
                                                struct doppel_error *error);

/* ---- an index whose codes are kept ----
 *
 * What is inserted and removed goes into a log in the database, in one transaction with whatever
 * else the caller keeps there, and into the head of an index in memory. When the head is full it
 * becomes a segment file, and one transaction names the file and drops the part of the log that it
 * holds. An open reads the names and the log, both as of one moment.
 *
 * One process has an index open for writing (the lock is its folder's); any number read it, each as
 * of its open or last refresh. A shared one is written to by any number: what others have committed
 * is read at the first change of a transaction, and segments are made by a thread of whoever finds
 * that the log has become long, with the folder's lock. */

/** The tables that indexes need: to be put into the schema of a database that is to hold some. */
#define DOPPEL_STORE_INDEX_SCHEMA                                                                  \
    "CREATE TABLE doppel_index("                                                                   \
    " id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"                                          \
    " kind INTEGER NOT NULL, bits INTEGER NOT NULL, design_radius INTEGER NOT NULL,"               \
    " lanes INTEGER NOT NULL, bands INTEGER NOT NULL, band_lanes INTEGER NOT NULL,"                \
    " key_bits INTEGER NOT NULL, compact INTEGER NOT NULL, head_codes INTEGER NOT NULL,"           \
    " whole INTEGER NOT NULL, generation INTEGER NOT NULL, flushed INTEGER NOT NULL,"              \
    " next_payload INTEGER NOT NULL, build_ms INTEGER NOT NULL,"                                   \
    " checksum INTEGER NOT NULL"                                                                   \
    ") STRICT;"                                                                                    \
    "CREATE TABLE doppel_index_segment("                                                           \
    " owner INTEGER NOT NULL REFERENCES doppel_index, position INTEGER NOT NULL,"                  \
    " name TEXT NOT NULL, codes INTEGER NOT NULL,"                                                 \
    " least INTEGER NOT NULL, most INTEGER NOT NULL, stamp INTEGER NOT NULL,"                      \
    " PRIMARY KEY(owner, position)"                                                                \
    ") STRICT, WITHOUT ROWID;"                                                                     \
    "CREATE TABLE doppel_index_log(record INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;"

struct doppel_store_index;

/** Insert all codes again, in as many transactions as it likes, into an index that was emptied. */
typedef enum doppel_status doppel_store_index_rebuilder(void *context,
                                                        struct doppel_store_index *index,
                                                        struct doppel_error *error);

/**
 * The postings of an item that was inserted, as the database now has it. An index with a source
 * keeps no postings in its log: an open asks for those of the items that no segment holds yet.
 * @param out       its length and count are to be set
 * @param out_postings given (free)
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND, DOPPEL_E_CORRUPT: the item is gone or damaged, and has
 * none; other failures are those of the open
 */
typedef enum doppel_status doppel_store_index_source(void *context, uint64_t payload,
                                                     struct doppel_index_item *out,
                                                     struct doppel_index_posting **out_postings,
                                                     struct doppel_error *error);

struct doppel_store_index_options {
    const char *name; /**< of the index among those of the database */
    const char
        *folder; /**< of its segment files and of no other index's; made when it is missing */
    const struct doppel_index_options *make; /**< make it, when it is not there, like this; NULL: it
                                                must be there */
    bool merge;  /**< a thread merges segments while the caller goes on */
    bool shared; /**< changes go into the log alone, and any number of processes may write so, each
                    in its transactions; what this one has changed is found after a refresh */
    bool immediate;  /**< of a shared one: what this process has changed is found at once, within
                        the transaction too; dearer where much is inserted that nobody looks for */
    bool disposable; /**< it can be made again: its files need not survive power loss, unless all
                        that the store keeps does */
    bool at_once;    /**< do not wait for the folder's lock: DOPPEL_E_BUSY */
    bool unsearched; /**< it is opened to be flushed, not to be searched */
    bool salvage;    /**< open what can be opened of a damaged one; see _verify and _repair */
    doppel_store_index_rebuilder *rebuild; /**< for a writer: called when it is damaged, or was not
                                              rebuilt to its end; NULL: such a one is not opened */
    void *rebuild_context;
    doppel_store_index_source *source; /**< where the postings of items can be had again; NULL: the
                                          log keeps them */
    void *source_context;
};

/**
 * Open an index of a database, to write when the store is not read-only.
 *
 * @param out given (doppel_store_index_close, before the store is closed)
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND; _BUSY (another process has it open to write, or rebuilds
 * it); _CORRUPT (the database, or a segment file, which is named); _VERSION; _IO; _MEMORY
 */
DOPPEL_API enum doppel_status doppel_store_index_open(
    struct doppel_store *store, const struct doppel_store_index_options *options,
    struct doppel_store_index **out, struct doppel_error *error);

/**
 * Make an index, in place of the one that may be there, of codes that are all there already:
 * straight into a segment. Within the transaction of the caller it becomes true with that, else in
 * one of its own: nobody can change meanwhile what the codes are read from.
 * @param options `name`, `folder` and `make` count
 * @return DOPPEL_OK; DOPPEL_E_BUSY (another process makes segments of it); _IO; _MEMORY
 */
DOPPEL_API enum doppel_status doppel_store_index_build(
    struct doppel_store *store, const struct doppel_store_index_options *options,
    const struct doppel_index_load *load, struct doppel_error *error);

/** Forget an index that nobody opens any more, by its name, within the transaction of the caller or
 * in one of its own; what is not there is fine. Its folder is removed by the next one. */
DOPPEL_API enum doppel_status doppel_store_index_forget(struct doppel_store *store,
                                                        const char *name,
                                                        struct doppel_error *error);

/** Remove the segments of an index that was forgotten, and their folder unless something else lies
 * there. */
DOPPEL_API void doppel_store_index_remove_folder(const char *folder);

/** Waits for a merge that is in progress. */
DOPPEL_API void doppel_store_index_close(struct doppel_store_index *index);

/** The index to search in; never to be changed directly. Borrowed, until a rollback, a refresh or a
 * rebuild puts another in its place: no other thread may search during these. NULL when it could
 * not be read again after a rollback. */
DOPPEL_API struct doppel_index *doppel_store_index_get(struct doppel_store_index *index);

/**
 * As those of doppel/index.h. Within a transaction of the store they are part of it (after a
 * failure it can only be rolled back); else each is one of its own. Searches of this process find
 * the codes at once, those of others after the commit.
 */
DOPPEL_API enum doppel_status doppel_store_index_insert(struct doppel_store_index *index,
                                                        const uint64_t *codes,
                                                        const uint64_t *payloads, size_t count,
                                                        struct doppel_error *error);
DOPPEL_API enum doppel_status doppel_store_index_insert_item(struct doppel_store_index *index,
                                                             const struct doppel_index_item *item,
                                                             struct doppel_error *error);
DOPPEL_API enum doppel_status doppel_store_index_remove(struct doppel_store_index *index,
                                                        const uint64_t *payloads, size_t count,
                                                        struct doppel_error *error);

/** Many codes straight into a segment file, in bounded memory: all are there, or none. Not within a
 * transaction; neither are the next two. */
DOPPEL_API enum doppel_status doppel_store_index_bulk(struct doppel_store_index *index,
                                                      const struct doppel_index_load *load,
                                                      struct doppel_error *error);

/** The head becomes a segment now; a commit does it when the head is full. */
DOPPEL_API enum doppel_status doppel_store_index_flush(struct doppel_store_index *index,
                                                       struct doppel_error *error);

/** Merge segments of like sizes, or all into one. */
DOPPEL_API enum doppel_status doppel_store_index_compact(struct doppel_store_index *index, bool all,
                                                         struct doppel_error *error);

/** For a reader: see what was committed since. @param out_changed may be NULL */
DOPPEL_API enum doppel_status doppel_store_index_refresh(struct doppel_store_index *index,
                                                         bool *out_changed,
                                                         struct doppel_error *error);

struct doppel_store_index_info {
    struct doppel_index_options options; /**< as it was made */
    uint64_t log_codes;                  /**< codes that no segment holds yet */
    uint64_t next_payload;               /**< one more than the largest payload ever inserted */
    double build_seconds;                /**< spent in bulk loads */
    uint64_t damaged;           /**< records of the log that could not be read (with salvage) */
    struct doppel_error upkeep; /**< why the last flush or merge failed that ran by itself, or OK:
                                   nothing is lost, it is tried again */
};

DOPPEL_API void doppel_store_index_info(struct doppel_store_index *index,
                                        struct doppel_store_index_info *out);

/** Whether files lie in its folder that are segments no more, since it was made again: who merges
 * it removes them. */
DOPPEL_API bool doppel_store_index_has_leftovers(const struct doppel_store_index *index);

/** A segment as it was found. */
struct doppel_store_segment {
    const char *name;
    uint64_t codes, least, most;      /**< that went into it, and between which payloads they lie */
    const struct doppel_error *error; /**< what is wrong with it; NULL: nothing */
};

typedef bool doppel_store_segment_visitor(void *context,
                                          const struct doppel_store_segment *segment);

/** Check every byte of every segment. @return DOPPEL_OK, also when some are damaged;
 * DOPPEL_E_CANCELLED when the visitor returned false */
DOPPEL_API enum doppel_status doppel_store_index_verify(struct doppel_store_index *index,
                                                        doppel_store_segment_visitor *visitor,
                                                        void *context, struct doppel_error *error);

/** Go on without the damaged segments, whose files get the ending .damaged, and without damaged
 * records of the log. Those dropped are visited. */
DOPPEL_API enum doppel_status doppel_store_index_repair(struct doppel_store_index *index,
                                                        doppel_store_segment_visitor *visitor,
                                                        void *context, struct doppel_error *error);

/** Empty it and call the rebuilder; an open does so by itself where damage shows at once. */
DOPPEL_API enum doppel_status doppel_store_index_rebuild(struct doppel_store_index *index,
                                                         struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
