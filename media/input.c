/* Reading a file by offset, through a window or whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "media/decode.h"

enum doppel_status input_open(struct input *input, int fd, const struct doppel_media_limits *limits,
                              struct doppel_error *error)
{
    struct stat file;
    if (fstat(fd, &file) != 0)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(errno));
    if (!S_ISREG(file.st_mode))
        return doppel_fail(error, DOPPEL_E_IO, "is not a regular file");
    if (!file.st_size)
        return doppel_fail(error, DOPPEL_E_EMPTY, "is empty");
    input->fd = fd;
    input->size = (uint64_t)file.st_size;
    if (input->size > limits->max_bytes)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "has %llu bytes, over the limit of %llu (--max-bytes)",
                           (unsigned long long)input->size, (unsigned long long)limits->max_bytes);
    return DOPPEL_OK;
}

size_t input_read_at(struct input *input, uint64_t offset, uint8_t *out, size_t size)
{
    size_t done = 0;
    while (done < size && offset + done < input->size) {
        off_t place = (off_t)(input->base + offset + done);
        ssize_t got = pread(input->fd, out + done, size - done, place);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && !input->error)
            input->error = errno;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

size_t input_fill(struct input *input)
{
    input->at = 0;
    input->filled = input_read_at(input, input->offset, input->window, sizeof input->window);
    input->offset += input->filled;
    return input->filled;
}

size_t input_read(struct input *input, uint8_t *out, size_t size)
{
    size_t done = 0;
    while (done < size) {
        if (input->at == input->filled && !input_fill(input))
            break;
        size_t part = input->filled - input->at;
        if (part > size - done)
            part = size - done;
        memcpy(out + done, input->window + input->at, part);
        input->at += part;
        done += part;
    }
    return done;
}

enum doppel_status input_load(struct input *input, uint64_t size, size_t padding, uint8_t **out,
                              size_t *out_size, struct doppel_error *error)
{
    if (size > input->size)
        size = input->size;
    uint8_t *data = malloc((size_t)size + padding);
    if (!data)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the file's %llu bytes",
                           (unsigned long long)size);
    size_t got = input_read_at(input, 0, data, (size_t)size);
    if (input->error) {
        free(data);
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(input->error));
    }
    memset(data + got, 0, (size_t)size - got + padding);
    *out = data;
    *out_size = got;
    return DOPPEL_OK;
}
