/* An index kept in a database, from the inside: shared by the files index_*.c of this room. */
#ifndef DOPPEL_STORE_INDEX_INTERNAL_H
#define DOPPEL_STORE_INDEX_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "store/handle.h"

/* How the index names its files; while one is made it ends in .new beside that. */
#define SEGMENT_ENDING ".segment"

/* ---- rows ---- */

/** A row of doppel_index_segment. */
struct segment_row {
    char *name;
    uint64_t codes, least, most;
    uint64_t stamp; /* of the file: segment_folder_stamp */
};

struct segment_rows {
    struct segment_row *items;
    size_t count, capacity;
};

/** The row of doppel_index, and those of its segments. */
struct manifest {
    int64_t id;
    struct doppel_index_options options;
    bool whole; /* false while it is rebuilt */
    int64_t generation, flushed;
    uint64_t next_payload, build_ms;
    uint64_t checksum; /* of all the rest, as read */
    struct segment_rows segments;
};

void manifest_free(struct manifest *manifest);
/** @return also DOPPEL_E_CORRUPT: the checksum is wrong, or a number that none can have */
enum doppel_status manifest_read(struct doppel_store *store, const char *name, struct manifest *out,
                                 struct doppel_error *error);
enum doppel_status manifest_make(struct doppel_store *store, const char *name,
                                 const struct doppel_index_options *options,
                                 struct doppel_error *error);
/** Write all but name and options, and the checksum. */
enum doppel_status manifest_write(struct doppel_store *store, const char *name,
                                  const struct manifest *manifest, struct doppel_error *error);
/** Forget a damaged one, its segments, its log and what belongs to no index. */
enum doppel_status manifest_drop(struct doppel_store *store, const char *name,
                                 struct doppel_error *error);

/* ---- records of the log ---- */

enum record_kind { RECORD_INSERT = 1, RECORD_REMOVE = 2, RECORD_ITEM = 3, RECORD_NAMED = 4 };

struct record {
    enum record_kind kind;
    uint32_t code_bytes;                         /* insert: bytes a code */
    uint32_t count;                              /* codes, payloads or postings */
    const uint64_t *codes;                       /* insert: count × words */
    const uint64_t *payloads;                    /* insert, remove, named: count; item: one */
    uint32_t length;                             /* item */
    const struct doppel_index_posting *postings; /* item: count */
};

/** Memory that records are coded in, used again and again. */
struct record_buffer {
    uint8_t *bytes;
    size_t capacity;
    uint64_t *words; /* of a decoded one */
    size_t word_capacity;
};

void record_buffer_free(struct record_buffer *buffer);
/** 64-bit words a code of this many bytes takes in memory. */
size_t words_of_code(uint32_t code_bytes);
/** Of a code in a record. */
uint32_t bytes_of_code(const struct doppel_index_options *options);
/** @return false without memory. The bytes are the buffer's. */
bool record_encode(const struct record *record, struct record_buffer *buffer, size_t *out_size);
/** The arrays are the buffer's. DOPPEL_OK, DOPPEL_E_CORRUPT, DOPPEL_E_MEMORY. */
enum doppel_status record_decode(const uint8_t *data, size_t size, struct record_buffer *buffer,
                                 struct record *out);

/* ---- an open index ---- */

/** What the segment that is being made holds, of which the manifest keeps account. */
struct publication {
    bool flush;     /* the log goes into it */
    bool cut_short; /* a bulk load ended too early: nothing is to become of it */
    uint64_t codes, least, most;
    double begun; /* of a bulk load; 0 otherwise */
};

struct merger {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool started, wanted, busy, closing;
    struct doppel_store *store; /* its own connection */
    struct doppel_error error;
};

/** Codes that a transaction has inserted: one record of the log, however many calls. */
struct unlogged {
    ARRAY(uint64_t) codes, payloads;
};

struct doppel_store_index {
    struct doppel_store *store;
    struct doppel_store_index *next; /* of the same store */
    char *name, *folder;
    int lock_fd; /* -1: a reader, or shared */
    bool salvage, shared, immediate, disposable, unsearched;
    struct doppel_index_options make; /* as it is to be made; table 0: not known */
    doppel_store_index_rebuilder *rebuild;
    void *rebuild_context;
    doppel_store_index_source *source; /* NULL: the log has the postings of items */
    void *source_context;

    struct doppel_index *index;
    struct manifest manifest;   /* as of the last read; the generation and segments may be newer */
    struct doppel_error broken; /* why there is no index */
    uint64_t damaged;
    int64_t gone_at; /* the generation at which a reader missed a segment; -1 */

    int64_t last_record; /* number of the last one that is in the head */
    int64_t appended; /* shared: number of the last one in the log; the head gets them when asked */
    struct unlogged unlogged; /* shared: what is not even in the log yet */
    uint64_t log_codes;       /* in the head: codes, and payloads removed */
    struct publication log;   /* account of the log's codes */
    uint64_t flush_at;        /* log_codes at which a commit flushes */
    bool dirty;               /* changes that are not committed */
    bool failed;              /* one of them failed: they can only be taken back */
    bool flushing;            /* a commit within the hook of a commit */
    int64_t data_version;     /* reader: PRAGMA data_version at the last look */

    const struct publication *publication; /* of the flush or bulk load in progress */
    struct record_buffer buffer;
    struct doppel_error upkeep;
    struct merger merger;
};

/* index_load.c */
bool index_is_writer(const struct doppel_store_index *self);
/** Whether it may be changed within transactions. */
bool index_takes_changes(const struct doppel_store_index *self);
/** A number that is another one when somebody else has committed. */
/** Whether a segment that gave this is damaged; the others say that it could not be read now. */
bool index_is_damage(enum doppel_status status);
/** @param error not NULL */
enum doppel_status index_load(struct doppel_store_index *self, struct doppel_error *error);
void index_unload(struct doppel_store_index *self);
/** Whether a segment's file is the one that was put there. */
enum doppel_status index_check_stamp(const struct doppel_store_index *self,
                                     const struct segment_row *row, struct doppel_error *error);
enum doppel_status index_check(const struct doppel_store_index *self, struct doppel_error *error);
void index_seen(struct publication *account, const uint64_t *payloads, size_t count);

/* index_write.c */
/** Shared: append to the log what is not in it yet. */
enum doppel_status index_log_rest(struct doppel_store_index *self, struct doppel_error *error);

/* index_log.c */
enum doppel_status index_log_append(struct doppel_store_index *self, const struct record *record,
                                    struct doppel_error *error);
enum doppel_status index_log_drop(struct doppel_store *store, int64_t owner, int64_t last,
                                  struct doppel_error *error);
/** Put records after the last one into the index; those that this process has appended are counted
 * already. */
enum doppel_status index_log_replay(struct doppel_store_index *self, struct doppel_error *error);
/** Whether the log's pages are in order, and each record is some index's: a record that is lost at
 * its end shows in these alone. */
enum doppel_status index_log_check(struct doppel_store_index *self, struct doppel_error *error);
/** Drop records that cannot be read, and close the gaps. */
enum doppel_status index_log_drop_damaged(struct doppel_store_index *self,
                                          struct doppel_error *error);

/* index_folder.c */
enum doppel_status segment_folder_make(const char *path, bool durable, struct doppel_error *error);
enum doppel_status segment_folder_lock(const char *path, uint32_t timeout_ms, int *out_fd,
                                       struct doppel_error *error);
/** Whether there are segment files that no manifest names. */
bool segment_folder_has_orphans(const char *path, const struct segment_rows *live);
/** Remove them. */
void segment_folder_sweep(const char *path, const struct segment_rows *live);
void segment_folder_set_aside(const char *folder, const char *name);
/** The checksum of its first page, which holds those of all others: by it another file under the
 * same name is noticed. @return DOPPEL_OK; DOPPEL_E_NOT_FOUND; _IO; _MEMORY */
enum doppel_status segment_folder_stamp(const char *folder, const char *name, uint64_t *out,
                                        struct doppel_error *error);

/* index_publish.c */
enum doppel_status index_publish(void *context, const char *const *names, size_t count,
                                 struct doppel_error *error);

/* index_keep.c */
/** Make a segment of the log of a shared index, and merge segments of like sizes, or all, through a
 * connection of the caller's, outside of a transaction. Where another process is at it: nothing,
 * but that `all` waits for it. */
enum doppel_status index_keep(struct doppel_store_index *self, struct doppel_store *store, bool all,
                              struct doppel_error *error);

/* index_merge.c */
enum doppel_status merger_start(struct doppel_store_index *self, struct doppel_error *error);
void merger_stop(struct doppel_store_index *self);
void merger_wake(struct doppel_store_index *self);
/** Why the last merge failed, or OK. */
void merger_error(struct doppel_store_index *self, struct doppel_error *out);
/** Wait until no merge is in progress. */
void merger_pause(struct doppel_store_index *self);

/* Called by store.c: index_write.c */
void indexes_committed(struct doppel_store *store);
void indexes_rolled_back(struct doppel_store *store);
enum doppel_status indexes_may_commit(struct doppel_store *store, struct doppel_error *error);

#endif
