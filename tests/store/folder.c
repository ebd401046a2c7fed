/* Temporary folders for tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/store/folder.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

char *folder_make(void)
{
    const char *parent = getenv("TMPDIR");
    char name[4096];
    snprintf(name, sizeof name, "%s/doppel-test-XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(name));
    return strdup(name);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status, (void)type, (void)ftw;
    return remove(path);
}

void folder_remove(char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

int folder_set_up(void **state)
{
    *state = folder_make();
    return 0;
}

int folder_tear_down(void **state)
{
    folder_remove(*state);
    return 0;
}

const char *folder_path(const char *folder, const char *name)
{
    static char buffers[32][1024];
    static unsigned next;
    char *buffer = buffers[next++ % 32];
    snprintf(buffer, sizeof buffers[0], "%s/%s", folder, name);
    return buffer;
}

void folder_age(const char *path, int seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += seconds;
    const struct timespec times[2] = {now, now};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

void folder_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    folder_age(path, -3600);
}
