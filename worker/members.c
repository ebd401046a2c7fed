/* The frames of a worker that unpacks: written, and read with nothing believed. */
#include "worker/members.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "worker/frame.h"

void unpack_order_write(const struct unpack_order *order, uint8_t out[PROTOCOL_HELLO_BYTES])
{
    frame_header_write(out, FRAME_UNPACK, PROTOCOL_VERSION);
    put_u64(out + 8, order->max_memory);
    put_u64(out + 16, order->most);
    put_u64(out + 24, order->budget);
    put_u32(out + 32, order->members);
    put_u32(out + 36, order->sandbox);
    memset(out + 40, 0, PROTOCOL_HELLO_BYTES - 40);
}

bool unpack_order_read(const uint8_t *data, size_t size, struct unpack_order *out)
{
    if (size != PROTOCOL_HELLO_BYTES || !frame_is(data, size, FRAME_UNPACK) ||
        frame_value(data) != PROTOCOL_VERSION)
        return false;
    *out = (struct unpack_order){get_u64(data + 8), get_u64(data + 16), get_u64(data + 24),
                                 get_u32(data + 32), get_u32(data + 36)};
    return true;
}

void next_write(uint8_t out[NEXT_BYTES])
{
    frame_header_write(out, FRAME_NEXT, 0);
}

bool next_read(const uint8_t *data, size_t size)
{
    return size == NEXT_BYTES && frame_is(data, size, FRAME_NEXT);
}

/* Header (value: the status), size u64, mtime i64, bytes of the name u32; the name, the message. */
enum { MEMBER_BYTES = FRAME_HEADER_BYTES + 20 };

size_t member_write(const struct member_frame *member, uint8_t *out, size_t capacity)
{
    size_t name = strlen(member->name);
    size_t message = member->error.status ? strlen(member->error.message) : 0;
    if (capacity < MEMBER_BYTES + name + message)
        return 0;
    frame_header_write(out, FRAME_MEMBER, (uint16_t)member->error.status);
    put_u64(out + 8, member->size);
    put_u64(out + 16, (uint64_t)member->mtime_s);
    put_u32(out + 24, (uint32_t)name);
    memcpy(out + MEMBER_BYTES, member->name, name);
    memcpy(out + MEMBER_BYTES + name, member->error.message, message);
    return MEMBER_BYTES + name + message;
}

bool member_read(const uint8_t *data, size_t size, struct member_frame *out)
{
    if (size < MEMBER_BYTES || !frame_is(data, size, FRAME_MEMBER) ||
        frame_value(data) > DOPPEL_E_CANCELLED)
        return false;
    size_t name = get_u32(data + 24);
    if (!name || name >= MEMBER_NAME_BYTES || name > size - MEMBER_BYTES ||
        memchr(data + MEMBER_BYTES, 0, name))
        return false;
    out->error.status = (enum doppel_status)frame_value(data);
    out->size = get_u64(data + 8);
    out->mtime_s = (int64_t)get_u64(data + 16);
    memcpy(out->name, data + MEMBER_BYTES, name);
    out->name[name] = '\0';
    sentence_copy(data + MEMBER_BYTES + name, size - MEMBER_BYTES - name, out->error.message);
    return true;
}

bool member_file_is(int fd, uint64_t size)
{
    enum { SEALS = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK };
    struct stat file;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &file) == 0 &&
           S_ISREG(file.st_mode) && (uint64_t)file.st_size == size;
}
