/*
 * SIGBUS in mapped files. A file that was cut after it was mapped, or whose device fails, kills who
 * reads beyond its end, unless the signal is caught. Here the page is replaced by zeros and the
 * mapping marked; its user asks afterwards.
 *
 * The handler is the process's, installed at the first mapping and never taken away; faults of
 * other addresses go on to the handler that was there before.
 */
#ifndef DOPPEL_INDEX_FAULT_H
#define DOPPEL_INDEX_FAULT_H

#include <stdbool.h>
#include <stddef.h>

struct fault_watch;

/** Watch a mapping until fault_unwatch. @return NULL without memory */
struct fault_watch *fault_watch(const void *start, size_t bytes);

/** To be called before the mapping goes, when nobody reads it any more; NULL is fine. */
void fault_unwatch(struct fault_watch *watch);

/** Whether a page was missing. Thread-safe. */
bool fault_happened(const struct fault_watch *watch);

#endif
