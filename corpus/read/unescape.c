/* JSON strings to the bytes they stand for. simdjson's own decoder is made for the oldest processor
 * that the build allows, refuses half surrogates (which Python writes) and ends no string in NUL.
 */
#include "corpus/read/unescape.h"

#include <stdint.h>
#include <string.h>

#include "core/cpu.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static const char simple[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* The value of a hex digit plus 1; 0 for what is none. */
static const uint8_t digit[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* The unit of a `\uXXXX` at `in`; false when it is none. */
static bool read_unit(const char *in, const char *end, uint32_t *out)
{
    if (end - in < 6 || in[0] != '\\' || in[1] != 'u')
        return false;
    uint32_t value = 0;
    for (int i = 2; i < 6; i++) {
        uint32_t nibble = digit[(uint8_t)in[i]];
        if (!nibble)
            return false;
        value = value << 4 | (nibble - 1);
    }
    *out = value;
    return true;
}

static char *write_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = (char)(0xE0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    } else {
        *out++ = (char)(0xF0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    }
    return out;
}

/* One or two units, from *in on. */
static bool unescape_unicode(const char **in, const char *end, char **out)
{
    uint32_t code, low;
    if (!read_unit(*in, end, &code))
        return false;
    *in += 6;
    if (code >= 0xD800 && code < 0xDC00 && read_unit(*in, end, &low) && low >= 0xDC00 &&
        low < 0xE000) {
        *in += 6;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code >= 0xD800 && code < 0xE000)
        code = 0xFFFD;
    *out = write_utf8(*out, code);
    return true;
}

/* What a backslash at *in begins. */
static inline bool unescape_one(const char **in, const char *end, char **out)
{
    char plain = *in + 1 < end ? simple[(uint8_t)(*in)[1]] : '\0';
    if (!plain)
        return unescape_unicode(in, end, out);
    *(*out)++ = plain;
    *in += 2;
    return true;
}

enum { CHUNK = 64 };

/* Bit i: whether byte i of a chunk is a backslash. */
static inline uint64_t find_backslashes(const char *in)
{
    uint64_t found = 0;
#ifdef __SSE2__
    const __m128i backslash = _mm_set1_epi8('\\');
    for (int i = 0; i < CHUNK; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(in + i));
        uint64_t mask = (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, backslash));
        found |= mask << i;
    }
#else
    for (int i = 0; i < CHUNK; i++)
        found |= (uint64_t)(in[i] == '\\') << i;
#endif
    return found;
}

/* Decode chunk by chunk while there are two: whole chunks are copied, and what is too much is
 * written over. Chunks are found whatever is in them, so that one need not wait for the other. */
static bool unescape_chunks(const char **in, const char *end, char **out)
{
    while (end - *in >= 2 * CHUNK) {
        const char *at = *in;
        uint64_t left = find_backslashes(at);
        while (left) {
            const char *escape = *in + __builtin_ctzll(left);
            memcpy(*out, at, CHUNK);
            *out += escape - at;
            at = escape;
            if (!unescape_one(&at, end, out))
                return false;
            left = at - *in < CHUNK ? left & ~UINT64_C(0) << (at - *in) : 0;
        }
        ptrdiff_t rest = CHUNK - (at - *in);
        if (rest > 0) {
            memcpy(*out, at, CHUNK);
            *out += rest;
            at += rest;
        }
        *in = at;
    }
    return true;
}

/* Up to the next escape, and past it. */
static bool unescape_run(const char **in, const char *end, char **out)
{
    const char *escape = memchr(*in, '\\', (size_t)(end - *in));
    size_t run = (size_t)((escape ? escape : end) - *in);
    memcpy(*out, *in, run);
    *out += run;
    *in += run;
    return !escape || unescape_one(in, end, out);
}

static bool unescape_rest(const char **in, const char *end, char **out)
{
    while (*in < end)
        if (!unescape_run(in, end, out))
            return false;
    return true;
}

static bool unescape_portable(const char **in, const char *end, char **out)
{
    return unescape_chunks(in, end, out) && unescape_rest(in, end, out);
}

#if defined(__x86_64__)
static bool unescape_avx512(const char **in, const char *end, char **out)
{
    while (*in < end) {
        unescape_simple_avx512(simple, in, end, out);
        if (*in < end && !unescape_one(in, end, out))
            return false;
    }
    return true;
}

static bool unescape_avx2(const char **in, const char *end, char **out)
{
    while (end - *in >= CHUNK) {
        unescape_simple_avx2(in, end, out);
        if (end - *in >= CHUNK && !unescape_one(in, end, out))
            return false;
    }
    return unescape_rest(in, end, out);
}
#endif

static bool unescape_best(const char **in, const char *end, char **out)
{
#if defined(__x86_64__)
    if (cpu_flags() & CPU_AVX512_VBMI2)
        return unescape_avx512(in, end, out);
    if (cpu_flags() & CPU_AVX2)
        return unescape_avx2(in, end, out);
#endif
    return unescape_portable(in, end, out);
}

bool json_unescape(const char *in, size_t size, char *out, size_t *out_size)
{
    char *begin = out;
    bool fine = unescape_best(&in, in + size, &out);
    if (fine)
        *out_size = (size_t)(out - begin);
    return fine;
}

bool json_has_half_surrogate(const char *token, size_t size)
{
    const char *end = token + size;
    while ((token = memchr(token, '\\', (size_t)(end - token)))) {
        uint32_t code, low;
        if (!read_unit(token, end, &code)) {
            token += end - token < 2 ? 1 : 2;
            continue;
        }
        token += 6;
        if (code < 0xD800 || code >= 0xE000)
            continue;
        if (code >= 0xDC00 || !read_unit(token, end, &low) || low < 0xDC00 || low >= 0xE000)
            return true;
        token += 6;
    }
    return false;
}
