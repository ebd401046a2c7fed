/* poppler and FreeType open the file of a font by its path each time that they draw with it. The
 * program's own open and fopen, which come before the C library's, answer from memory then. */
#include "worker/kept_fonts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_FONTS = 32 };

struct kept_font {
    char *path;
    void *bytes;
    size_t size;
};

static struct kept_font kept[MOST_FONTS];
static size_t kept_count;
static enum { FONTS_PASS, FONTS_KEEP, FONTS_HOLD } state;

void keep_fonts(void)
{
    state = FONTS_KEEP;
}

void hold_fonts(void)
{
    state = FONTS_HOLD;
}

static const struct kept_font *find_kept_font(const char *path)
{
    for (size_t i = 0; i < kept_count; i++)
        if (!strcmp(kept[i].path, path))
            return &kept[i];
    return NULL;
}

static bool is_font(const char *path)
{
    static const char *const ends[] = {".t1", ".pfb", ".pfa", ".otf", ".ttf", ".ttc", ".cff"};
    const char *end = strrchr(path, '.');
    for (size_t i = 0; end && i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(end, ends[i]))
            return true;
    return false;
}

/* One that is cut short meanwhile ends the worker. */
static void keep_font(const char *path, int fd)
{
    struct stat file;
    if (kept_count == MOST_FONTS || !is_font(path) || find_kept_font(path) || fstat(fd, &file) ||
        !S_ISREG(file.st_mode) || file.st_size < 1)
        return;
    void *bytes = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    char *copy = strdup(path);
    if (bytes != MAP_FAILED && copy) {
        kept[kept_count++] = (struct kept_font){copy, bytes, (size_t)file.st_size};
        return;
    }
    if (bytes != MAP_FAILED)
        munmap(bytes, (size_t)file.st_size);
    free(copy);
}

/* A file in memory: a descriptor must lead to something. */
static int open_kept_font(const char *path)
{
    const struct kept_font *font = find_kept_font(path);
    int fd = font ? memfd_create("font", MFD_CLOEXEC) : -1;
    if (!font)
        errno = EACCES;
    if (fd >= 0 && pwrite(fd, font->bytes, font->size, 0) == (ssize_t)font->size)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int open_font_path(const char *path, int flags, mode_t mode)
{
    if (state == FONTS_HOLD)
        return open_kept_font(path);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd >= 0 && state == FONTS_KEEP)
        keep_font(path, fd);
    return fd;
}

#pragma GCC visibility push(default)

/* By the names that these libraries call: of this program's own calls the C library makes others.
 */
int library_open(const char *path, int flags, ...) __asm__("open");
FILE *library_fopen(const char *path, const char *mode) __asm__("fopen");

int library_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return open_font_path(path, flags, mode);
}

/* Only to be read: nothing in a worker writes. */
FILE *library_fopen(const char *path, const char *mode)
{
    if (state != FONTS_HOLD) {
        int fd = open_font_path(path, O_RDONLY | O_CLOEXEC, 0);
        return fd < 0 ? NULL : fdopen(fd, "r");
    }
    const struct kept_font *font = *mode == 'r' ? find_kept_font(path) : NULL;
    if (font)
        return fmemopen(font->bytes, font->size, "r");
    errno = EACCES;
    return NULL;
}

#pragma GCC visibility pop
