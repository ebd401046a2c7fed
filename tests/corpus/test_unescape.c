/* Escapes in JSON strings against a decoder that takes one byte at a time, on every processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cpu.h"
#include "corpus/read/unescape.h"
#include "files.h"

enum { MAX_SIZE = 400, TRIALS = 200000 };

static const char *const pieces[] = {
    "\\n",     "\\t",     "\\\"",      "\\\\",           "\\/",
    "\\u0041", "\\u00e9", "\\u20AC",   "\\ud83d\\ude00", "\\ud83d",
    "\\ude00", "\\",      "\\x",       "\\u12",          "\xc3\xa9",
    "\\\xc3",  "\\b\\f",  "\\r\\n\\n", "plain words ",   "a"};

/* With a backslash here and there, or in runs; what JSON does not know only in some. */
static size_t make_string(char *string, uint64_t *seed)
{
    size_t size = 0, limit = random_next(seed) % (MAX_SIZE - 20), sort = random_next(seed) % 4;
    while (size < limit) {
        size_t piece = random_next(seed) % (sizeof pieces / sizeof *pieces);
        bool odd = piece > 8 && piece != 14 && piece < 16;
        const char *bytes = odd && sort ? pieces[18] : pieces[piece];
        bytes = sort > 1 && random_next(seed) % 4 ? pieces[18 + piece % 2] : bytes;
        memcpy(string + size, bytes, strlen(bytes));
        size += strlen(bytes);
    }
    return size;
}

/* Four hex digits behind \u. */
static bool take_unit(const char *in, const char *end, unsigned *out)
{
    char digits[5] = {0};
    if (end - in < 6 || in[0] != '\\' || in[1] != 'u')
        return false;
    memcpy(digits, in + 2, 4);
    *out = (unsigned)strtoul(digits, NULL, 16);
    return strspn(digits, "0123456789abcdefABCDEF") == 4;
}

static size_t put_point(uint32_t point, char *out)
{
    size_t size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size; i-- > 1; point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)(leads[size] | point);
    return size;
}

static bool oracle(const char *in, size_t size, char *out, size_t *out_size)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *end = in + size;
    *out_size = 0;
    while (in < end) {
        unsigned unit, low;
        const char *letter = in + 1 < end && in[1] ? strchr(letters, in[1]) : NULL;
        if (*in != '\\') {
            out[(*out_size)++] = *in++;
        } else if (letter) {
            out[(*out_size)++] = meant[letter - letters];
            in += 2;
        } else if (!take_unit(in, end, &unit)) {
            return false;
        } else if (unit >> 10 == 0x36 && take_unit(in + 6, end, &low) && low >> 10 == 0x37) {
            *out_size +=
                put_point(0x10000 + ((unit & 0x3ff) << 10 | (low & 0x3ff)), out + *out_size);
            in += 12;
        } else {
            *out_size += put_point(unit >> 11 == 0x1b ? 0xfffd : unit, out + *out_size);
            in += 6;
        }
    }
    return true;
}

static void test_unescape(void **state)
{
    (void)state;
    static const uint32_t masks[] = {0, CPU_AVX2, UINT32_MAX};
    uint64_t seed = 5;
    size_t good = 0, bad = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        char string[MAX_SIZE], expected[MAX_SIZE];
        size_t size = make_string(string, &seed), expected_size;
        bool fine = oracle(string, size, expected, &expected_size);
        good += fine;
        bad += !fine;
        for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
            cpu_mask(masks[i]);
            char *in = malloc(size ? size : 1),
                 *out = malloc(size ? size : 1); /* no byte behind the end */
            assert_true(in && out);
            memcpy(in, string, size);
            size_t out_size = SIZE_MAX;
            assert_int_equal(fine, json_unescape(in, size, out, &out_size));
            assert_int_equal(fine ? expected_size : SIZE_MAX, out_size);
            assert_true(!fine || memcmp(expected, out, out_size) == 0);
            free(in);
            free(out);
        }
    }
    cpu_mask(UINT32_MAX);
    assert_true(good > TRIALS / 4 && bad > TRIALS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unescape)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
