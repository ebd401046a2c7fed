/* What is UTF-8. */
#ifndef DOPPEL_CORE_TEXT_UTF8_H
#define DOPPEL_CORE_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at `in`, of which `size` (some) may be read; 0: it is none, and its first
 * byte stands alone. */
static inline size_t utf8_length(const char *in, size_t size)
{
    const uint8_t *byte = (const uint8_t *)in;
    if (byte[0] < 0x80)
        return 1;
    size_t length = byte[0] < 0xC2 ? 0 : byte[0] < 0xE0 ? 2 : byte[0] < 0xF0 ? 3 : 4;
    if (!length || byte[0] > 0xF4 || length > size)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (byte[0] == 0xE0 && byte[1] < 0xA0) || (byte[0] == 0xF0 && byte[1] < 0x90);
    bool surrogate = byte[0] == 0xED && byte[1] >= 0xA0;
    bool beyond = byte[0] == 0xF4 && byte[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

/* What a terminal obeys, or what nobody sees: C0 and C1 controls, line and paragraph separators,
 * what turns the direction of writing, tags, and what is no character. Joiners, of which scripts
 * and emoji are made, are not. Source: Unicode 15, general categories Cc, Zl, Zp, Cf and Cn. */
static inline bool utf8_is_hidden(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c || point == 0x180e ||
           point == 0x200b || point == 0x200e || point == 0x200f ||
           (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) ||
           (point >= 0xfdd0 && point <= 0xfdef) || point == 0xfeff ||
           (point >= 0xfff9 && point <= 0xfffb) || (point & 0xfffe) == 0xfffe ||
           (point >= 0xe0000 && point <= 0xe0fff);
}

#endif
