/* The text of a document as it grows, within its limit. */
#include "documents/writer.h"

#include <stdlib.h>
#include <string.h>

static bool writer_has_room(struct document_writer *writer, size_t size)
{
    if (writer->status)
        return false;
    if (size > writer->max_bytes - writer->size)
        writer->status = DOPPEL_E_LIMIT;
    else if (size > writer->room - writer->size) {
        size_t room = 2 * writer->room + size;
        char *text = realloc(writer->text, room);
        if (!text)
            writer->status = DOPPEL_E_MEMORY;
        else {
            writer->text = text;
            writer->room = room;
        }
    }
    return !writer->status;
}

void writer_add(struct document_writer *writer, const char *bytes, size_t size)
{
    if (!size || !writer_has_room(writer, size))
        return;
    memcpy(writer->text + writer->size, bytes, size);
    writer->size += size;
}

static void end_with(struct document_writer *writer, char end)
{
    char last = writer->size ? writer->text[writer->size - 1] : '\n';
    if (last != end && last != '\n')
        writer_add(writer, &end, 1);
}

void writer_space(struct document_writer *writer)
{
    end_with(writer, ' ');
}

void writer_line(struct document_writer *writer)
{
    end_with(writer, '\n');
}

void writer_page(struct document_writer *writer)
{
    size_t count = writer->pages.count;
    if (writer->status || (count && writer->pages.items[count - 1] == writer->size))
        return;
    if (!array_push(&writer->pages, writer->size))
        writer->status = DOPPEL_E_MEMORY;
}

enum doppel_status writer_draw(struct document_writer *writer, const struct doppel_plane *plane,
                               struct doppel_error *error)
{
    struct doppel_page page;
    if (!array_reserve(&writer->drawn))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a page");
    enum doppel_status status = doppel_page_make(plane, &page, error);
    if (!status)
        (void)array_push(&writer->drawn, page);
    return status;
}

bool writer_has_ink(const struct document_writer *writer)
{
    for (size_t i = 0; i < writer->drawn.count; i++)
        if (writer->drawn.items[i].ink)
            return true;
    return false;
}

enum doppel_status writer_check(const struct document_writer *writer, struct doppel_error *error)
{
    if (writer->status == DOPPEL_E_LIMIT)
        return doppel_fail(error, DOPPEL_E_LIMIT, "holds a text of more than %llu MiB",
                           (unsigned long long)(writer->max_bytes >> 20));
    if (writer->status)
        return doppel_fail(error, writer->status, "no memory for its text");
    return DOPPEL_OK;
}

void writer_append(struct document_writer *writer, struct document_writer *other)
{
    writer_line(writer);
    writer_add(writer, other->text, other->size);
    if (!writer->status)
        writer->status = other->status;
    writer_free(other);
}

void writer_free(struct document_writer *writer)
{
    free(writer->text);
    array_free(&writer->pages);
    for (size_t i = 0; i < writer->drawn.count; i++)
        free((void *)writer->drawn.items[i].ink);
    array_free(&writer->drawn);
    *writer = (struct document_writer){.max_bytes = writer->max_bytes};
}
