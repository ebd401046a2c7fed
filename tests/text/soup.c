/* Texts that tests make. */
#include "soup.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

static uint64_t state = 1;

uint32_t soup_random(uint32_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % limit);
}

struct doppel_text_options soup_options(unsigned bits)
{
    struct doppel_text_options options = doppel_text_options_default();
    options.nfkc = !(bits & 1);
    options.fold_case = !(bits & 2);
    options.drop_punctuation = !(bits & 4);
    options.unit = bits & 8 ? DOPPEL_TEXT_CHARACTERS : DOPPEL_TEXT_WORDS;
    return options;
}

void soup_add(struct soup *soup, const void *bytes, size_t size)
{
    if (!size)
        return;
    if (soup->size + size > soup->room) {
        soup->room = 2 * (soup->size + size);
        soup->bytes = realloc(soup->bytes, soup->room);
        if (!soup->bytes)
            abort();
    }
    memcpy(soup->bytes + soup->size, bytes, size);
    soup->size += size;
}

void soup_add_string(struct soup *soup, const char *string)
{
    soup_add(soup, string, strlen(string));
}

void soup_add_point(struct soup *soup, uint32_t point)
{
    uint8_t bytes[4];
    soup_add(soup, bytes, (size_t)utf8proc_encode_char((int32_t)point, bytes));
}

static const uint32_t pool[] = {
    ' ',     ' ',     'a',     'B',     'z',     '0',     '<',     '=',     '.',     '-',
    '\n',    0,       0x7f,    0xa0,    0xa8,    0xad,    0xbd,    0xc5,    0xdf,    0xe9,
    0x130,   0x149,   0x1f1,   0x300,   0x301,   0x308,   0x316,   0x323,   0x327,   0x338,
    0x345,   0x34f,   0x390,   0x3a3,   0x3c2,   0x41c,   0x439,   0x591,   0x5d0,   0x627,
    0x653,   0x600,   0x915,   0x93c,   0x958,   0x9c7,   0x9be,   0xbc6,   0xbbe,   0xe01,
    0xe31,   0xe33,   0xeb3,   0xf71,   0xf72,   0x1000,  0x1025,  0x102e,  0x1100,  0x1112,
    0x1161,  0x1175,  0x11a8,  0x11c2,  0x1780,  0x17d2,  0x1e9b,  0x1e9e,  0x1f80,  0x2000,
    0x200b,  0x200d,  0x2026,  0x2028,  0x20ac,  0x2126,  0x212b,  0x2460,  0x249c,  0x2adc,
    0x3000,  0x304b,  0x3099,  0x309a,  0x30ab,  0x3131,  0x3164,  0x3300,  0x4e00,  0xac00,
    0xac01,  0xd7a3,  0xf900,  0xfb01,  0xfb1d,  0xfb2c,  0xfdfa,  0xfe0f,  0xfeff,  0xff21,
    0xff76,  0xff9e,  0xffa1,  0xfffd,  0xffff,  0x10400, 0x1109a, 0x110ba, 0x11131, 0x11127,
    0x1d15e, 0x1d165, 0x1d400, 0x1f600, 0x1f3fb, 0x20000, 0x2f800, 0xe0001, 0xe0100, 0x10ffff};

void soup_add_any(struct soup *soup)
{
    static const char *const bad[] = {"\x80",         "\xff",         "\xc0\xaf",
                                      "\xe2\x82",     "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                      "\xf0\x9f\x98", "\xf8",         "\xe0\x80"};
    uint32_t which = soup_random(100);
    if (which < 70)
        soup_add_point(soup, pool[soup_random(sizeof pool / sizeof *pool)]);
    else if (which < 85)
        soup_add_point(soup, 'a' + soup_random(26));
    else if (which < 95)
        soup_add_point(soup, soup_random(0xd800));
    else if (which < 98)
        soup_add_point(soup, 0x10000 + soup_random(0x22000));
    else
        soup_add_string(soup, bad[soup_random(sizeof bad / sizeof *bad)]);
}
