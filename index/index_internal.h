/*
 * What the files of the room share: an index, and its state at a moment. A state never changes:
 * a flush, a load or a merge puts another in its place, and who still reads the old one holds a
 * reference.
 */
#ifndef DOPPEL_INDEX_INDEX_INTERNAL_H
#define DOPPEL_INDEX_INDEX_INTERNAL_H

#include <pthread.h>

#include "index/head.h"
#include "index/table.h"

/* A live segment. */
struct part {
    _Atomic uint64_t references;
    struct table *table;
    char *name; /* of its file; NULL: in memory */
};

struct state {
    _Atomic uint64_t references;
    struct head *head;
    size_t count;
    struct part *parts[]; /* oldest first */
};

struct searcher;

/* What changes while an index is only read, and so lies beside it. */
struct index_shared {
    pthread_rwlock_t lock;      /* of the state and the head */
    pthread_mutex_t changing;   /* held while a new state is published and put in place */
    pthread_mutex_t compacting; /* held by who compacts */
    pthread_mutex_t pool_lock;
    struct searcher *pool; /* memory of searches that are over */
};

struct doppel_index {
    struct doppel_index_options options;
    size_t words;
    char *folder; /* NULL: in memory */
    bool durable, read_only;
    enum doppel_status (*publish)(void *context, const char *const *names, size_t count,
                                  struct doppel_error *error);
    void *publish_context;
    struct state *state;
    struct index_shared *shared;
};

/* ---- state.c ---- */

/** @param name taken. @param table taken. @return NULL without memory: both are freed then */
struct part *part_new(struct table *table, char *name);
void part_release(struct part *part);

/** A state of these parts; it holds references of its own. @return NULL without memory */
struct state *state_new(struct head *head, struct part *const *parts, size_t count);
void state_release(struct state *state);

/** The payloads that a segment brought with it, ascending. */
const uint64_t *part_removed(const struct part *part, size_t *out_count);

/** Whether a payload's codes in part number `at` were removed by a newer segment below `end`. */
bool state_removes(const struct state *state, size_t at, size_t end, uint64_t payload);

/** Whether any were. */
bool state_removes_any(const struct state *state, size_t at, size_t end);

/** The state and the head as they are now. */
struct snapshot {
    struct state *state;
    struct head_view head;
};
struct snapshot snapshot_take(const struct doppel_index *index);
void snapshot_release(struct snapshot *snapshot);

/** Whether a payload's codes in part number `at` are removed; looks at the head under the lock. */
bool snapshot_removes(const struct doppel_index *index, const struct snapshot *snapshot, size_t at,
                      uint64_t payload);

/* ---- change.c ---- */

/** A name for a new segment. */
enum { PART_NAME_BYTES = 32 };

/** Build a table and make a part of it. With files, it is one of them, not yet published:
 * part_discard removes it. */
enum doppel_status part_build(const struct doppel_index *index, const struct table_source *source,
                              const uint64_t *removed, size_t removed_count, struct part **out,
                              struct doppel_error *error);
void part_discard(const struct doppel_index *index, struct part *part);

/* How the parts of an index change. */
struct change {
    struct part *const *old; /* parts that go, neighbours */
    size_t old_count;
    struct part *fresh; /* what comes in their place, or at the end; NULL: nothing */
    bool flushed;       /* the head is emptied */
};

/** Publish and make a change. When that fails, the index is as it was. */
enum doppel_status change_make(struct doppel_index *index, const struct change *change,
                               struct doppel_error *error);

/* ---- search.c ---- */

void searchers_free(struct searcher *pool);

#endif
