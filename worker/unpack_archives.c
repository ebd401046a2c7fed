/* Archives to members, each sent when it is asked for: so one at a time lies in memory. */
#include "worker/unpack_archives.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "documents/members.h"

struct sending {
    int socket;
    bool gone; /* the parent is */
};

static ssize_t wait_for_order(int socket, uint8_t *out, size_t capacity, int *out_fd)
{
    ssize_t size;
    uint8_t byte;
    *out_fd = -1;
    do
        size = recv(socket, &byte, 1, MSG_PEEK); /* which waits */
    while (size < 0 && errno == EINTR);
    return size > 0 ? frame_receive(socket, out, capacity, out_fd) : size;
}

static bool is_asked(struct sending *sending)
{
    uint8_t frame[NEXT_BYTES + 1];
    int fd;
    ssize_t size = wait_for_order(sending->socket, frame, sizeof frame, &fd);
    frame_descriptor_close(fd);
    sending->gone = size <= 0 || !next_read(frame, (size_t)size);
    return !sending->gone;
}

/* What the archive calls its members is cut where it is too long, and is never empty. */
static void fill_member_frame(const struct archive_member *member, struct member_frame *out)
{
    *out = (struct member_frame){
        .error = *member->error, .size = member->size, .mtime_s = member->mtime_s};
    snprintf(out->name, sizeof out->name, "%s", *member->name ? member->name : "?");
}

static bool send_member(void *context, const struct archive_member *member)
{
    struct sending *sending = context;
    struct member_frame told;
    uint8_t frame[PROTOCOL_MAX_BYTES];
    if (!is_asked(sending))
        return false;
    fill_member_frame(member, &told);
    size_t size = member_write(&told, frame, sizeof frame);
    sending->gone =
        !size || !(member->fd >= 0 ? frame_send_beside(sending->socket, frame, size, member->fd)
                                   : frame_send(sending->socket, frame, size));
    return !sending->gone;
}

/* @return false when the parent is gone */
static bool unpack_one(struct sending *sending, int fd, const struct unpack_order *order)
{
    uint8_t frame[PROTOCOL_MAX_BYTES];
    struct doppel_error end = {0};
    struct document_limits limits = document_limits_default();
    limits.max_bytes = order->budget;
    limits.max_members = order->members;
    if (!archive_visit(fd, &limits, order->most, send_member, sending, &end))
        end.status = DOPPEL_OK;
    return !sending->gone && is_asked(sending) &&
           frame_send(sending->socket, frame, end_write(&end, frame, sizeof frame));
}

void unpack_archives(int socket, int fd, const struct unpack_order *first)
{
    struct sending sending = {.socket = socket};
    struct unpack_order order = *first;
    uint8_t frame[PROTOCOL_HELLO_BYTES + 1];
    bool on = true;
    while (on) {
        on = unpack_one(&sending, fd, &order);
        close(fd);
        ssize_t size = on ? wait_for_order(socket, frame, sizeof frame, &fd) : 0;
        on = size > 0 && fd >= 0 && unpack_order_read(frame, (size_t)size, &order);
    }
}
