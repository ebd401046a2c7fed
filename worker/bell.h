/* The worker's bell: a pipe that it writes to when answers wait in the socket, so that the pool is
 * woken once for several of them and not by each. */
#ifndef DOPPEL_WORKER_BELL_H
#define DOPPEL_WORKER_BELL_H

#include "worker/protocol.h"

enum {
    BELL_ANSWERS = 4, /* half a window: the pool gives as many while the worker does the others */
    BELL_MS = 20      /* for slow files, whose answers come one by one anyway */
};

struct bell {
    int fd;
    unsigned waiting; /* answers since the last ring */
    int64_t since_ms; /* when it rang last */
};

void bell_ring(struct bell *bell);

/* An answer was sent: ring if enough of them wait, or it has been quiet for BELL_MS. */
void bell_answered(struct bell *bell);

/* orders_receive; before it waits, the pool is told of the answers that wait for it. */
size_t bell_take_orders(struct bell *bell, int socket, struct worker_order out[PROTOCOL_BATCH]);

#endif
