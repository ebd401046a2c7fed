/* The worker's other trade: one stream, listened to until it ends. */
#ifndef DOPPEL_WORKER_LISTEN_H
#define DOPPEL_WORKER_LISTEN_H

#include "worker/listening.h"

/* Decode the stream `fd`, find its peaks and tell the parent, until the stream ends or the parent
 * goes. */
void listen_to(int socket, int fd, const struct listen_order *order);

#endif
