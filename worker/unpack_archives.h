/* The worker's third trade: archives, whose members it sends. */
#ifndef DOPPEL_WORKER_UNPACK_ARCHIVES_H
#define DOPPEL_WORKER_UNPACK_ARCHIVES_H

#include "worker/members.h"

/* Unpack the first archive, `fd`, and those that come after it, until the parent goes. */
void unpack_archives(int socket, int fd, const struct unpack_order *order);

#endif
