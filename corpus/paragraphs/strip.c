/* Lines with some paragraphs of their text left out. */
#include "corpus/paragraphs/strip.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/utf8.h"

bool buffer_add(struct buffer *buffer, const void *bytes, size_t size)
{
    if (size > buffer->capacity - buffer->size) {
        size_t capacity = (buffer->size + size) * 2;
        char *grown = realloc(buffer->bytes, capacity);
        if (!grown)
            return false;
        buffer->bytes = grown;
        buffer->capacity = capacity;
    }
    if (size)
        memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
    return true;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct buffer){0};
}

bool strip_text(const char *text, size_t size, const bool *dropped, struct buffer *out)
{
    struct paragraph_cutter cutter;
    struct paragraph paragraph;
    bool any = false, last_kept = false;
    size_t number = 0;
    paragraphs_begin(&cutter, text, size);
    for (; paragraphs_next(&cutter, &paragraph); number++) {
        last_kept = !dropped[number];
        if (!last_kept)
            continue;
        size_t gap = any || number == 0 ? paragraph.gap : 0;
        if (!buffer_add(out, paragraph.bytes - gap, gap + paragraph.size))
            return false;
        any = true;
    }
    return !last_kept || buffer_add(out, cutter.at, (size_t)(cutter.end - cutter.at));
}

/* ---- JSON ---- */

static bool add_escaped(struct buffer *out, char byte)
{
    static const char letters[] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    char escape[8] = {'\\', byte};
    if (byte == '"' || byte == '\\')
        return buffer_add(out, escape, 2);
    if ((size_t)byte < sizeof letters && letters[(size_t)byte]) {
        escape[1] = letters[(size_t)byte];
        return buffer_add(out, escape, 2);
    }
    snprintf(escape, sizeof escape, "\\u%04x", (unsigned)byte);
    return buffer_add(out, escape, 6);
}

/* Bytes from `in` on that a JSON string may hold as they are. */
static size_t plain_run(const char *in, size_t size)
{
    size_t run = 0;
    while (run < size) {
        uint8_t byte = (uint8_t)in[run];
        size_t length = byte < 0x80 ? byte >= ' ' && byte != '"' && byte != '\\'
                                    : utf8_length(in + run, size - run);
        if (!length)
            break;
        run += length;
    }
    return run;
}

static bool add_string_buffer(struct buffer *out, const char *text, size_t size)
{
    bool good = buffer_add(out, "\"", 1);
    for (size_t at = 0; at < size && good; at++) {
        size_t run = plain_run(text + at, size - at);
        good = buffer_add(out, text + at, run);
        at += run;
        if (at < size && good)
            good = (uint8_t)text[at] < 0x80 ? add_escaped(out, text[at])
                                            : buffer_add(out, "\xEF\xBF\xBD", 3);
    }
    return good && buffer_add(out, "\"", 1);
}

/* Put the field behind the others: before the last bracket. */
static bool add_field(const char *line, size_t size, const char *field, const struct buffer *text,
                      struct buffer *out)
{
    const char *bracket = memrchr(line, '}', size);
    size_t before = (size_t)(bracket - line);
    return buffer_add(out, line, before) && buffer_add(out, ",", 1) &&
           add_string_buffer(out, field, strlen(field)) && buffer_add(out, ":", 1) &&
           add_string_buffer(out, text->bytes, text->size) &&
           buffer_add(out, bracket, size - before);
}

bool replace_text(const char *line, size_t size, const char *token, size_t token_size,
                  const char *field, const struct buffer *text, struct buffer *out)
{
    if (!token)
        return add_field(line, size, field, text, out);
    size_t before = (size_t)(token - line);
    return buffer_add(out, line, before) && add_string_buffer(out, text->bytes, text->size) &&
           buffer_add(out, token + token_size, size - before - token_size);
}
