/* Texts in old character sets to UTF-8: those of one byte a character, and UTF-8 itself. */
#ifndef DOPPEL_DOCUMENTS_CHARSET_H
#define DOPPEL_DOCUMENTS_CHARSET_H

#include "documents/writer.h"

/* The code points of the upper 128 bytes; 0 is none. NULL: of no such set is anything known here.
 * @param name as MIME has it ("ISO-8859-15", "windows-1252"), or "cp1252"; case and signs do not
 *             count. What calls itself Latin 1, or ASCII, is read as windows-1252. */
const uint16_t *charset_find(const char *name);

/* Append bytes as UTF-8; without a set as they are. */
void charset_add(const uint16_t *charset, const char *bytes, size_t size,
                 struct document_writer *out);

/* Append a code point; U+FFFD for what is none. */
void charset_add_point(uint32_t point, struct document_writer *out);

#endif
