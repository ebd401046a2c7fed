/* Plain text in the making. */
#include "text/plain.h"

#include <stdlib.h>
#include <string.h>

bool plain_text_append(struct plain_text *text, const void *bytes, size_t size)
{
    if (!text->bytes || size > text->capacity - text->size) {
        size_t capacity = 2 * (text->size + size) + 64;
        char *grown = realloc(text->bytes, capacity);
        if (!grown)
            return false;
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    return true;
}

static void append_plain_writer(struct plain_writer *writer, const char *bytes, size_t size)
{
    writer->failed = writer->failed || !plain_text_append(writer->out, bytes, size);
}

void plain_gap(struct plain_writer *writer, enum gap gap)
{
    writer->gap = gap > writer->gap ? gap : writer->gap;
}

static void fill_gap_plain_writer(struct plain_writer *writer)
{
    static const char *const gaps[] = {"", " ", "\n", "\n\n"};
    if (writer->out->size)
        append_plain_writer(writer, gaps[writer->gap], strlen(gaps[writer->gap]));
    writer->gap = GAP_NONE;
}

static bool is_plain_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

void plain_flow(struct plain_writer *writer, const char *bytes, size_t size)
{
    for (size_t i = 0, end; i < size; i = end) {
        bool space = is_plain_space(bytes[i]);
        for (end = i + 1; end < size && is_plain_space(bytes[end]) == space; end++)
            ;
        if (space) {
            plain_gap(writer, GAP_SPACE);
        } else {
            fill_gap_plain_writer(writer);
            append_plain_writer(writer, bytes + i, end - i);
        }
    }
}

void plain_verbatim(struct plain_writer *writer, const char *bytes, size_t size)
{
    if (!size)
        return;
    fill_gap_plain_writer(writer);
    append_plain_writer(writer, bytes, size);
}

enum doppel_status plain_end(const struct plain_writer *writer, struct doppel_error *error)
{
    return writer->failed ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the plain text")
                          : DOPPEL_OK;
}
