/* Bytes as base64 and back. Source: RFC 4648, section 4. */
#ifndef DOPPEL_TOOLS_OUTPUT_BASE64_H
#define DOPPEL_TOOLS_OUTPUT_BASE64_H

#include <stddef.h>

/* Given (free). */
char *base64_encode(const void *data, size_t size);

/* Decode what base64_encode made; given (free), with a NUL after it. NULL when `text` is not
 * base64.
 */
char *base64_decode(const char *text, size_t *out_size);

#endif
