/* Segments with damage in every place, of earlier versions, and cut while they are open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/digest.h"
#include "index/codes.h"
#include "index/segments.h"

/* ---- damage ---- */

static uint8_t *read_whole(size_t *out_bytes)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    uint8_t *bytes = malloc((size_t)about.st_size);
    int fd = open(path, O_RDONLY);
    assert_true(bytes && fd >= 0);
    assert_int_equal(read(fd, bytes, (size_t)about.st_size), about.st_size);
    close(fd);
    *out_bytes = (size_t)about.st_size;
    return bytes;
}

static void write_at(size_t at, const void *bytes, size_t count)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, count, (off_t)at), count);
    close(fd);
}

/* What opening and reading it all comes to. */
static enum doppel_status outcome(void)
{
    struct segment *segment = NULL;
    struct doppel_error error = {0};
    enum doppel_status status = segment_open(path, &segment, &error);
    if (!status) {
        bool whole = is_whole(segment);
        status = segment_damage(segment, &error);
        assert_true(whole || status);
        enum doppel_status again = segment_verify(segment, NULL);
        assert_true(status == DOPPEL_OK || again == status);
        status = again;
    }
    assert_true(!status || strstr(error.message, path) || error.status == DOPPEL_OK);
    segment_release(segment);
    return status;
}

static void test_every_flipped_byte_is_found(void **state)
{
    (void)state;
    segment_release(make_segment(path, false));
    size_t size;
    uint8_t *bytes = read_whole(&size);
    uint64_t seed = 5;
    for (size_t i = 0; i < size; i += i < HEADER ? 1 : 1 + random_word(&seed) % 997) {
        uint8_t flipped = bytes[i] ^ (uint8_t)(1u << random_word(&seed) % 8);
        write_at(i, &flipped, 1);
        assert_int_equal(outcome(), i < 8 ? DOPPEL_E_FORMAT : DOPPEL_E_CORRUPT);
        write_at(i, bytes + i, 1);
    }
    assert_int_equal(outcome(), DOPPEL_OK);
    free(bytes);
}

/* A header that is whole but lies: the sum is made anew. */
static void forge(uint8_t *header, size_t at, uint64_t value, size_t bytes)
{
    uint8_t forged[HEADER];
    memcpy(forged, header, HEADER);
    uint8_t number[8];
    put_u64(number, value);
    memcpy(forged + at, number, bytes);
    put_u64(forged + HEADER_SUM, checksum64(forged, HEADER_SUM));
    write_at(0, forged, HEADER);
}

static void test_headers_that_lie(void **state)
{
    (void)state;
    static const uint64_t lies[] = {
        0,         1, 4097, 200001, 1u << 30, UINT64_C(1) << 47, UINT64_MAX / 8, UINT64_MAX - 4096,
        UINT64_MAX};
    segment_release(make_segment(path, false));
    size_t size;
    uint8_t *bytes = read_whole(&size);
    forge(bytes, 8, 4, 4);
    assert_int_equal(outcome(), DOPPEL_E_VERSION);
    for (size_t at = 16; at < 40; at += 8)
        for (size_t i = at == 24 ? 2 : 0; i < sizeof lies / sizeof *lies; i++) {
            forge(bytes, at, lies[i], 8);
            assert_int_equal(outcome(), DOPPEL_E_CORRUPT);
        }
    for (size_t part = 0; part < SEGMENT_PARTS_MAX; part++)
        for (size_t i = 2; i < sizeof lies / sizeof *lies; i++) {
            forge(bytes, 64 + 8 * (SEGMENT_PARAMETERS + part), lies[i], 8);
            uint64_t real = part % 2 || part / 2 >= PARTS ? 0 : part_bytes[part / 2];
            if ((lies[i] + 63) / 4096 != (real + 63) / 4096) /* else there is room for it */
                assert_int_equal(outcome(), DOPPEL_E_CORRUPT);
        }
    write_at(0, bytes, HEADER);
    assert_int_equal(outcome(), DOPPEL_OK);
    free(bytes);
}

static void test_other_files(void **state)
{
    (void)state;
    struct segment *segment = NULL;
    assert_int_equal(segment_open(folder, &segment, NULL), DOPPEL_E_FORMAT);
    assert_int_equal(segment_open("/dev/null", &segment, NULL), DOPPEL_E_FORMAT);
    unlink(path);
    assert_int_equal(segment_open(path, &segment, NULL), DOPPEL_E_NOT_FOUND);
    assert_null(segment);
}

/* ---- versions 1 and 2: without checksums of the checksums, and of 64 KiB ---- */

static size_t padded(size_t bytes)
{
    return (bytes + 64 + 4095) / 4096 * 4096;
}

/* Where the checksums of a file begin. */
static size_t sums_of(size_t size)
{
    size_t sums = 4096, first = padded(sums / BLOCK * 8);
    while (sums + first + padded(first / BLOCK * 8) < size) {
        sums += 4096;
        first = padded(sums / BLOCK * 8);
    }
    return sums;
}

static void check_old_version(uint32_t version, size_t block)
{
    segment_release(make_segment(path, false));
    size_t size;
    uint8_t *bytes = read_whole(&size), header[HEADER];
    const size_t sums = sums_of(size), blocks = (sums + block - 1) / block;
    memcpy(header, bytes, HEADER);
    memset(bytes + sums, 0, size - sums);
    for (size_t b = 0; b < blocks; b++) {
        size_t start = b ? b * block : HEADER, end = (b + 1) * block;
        end = end < sums ? end : sums;
        put_u64(bytes + sums + 8 * b, checksum64(bytes + start, end - start));
    }
    const size_t old_size = sums + padded(8 * blocks);
    write_at(0, bytes, size);
    assert_int_equal(truncate(path, (off_t)old_size), 0);
    put_u64(header + 16, old_size);
    put_u64(header + 32, checksum64(bytes + sums, old_size - sums));
    forge(header, 8, version, 4);
    assert_int_equal(outcome(), DOPPEL_OK);
    for (size_t at = HEADER; at < old_size; at += 1000) {
        uint8_t changed = bytes[at] ^ 1;
        write_at(at, &changed, 1);
        assert_int_equal(outcome(), DOPPEL_E_CORRUPT);
        write_at(at, bytes + at, 1);
    }
    assert_int_equal(outcome(), DOPPEL_OK);
    free(bytes);
}

static void test_old_versions(void **state)
{
    (void)state;
    check_old_version(1, 64 << 10);
    check_old_version(2, BLOCK);
}

/* ---- cut files ---- */

static void test_cut_before(void **state)
{
    (void)state;
    use_our_handler();
    segment_release(make_segment(path, false));
    size_t size;
    uint8_t *bytes = read_whole(&size);
    for (size_t length = size; length-- > 0; length -= length > 5000 ? length % 4001 : 0) {
        assert_int_equal(truncate(path, (off_t)length), 0);
        assert_int_equal(outcome(), DOPPEL_E_CORRUPT);
        if (length < 16)
            length = length / 2;
    }
    write_at(0, bytes, size);
    assert_int_equal(truncate(path, (off_t)size + 1), 0);
    assert_int_equal(outcome(), DOPPEL_E_CORRUPT);
    free(bytes);
    unlink(path);
}

static void test_cut_after(void **state)
{
    (void)state;
    use_our_handler();
    for (size_t length = 0; length < 215000; length += 3771) {
        segment_release(make_segment(path, false));
        struct segment *segment;
        assert_int_equal(segment_open(path, &segment, NULL), DOPPEL_OK);
        if (length % 2) /* also what was read before */
            assert_true(is_whole(segment));
        assert_int_equal(truncate(path, (off_t)length), 0);
        if (length < 200000) {
            assert_false(is_whole(segment));
            assert_int_equal(segment_damage(segment, NULL), DOPPEL_E_CORRUPT);
        }
        assert_int_equal(segment_verify(segment, NULL), DOPPEL_E_CORRUPT);
        segment_release(segment);
        unlink(path);
    }
}

/* The file under a segment that is being filled is cut: sealing says so. */
static void test_cut_while_filled(void **state)
{
    (void)state;
    use_our_handler();
    struct segment_plan plan = plan_of(part_bytes);
    struct segment_target target = {.path = path};
    struct segment *segment;
    assert_int_equal(segment_create(&plan, &target, &segment, NULL), DOPPEL_OK);
    assert_int_equal(truncate(temporary, 8192), 0);
    memset(segment_fill(segment, 2), 1, part_bytes[1]);
    assert_int_equal(segment_seal(segment, NULL), DOPPEL_E_IO);
    segment_release(segment);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(temporary, F_OK), -1);
}

static void send_the_signal(void)
{
    raise(SIGBUS);
}

static void test_the_handler_before_is_called(void **state)
{
    (void)state;
    assert_int_equal(end_with_a_handler_before, 4);
}

static void test_other_faults_still_kill(void **state)
{
    (void)state;
    use_our_handler();
    segment_release(make_segment(path, false)); /* the handler is there */
#if !defined(__SANITIZE_ADDRESS__)              /* which has a handler of its own */
    assert_int_equal(end_of_child(read_another_cut_file), 1000 + SIGBUS);
    assert_int_equal(end_of_child(send_the_signal), 1000 + SIGBUS);
#else
    assert_int_not_equal(end_of_child(read_another_cut_file), 0);
    assert_int_not_equal(end_of_child(send_the_signal), 0);
#endif
    unlink(path);
}

/* Several at once, some cut: each is marked by itself. */
static void test_two_are_told_apart(void **state)
{
    (void)state;
    use_our_handler();
    char other[80];
    snprintf(other, sizeof other, "%s/two", folder);
    for (unsigned round = 0; round < 10; round++) {
        segment_release(make_segment(path, false));
        segment_release(make_segment(other, false));
        struct segment *one, *two;
        assert_int_equal(segment_open(path, &one, NULL), DOPPEL_OK);
        assert_int_equal(segment_open(other, &two, NULL), DOPPEL_OK);
        assert_int_equal(truncate(round % 2 ? path : other, 4096), 0);
        struct segment *cut = round % 2 ? one : two, *whole = round % 2 ? two : one;
        assert_false(is_whole(cut));
        assert_true(is_whole(whole));
        assert_int_equal(segment_damage(cut, NULL), DOPPEL_E_CORRUPT);
        assert_int_equal(segment_damage(whole, NULL), DOPPEL_OK);
        segment_release(one);
        segment_release(two);
        unlink(other);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_handler_before_is_called),
        cmocka_unit_test(test_every_flipped_byte_is_found),
        cmocka_unit_test(test_headers_that_lie),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_old_versions),
        cmocka_unit_test(test_cut_before),
        cmocka_unit_test(test_cut_after),
        cmocka_unit_test(test_cut_while_filled),
        cmocka_unit_test(test_other_faults_still_kill),
        cmocka_unit_test(test_two_are_told_apart),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
