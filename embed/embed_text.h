/* A text that grows. */
#ifndef DOPPEL_EMBED_EMBED_TEXT_H
#define DOPPEL_EMBED_EMBED_TEXT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/core.h>

/* Zero-initialised it is empty. */
struct embed_text {
    char *bytes; /* given */
    size_t size, capacity;
    bool failed; /* something is missing for want of memory */
};

static inline bool embed_text_reserve(struct embed_text *text, size_t more)
{
    if (text->bytes && more <= text->capacity - text->size)
        return true;
    size_t wanted = text->capacity ? text->capacity : 256;
    while (wanted - text->size < more && wanted <= SIZE_MAX / 2)
        wanted *= 2;
    char *grown = wanted - text->size < more ? NULL : realloc(text->bytes, wanted);
    if (!grown) {
        text->failed = true;
        return false;
    }
    text->bytes = grown;
    text->capacity = wanted;
    return true;
}

static inline void embed_text_append(struct embed_text *text, const char *bytes, size_t size)
{
    if (!size || !embed_text_reserve(text, size))
        return;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

/* As UTF-8. */
static inline void embed_text_append_point(struct embed_text *text, uint32_t point)
{
    if (!embed_text_reserve(text, 4))
        return;
    char *out = text->bytes + text->size;
    if (point < 0x80) {
        out[0] = (char)point;
        text->size += 1;
    } else if (point < 0x800) {
        out[0] = (char)(0xc0 | point >> 6);
        out[1] = (char)(0x80 | (point & 0x3f));
        text->size += 2;
    } else if (point < 0x10000) {
        out[0] = (char)(0xe0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (point & 0x3f));
        text->size += 3;
    } else {
        out[0] = (char)(0xf0 | point >> 18);
        out[1] = (char)(0x80 | (point >> 12 & 0x3f));
        out[2] = (char)(0x80 | (point >> 6 & 0x3f));
        out[3] = (char)(0x80 | (point & 0x3f));
        text->size += 4;
    }
}

static inline void embed_text_free(struct embed_text *text)
{
    free(text->bytes);
    *text = (struct embed_text){0};
}

#endif
