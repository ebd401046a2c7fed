/* Segments: made, sealed, opened, by several threads; a full disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/segments.h"

/* ---- made and opened ---- */

static void test_in_memory(void **state)
{
    (void)state;
    struct segment *segment = make_segment(NULL, false);
    struct segment *other = segment_retain(segment);
    segment_release(segment);
    assert_true(is_whole(other));
    assert_true(segment_bytes(other) >= 200000);
    assert_int_equal(other->unchecked, 0);
    assert_int_equal(segment_verify(other, NULL), DOPPEL_OK);
    segment_release(other);
    segment_release(NULL);
}

static void test_file(void **state)
{
    (void)state;
    for (int durable = 0; durable <= 1; durable++) {
        struct segment *segment = make_segment(path, durable);
        assert_true(is_whole(segment));
        assert_int_equal(access(temporary, F_OK), -1);
        struct stat about;
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_size, segment_bytes(segment));
        segment_release(segment);
        assert_int_equal(segment_open(path, &segment, NULL), DOPPEL_OK);
        assert_in_range(segment->unchecked, 200000 / BLOCK, (200000 + 8 * HEADER) / BLOCK);
        assert_true(is_whole(segment));
        assert_int_equal(segment_damage(segment, NULL), DOPPEL_OK);
        assert_int_equal(segment_verify(segment, NULL), DOPPEL_OK);
        assert_int_equal(segment->unchecked, 0);
        segment_release(segment);
    }
}

/* Whatever the order in which its blocks are touched. */
static void test_a_part_is_checked_once_all_of_it_is(void **state)
{
    (void)state;
    segment_release(make_segment(path, false));
    for (int descending = 0; descending <= 1; descending++) {
        struct segment *segment;
        assert_int_equal(segment_open(path, &segment, NULL), DOPPEL_OK);
        const uint8_t *part = segment->parts[2];
        const size_t blocks = (200000 + BLOCK - 1) / BLOCK;
        assert_true(segment_part_is_checked(segment, 1)); /* it is empty */
        for (size_t i = 0; i < blocks; i++) {
            assert_false(segment_part_is_checked(segment, 2));
            segment_touch(segment, part + (descending ? blocks - 1 - i : i) * BLOCK, 1);
        }
        assert_true(segment_part_is_checked(segment, 2));
        assert_false(segment_part_is_checked(segment, 0));
        assert_false(segment_part_is_checked(segment, 4));
        segment_release(segment);
    }
}

/* Advice to the system, and no more: whatever is wanted, at both ends, and of what has no file. */
static void test_wanted_ahead(void **state)
{
    struct segment *made = make_segment(path, false), *opened = NULL,
                   *memory = make_segment(NULL, false);
    (void)state;
    segment_release(made);
    assert_int_equal(segment_open(path, &opened, NULL), DOPPEL_OK);
    const struct segment *segments[] = {opened, memory};
    for (int i = 0; i < 2; i++) {
        for (unsigned part = 0; part < PARTS; part++) {
            const uint8_t *at = segments[i]->parts[2 * part];
            segment_want(segments[i], at, 0);
            segment_want(segments[i], at, part_bytes[part]);
            segment_want(segments[i], at + part_bytes[part] - 1, 1);
        }
        assert_true(is_whole(segments[i]));
        assert_true(segment_in_memory(segments[i], segments[i]->parts[2] + part_bytes[1] - 1));
        assert_int_equal(segment_damage(segments[i], NULL), DOPPEL_OK);
        segment_release((struct segment *)segments[i]);
    }
    unlink(path);
}

static bool is_over(void *context)
{
    int *left = context;
    return (*left)-- == 0;
}

/* It is there afterwards, unless that was ended; what has no file stays as it is. */
static void test_read_in(void **state)
{
    struct segment *made = make_segment(path, false), *opened = NULL,
                   *memory = make_segment(NULL, false);
    int never = -1, at_once = 0;
    (void)state;
    segment_release(made);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(fdatasync(fd), 0);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    assert_int_equal(segment_open(path, &opened, NULL), DOPPEL_OK);
    const uint8_t *last = opened->parts[2 * (PARTS - 1)] + part_bytes[PARTS - 1] - 1;
    segment_read_in(opened, is_over, &at_once);
    segment_read_in(opened, is_over, &never);
    assert_true(at_once < 0 && never < -1);
    assert_true(segment_in_memory(opened, last));
    assert_true(is_whole(opened));
    segment_read_in(opened, NULL, NULL);
    segment_read_in(memory, NULL, NULL);
    assert_true(is_whole(memory));
    close(fd);
    segment_release(opened);
    segment_release(memory);
    unlink(path);
}

static void test_an_unsealed_file_goes(void **state)
{
    (void)state;
    unlink(path);
    struct segment_plan plan = plan_of(part_bytes);
    struct segment_target target = {.path = path};
    struct segment *segment;
    assert_int_equal(segment_create(&plan, &target, &segment, NULL), DOPPEL_OK);
    assert_int_equal(access(temporary, F_OK), 0);
    segment_release(segment);
    assert_int_equal(access(temporary, F_OK), -1);
    assert_int_equal(segment_open(path, &segment, NULL), DOPPEL_E_NOT_FOUND);
}

static void test_empty_parts(void **state)
{
    (void)state;
    static const uint64_t none[PARTS] = {0};
    struct segment_plan plan = plan_of(none);
    for (int in_file = 0; in_file <= 1; in_file++) {
        struct segment_target target = {.path = in_file ? path : NULL};
        struct segment *segment;
        assert_int_equal(segment_create(&plan, &target, &segment, NULL), DOPPEL_OK);
        assert_int_equal(segment_seal(segment, NULL), DOPPEL_OK);
        volatile unsigned sum = 0;
        for (unsigned i = 0; i < SEGMENT_PARTS_MAX; i++)
            for (unsigned j = 0; j < 64; j++)
                sum += segment->parts[i][j]; /* it can be read */
        segment_release(segment);
    }
    struct segment *segment;
    assert_int_equal(segment_open(path, &segment, NULL), DOPPEL_OK);
    size_t count = 1;
    (void)segment_removed(segment, &count);
    assert_int_equal(count, 0);
    assert_int_equal(segment_verify(segment, NULL), DOPPEL_OK);
    segment_release(segment);
}

/* ---- no room ---- */

static void test_over_the_file_limit(void **state)
{
    (void)state;
    struct rlimit before, limit;
    unlink(path);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){100000, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct segment_plan plan = plan_of(part_bytes);
    struct segment_target target = {.path = path};
    struct segment *segment = NULL;
    struct doppel_error error = {0};
    enum doppel_status status = segment_create(&plan, &target, &segment, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, DOPPEL_E_IO);
    assert_non_null(strstr(error.message, path));
    assert_null(segment);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(temporary, F_OK), -1);
    sigset_t pending;
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGXFSZ));
}

static void test_more_than_the_disk_has(void **state)
{
    (void)state;
    static const uint64_t huge[PARTS] = {1, UINT64_C(1) << 46, 1};
    static const uint64_t beyond[PARTS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    struct segment_target target = {.path = path};
    struct segment *segment = NULL;
    struct segment_plan plan = plan_of(huge);
    assert_int_equal(segment_create(&plan, &target, &segment, NULL), DOPPEL_E_IO);
    plan = plan_of(beyond);
    assert_int_equal(segment_create(&plan, &target, &segment, NULL), DOPPEL_E_MEMORY);
    target.path = NULL;
    assert_int_equal(segment_create(&plan, &target, &segment, NULL), DOPPEL_E_MEMORY);
    target.path = "/nowhere/at/all";
    plan = plan_of(part_bytes);
    assert_int_equal(segment_create(&plan, &target, &segment, NULL), DOPPEL_E_IO);
    assert_null(segment);
    assert_int_equal(access(temporary, F_OK), -1);
}

/* ---- threads ---- */

static void *read_all(void *argument)
{
    return (void *)(uintptr_t)is_whole(argument);
}

static void test_threads_check_each_block_once(void **state)
{
    (void)state;
    enum { THREADS = 4, ROUNDS = 20 };
    segment_release(make_segment(path, false));
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct segment *segment;
        assert_int_equal(segment_open(path, &segment, NULL), DOPPEL_OK);
        pthread_t threads[THREADS];
        for (unsigned i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, read_all, segment), 0);
        for (unsigned i = 0; i < THREADS; i++) {
            void *whole;
            pthread_join(threads[i], &whole);
            assert_non_null(whole);
        }
        assert_int_equal(segment->unchecked, 0);
        segment_release(segment);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_memory),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_a_part_is_checked_once_all_of_it_is),
        cmocka_unit_test(test_wanted_ahead),
        cmocka_unit_test(test_read_in),
        cmocka_unit_test(test_an_unsealed_file_goes),
        cmocka_unit_test(test_empty_parts),
        cmocka_unit_test(test_over_the_file_limit),
        cmocka_unit_test(test_more_than_the_disk_has),
        cmocka_unit_test(test_threads_check_each_block_once),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
