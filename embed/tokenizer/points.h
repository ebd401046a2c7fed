/* What kind of character a code point is, as tokenizers have it. */
#ifndef DOPPEL_EMBED_TOKENIZER_POINTS_H
#define DOPPEL_EMBED_TOKENIZER_POINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <utf8proc.h>

#include "core/text/utf8.h"

enum { NO_CHARACTER = 0xfffd };

/* The code point at `*at`, which moves behind it; a byte that is no UTF-8 is U+FFFD. */
static inline uint32_t point_next(const char *text, size_t size, size_t *at)
{
    const uint8_t *byte = (const uint8_t *)text + *at;
    size_t length = utf8_length(text + *at, size - *at);
    *at += length ? length : 1;
    switch (length) {
    case 1:
        return byte[0];
    case 2:
        return (uint32_t)(byte[0] & 0x1f) << 6 | (byte[1] & 0x3f);
    case 3:
        return (uint32_t)(byte[0] & 0xf) << 12 | (uint32_t)(byte[1] & 0x3f) << 6 | (byte[2] & 0x3f);
    case 4:
        return (uint32_t)(byte[0] & 7) << 18 | (uint32_t)(byte[1] & 0x3f) << 12 |
               (uint32_t)(byte[2] & 0x3f) << 6 | (byte[3] & 0x3f);
    default:
        return NO_CHARACTER;
    }
}

/* The code point that ends at `end`, which is some. */
static inline uint32_t point_before(const char *text, size_t end, size_t *out_begin)
{
    size_t at = end - 1;
    while (at && end - at < 4 && ((uint8_t)text[at] & 0xc0) == 0x80)
        at--;
    *out_begin = at;
    return point_next(text, end, &at);
}

static inline utf8proc_category_t point_category(uint32_t point)
{
    return utf8proc_category((utf8proc_int32_t)point);
}

/* Unicode's White_Space. */
static inline bool point_is_space(uint32_t point)
{
    if (point < 0x80)
        return point == ' ' || (point >= 9 && point <= 13);
    return point == 0x85 || point == 0xa0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
           point == 0x202f || point == 0x205f || point == 0x3000;
}

/* Punctuation, and of ASCII what is printed and neither letter nor digit. */
static inline bool point_is_punctuation(uint32_t point)
{
    if (point < 0x80)
        return (point > 32 && point < '0') || (point > '9' && point < 'A') ||
               (point > 'Z' && point < 'a') || (point > 'z' && point < 127);
    utf8proc_category_t category = point_category(point);
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

/* Controls, what formats, and what is for private use. */
static inline bool point_is_other(uint32_t point)
{
    utf8proc_category_t category = point_category(point);
    return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
           category == UTF8PROC_CATEGORY_CO || category == UTF8PROC_CATEGORY_CS;
}

static inline bool point_is_mark(uint32_t point)
{
    utf8proc_category_t category = point_category(point);
    return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

static inline bool point_is_letter(uint32_t point)
{
    utf8proc_category_t category = point_category(point);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

static inline bool point_is_number(uint32_t point)
{
    utf8proc_category_t category = point_category(point);
    return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

/* What regular expressions call \w. Source: UTS 18, annex C. */
static inline bool point_is_word(uint32_t point)
{
    utf8proc_category_t category = point_category(point);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) ||
           category == UTF8PROC_CATEGORY_PC || point == 0x200c || point == 0x200d ||
           (point >= 0x24b6 && point <= 0x24e9) || (point >= 0x1f130 && point <= 0x1f149) ||
           (point >= 0x1f150 && point <= 0x1f169) || (point >= 0x1f170 && point <= 0x1f189);
}

/* Ideographs, which BertNormalizer sets apart. */
static inline bool point_is_chinese(uint32_t point)
{
    return (point >= 0x4e00 && point <= 0x9fff) || (point >= 0x3400 && point <= 0x4dbf) ||
           (point >= 0x20000 && point <= 0x2a6df) || (point >= 0x2a700 && point <= 0x2b73f) ||
           (point >= 0x2b740 && point <= 0x2b81f) || (point >= 0x2b920 && point <= 0x2ceaf) ||
           (point >= 0xf900 && point <= 0xfaff) || (point >= 0x2f800 && point <= 0x2fa1f);
}

#endif
