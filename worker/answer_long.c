/* Answers that no frame holds: written to a file in memory, whose descriptor goes with a frame. */
#include "worker/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/read_at.h"
#include "worker/frame.h"

/* Nobody changes it or cuts it off while it is read. */
enum { ANSWER_SEALS = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK };

/* ---- the worker's side ---- */

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

bool frame_send_beside(int socket, const uint8_t *data, size_t size, int fd)
{
    union control control = {0};
    struct iovec bytes = {(void *)(uintptr_t)data, size};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    ssize_t sent;
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size;
}

/* At an offset: a worker may not write into what has none (syscall_filter.c). */
static bool write_whole(int fd, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t written = pwrite(fd, data + at, size - at, (off_t)at);
        if (written < 0 && errno != EINTR)
            return false;
        at += written > 0 ? (size_t)written : 0;
    }
    return true;
}

static bool send_long(int socket, const struct doppel_outcome *outcome, size_t size)
{
    uint8_t frame[FRAME_HEADER_BYTES];
    frame_header_write(frame, FRAME_LONG, 0);
    uint8_t *data = malloc(size);
    int fd = memfd_create("answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool sent = data && fd >= 0 && answer_write(outcome, data, size) == size &&
                write_whole(fd, data, size) && fcntl(fd, F_ADD_SEALS, ANSWER_SEALS) == 0 &&
                frame_send_beside(socket, frame, sizeof frame, fd);
    free(data);
    if (fd >= 0)
        close(fd);
    return sent;
}

bool answer_send(int socket, const struct doppel_outcome *outcome)
{
    uint8_t frame[PROTOCOL_MAX_BYTES];
    size_t size = answer_write(outcome, frame, sizeof frame);
    if (size)
        return frame_send(socket, frame, size);
    size = answer_size(outcome);
    if (size <= PROTOCOL_LONG_BYTES)
        return send_long(socket, outcome, size);
    struct doppel_outcome refusal = {.tag = outcome->tag, .kind = outcome->kind};
    doppel_fail(&refusal.error, DOPPEL_E_LIMIT, "its fingerprint is too large to be sent");
    return frame_send(socket, frame, answer_write(&refusal, frame, sizeof frame));
}

/* ---- the parent's side ---- */

ssize_t frame_receive(int socket, uint8_t *out, size_t capacity, int *out_fd)
{
    union control control;
    struct iovec data = {out, capacity};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = CMSG_LEN(sizeof *out_fd)};
    /* MSG_TRUNC: the true size, should it be larger. Of more descriptors than one the kernel drops
     * the rest, for which there is no room: CMSG_SPACE, which is aligned, would have some. */
    ssize_t size = recvmsg(socket, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = size >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *out_fd = -1;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len >= CMSG_LEN(sizeof *out_fd))
        memcpy(out_fd, CMSG_DATA(header), sizeof *out_fd);
    if (size < 0 || !(message.msg_flags & MSG_CTRUNC))
        return size;
    frame_descriptor_close(*out_fd);
    *out_fd = -1;
    errno = EBADMSG;
    return -1;
}

void frame_descriptor_close(int fd)
{
    static const struct linger none;
    if (fd < 0)
        return;
    /* what is no socket does not mind */
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(fd);
}

bool frame_is_long(const uint8_t *data, size_t size)
{
    return size == FRAME_HEADER_BYTES && frame_is(data, size, FRAME_LONG) && frame_value(data) == 0;
}

/* What lies in memory can be read without waiting for anybody; only that has seals. */
static size_t size_in_memory(int fd)
{
    struct stat status;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & ANSWER_SEALS) != ANSWER_SEALS || fstat(fd, &status) ||
        !S_ISREG(status.st_mode) || status.st_size <= 0 || status.st_size > PROTOCOL_LONG_BYTES)
        return 0;
    return (size_t)status.st_size;
}

enum answer answer_read_long(int fd, const struct worker_order *order, struct doppel_outcome *out)
{
    size_t size = size_in_memory(fd);
    if (!size)
        return ANSWER_NONSENSE;
    uint8_t *data = malloc(size);
    if (!data)
        return ANSWER_NO_MEMORY;
    enum answer answer = read_at(fd, data, size, 0) == (ssize_t)size
                             ? answer_read(data, size, order, out)
                             : ANSWER_NONSENSE;
    free(data);
    return answer;
}
