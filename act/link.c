/* A duplicate gives way to a link to the kept one. */
#include "act/held.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* File systems that cannot exchange two names: a moment is left in which the file may change. */
static enum doppel_status replace_by_link(const struct held_file *held, const char *temporary,
                                          struct doppel_error *error)
{
    if (!held_unchanged(held))
        return doppel_fail(error, DOPPEL_E_CHANGED, "has changed since it was read");
    if (renameat(held->folder, temporary, held->folder, held->name))
        return doppel_fail(error, DOPPEL_E_IO, "cannot be replaced: %s", strerror(errno));
    return DOPPEL_OK;
}

static int exchange(const struct held_file *held, const char *temporary)
{
    return renameat2(held->folder, temporary, held->folder, held->name, RENAME_EXCHANGE);
}

enum doppel_status take_place(const struct held_file *held, const char *temporary,
                              struct doppel_error *error)
{
    struct stat now;
    if (!held_unchanged(held))
        return doppel_fail(error, DOPPEL_E_CHANGED, "has changed since it was read");
    if (exchange(held, temporary)) {
        if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
            return replace_by_link(held, temporary, error);
        return doppel_fail(error, DOPPEL_E_IO, "cannot be replaced: %s", strerror(errno));
    }
    /* What is under the temporary name now is seen by nobody else. */
    bool same = fstatat(held->folder, temporary, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
                is_as_it_was(&now, &held->stat);
    if (same && unlinkat(held->folder, temporary, 0) == 0)
        return DOPPEL_OK;
    int reason = same ? errno : 0;
    if (exchange(held, temporary))
        return doppel_fail(error, DOPPEL_E_IO, "was replaced; what was there is now %s beside it",
                           temporary);
    return reason ? doppel_fail(error, DOPPEL_E_IO, "cannot be removed: %s", strerror(reason))
                  : doppel_fail(error, DOPPEL_E_CHANGED, "has changed since it was read");
}

/* The link is made, as `temporary`, and should lead to the kept one. */
static enum doppel_status put_link_beside(const struct held_file *twin,
                                          const struct held_file *kept, const char *temporary,
                                          struct doppel_error *error)
{
    struct stat now;
    enum doppel_status status = DOPPEL_OK;
    if (fstatat(twin->folder, temporary, &now, 0) || !is_as_it_was(&now, &kept->stat))
        status =
            doppel_fail(error, DOPPEL_E_CHANGED, "the kept file has changed since it was read");
    if (!status)
        status = take_place(twin, temporary, error);
    if (status)
        unlinkat(twin->folder, temporary, 0);
    return status;
}

static enum doppel_status no_link(struct doppel_error *error)
{
    if (errno == EXDEV)
        return doppel_fail(error, DOPPEL_E_IO,
                           "is on another file system than the kept file: no hard link can lead "
                           "there, a symlink can");
    if (errno == EMLINK)
        return doppel_fail(error, DOPPEL_E_IO, "the kept file has as many links as it can have");
    return doppel_fail(error, DOPPEL_E_IO, "cannot be linked: %s", strerror(errno));
}

enum doppel_status act_hardlink(const struct held_file *twin, const struct held_file *kept,
                                const char *temporary, struct doppel_error *error)
{
    if (linkat(kept->folder, kept->name, twin->folder, temporary, 0))
        return no_link(error);
    return put_link_beside(twin, kept, temporary, error);
}

enum doppel_status act_symlink(const struct held_file *twin, const struct held_file *kept,
                               const char *temporary, const char *text, struct doppel_error *error)
{
    if (symlinkat(text, twin->folder, temporary))
        return doppel_fail(error, DOPPEL_E_IO, "cannot be linked: %s", strerror(errno));
    return put_link_beside(twin, kept, temporary, error);
}

/* ---- the text of a symlink ---- */

char *real_place(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = strdup(slash ? path : "."), *place = NULL;
    if (!folder)
        return NULL;
    if (slash)
        folder[slash == path ? 1 : slash - path] = '\0';
    char *real = realpath(folder, NULL);
    const char *name = slash ? slash + 1 : path;
    if (real && asprintf(&place, "%s/%s", strcmp(real, "/") ? real : "", name) < 0)
        place = NULL;
    free(real);
    free(folder);
    return place;
}

/* The length of the folders that both begin with, up to and with a slash. */
static size_t common_folders(const char *a, const char *b)
{
    size_t common = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i + 1;
    return common;
}

char *link_text(const char *path, const char *kept)
{
    char *from = real_place(path), *to = real_place(kept), *text = NULL;
    size_t size;
    FILE *stream = from && to ? open_memstream(&text, &size) : NULL;
    if (stream) {
        size_t common = common_folders(from, to);
        for (const char *rest = from + common; (rest = strchr(rest, '/')); rest++)
            fputs("../", stream);
        fputs(to + common, stream);
        if (fclose(stream)) {
            free(text);
            text = NULL;
        }
    }
    free(from);
    free(to);
    return text;
}

/* ---- shared blocks ---- */

static enum doppel_status no_reflink(int reason, struct doppel_error *error)
{
    if (reason == EXDEV)
        return doppel_fail(
            error, DOPPEL_E_IO,
            "is on another file system than the kept file: they cannot share blocks");
    if (reason == EOPNOTSUPP || reason == ENOTTY || reason == EINVAL || reason == ENOSYS)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "this file system cannot let files share blocks, as Btrfs and XFS can; "
                           "a hardlink would do");
    return doppel_fail(error, DOPPEL_E_IO, "cannot share blocks: %s", strerror(reason));
}

/* One step of sharing. The kernel locks both files and compares them once more. */
static enum doppel_status share_step(int from, struct file_dedupe_range *request,
                                     struct doppel_error *error)
{
    const struct file_dedupe_range_info *info = &request->info[0];
    if (ioctl(from, FIDEDUPERANGE, request))
        return no_reflink(errno, error);
    if (info->status < 0)
        return no_reflink(-info->status, error);
    if (info->status == FILE_DEDUPE_RANGE_DIFFERS || info->bytes_deduped == 0)
        return doppel_fail(error, DOPPEL_E_CHANGED, "is not the same, byte by byte");
    return DOPPEL_OK;
}

static enum doppel_status share_blocks(const struct held_file *from, int to, off_t size,
                                       struct doppel_error *error)
{
    enum { STEP_BYTES = 16 << 20 }; /* as much as Btrfs takes at once */
    struct file_dedupe_range *request =
        malloc(sizeof *request + sizeof(struct file_dedupe_range_info));
    enum doppel_status status = DOPPEL_OK;
    if (!request)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to share blocks");
    for (off_t at = 0; at < size && !status; at += (off_t)request->info[0].bytes_deduped) {
        *request = (struct file_dedupe_range){.src_offset = (__u64)at, .dest_count = 1};
        request->src_length = (__u64)(size - at < STEP_BYTES ? size - at : STEP_BYTES);
        request->info[0] = (struct file_dedupe_range_info){.dest_fd = to, .dest_offset = (__u64)at};
        status = held_cancelled(from) ? doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted")
                                      : share_step(from->file, request, error);
    }
    free(request);
    return status;
}

enum doppel_status act_reflink(const struct held_file *twin, const struct held_file *kept,
                               struct doppel_error *error)
{
    struct stat now;
    int fd = openat(twin->folder, twin->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be opened: %s", strerror(errno));
    enum doppel_status status =
        fstat(fd, &now) == 0 && is_as_it_was(&now, &twin->stat)
            ? share_blocks(kept, fd, twin->stat.st_size, error)
            : doppel_fail(error, DOPPEL_E_CHANGED, "has changed since it was read");
    close(fd);
    return status;
}
