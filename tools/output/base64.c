/* Bytes as base64 and back. */
#include "tools/output/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *data, size_t size)
{
    const uint8_t *byte = data;
    char *text = must_allocate((size + 2) / 3 * 4 + 1), *out = text;
    for (size_t i = 0; i < size; i += 3) {
        size_t have = size - i < 3 ? size - i : 3;
        uint32_t bits = (uint32_t)byte[i] << 16;
        bits |= have > 1 ? (uint32_t)byte[i + 1] << 8 : 0;
        bits |= have > 2 ? byte[i + 2] : 0;
        for (size_t digit = 0; digit < 4; digit++)
            *out++ = digit <= have ? digits[bits >> (18 - 6 * digit) & 63] : '=';
    }
    return text;
}

char *base64_decode(const char *text, size_t *out_size)
{
    size_t length = strlen(text), size = 0, padding = 0;
    while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
        padding++;
    if (length % 4)
        return NULL;
    uint8_t *data = must_allocate(length / 4 * 3 + 1);
    uint32_t bits = 0;
    for (size_t i = 0; i < length; i++) {
        const char *digit = i < length - padding ? strchr(digits, text[i]) : digits;
        if (!digit || !text[i]) {
            free(data);
            return NULL;
        }
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (i % 4 == 3) {
            data[size++] = (uint8_t)(bits >> 16);
            data[size++] = (uint8_t)(bits >> 8);
            data[size++] = (uint8_t)bits;
        }
    }
    *out_size = size - padding;
    data[*out_size] = 0;
    return (char *)data;
}
