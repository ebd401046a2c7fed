/* Files in memory, up to a limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/read_beginning.h"

static char folder[] = "/tmp/doppel-beginning-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void test_so_much_of_a_file(void **state)
{
    (void)state;
    static const struct {
        size_t most, read;
    } cases[] = {{0, 0}, {1, 1}, {3, 3}, {4, 4}, {5, 4}, {1 << 20, 4}};
    FILE *file = fopen(in_folder("f"), "w");
    assert_int_equal(fwrite("here", 1, 4, file), 4);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *bytes = NULL;
        size_t size = 77;
        assert_int_equal(read_file_beginning(in_folder("f"), cases[i].most, &bytes, &size, NULL),
                         DOPPEL_OK);
        assert_int_equal(size, cases[i].read);
        assert_memory_equal(bytes, "here", size);
        free(bytes);
    }
}

/* Of a file of /proc no size is known before. */
static void test_a_file_without_a_size(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t size = 0;
    assert_int_equal(read_file_beginning("/proc/self/status", 1 << 16, &bytes, &size, NULL),
                     DOPPEL_OK);
    assert_true(size > 10 && memcmp(bytes, "Name:", 5) == 0);
    free(bytes);
}

static void test_what_is_no_file(void **state)
{
    (void)state;
    struct doppel_error error;
    char untouched, *bytes = &untouched;
    size_t size = 77;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(read_file_beginning(in_folder("none"), 9, &bytes, &size, &error),
                     DOPPEL_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "/none: No such file"));
    assert_int_equal(read_file_beginning(in_folder("pipe"), 9, &bytes, &size, &error),
                     DOPPEL_E_FORMAT);
    assert_non_null(strstr(error.message, "no regular file"));
    assert_int_equal(read_file_beginning(folder, 9, &bytes, &size, &error), DOPPEL_E_FORMAT);
    assert_int_equal(read_file_beginning(in_folder("f/below"), 9, &bytes, &size, &error),
                     DOPPEL_E_IO);
    assert_true(bytes == &untouched && size == 77);
}

static int make_its_folder(void **state)
{
    (void)state;
    return !mkdtemp(folder);
}

static int remove_its_folder(void **state)
{
    (void)state;
    unlink(in_folder("f"));
    unlink(in_folder("pipe"));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_so_much_of_a_file),
        cmocka_unit_test(test_a_file_without_a_size),
        cmocka_unit_test(test_what_is_no_file),
    };
    return cmocka_run_group_tests(tests, make_its_folder, remove_its_folder);
}
