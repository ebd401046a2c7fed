/* Paths that are longer than the kernel takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/open_deep.h"

enum { FOLDERS = 60, NAME = 200 };

static char top[] = "/tmp/doppel-open-XXXXXX", command[64];

/* A folder within a folder, and so on, and in the last one a file "f" that says "here".
 * @return the path of the last one, given */
static char *make_deep(void)
{
    char name[NAME + 1];
    char *path = malloc(sizeof top + FOLDERS * (NAME + 2) + 16);
    memset(name, 'd', NAME);
    name[NAME] = '\0';
    assert_non_null(mkdtemp(top));
    strcpy(path, top);
    int folder = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < FOLDERS; i++) {
        assert_int_equal(mkdirat(folder, name, 0700), 0);
        int next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(folder);
        folder = next;
        strcat(strcat(path, i % 3 ? "/" : "//"), name);
    }
    int file = openat(folder, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(file, "here", 4), 4);
    close(file);
    close(folder);
    return path;
}

static void expect_failure(const char *path, int reason)
{
    errno = 0;
    assert_int_equal(open_deep(path, O_RDONLY | O_CLOEXEC), -1);
    assert_int_equal(errno, reason);
}

static void test_paths_of_any_length(void **state)
{
    (void)state;
    char *path = make_deep(), *end = path + strlen(path), bytes[8] = "";
    int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(strlen(path) > 12000);
    strcpy(end, "/f");
    int fd = open_deep(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, bytes, sizeof bytes), 4);
    assert_string_equal(bytes, "here");
    close(fd);
    strcpy(end, "/f/f");
    expect_failure(path, ENOTDIR);
    strcpy(end, "/g");
    expect_failure(path, ENOENT);
    path[sizeof top + 5000] = 'e'; /* no such folder */
    expect_failure(path, ENOENT);
    memset(path, 'x', 5000); /* one name */
    expect_failure(path, ENAMETOOLONG);
    expect_failure("", ENOENT);
    int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(after, before + 1); /* nothing stays open */
    close(before);
    close(after);
    free(path);
}

static int remove_deep(void **state)
{
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_paths_of_any_length, remove_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
