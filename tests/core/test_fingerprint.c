/* Fingerprints: made, written, read back; cut short and changed at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <doppel/core.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 12, MUTANTS = 20000 };

static uint64_t random64(void)
{
    uint64_t value = 0;
    for (int i = 0; i < 5; i++)
        value = value << 15 ^ (uint64_t)(rand() & 0x7fff);
    return value;
}

static struct doppel_fingerprint make(uint16_t code_bits, uint32_t count)
{
    struct doppel_fingerprint made;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    assert_int_equal(doppel_fingerprint_make(scheme, code_bits, count, &made, NULL), DOPPEL_OK);
    uint32_t position = 0;
    for (uint32_t i = 0; i < count; i++) {
        made.positions[i] = position += (uint32_t)(rand() % 3);
        for (unsigned word = 0; word < (code_bits + 63u) / 64; word++)
            made.codes[i].word[word] = code_bits == 32 ? random64() & UINT32_MAX : random64();
    }
    return made;
}

static uint8_t *write_new(const struct doppel_fingerprint *fingerprint, size_t *out_size)
{
    *out_size = doppel_fingerprint_size(fingerprint);
    uint8_t *bytes = malloc(*out_size); /* exactly: a write beyond it is found by the sanitizer */
    doppel_fingerprint_write(fingerprint, bytes);
    return bytes;
}

static void test_made_empty(void **state)
{
    (void)state;
    struct doppel_fingerprint made;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PDQ);
    assert_int_equal(doppel_fingerprint_make(scheme, 256, 3, &made, NULL), DOPPEL_OK);
    assert_int_equal(made.scheme, DOPPEL_SCHEME_PDQ);
    assert_int_equal(made.version, scheme->version);
    assert_int_equal(made.code_bits, 256);
    assert_int_equal(made.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(made.positions[i], 0);
        for (int word = 0; word < 4; word++)
            assert_true(made.codes[i].word[word] == 0);
    }
    doppel_fingerprint_free(&made);
    assert_null(made.codes);
    doppel_fingerprint_free(&made);

    struct doppel_fingerprint untouched = {.count = 77};
    const uint16_t wrong[] = {0, 1, 16, 33, 65, 96, 320, 65472};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(doppel_fingerprint_make(scheme, wrong[i], 1, &untouched, NULL),
                         DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_fingerprint_make(scheme, 64, UINT32_MAX, &untouched, NULL),
                     DOPPEL_E_ARGUMENT);
    assert_int_equal(untouched.count, 77);
}

/* The bytes as docs/formats.md gives them. */
static void test_bytes(void **state)
{
    (void)state;
    uint64_t words[4] = {UINT64_C(0x0102030405060708), 0, 0, 0};
    struct doppel_code codes[2] = {{{words[0]}}, {{UINT64_C(0xf0)}}};
    uint32_t positions[2] = {1, 0x01020304};
    const struct doppel_fingerprint fingerprint = {
        DOPPEL_SCHEME_PHASH64, 0x0203, 64, 2, codes, positions};
    static const uint8_t expected[] = {
        1, 0, 3, 2, 64, 0, 0, 0, 2,    0, 0, 0,             /* header */
        1, 0, 0, 0, 4,  3, 2, 1,                            /* positions */
        8, 7, 6, 5, 4,  3, 2, 1, 0xf0, 0, 0, 0, 0, 0, 0, 0, /* codes */
    };
    size_t size;
    uint8_t *bytes = write_new(&fingerprint, &size);
    assert_int_equal(size, sizeof expected);
    assert_memory_equal(bytes, expected, size);
    free(bytes);
}

static void test_there_and_back(void **state)
{
    (void)state;
    static const uint16_t widths[] = {32, 64, 128, 192, 256};
    for (size_t width = 0; width < sizeof widths / sizeof *widths; width++)
        for (uint32_t count = 0; count < 20; count++) {
            uint16_t code_bits = widths[width];
            struct doppel_fingerprint made = make(code_bits, count), read;
            size_t size;
            uint8_t *bytes = write_new(&made, &size);
            assert_int_equal(doppel_fingerprint_read(bytes, size, &read, NULL), DOPPEL_OK);
            assert_int_equal(read.scheme, made.scheme);
            assert_int_equal(read.version, made.version);
            assert_int_equal(read.code_bits, code_bits);
            assert_int_equal(read.count, count);
            if (count) {
                assert_memory_equal(read.positions, made.positions, count * sizeof(uint32_t));
                assert_memory_equal(read.codes, made.codes, count * sizeof *made.codes);
            }
            doppel_fingerprint_free(&read);
            doppel_fingerprint_free(&made);
            free(bytes);
        }
}

static enum doppel_status read_exactly(const uint8_t *bytes, size_t size,
                                       struct doppel_fingerprint *out)
{
    uint8_t *copy = malloc(size ? size : 1); /* a read beyond it is found by the sanitizer */
    memcpy(copy, bytes, size);
    enum doppel_status status = doppel_fingerprint_read(copy, size, out, NULL);
    free(copy);
    return status;
}

static void test_cut_short_or_too_long(void **state)
{
    (void)state;
    struct doppel_fingerprint made = make(256, 3), read = {.count = 77};
    size_t size = doppel_fingerprint_size(&made);
    uint8_t *bytes = calloc(1, size + 1);
    doppel_fingerprint_write(&made, bytes);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(read_exactly(bytes, cut, &read), DOPPEL_E_CORRUPT);
    assert_int_equal(read_exactly(bytes, size + 1, &read), DOPPEL_E_CORRUPT);
    assert_int_equal(read.count, 77);
    doppel_fingerprint_free(&made);
    free(bytes);
}

static void test_positions_must_ascend(void **state)
{
    (void)state;
    struct doppel_fingerprint made = make(64, 4), read;
    for (uint32_t i = 0; i < 4; i++)
        made.positions[i] = 5;
    size_t size;
    uint8_t *bytes = write_new(&made, &size);
    assert_int_equal(doppel_fingerprint_read(bytes, size, &read, NULL), DOPPEL_OK);
    doppel_fingerprint_free(&read);
    bytes[HEADER + 12] = 4;
    assert_int_equal(doppel_fingerprint_read(bytes, size, &read, NULL), DOPPEL_E_CORRUPT);
    doppel_fingerprint_free(&made);
    free(bytes);
}

/* A huge count must not be believed: neither its memory nor its bytes. */
static void test_a_lying_count(void **state)
{
    (void)state;
    static const uint32_t lies[] = {1,          1u << 24,   (1u << 24) + 1,
                                    UINT32_MAX, 0x15555556, 0x80000000};
    struct doppel_fingerprint read;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        uint8_t bytes[HEADER] = {1, 0, 1, 0, 64, 0, 0, 0};
        for (int byte = 0; byte < 4; byte++)
            bytes[8 + byte] = (uint8_t)(lies[i] >> 8 * byte);
        assert_int_equal(read_exactly(bytes, sizeof bytes, &read), DOPPEL_E_CORRUPT);
    }
}

/* Whatever the bytes: they are refused, or they are exactly what the fingerprint read is written
 * as. */
static void test_any_bytes(void **state)
{
    (void)state;
    int accepted = 0;
    for (int i = 0; i < MUTANTS; i++) {
        struct doppel_fingerprint made = make((uint16_t)(64 * (1 + rand() % 4)),
                                              (uint32_t)(rand() % 5)),
                                  read;
        size_t size;
        uint8_t *bytes = write_new(&made, &size);
        doppel_fingerprint_free(&made);
        for (int changes = rand() % 4; changes > 0; changes--)
            bytes[(size_t)rand() % size] = (uint8_t)(rand() % 2 ? rand() : rand() % 5);
        if (!doppel_fingerprint_read(bytes, size, &read, NULL)) {
            size_t again_size;
            uint8_t *again = write_new(&read, &again_size);
            assert_int_equal(again_size, size);
            assert_memory_equal(again, bytes, size);
            free(again);
            doppel_fingerprint_free(&read);
            accepted++;
        }
        free(bytes);
    }
    assert_in_range(accepted, MUTANTS / 10, MUTANTS * 9 / 10); /* both ways are gone */
}

static uint32_t slow_distance(const struct doppel_code *a, const struct doppel_code *b,
                              uint32_t bits)
{
    uint32_t distance = 0;
    for (uint32_t bit = 0; bit < bits; bit++)
        distance += (a->word[bit / 64] >> bit % 64 & 1) != (b->word[bit / 64] >> bit % 64 & 1);
    return distance;
}

static void test_distance(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct doppel_code a, b;
        for (int word = 0; word < 4; word++) {
            a.word[word] = random64();
            b.word[word] = rand() % 2 ? random64() : a.word[word] ^ UINT64_C(1) << rand() % 64;
        }
        for (uint32_t bits = 64; bits <= 256; bits += 64) {
            assert_int_equal(doppel_code_distance(&a, &b, bits), slow_distance(&a, &b, bits));
            assert_int_equal(doppel_code_distance(&a, &a, bits), 0);
            const struct doppel_code other = {{~a.word[0], ~a.word[1], ~a.word[2], ~a.word[3]}};
            assert_int_equal(doppel_code_distance(&a, &other, bits), bits);
        }
    }
}

int main(void)
{
    srand(4711);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_empty),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_cut_short_or_too_long),
        cmocka_unit_test(test_positions_must_ascend),
        cmocka_unit_test(test_a_lying_count),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
