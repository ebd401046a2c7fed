/* Bytes as base64 and back. */
#include "core/text/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/base64.h>

char *base64_encode(const void *data, size_t size)
{
    size_t length = BASE64_ENCODE_RAW_LENGTH(size);
    char *text = malloc(length + 1);
    if (!text)
        return NULL;
    base64_encode_raw(text, size, data);
    text[length] = 0;
    return text;
}

char *base64_decode(const char *text, size_t *out_size)
{
    size_t length = strlen(text), size = 0;
    struct base64_decode_ctx decoder;
    /* nettle skips white space, and takes three signs of padding */
    if (length % 4 || text[strcspn(text, " \t\n\v\f\r")] || length - strcspn(text, "=") > 2)
        return NULL;
    char *data = malloc(BASE64_DECODE_LENGTH(length) + 1);
    if (!data)
        return NULL;
    base64_decode_init(&decoder);
    if (!base64_decode_update(&decoder, &size, (uint8_t *)data, length, text) ||
        !base64_decode_final(&decoder)) {
        free(data);
        return NULL;
    }
    data[size] = 0;
    if (out_size)
        *out_size = size;
    return data;
}
