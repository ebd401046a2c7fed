/* What the child lays on itself before it looks at the first file. */
#ifndef DOPPEL_WORKER_CONFINE_H
#define DOPPEL_WORKER_CONFINE_H

#include "worker/protocol.h"

/* Limits that hold until the process ends. DOPPEL_OK, DOPPEL_E_IO. */
enum doppel_status confine(const struct worker_limits *limits, struct doppel_error *error);

/* Keep freed memory at hand for the next file, up to a bound. Before the first allocation. */
void settle_allocator(void);

#endif
