/* The cache of what was read. */
#ifndef DOPPEL_INTAKE_OPEN_CACHE_H
#define DOPPEL_INTAKE_OPEN_CACHE_H

#include <doppel/core.h>
#include <doppel/library.h>

#include <doppel/run.h>

/* The cache that the run asks for, or a temporary one where there is none or it cannot be used
 * (which is said). @param out given (leave_cache) */
enum doppel_status open_cache(struct doppel_run *run, struct doppel_cache **out,
                              struct doppel_error *error);

/* What is pending is written; the run keeps it open for the next call. NULL is fine. */
void leave_cache(struct doppel_run *run, struct doppel_cache *cache);

/* The limits under which files are read, and whether a sandbox is one, as text that is compared. */
enum { LIMITS_BYTES = 160 };
void limits_text(const struct doppel_run_options *options, char out[LIMITS_BYTES]);

#endif
