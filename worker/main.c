/* doppel-worker: a child of the pool. It receives open files on descriptor 0 and answers each, in
 * order, until its parent goes. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/bell.h"
#include "worker/confine.h"
#include "worker/fingerprint.h"
#include "worker/process.h"

enum { SOCKET = STDIN_FILENO, EXIT_USE = 2, EXIT_START = 3 };

/* False when the parent is gone. */
static bool work(struct workshop *workshop, const struct worker_order *order)
{
    struct doppel_outcome outcome;
    fingerprint_file(workshop, order->fd, &order->wanted, &outcome);
    outcome.tag = order->serial;
    close(order->fd);
    bool answered = answer_send(SOCKET, &outcome);
    doppel_outcome_free(&outcome);
    return answered;
}

static void serve(struct workshop *workshop)
{
    struct worker_order orders[PROTOCOL_BATCH];
    struct bell bell = {.fd = PROCESS_BELL};
    size_t count;
    while ((count = bell_take_orders(&bell, SOCKET, orders)) > 0)
        for (size_t i = 0; i < count; i++) {
            if (!work(workshop, &orders[i]))
                return;
            bell_answered(&bell);
        }
}

int main(void)
{
    uint8_t frame[PROTOCOL_HELLO_BYTES + 1];
    struct workshop workshop = {0};
    struct doppel_error error;
    settle_allocator();
    ssize_t size = recv(SOCKET, frame, sizeof frame, 0);
    if (size == 0)
        return 0;
    if (size < 0 || !hello_read(frame, (size_t)size, &workshop.limits)) {
        fputs("doppel-worker: it is started by doppel, of the same version, and of no use alone\n",
              stderr);
        return EXIT_USE;
    }
    if (confine(&workshop.limits, &error)) {
        fprintf(stderr, "doppel-worker: %s\n", error.message);
        return EXIT_START;
    }
    ready_write(frame);
    if (frame_send(SOCKET, frame, PROTOCOL_READY_BYTES))
        serve(&workshop);
    workshop_close(&workshop);
    return 0;
}
