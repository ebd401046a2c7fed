/* Digests against those of xxh128sum; hex; codes as hex. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <doppel/core.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/checksum_kernels.h"
#include "core/cpu.h"
#include "core/digest.h"

enum { LONGEST = 1000000 };

/* Byte i of the input is (7 i + 3) mod 256. */
static void fill(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 7 + 3);
}

/* Printed by xxh128sum 0.8.1 of files of these sizes: each a different way through XXH3, the last
 * two more than one read. */
static const struct {
    size_t size;
    const char *digest;
} vectors[] = {
    {0, "99aa06d3014798d86001c324468d497f"},       {9, "c72c88247a9a56d7eafab1c7f123109f"},
    {17, "bfd327edcc2fbd12eeed7654312a26d7"},      {130, "a3324467454ada510e2404a4e85ff025"},
    {241, "ac6c3492c3d6b45d8beadd3a8874fe17"},     {262144, "e8d5f4c38282cccfbb242521d241d721"},
    {LONGEST, "0e8e6fe1a1638b080a8b9cfcd629bb97"},
};

enum { VECTORS = sizeof vectors / sizeof *vectors };

static void assert_digest(const struct doppel_digest *digest, const char *expected)
{
    char text[33];
    doppel_hex_encode(digest->bytes, sizeof digest->bytes, text);
    assert_string_equal(text, expected);
}

static void test_digests_of_bytes(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(LONGEST);
    fill(bytes, LONGEST);
    for (size_t i = 0; i < VECTORS; i++) {
        struct doppel_digest digest = doppel_digest_bytes(bytes, vectors[i].size);
        assert_digest(&digest, vectors[i].digest);
    }
    struct doppel_digest fox =
        doppel_digest_bytes("The quick brown fox jumps over the lazy dog", 43);
    assert_digest(&fox, "ddd650205ca3e7fa24a1cc2e3a8a7651");
    free(bytes);
}

/* Of each length up to some stripes, and of blocks, at odd places. */
static void test_checksum_kernels(void **state)
{
    enum { SHORT = 1100, ALL = 3 * 4096 };
    uint8_t bytes[ALL];
    (void)state;
    fill(bytes, ALL);
    for (size_t size = 0; size <= ALL - 7; size += size < SHORT ? 1 : 1021) {
        const uint64_t sum = checksum64_portable(bytes + size % 7, size);
        assert_int_equal(checksum64(bytes + size % 7, size), sum);
#if defined(__x86_64__)
        if (cpu_flags() & CPU_AVX2)
            assert_int_equal(checksum64_avx2(bytes + size % 7, size), sum);
        if (cpu_flags() & CPU_AVX512_POPCNT)
            assert_int_equal(checksum64_avx512(bytes + size % 7, size), sum);
#endif
    }
}

/* On every processor that this one can be. */
static void test_digests_of_files(void **state)
{
    static const uint32_t masks[] = {0, CPU_AVX2, UINT32_MAX};
    (void)state;
    uint8_t *bytes = malloc(LONGEST);
    fill(bytes, LONGEST);
    FILE *file = tmpfile();
    assert_non_null(file);
    int fd = fileno(file);
    for (size_t turn = 0; turn < 3 * VECTORS; turn++) {
        const size_t i = turn % VECTORS;
        struct doppel_digest digest;
        uint64_t size = 99;
        cpu_mask(masks[turn / VECTORS]);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, bytes, vectors[i].size, 0), vectors[i].size);
        assert_int_equal(lseek(fd, 5, SEEK_SET), 5);
        assert_int_equal(doppel_digest_fd(fd, &digest, &size, NULL), DOPPEL_OK);
        assert_digest(&digest, vectors[i].digest);
        assert_int_equal(size, vectors[i].size);
        assert_int_equal(lseek(fd, 0, SEEK_CUR), 5);
        assert_int_equal(doppel_digest_fd(fd, &digest, NULL, NULL), DOPPEL_OK);
    }
    fclose(file);
    free(bytes);
}

static void test_what_cannot_be_read(void **state)
{
    (void)state;
    struct doppel_digest digest = {{1, 2, 3}}, before = digest;
    struct doppel_error error = {0};
    uint64_t size = 99;
    int directory = open("/", O_RDONLY | O_DIRECTORY);
    assert_int_equal(doppel_digest_fd(directory, &digest, &size, &error), DOPPEL_E_IO);
    close(directory);
    assert_true(strlen(error.message) > 0);
    assert_int_equal(doppel_digest_fd(-1, &digest, &size, &error), DOPPEL_E_IO);
    assert_memory_equal(&digest, &before, sizeof digest);
    assert_int_equal(size, 99);
}

static void test_hex_there_and_back(void **state)
{
    (void)state;
    uint8_t bytes[256], back[256];
    char text[513], upper[513];
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    doppel_hex_encode(bytes, sizeof bytes, text);
    for (int i = 0; i < 256; i++) {
        char expected[3];
        snprintf(expected, sizeof expected, "%02x", (unsigned)i);
        assert_memory_equal(text + 2 * i, expected, 2);
    }
    assert_int_equal(doppel_hex_decode(text, back, sizeof back), DOPPEL_OK);
    assert_memory_equal(back, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof text; i++)
        upper[i] = (char)(text[i] >= 'a' ? text[i] - 'a' + 'A' : text[i]);
    memset(back, 0, sizeof back);
    assert_int_equal(doppel_hex_decode(upper, back, sizeof back), DOPPEL_OK);
    assert_memory_equal(back, bytes, sizeof bytes);
    assert_int_equal(doppel_hex_decode("", back, 0), DOPPEL_OK);
}

/* Of all characters, 22 are hex digits. */
static void test_what_is_no_hex(void **state)
{
    (void)state;
    uint8_t byte = 7;
    int digits = 0;
    for (int c = 1; c < 256; c++) {
        const char first[] = {(char)c, '0', '\0'}, second[] = {'0', (char)c, '\0'};
        byte = 7;
        enum doppel_status status = doppel_hex_decode(first, &byte, 1);
        assert_int_equal(doppel_hex_decode(second, &byte, 1), status);
        digits += !status;
        if (status)
            assert_int_equal(byte, 7);
    }
    assert_int_equal(digits, 22);
    assert_int_equal(doppel_hex_decode("0", &byte, 1), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_hex_decode("000", &byte, 1), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_hex_decode("0x", &byte, 1), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_hex_decode("", &byte, 1), DOPPEL_E_ARGUMENT);
}

static void test_codes_as_hex(void **state)
{
    (void)state;
    const struct doppel_code code = {{UINT64_C(0x8000000000000001), UINT64_C(0x0123456789abcdef), 0,
                                      UINT64_C(0xfedcba9876543210)}};
    static const char whole[] = "80000000000000010123456789abcdef0000000000000000fedcba9876543210";
    char text[65];
    struct doppel_code back;
    for (uint32_t bits = 64; bits <= 256; bits += 64) {
        doppel_code_to_hex(&code, bits, text);
        assert_int_equal(strlen(text), bits / 4);
        assert_memory_equal(text, whole, bits / 4);
        memset(&back, 0xff, sizeof back);
        assert_int_equal(doppel_code_from_hex(text, bits, &back), DOPPEL_OK);
        for (uint32_t word = 0; word < 4; word++)
            assert_true(back.word[word] == (word < bits / 64 ? code.word[word] : 0));
        assert_int_equal(doppel_code_from_hex(text, bits + 64, &back), DOPPEL_E_ARGUMENT);
        assert_int_equal(doppel_code_from_hex(text, bits - 64, &back), DOPPEL_E_ARGUMENT);
    }
    assert_int_equal(doppel_code_from_hex("", 0, &back), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_code_from_hex("8000000f", 32, &back), DOPPEL_OK);
    assert_true(back.word[0] == 0x8000000f && !back.word[1]);
    assert_int_equal(doppel_code_from_hex("0000", 16, &back), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_code_from_hex("800000000000000g", 64, &back), DOPPEL_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checksum_kernels),   cmocka_unit_test(test_digests_of_bytes),
        cmocka_unit_test(test_digests_of_files),   cmocka_unit_test(test_what_cannot_be_read),
        cmocka_unit_test(test_hex_there_and_back), cmocka_unit_test(test_what_is_no_hex),
        cmocka_unit_test(test_codes_as_hex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
