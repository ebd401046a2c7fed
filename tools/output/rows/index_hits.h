/* Hits of an index on stdout: JSON Lines by the million, else through the usual output. */
#ifndef DOPPEL_TOOLS_OUTPUT_ROWS_INDEX_HITS_H
#define DOPPEL_TOOLS_OUTPUT_ROWS_INDEX_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hit_rows;
struct report;
struct settings;

/* Never fails: exits without memory. Both are borrowed while it lives. */
struct hit_rows *hits_new(const struct settings *settings, struct report *report);

/* Hits of the queries `first` to first + count - 1 follow, in order. */
void hits_begin(struct hit_rows *hits, uint64_t first, size_t count);
/* @return false when nobody wants more: stdout failed, or a pipe was closed */
bool hits_add(struct hit_rows *hits, uint64_t query, uint64_t id, uint32_t distance);
bool hits_end(struct hit_rows *hits);

/* How many there were since hits_begin. */
size_t hits_of_batch(const struct hit_rows *hits);

/* Write what is held back and free. @return false when stdout could not be written (said, unless a
 * pipe was closed) */
bool hits_finish(struct hit_rows *hits);

#endif
