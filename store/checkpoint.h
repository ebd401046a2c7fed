/* A thread that puts what was written ahead in its place. */
#ifndef DOPPEL_STORE_CHECKPOINT_H
#define DOPPEL_STORE_CHECKPOINT_H

#include <sqlite3.h>
#include <stdbool.h>

struct checkpointer;

/** From now on the log of a writer's database is put in its place when it has `limit` pages, rather
 * than by SQLite itself. NULL without memory. */
struct checkpointer *checkpointer_new(sqlite3 *database, int limit);

/** Wait until the thread is done with what it is doing. NULL: nothing. */
void checkpointer_wait(struct checkpointer *checkpointer);

/** Before its database is closed. */
void checkpointer_free(struct checkpointer *checkpointer);

#endif
