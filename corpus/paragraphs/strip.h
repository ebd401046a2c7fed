/* Lines with some paragraphs of their text left out. */
#ifndef DOPPEL_CORPUS_PARAGRAPHS_STRIP_H
#define DOPPEL_CORPUS_PARAGRAPHS_STRIP_H

#include <stdbool.h>
#include <stddef.h>

#include "corpus/paragraphs/paragraph.h"

/* Bytes that grow. */
struct buffer {
    char *bytes;
    size_t size, capacity;
};

/** False: no memory, and the buffer is as it was. */
bool buffer_add(struct buffer *buffer, const void *bytes, size_t size);
void buffer_free(struct buffer *buffer);

/** Append a text without the paragraphs that are `dropped`; between others stands what stood before
 * the later one. */
bool strip_text(const char *text, size_t size, const bool *dropped, struct buffer *out);

/** Append a record's line with another text. @param token the text as it stands in the line, quotes
 * and all, or NULL: then the field is added. @param text bytes that are no UTF-8 become U+FFFD */
bool replace_text(const char *line, size_t size, const char *token, size_t token_size,
                  const char *field, const struct buffer *text, struct buffer *out);

#endif
