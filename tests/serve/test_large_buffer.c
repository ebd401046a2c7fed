/* What a request held is kept as a file, or it is said that it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "serve/large_buffer.h"

/* ---- a disk that says at the end that it is full ---- */

static int close_reason; /* errno; 0: it closes as usual */

/* In place of the one of libc, in this program. */
int close(int fd)
{
    long closed = syscall(SYS_close, fd);
    if (!close_reason)
        return (int)closed;
    errno = close_reason;
    return -1;
}

/* ---- tests ---- */

struct saved_case {
    size_t size;
    int reason;
    enum doppel_status wanted;
};

static void save_one(const char *folder, const struct saved_case *one)
{
    struct large_buffer buffer = {0};
    char path[64], *bytes = calloc(1, one->size);
    assert_non_null(bytes);
    snprintf(path, sizeof path, "%s/a", folder);
    assert_int_equal(large_buffer_append(&buffer, bytes, one->size, folder, NULL), DOPPEL_OK);
    close_reason = one->reason;
    enum doppel_status status = large_buffer_save(&buffer, path, false, NULL);
    close_reason = 0;
    assert_int_equal(status, one->wanted);
    large_buffer_free(&buffer);
    free(bytes);
    (void)unlink(path);
}

static void says_what_was_not_kept(void **state)
{
    (void)state;
    static const struct saved_case cases[] = {
        {10, 0, DOPPEL_OK},
        {LARGE_BUFFER_MEMORY + 1, 0, DOPPEL_OK},
        {10, ENOSPC, DOPPEL_E_NO_SPACE},
        {LARGE_BUFFER_MEMORY + 1, EIO, DOPPEL_E_IO},
    };
    char folder[] = "/tmp/doppel-buffer.XXXXXX";
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        save_one(folder, &cases[i]);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_what_was_not_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
