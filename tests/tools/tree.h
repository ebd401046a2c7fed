/* A folder made for a test, and taken away after it. */
#ifndef DOPPEL_TESTS_TREE_H
#define DOPPEL_TESTS_TREE_H

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree_root[64];
static char tree_before[4096];

static inline int tree_remove_one(const char *path, const struct stat *stat, int flag,
                                  struct FTW *ftw)
{
    (void)stat;
    (void)flag;
    (void)ftw;
    return remove(path);
}

/* cmocka's set-up and tear-down: the test runs in the new folder. */
static inline int tree_begin(void **state)
{
    (void)state;
    strcpy(tree_root, "/tmp/doppel-test-XXXXXX");
    return getcwd(tree_before, sizeof tree_before) && mkdtemp(tree_root) &&
                   chmod(tree_root, 0755) == 0 && chdir(tree_root) == 0
               ? 0
               : -1;
}

static inline int tree_end(void **state)
{
    (void)state;
    if (chdir(tree_before) != 0)
        return -1;
    return nftw(tree_root, tree_remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

/* A file of that content, and the folders on the way. */
static inline void tree_file(const char *path, const char *content)
{
    char folder[4096];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        assert_true(mkdir(folder, 0755) == 0 || errno == EEXIST);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#endif
