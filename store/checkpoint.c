/* Puts what was written ahead in its place: in a thread of its own, through a connection of its
 * own, so that the writer does not wait for the disk; the last pages, few, in the writer's. Only
 * then the log starts again. */
#include "store/checkpoint.h"

#include <pthread.h>
#include <stdlib.h>

/* What is left to the writer: a share of the limit, or what there is when the log has so many times
 * the limit. */
enum { SHARES_LEFT = 2, MOST_LIMITS = 3 };

struct checkpointer {
    sqlite3 *database; /* the thread's */
    int limit;         /* pages of the log */
    bool started, failed;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    bool wanted, closing;
    int done; /* pages of the log that are in their place */
};

/* ---- the thread ---- */

/* SQLite syncs the file only after the log's last page, which the writer puts there: then there is
 * little left to sync. @return pages of the log that are in their place */
static int put_log_in_place(struct checkpointer *self)
{
    int done = 0;
    sqlite3_file *file = NULL;
    if (sqlite3_wal_checkpoint_v2(self->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, &done))
        return 0; /* somebody else does it, or the writer will meet the same failure */
    sqlite3_file_control(self->database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (file && file->pMethods)
        (void)file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    return done;
}

static void *run_checkpoints(void *context)
{
    struct checkpointer *self = context;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        while (!self->wanted && !self->closing)
            pthread_cond_wait(&self->changed, &self->lock);
        if (self->closing)
            break;
        pthread_mutex_unlock(&self->lock);
        int done = put_log_in_place(self);
        pthread_mutex_lock(&self->lock);
        self->done = done;
        self->wanted = false;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* At the first log that is full. A connection that has read nothing yet does not know of the log.
 */
static bool start(struct checkpointer *self, sqlite3 *writers)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (self->started || self->failed)
        return self->started;
    self->started =
        sqlite3_open_v2(sqlite3_db_filename(writers, "main"), &self->database, flags, NULL) ==
            SQLITE_OK &&
        sqlite3_exec(self->database, "PRAGMA schema_version", NULL, NULL, NULL) == SQLITE_OK &&
        pthread_create(&self->thread, NULL, run_checkpoints, self) == 0;
    self->failed = !self->started;
    return self->started;
}

/* ---- the writer ---- */

/* @return whether the writer is to do it */
static bool hand_on(struct checkpointer *self, sqlite3 *writers, int pages)
{
    bool own = false, full = pages >= MOST_LIMITS * self->limit;
    pthread_mutex_lock(&self->lock);
    while (self->wanted && full)
        pthread_cond_wait(&self->changed, &self->lock);
    if (!self->wanted && pages < self->limit)
        self->done = 0; /* the log may have started again */
    else if (!self->wanted) {
        own = full || pages - self->done < self->limit / SHARES_LEFT || !start(self, writers);
        self->wanted = !own;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return own;
}

static int after_commit(void *context, sqlite3 *writers, const char *name, int pages)
{
    struct checkpointer *self = context;
    if (hand_on(self, writers, pages))
        sqlite3_wal_checkpoint_v2(writers, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

/* ---- from outside ---- */

struct checkpointer *checkpointer_new(sqlite3 *database, int limit)
{
    struct checkpointer *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->limit = limit;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    sqlite3_wal_hook(database, after_commit, self);
    return self;
}

void checkpointer_wait(struct checkpointer *self)
{
    if (!self)
        return;
    pthread_mutex_lock(&self->lock);
    while (self->wanted)
        pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

void checkpointer_free(struct checkpointer *self)
{
    if (!self)
        return;
    pthread_mutex_lock(&self->lock);
    self->closing = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    if (self->started)
        pthread_join(self->thread, NULL);
    sqlite3_close(self->database);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}
