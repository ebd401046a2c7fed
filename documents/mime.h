/* Messages of mail as they are sent: fields of their heads, and bytes behind their encodings. */
#ifndef DOPPEL_DOCUMENTS_MIME_H
#define DOPPEL_DOCUMENTS_MIME_H

#include <stdbool.h>
#include <stddef.h>

#include "documents/writer.h"

/* Bytes of others. */
struct mail_span {
    const char *at;
    size_t size;
};

/* A message, or a part of one: its head, and what is behind the empty line. */
struct mime_part {
    struct mail_span head, body;
};

/* Split what begins with a head. */
struct mime_part mime_split(struct mail_span message);

/* The next line, without its end; it is taken off `text`. @return false at the end */
bool next_mail_line(struct mail_span *text, struct mail_span *out);

/* The value of a field, unfolded, as far as it fits. @return false without one */
bool mime_field(struct mail_span head, const char *name, char *out, size_t size);

/* The value of a parameter of a field's value: `charset` of "text/plain; charset=utf-8". */
bool mime_parameter(const char *value, const char *name, char *out, size_t size);

/* Bytes that were encoded as Content-Transfer-Encoding says; they become fewer.
 * @param out room for `encoded.size` bytes. @return how many */
size_t mime_decode(const char *encoding, struct mail_span encoded, char *out);

/* A field's value with its encoded words (RFC 2047) as text. */
void mime_add_words(const char *value, struct document_writer *out);

#endif
