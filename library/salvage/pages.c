/* A damaged database file as pages: how large they are, and which of them its log has newer. */
#include "library/salvage/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/files/read_at.h"

enum { MIN_PAGE = 512, MAX_PAGE = 65536, USUAL_PAGE = 4096, BYTES_LOOKED_AT = 16 << 20 };

/* ---- opening ---- */

/* Whoever has the database open holds a lock on some of these bytes. */
static const struct flock locks = {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000000, .l_len = 512};
enum { LOCK_WAIT_MS = 5000, LOCK_RETRY_MS = 20 };

static enum doppel_status lock(const struct pages *pages, const char *path,
                               struct doppel_error *error)
{
    const struct timespec pause = {.tv_nsec = LOCK_RETRY_MS * 1000000L};
    for (int waited = 0; fcntl(pages->file, F_SETLK, &locks); waited += LOCK_RETRY_MS) {
        if (errno != EAGAIN && errno != EACCES)
            return doppel_fail(error, DOPPEL_E_IO, "%s: cannot be locked: %s", path,
                               strerror(errno));
        if (waited >= LOCK_WAIT_MS)
            return doppel_fail(error, DOPPEL_E_BUSY,
                               "%s: another process is using it; try again when it is done", path);
        nanosleep(&pause, NULL);
    }
    return DOPPEL_OK;
}

static enum doppel_status open_pages_file(struct pages *pages, const char *path,
                                          struct doppel_error *error)
{
    struct stat status;
    pages->file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (pages->file < 0 || fstat(pages->file, &status))
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s",
                           path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return doppel_fail(error, DOPPEL_E_IO, "%s: not a file", path);
    return lock(pages, path, error);
}

static void open_log(struct pages *pages, const char *path)
{
    char *name = sqlite3_mprintf("%s-wal", path);
    if (name)
        pages->log = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    sqlite3_free(name);
}

/* ---- the size of a page: what most pages of trees have ---- */

static bool is_of_size(const struct page *page)
{
    struct cell cell;
    for (uint32_t i = 0; i < page->cells; i++)
        if (!cell_read(page, i, &cell))
            return false;
    return page->cells > 0;
}

static uint32_t count_trees(int file, uint32_t size, uint8_t *bytes)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < BYTES_LOOKED_AT / size; i++) {
        struct page page;
        if (read_at(file, bytes, size, (uint64_t)size * i) != (ssize_t)size)
            break;
        found += tree_page_parse(bytes, size, i + 1, &page) && is_of_size(&page);
    }
    return found;
}

static bool guess_size(struct pages *pages)
{
    uint32_t most = 0;
    uint8_t *bytes = malloc(MAX_PAGE);
    if (!bytes)
        return false;
    pages->size = USUAL_PAGE;
    for (uint32_t size = MIN_PAGE; size <= MAX_PAGE; size *= 2) {
        uint32_t found = count_trees(pages->file, size, bytes);
        if (found > most) {
            most = found;
            pages->size = size;
        }
    }
    free(bytes);
    return true;
}

enum doppel_status pages_open(const char *path, struct pages *out, struct doppel_error *error)
{
    struct stat status;
    *out = (struct pages){.file = -1, .log = -1};
    enum doppel_status opened = open_pages_file(out, path, error);
    if (opened)
        return opened;
    open_log(out, path);
    if (!guess_size(out))
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", path);
    if (fstat(out->file, &status))
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno));
    uint64_t count = (uint64_t)status.st_size / out->size;
    out->count = count < INT32_MAX ? (uint32_t)count : INT32_MAX;
    return pages_read_log(out) ? DOPPEL_OK
                               : doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", path);
}

void pages_close(struct pages *pages)
{
    free(pages->frames);
    if (pages->log >= 0)
        close(pages->log);
    if (pages->file >= 0)
        close(pages->file);
    *pages = (struct pages){.file = -1, .log = -1};
}
