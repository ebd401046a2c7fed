/* Files without a name, also where the file system has none of its own. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/files/nameless_file.h"

static bool refuses;

static int open_or_refuse(const char *path, int flags, mode_t mode)
{
    if (refuses && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* In place of libc's. */
#define OPENS(name)                                                                                \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode_t mode = va_arg(arguments, mode_t);                                                   \
        va_end(arguments);                                                                         \
        return open_or_refuse(path, flags, mode);                                                  \
    }
OPENS(open)
OPENS(open64)

static void check_file(void)
{
    char folder[] = "/tmp/doppel-nameless.XXXXXX", read[4] = "";
    struct stat status;
    assert_non_null(mkdtemp(folder));
    int fd = nameless_file(folder);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "abc", 3), 3);
    assert_int_equal(pread(fd, read, 3, 0), 3);
    assert_string_equal(read, "abc");
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_nlink, 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(rmdir(folder), 0); /* is empty */
    close(fd);
}

static void test_it_has_no_name(void **state)
{
    (void)state;
    refuses = false;
    check_file();
}

static void test_nor_where_there_is_no_such_kind(void **state)
{
    (void)state;
    refuses = true;
    check_file();
    assert_int_equal(nameless_file("/tmp/there-is-no-such-folder"), -1);
    assert_int_equal(errno, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_has_no_name),
        cmocka_unit_test(test_nor_where_there_is_no_such_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
