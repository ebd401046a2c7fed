/* Frames: hello, ready, orders with descriptors. Answers are in answer.c. */
#include "worker/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/bytes.h"
#include "worker/frame.h"

/* serial u64, scheme u32, version u16; of texts format, unit, shingle and flags, u8 each; of raw
 * audio the format u8; the look u8; of raw audio rate and channels u32; of videos task and flags
 * u8; the page of the look u16; of videos from and to u32, the box as four f32; the size of the
 * look u32; what is switched off u32. */
enum { ORDER_BYTES = 64, ORDERS_BYTES = FRAME_HEADER_BYTES + PROTOCOL_BATCH * ORDER_BYTES };

enum order_flag { TEXT_NFKC = 1, TEXT_FOLD_CASE = 2, TEXT_DROP_PUNCTUATION = 4, TEXT_PLACES = 8 };
enum video_flag { VIDEO_KEYFRAMES = 1, VIDEO_NO_AUDIO = 2 };

void hello_write(const struct worker_limits *limits, uint8_t out[PROTOCOL_HELLO_BYTES])
{
    frame_header_write(out, FRAME_HELLO, PROTOCOL_VERSION);
    put_u64(out + 8, limits->max_memory);
    put_u64(out + 16, limits->max_bytes);
    put_u64(out + 24, limits->max_pixels);
    put_u64(out + 32, limits->max_ms);
    put_u32(out + 40, limits->sandbox);
    put_u32(out + 44, 0);
    memcpy(out + 48, limits->ocr, sizeof limits->ocr);
}

bool hello_read(const uint8_t *data, size_t size, struct worker_limits *out)
{
    if (size != PROTOCOL_HELLO_BYTES || !frame_is(data, size, FRAME_HELLO) ||
        frame_value(data) != PROTOCOL_VERSION)
        return false;
    *out = (struct worker_limits){get_u64(data + 8),  get_u64(data + 16), get_u64(data + 24),
                                  get_u64(data + 32), get_u32(data + 40), ""};
    memcpy(out->ocr, data + 48, sizeof out->ocr - 1);
    return true;
}

enum held_flag {
    HELD_PRIVILEGES = 1,
    HELD_FILES = 2,
    HELD_NETWORK = 4,
    HELD_SCOPES = 8,
    HELD_CALLS = 16
};

size_t ready_write(const struct doppel_confinement *held, uint8_t out[READY_MOST_BYTES])
{
    size_t length = strnlen(held->libraries, DOPPEL_LIBRARIES_BYTES - 1);
    frame_header_write(out, FRAME_READY, PROTOCOL_VERSION);
    put_u32(out + 8, held->landlock_abi);
    put_u32(out + 12, (held->no_new_privileges ? HELD_PRIVILEGES : 0u) |
                          (held->files ? HELD_FILES : 0u) | (held->network ? HELD_NETWORK : 0u) |
                          (held->scopes ? HELD_SCOPES : 0u) | (held->calls ? HELD_CALLS : 0u));
    memcpy(out + READY_BYTES, held->libraries, length);
    return READY_BYTES + length;
}

bool ready_read(const uint8_t *data, size_t size, struct doppel_confinement *out)
{
    if (size < READY_BYTES || size >= READY_MOST_BYTES || !frame_is(data, size, FRAME_READY) ||
        frame_value(data) != PROTOCOL_VERSION)
        return false;
    uint32_t flags = get_u32(data + 12);
    *out = (struct doppel_confinement){.landlock_abi = get_u32(data + 8),
                                       .no_new_privileges = flags & HELD_PRIVILEGES,
                                       .files = flags & HELD_FILES,
                                       .network = flags & HELD_NETWORK,
                                       .scopes = flags & HELD_SCOPES,
                                       .calls = flags & HELD_CALLS};
    memcpy(out->libraries, data + READY_BYTES, size - READY_BYTES);
    return true;
}

bool frame_send(int socket, const uint8_t *data, size_t size)
{
    ssize_t sent;
    do
        sent = send(socket, data, size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size;
}

int open_for_worker(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

/* Room for the descriptors of a batch, aligned as the kernel wants it. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(PROTOCOL_BATCH * sizeof(int))];
};

static void order_write(const struct worker_order *order, uint8_t out[ORDER_BYTES])
{
    const struct doppel_order *wanted = &order->wanted;
    put_u64(out, order->serial);
    put_u32(out + 8, (uint32_t)wanted->scheme);
    put_u16(out + 12, wanted->version);
    out[14] = wanted->text_format;
    out[15] = wanted->text_unit;
    out[16] = wanted->text_shingle;
    out[17] = (uint8_t)((wanted->text_nfkc ? TEXT_NFKC : 0) |
                        (wanted->text_fold_case ? TEXT_FOLD_CASE : 0) |
                        (wanted->text_drop_punctuation ? TEXT_DROP_PUNCTUATION : 0) |
                        (wanted->text_places ? TEXT_PLACES : 0));
    out[18] = wanted->pcm;
    out[19] = wanted->look;
    put_u32(out + 20, wanted->pcm_rate);
    put_u32(out + 24, wanted->pcm_channels);
    out[28] = wanted->video_task;
    out[29] = (uint8_t)((wanted->video_keyframes ? VIDEO_KEYFRAMES : 0) |
                        (wanted->video_no_audio ? VIDEO_NO_AUDIO : 0));
    put_u16(out + 30, wanted->look_page);
    put_u32(out + 32, wanted->from_ms);
    put_u32(out + 36, wanted->to_ms);
    for (int i = 0; i < 4; i++)
        put_f32(out + 40 + 4 * i, wanted->video_box[i]);
    put_u32(out + 56, wanted->look_size);
    put_u32(out + 60, wanted->switched_off);
}

static struct worker_order order_read(const uint8_t *data, int fd)
{
    struct worker_order order = {
        .serial = get_u64(data),
        .wanted = {.scheme = (enum doppel_scheme_id)get_u32(data + 8),
                   .version = get_u16(data + 12),
                   .text_format = data[14],
                   .text_unit = data[15],
                   .text_shingle = data[16],
                   .text_nfkc = data[17] & TEXT_NFKC,
                   .text_fold_case = data[17] & TEXT_FOLD_CASE,
                   .text_drop_punctuation = data[17] & TEXT_DROP_PUNCTUATION,
                   .text_places = data[17] & TEXT_PLACES,
                   .pcm = data[18],
                   .pcm_rate = get_u32(data + 20),
                   .pcm_channels = get_u32(data + 24),
                   .video_task = data[28],
                   .video_keyframes = data[29] & VIDEO_KEYFRAMES,
                   .video_no_audio = data[29] & VIDEO_NO_AUDIO,
                   .switched_off = get_u32(data + 60),
                   .from_ms = get_u32(data + 32),
                   .to_ms = get_u32(data + 36),
                   .look = data[19],
                   .look_page = get_u16(data + 30),
                   .look_size = get_u32(data + 56)},
        .fd = fd,
    };
    for (int i = 0; i < 4; i++)
        order.wanted.video_box[i] = get_f32(data + 40 + 4 * i);
    return order;
}

bool orders_send(int socket, const struct worker_order *orders, size_t count)
{
    uint8_t frame[ORDERS_BYTES];
    int fds[PROTOCOL_BATCH];
    frame_header_write(frame, FRAME_ORDERS, (uint16_t)count);
    for (size_t i = 0; i < count; i++) {
        order_write(&orders[i], frame + FRAME_HEADER_BYTES + i * ORDER_BYTES);
        fds[i] = orders[i].fd;
    }
    struct iovec data = {frame, FRAME_HEADER_BYTES + count * ORDER_BYTES};
    union control control = {0};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = CMSG_SPACE(count * sizeof *fds)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof *fds);
    memcpy(CMSG_DATA(header), fds, count * sizeof *fds);
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)data.iov_len;
}

/* The descriptors that came with a message. */
static size_t take_fds(struct msghdr *message, int out[PROTOCOL_BATCH])
{
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
        return 0;
    size_t bytes = header->cmsg_len - CMSG_LEN(0);
    if (bytes > PROTOCOL_BATCH * sizeof *out)
        return 0;
    memcpy(out, CMSG_DATA(header), bytes);
    return bytes / sizeof *out;
}

static bool orders_read(const uint8_t *data, size_t size, const int *fds, size_t count,
                        struct worker_order *out)
{
    if (!frame_is(data, size, FRAME_ORDERS) || count == 0 || frame_value(data) != count ||
        size != FRAME_HEADER_BYTES + count * ORDER_BYTES)
        return false;
    for (size_t i = 0; i < count; i++)
        out[i] = order_read(data + FRAME_HEADER_BYTES + i * ORDER_BYTES, fds[i]);
    return true;
}

size_t orders_receive(int socket, bool wait, struct worker_order out[PROTOCOL_BATCH])
{
    uint8_t frame[ORDERS_BYTES];
    int fds[PROTOCOL_BATCH];
    union control control;
    struct iovec data = {frame, sizeof frame};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t size;
    do
        size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    while (size < 0 && errno == EINTR);
    if (size <= 0) {
        errno = size ? errno : EPIPE;
        return 0;
    }
    size_t count = take_fds(&message, fds);
    if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
        orders_read(frame, (size_t)size, fds, count, out))
        return count;
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
    errno = EPROTO;
    return 0;
}
