/* The text of a document as it grows, or its pages. What fails stays failed: whoever writes asks at
 * the end. */
#ifndef DOPPEL_DOCUMENTS_WRITER_H
#define DOPPEL_DOCUMENTS_WRITER_H

#include <doppel/image_pages.h>

#include "core/array.h"
#include "documents/documents.h"

struct document_writer {
    char *text;
    size_t size, room;
    ARRAY(size_t) pages;
    ARRAY(struct doppel_page) drawn; /* their ink is given */
    uint64_t max_bytes;
    enum doppel_status status; /* DOPPEL_OK, DOPPEL_E_LIMIT or DOPPEL_E_MEMORY */
};

void writer_add(struct document_writer *writer, const char *bytes, size_t size);

/* A word ends; a line does. Several in a row count once. */
void writer_space(struct document_writer *writer);
void writer_line(struct document_writer *writer);

/* What follows is on a new page: nothing where that began already. */
void writer_page(struct document_writer *writer);

/* Add a page as a picture. DOPPEL_OK, DOPPEL_E_MEMORY. */
enum doppel_status writer_draw(struct document_writer *writer, const struct doppel_plane *plane,
                               struct doppel_error *error);

/* Whether any page of those has enough on it to be told by. */
bool writer_has_ink(const struct document_writer *writer);

/* The status, with its sentence. */
enum doppel_status writer_check(const struct document_writer *writer, struct doppel_error *error);

/* Append the text of another, which is emptied. */
void writer_append(struct document_writer *writer, struct document_writer *other);

void writer_free(struct document_writer *writer);

#endif
