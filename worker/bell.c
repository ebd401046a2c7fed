/* When a worker wakes its pool. */
#include "worker/bell.h"

#include <errno.h>
#include <unistd.h>

#include "core/clock.h"

void bell_ring(struct bell *bell)
{
    /* A full pipe has been heard already, or will be; a pool that is gone needs no bell. */
    ssize_t written = write(bell->fd, "", 1);
    (void)written;
    bell->waiting = 0;
    bell->since_ms = monotonic_ms();
}

void bell_answered(struct bell *bell)
{
    bell->waiting++;
    if (bell->waiting >= BELL_ANSWERS || monotonic_ms() - bell->since_ms >= BELL_MS)
        bell_ring(bell);
}

size_t bell_take_orders(struct bell *bell, int socket, struct worker_order out[PROTOCOL_BATCH])
{
    size_t count = orders_receive(socket, false, out);
    if (count || errno != EAGAIN)
        return count;
    if (bell->waiting)
        bell_ring(bell);
    return orders_receive(socket, true, out);
}
