/* What a run keeps from one call to the next: workers that are ready and an open cache cost more to
 * start than to use once. Each belongs to one call at a time. */
#ifndef DOPPEL_CORE_RUN_KEPT_H
#define DOPPEL_CORE_RUN_KEPT_H

#include <doppel/run.h>

enum run_kept { RUN_POOL, RUN_CACHE, RUN_KEPT };

/** @return one that no call uses, now the caller's, or NULL. Thread-safe. */
void *run_take_kept(const struct doppel_run *run, enum run_kept what);

/** Keep one for a later call. Thread-safe.
 * @param thing taken
 * @param end   how it ends: with the run, or now where enough are kept */
void run_keep(const struct doppel_run *run, enum run_kept what, void *thing, void (*end)(void *));

#endif
