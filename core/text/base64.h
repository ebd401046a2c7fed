/* Bytes as base64 and back. Source: RFC 4648, section 4. */
#ifndef DOPPEL_CORE_TEXT_BASE64_H
#define DOPPEL_CORE_TEXT_BASE64_H

#include <stddef.h>

/** Given (free); NULL without memory. */
char *base64_encode(const void *data, size_t size);

/** Decode what base64_encode made.
 *
 * @param out_size may be NULL
 * @return given (free), with a NUL after it; NULL when `text` is not base64, or without memory */
char *base64_decode(const char *text, size_t *out_size);

#endif
