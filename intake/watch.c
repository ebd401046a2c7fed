/* Files of folders as they come and settle: inotify says where something happens, a scan what was
 * there before, and a file is given once nobody writes to it. */
#include "intake/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/try.h"
#include "intake/walk_filter.h"
#include "intake/watch_folders.h"
#include "intake/watch_queue.h"

#define MS INT64_C(1000000)

enum { SETTLE_MS = 1000, PATIENCE_MS = 500, EVENTS_BYTES = 65536 };

static const uint32_t wanted_events = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM |
                                      IN_DELETE_SELF | IN_MOVE_SELF | IN_EXCL_UNLINK | IN_ONLYDIR;

struct root {
    const char *path;
    dev_t device;
    bool lost; /* it is not there now */
};

struct doppel_watch {
    struct doppel_run *run;
    struct doppel_walk_options walk;
    int64_t settle_ns;
    struct root *roots;
    struct stat passed_over; /* a folder; st_ino 0: none */
    int inotify;             /* -1: nothing is watched yet */
    bool overflown;          /* events were lost */
    struct watched_folders folders;
    struct watch_queue queue;
    char *given;
    struct doppel_error failure; /* status != OK: it cannot go on */
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 * MS + now.tv_nsec;
}

/* ---- which files ---- */

static const char *below_root(const struct doppel_watch *watch, size_t root, const char *path)
{
    path += strlen(watch->roots[root].path);
    return path + strspn(path, "/");
}

static bool wants_name(const struct doppel_watch *watch, size_t root, const char *path,
                       bool is_folder)
{
    const char *relative = below_root(watch, root, path), *slash = strrchr(path, '/');
    bool hidden = slash && slash[1] == '.';
    return !is_trash(path) && (!hidden || watch->walk.hidden) &&
           !is_excluded(&watch->walk.exclude, relative, is_folder) &&
           (is_folder || has_extension_of(&watch->walk.extensions, path));
}

static bool wants_folder(const struct doppel_watch *watch, size_t root, const char *path,
                         const struct stat *stat)
{
    const struct stat *not_this = &watch->passed_over;
    return wants_name(watch, root, path, true) &&
           (!watch->walk.one_file_system || stat->st_dev == watch->roots[root].device) &&
           (stat->st_ino != not_this->st_ino || stat->st_dev != not_this->st_dev);
}

/* ---- folders ---- */

static void cannot_watch(struct doppel_watch *watch, const char *path, int error_number)
{
    if (error_number == ENOENT || error_number == ENOTDIR)
        return; /* it went again */
    doppel_run_fail_input(watch->run, path,
                          error_number == ENOSPC
                              ? "it is not watched: the system watches no more folders, until "
                                "fs.inotify.max_user_watches is raised"
                              : strerror(error_number));
}

static enum doppel_status watch_folder(struct doppel_watch *watch, size_t root, const char *path,
                                       struct doppel_error *error)
{
    int number = inotify_add_watch(watch->inotify, path, wanted_events);
    if (number >= 0)
        return watched_folders_put(&watch->folders, number, root, path, error);
    cannot_watch(watch, path, errno);
    return DOPPEL_OK;
}

static int by_entry_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static enum doppel_status take_scanned(struct doppel_watch *watch, size_t root, FTS *tree,
                                       FTSENT *entry, struct doppel_error *error)
{
    switch (entry->fts_info) {
    case FTS_D:
        if (!entry->fts_level || wants_folder(watch, root, entry->fts_path, entry->fts_statp))
            return watch_folder(watch, root, entry->fts_path, error);
        fts_set(tree, entry, FTS_SKIP);
        return DOPPEL_OK;
    case FTS_F:
        if (!wants_name(watch, root, entry->fts_path, false))
            return DOPPEL_OK;
        return watch_queue_put(&watch->queue, entry->fts_path, root, clock_ns(CLOCK_MONOTONIC),
                               error);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        cannot_watch(watch, entry->fts_path, entry->fts_errno);
        return DOPPEL_OK;
    default:
        return DOPPEL_OK;
    }
}

/* A folder is watched before its names are read: what comes meanwhile is met twice, not never. */
static enum doppel_status scan_below(struct doppel_watch *watch, size_t root, const char *path,
                                     struct doppel_error *error)
{
    char *const paths[] = {(char *)(uintptr_t)path, NULL};
    int flags = FTS_NOCHDIR | FTS_COMFOLLOW | (watch->walk.follow ? FTS_LOGICAL : FTS_PHYSICAL);
    enum doppel_status status = DOPPEL_OK;
    FTS *tree = fts_open(paths, flags, by_entry_name);
    if (!tree)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to look at folders");
    for (FTSENT *entry; !status && (entry = fts_read(tree));) {
        if (doppel_run_cancelled(watch->run))
            break;
        status = take_scanned(watch, root, tree, entry, error);
    }
    fts_close(tree);
    return status;
}

static enum doppel_status look_for_root(struct doppel_watch *watch, size_t number,
                                        struct doppel_error *error)
{
    struct root *root = &watch->roots[number];
    struct stat there;
    root->lost = stat(root->path, &there) != 0 || !S_ISDIR(there.st_mode);
    if (root->lost)
        return DOPPEL_OK;
    root->device = there.st_dev;
    return scan_below(watch, number, root->path, error);
}

static void stop_watching(void *context, const struct watched_folder *folder)
{
    const struct doppel_watch *watch = context;
    (void)inotify_rm_watch(watch->inotify, folder->number); /* an event tells that it is gone */
}

static void lose_root(struct doppel_watch *watch, size_t number)
{
    struct root *root = &watch->roots[number];
    if (root->lost)
        return;
    root->lost = true;
    doppel_run_notice(watch->run, "%s is gone; it is watched again once it is back", root->path);
    watched_folders_below(&watch->folders, root->path, stop_watching, watch);
}

/* ---- events ---- */

static enum doppel_status take_named_event(struct doppel_watch *watch, size_t root,
                                           const char *path, uint32_t mask,
                                           struct doppel_error *error)
{
    struct stat there;
    if (!(mask & IN_ISDIR))
        return !(mask & IN_MOVED_FROM) && wants_name(watch, root, path, false)
                   ? watch_queue_put(&watch->queue, path, root,
                                     clock_ns(CLOCK_MONOTONIC) + watch->settle_ns, error)
                   : DOPPEL_OK;
    if (mask & IN_MOVED_FROM)
        watched_folders_below(&watch->folders, path, stop_watching, watch);
    else if (lstat(path, &there) == 0 && S_ISDIR(there.st_mode) &&
             wants_folder(watch, root, path, &there))
        return scan_below(watch, root, path, error);
    return DOPPEL_OK;
}

static enum doppel_status take_event(struct doppel_watch *watch, const struct inotify_event *event,
                                     struct doppel_error *error)
{
    char path[PATH_MAX];
    const struct watched_folder *folder = watched_folders_get(&watch->folders, event->wd);
    watch->overflown |= (event->mask & IN_Q_OVERFLOW) != 0;
    if (!folder)
        return DOPPEL_OK;
    if (event->len) {
        int length =
            snprintf(path, sizeof path, "%s%s%s", folder->path,
                     folder->path[strlen(folder->path) - 1] == '/' ? "" : "/", event->name);
        return length < (int)sizeof path
                   ? take_named_event(watch, folder->root, path, event->mask, error)
                   : DOPPEL_OK;
    }
    if (event->mask & (IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT) &&
        !*below_root(watch, folder->root, folder->path))
        lose_root(watch, folder->root);
    if (event->mask & IN_IGNORED)
        watched_folders_remove(&watch->folders, event->wd);
    return DOPPEL_OK;
}

/* Watch, and look at, all folders from the beginning. */
static enum doppel_status watch_all(struct doppel_watch *watch, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (watch->inotify >= 0)
        close(watch->inotify);
    watched_folders_free(&watch->folders);
    watch->overflown = false;
    watch->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->inotify < 0)
        return doppel_fail(error, DOPPEL_E_IO, "folders cannot be watched: %s", strerror(errno));
    for (size_t i = 0; i < watch->walk.paths.count; i++)
        TRY(look_for_root(watch, i, error));
done:
    return status;
}

static enum doppel_status take_events(struct doppel_watch *watch, struct doppel_error *error)
{
    _Alignas(struct inotify_event) char events[EVENTS_BYTES];
    enum doppel_status status = DOPPEL_OK;
    if (watch->inotify < 0)
        TRY(watch_all(watch, error));
    for (ssize_t size; (size = read(watch->inotify, events, sizeof events)) > 0;)
        for (const char *at = events; at < events + size;) {
            const struct inotify_event *event = (const void *)at;
            TRY(take_event(watch, event, error));
            at += sizeof *event + event->len;
        }
    if (watch->overflown) {
        doppel_run_notice(watch->run, "too much happened at once: all folders are looked at again");
        TRY(watch_all(watch, error));
    }
done:
    return status;
}

/* ---- files ---- */

/* Whether somebody has it open to write; false, too, where the system does not say. A lease that
 * is broken before it is given back is reported by a signal that nobody heeds, not by SIGIO. */
static bool is_written_to(const char *path)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return false;
    fcntl(file, F_SETSIG, SIGURG);
    bool refused = fcntl(file, F_SETLEASE, F_RDLCK) && errno == EAGAIN;
    fcntl(file, F_SETLEASE, F_UNLCK);
    close(file);
    return refused;
}

/* Whether the file is to be given now. What changed just now waits on. For what is written to, an
 * event comes when that ends. */
static enum doppel_status look_whether_settled(struct doppel_watch *watch,
                                               const struct waiting_path *waiting,
                                               bool *out_settled, struct doppel_error *error)
{
    const char *path = waiting->path;
    struct stat file;
    if ((watch->walk.follow ? stat : lstat)(path, &file) != 0)
        return DOPPEL_OK;
    if (S_ISDIR(file.st_mode))
        return wants_folder(watch, waiting->root, path, &file)
                   ? scan_below(watch, waiting->root, path, error)
                   : DOPPEL_OK;
    if (!S_ISREG(file.st_mode) || (uint64_t)file.st_size < watch->walk.min_size ||
        !is_of_age(&watch->walk, &file))
        return DOPPEL_OK;
    int64_t changed = (int64_t)file.st_ctim.tv_sec * 1000 * MS + file.st_ctim.tv_nsec;
    int64_t age = clock_ns(CLOCK_REALTIME) - changed;
    if (age >= 0 && age < watch->settle_ns)
        return watch_queue_put(&watch->queue, path, waiting->root,
                               clock_ns(CLOCK_MONOTONIC) + watch->settle_ns - age, error);
    *out_settled = !is_written_to(path);
    return DOPPEL_OK;
}

static enum doppel_status next_settled(struct doppel_watch *watch, struct doppel_error *error)
{
    struct waiting_path *waiting = NULL;
    bool settled = false;
    enum doppel_status status;
    TRY(take_events(watch, error));
    while (!settled && (waiting = watch_queue_take(&watch->queue, clock_ns(CLOCK_MONOTONIC)))) {
        TRY(look_whether_settled(watch, waiting, &settled, error));
        if (settled) {
            watch->given = waiting->path;
            waiting->path = NULL;
        }
        waiting_path_free(waiting);
        waiting = NULL;
    }
done:
    waiting_path_free(waiting);
    return status;
}

const char *watch_next_path(void *context)
{
    struct doppel_watch *watch = context;
    free(watch->given);
    watch->given = NULL;
    if (!watch->failure.status)
        watch->failure.status = next_settled(watch, &watch->failure);
    return watch->given;
}

static void wait_for_events(const struct doppel_watch *watch)
{
    int64_t wait_ms = PATIENCE_MS;
    struct pollfd events = {.fd = watch->inotify, .events = POLLIN};
    if (watch->queue.first) {
        int64_t left_ms = (watch->queue.first->due_ns - clock_ns(CLOCK_MONOTONIC)) / MS + 1;
        wait_ms = left_ms < wait_ms ? left_ms : wait_ms;
    }
    (void)poll(&events, 1, wait_ms > 0 ? (int)wait_ms : 0);
}

enum doppel_status watch_wait(struct doppel_watch *watch, struct doppel_error *error)
{
    enum doppel_status status = watch->failure.status;
    if (status)
        return doppel_fail(error, status, "%s", watch->failure.message);
    for (;;) {
        TRY(take_events(watch, error));
        for (size_t i = 0; i < watch->walk.paths.count; i++)
            if (watch->roots[i].lost)
                TRY(look_for_root(watch, i, error));
        if (doppel_run_cancelled(watch->run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        if (watch->queue.first && watch->queue.first->due_ns <= clock_ns(CLOCK_MONOTONIC))
            return DOPPEL_OK;
        wait_for_events(watch);
    }
done:
    return status;
}

/* ---- life ---- */

static enum doppel_status check_folders(const struct doppel_strings *paths,
                                        struct doppel_error *error)
{
    struct stat there;
    for (size_t i = 0; i < paths->count; i++) {
        if (stat(paths->items[i], &there) != 0)
            return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: %s", paths->items[i],
                               strerror(errno));
        if (!S_ISDIR(there.st_mode))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: not a folder, which can be watched",
                               paths->items[i]);
    }
    return paths->count ? DOPPEL_OK
                        : doppel_fail(error, DOPPEL_E_ARGUMENT, "no folder is named to watch");
}

enum doppel_status doppel_watch_new(struct doppel_run *run,
                                    const struct doppel_watch_options *options,
                                    struct doppel_watch **out, struct doppel_error *error)
{
    const struct doppel_strings *paths = &options->walk.paths;
    struct doppel_watch *watch = NULL;
    enum doppel_status status;
    TRY(check_folders(paths, error));
    watch = calloc(1, sizeof *watch);
    if (watch) {
        watch->inotify = -1;
        watch->roots = calloc(paths->count, sizeof *watch->roots);
    }
    if (!watch || !watch->roots)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to watch folders"));
    if (options->pass_over && stat(options->pass_over, &watch->passed_over) != 0)
        watch->passed_over = (struct stat){0};
    watch->run = run;
    watch->walk = options->walk;
    watch->settle_ns = (options->settle_ms ? options->settle_ms : SETTLE_MS) * MS;
    for (size_t i = 0; i < paths->count; i++)
        watch->roots[i].path = paths->items[i];
done:
    if (status)
        doppel_watch_free(watch);
    else
        *out = watch;
    return status;
}

void doppel_watch_free(struct doppel_watch *watch)
{
    if (!watch)
        return;
    if (watch->inotify >= 0)
        close(watch->inotify);
    watched_folders_free(&watch->folders);
    watch_queue_free(&watch->queue);
    free(watch->given);
    free(watch->roots);
    free(watch);
}
