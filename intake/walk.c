/* Walks PATHs in a deterministic order, relative to open directories. */
#include "intake/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "core/files/file_set.h"
#include "intake/path_list.h"
#include "intake/spool.h"
#include "intake/walk_filter.h"

/* Each level keeps a descriptor open; the usual limit of a process is 1024. */
enum { DEEPEST = 256 };

struct directory {
    int fd;
    char **names;
    size_t count, next;
    size_t path_length; /* of the walk's path up to this directory, without a slash */
};

struct walk {
    struct doppel_walk_options options;
    size_t next_path, argument; /* PATHs begun; number of the present one */
    struct path_list list;

    struct directory stack[DEEPEST];
    size_t depth;
    char *path; /* of what is looked at */
    size_t path_capacity;
    size_t relative_at; /* where in it the part below the PATH begins */
    dev_t root_device;

    struct file_set operands; /* the PATHs, where there is more than one */
    struct file_set seen;
    bool remember_files, remember_directories;
    int stdin_fd; /* spooled; -1 = not yet */
};

void walk_entry_free(struct walk_entry *entry)
{
    walk_entry_let_go(entry);
    free(entry->path);
    *entry = (struct walk_entry){0};
}

uint64_t walk_entry_let_go(struct walk_entry *entry)
{
    if (!entry->is_member || entry->member_fd < 0)
        return 0;
    close(entry->member_fd);
    entry->member_fd = -1;
    return (uint64_t)entry->stat.st_size;
}

/* ---- life ---- */

/* Where a file could be met twice, all that was met is remembered: links may lead to a file from
 * several places, and lists and PATHs may overlap. */
static void choose_memory(struct walk *walk)
{
    const struct doppel_walk_options *options = &walk->options;
    walk->remember_files = options->follow || options->files_from;
    walk->remember_directories = walk->remember_files || options->paths.count > 1;
    struct stat stat_buffer;
    for (size_t i = 0; options->paths.count > 1 && i < options->paths.count; i++)
        if (stat(options->paths.items[i], &stat_buffer) == 0)
            file_set_add(&walk->operands, &stat_buffer);
}

enum doppel_status walk_new(const struct doppel_walk_options *options, const struct doppel_run *run,
                            struct walk **out, struct doppel_error *error)
{
    struct walk *walk = calloc(1, sizeof *walk);
    if (!walk)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to walk");
    walk->options = *options;
    walk->stdin_fd = -1;
    walk->list.run = run;
    if (options->files_from) {
        enum doppel_status status =
            path_list_open(&walk->list, options->files_from, options->null_separated, error);
        if (status) {
            walk_free(walk);
            return status;
        }
    }
    choose_memory(walk);
    *out = walk;
    return DOPPEL_OK;
}

static void leave_directory(struct walk *walk)
{
    struct directory *directory = &walk->stack[--walk->depth];
    for (size_t i = 0; i < directory->count; i++)
        free(directory->names[i]);
    free(directory->names);
    close(directory->fd);
}

void walk_free(struct walk *walk)
{
    if (!walk)
        return;
    while (walk->depth)
        leave_directory(walk);
    path_list_close(&walk->list);
    file_set_free(&walk->operands);
    file_set_free(&walk->seen);
    if (walk->stdin_fd >= 0)
        close(walk->stdin_fd);
    free(walk->path);
    free(walk);
}

/* ---- what is found ---- */

/* An entry without a path. */
static bool lacks_memory(struct walk_entry *out)
{
    out->what = WALK_ERROR;
    doppel_fail(&out->error, DOPPEL_E_MEMORY, "no memory to walk");
    return true;
}

static bool found(struct walk *walk, enum walk_what what, struct walk_entry *out)
{
    out->what = what;
    out->path = strdup(walk->path);
    if (!out->path)
        return lacks_memory(out);
    out->argument = walk->argument;
    return true;
}

static bool skipped(struct walk *walk, enum walk_skip skip, struct walk_entry *out)
{
    out->skip = skip;
    return found(walk, WALK_SKIPPED, out);
}

static bool failed(struct walk *walk, int error_number, struct walk_entry *out)
{
    bool gone = error_number == ENOENT || error_number == ENOTDIR;
    doppel_fail(&out->error, gone ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s", strerror(error_number));
    return found(walk, WALK_ERROR, out);
}

/* ---- directories ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* All names in order. @return 0, or the errno that cut the reading short */
static int read_directory_names(struct directory *directory)
{
    int fd = fcntl(directory->fd, F_DUPFD_CLOEXEC, 3);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream) {
        int error_number = errno;
        if (fd >= 0)
            close(fd);
        return error_number;
    }
    ARRAY(char *) names = {0};
    struct dirent *item;
    while ((errno = 0, item = readdir(stream))) {
        if (is_dot(item->d_name))
            continue;
        char *name = array_reserve(&names) ? strdup(item->d_name) : NULL;
        if (!name) {
            errno = ENOMEM;
            break;
        }
        names.items[names.count++] = name;
    }
    int error_number = errno;
    closedir(stream);
    if (names.count)
        qsort(names.items, names.count, sizeof *names.items, compare_names);
    directory->names = names.items;
    directory->count = names.count;
    return error_number;
}

/* True when there is something to say of the directory itself: that it cannot be read. */
static bool enter_directory(struct walk *walk, int parent, const char *name, int flags,
                            struct walk_entry *out)
{
    if (walk->depth == DEEPEST) {
        doppel_fail(&out->error, DOPPEL_E_LIMIT, "more than %d folders deep, not walked", DEEPEST);
        return found(walk, WALK_ERROR, out);
    }
    int fd = openat(parent, name, flags | O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return failed(walk, errno, out);
    struct directory *directory = &walk->stack[walk->depth++];
    *directory = (struct directory){.fd = fd, .path_length = strlen(walk->path)};
    while (directory->path_length && walk->path[directory->path_length - 1] == '/')
        directory->path_length--; /* "dir/" as typed, and the root */
    if (walk->depth == 1)
        walk->relative_at = directory->path_length + 1;
    int error_number = read_directory_names(directory);
    return error_number && failed(walk, error_number, out);
}

static bool visit_directory(struct walk *walk, int parent, const char *name, bool is_operand,
                            struct walk_entry *out)
{
    if (!is_operand && file_set_has(&walk->operands, &out->stat))
        return skipped(walk, SKIP_OPERAND, out);
    if (is_operand)
        walk->root_device = out->stat.st_dev;
    if (walk->options.one_file_system && out->stat.st_dev != walk->root_device)
        return skipped(walk, SKIP_OTHER_FILE_SYSTEM, out);
    if (walk->remember_directories && !file_set_reserve(&walk->seen))
        return lacks_memory(out);
    if (walk->remember_directories && !file_set_add(&walk->seen, &out->stat))
        return skipped(walk, SKIP_WALKED, out);
    int flags = is_operand || walk->options.follow ? 0 : O_NOFOLLOW;
    return enter_directory(walk, parent, name, flags, out);
}

/* ---- files ---- */

static bool visit_special(struct walk *walk, bool is_operand, struct walk_entry *out)
{
    mode_t mode = out->stat.st_mode;
    if (!is_operand)
        return skipped(walk, SKIP_SPECIAL, out);
    doppel_fail(&out->error, DOPPEL_E_FORMAT, "%s, not a regular file",
                S_ISFIFO(mode)   ? "a named pipe"
                : S_ISSOCK(mode) ? "a socket"
                                 : "a device");
    return found(walk, WALK_ERROR, out);
}

static bool visit_file(struct walk *walk, bool is_operand, struct walk_entry *out)
{
    bool comes_later =
        !is_operand && !walk->options.every_name && file_set_has(&walk->operands, &out->stat);
    if (comes_later && out->stat.st_nlink == 1)
        return skipped(walk, SKIP_OPERAND, out);
    if (!is_operand && (uint64_t)out->stat.st_size < walk->options.min_size)
        return skipped(walk, SKIP_SMALL, out);
    if (!is_operand && !has_extension_of(&walk->options.extensions, walk->path))
        return skipped(walk, SKIP_EXTENSION, out);
    if (!is_operand && !is_of_age(&walk->options, &out->stat))
        return skipped(walk, SKIP_AGE, out);
    if (comes_later)
        return found(walk, WALK_SAME_FILE, out);
    bool repeatable = is_operand || walk->remember_files || out->stat.st_nlink > 1;
    if (repeatable && !file_set_reserve(&walk->seen))
        return lacks_memory(out);
    bool seen = repeatable && !walk->options.every_name && !file_set_add(&walk->seen, &out->stat);
    return found(walk, seen ? WALK_SAME_FILE : WALK_FILE, out);
}

static bool stat_failed(struct walk *walk, int parent, const char *name, int error_number,
                        struct walk_entry *out)
{
    struct stat link;
    bool dangling = error_number == ENOENT &&
                    fstatat(parent, name, &link, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(link.st_mode);
    if (!dangling)
        return failed(walk, error_number, out);
    doppel_fail(&out->error, DOPPEL_E_NOT_FOUND, "a symbolic link to nothing");
    return found(walk, WALK_ERROR, out);
}

/* True when there is an entry to give; false to go on (a directory was entered). */
static bool visit(struct walk *walk, int parent, const char *name, bool is_operand,
                  struct walk_entry *out)
{
    int flags = is_operand || walk->options.follow ? 0 : AT_SYMLINK_NOFOLLOW;
    int error_number = fstatat(parent, name, &out->stat, flags) == 0 ? 0 : errno;
    bool is_directory = !error_number && S_ISDIR(out->stat.st_mode);
    if (!is_operand &&
        is_excluded(&walk->options.exclude, walk->path + walk->relative_at, is_directory))
        return skipped(walk, SKIP_EXCLUDED, out);
    if (error_number)
        return stat_failed(walk, parent, name, error_number, out);
    if (is_directory)
        return visit_directory(walk, parent, name, is_operand, out);
    if (S_ISLNK(out->stat.st_mode))
        return skipped(walk, SKIP_SYMLINK, out);
    if (!S_ISREG(out->stat.st_mode))
        return visit_special(walk, is_operand, out);
    return visit_file(walk, is_operand, out);
}

/* ---- the way through ---- */

/* The path becomes its first `length` bytes, `separator` and `name`. @return false without memory
 */
static bool set_path(struct walk *walk, size_t length, const char *separator, const char *name)
{
    size_t needed = length + strlen(separator) + strlen(name) + 1;
    if (needed > walk->path_capacity) {
        char *path = realloc(walk->path, needed * 2);
        if (!path)
            return false;
        walk->path = path;
        walk->path_capacity = needed * 2;
    }
    stpcpy(stpcpy(walk->path + length, separator), name);
    return true;
}

static bool next_in_directory(struct walk *walk, struct walk_entry *out)
{
    struct directory *directory = &walk->stack[walk->depth - 1];
    if (directory->next == directory->count) {
        leave_directory(walk);
        return false;
    }
    const char *name = directory->names[directory->next++];
    if (!set_path(walk, directory->path_length, "/", name))
        return lacks_memory(out);
    if (is_trash(walk->path))
        return skipped(walk, SKIP_TRASH, out);
    if (name[0] == '.' && !walk->options.hidden)
        return skipped(walk, SKIP_HIDDEN, out);
    return visit(walk, directory->fd, name, false, out);
}

static bool visit_stdin(struct walk *walk, struct walk_entry *out)
{
    out->is_stdin = true;
    if (walk->stdin_fd >= 0 && !walk->options.every_name)
        return found(walk, WALK_SAME_FILE, out);
    if (walk->stdin_fd < 0 &&
        spool(walk->options.descriptor, walk->options.max_bytes, &walk->stdin_fd, &out->error))
        return found(walk, WALK_ERROR, out);
    if (fstat(walk->stdin_fd, &out->stat) != 0)
        return failed(walk, errno, out);
    return found(walk, WALK_FILE, out);
}

/* Of one path comes one entry: what is in a folder is not asked for. */
static bool next_fed_file(struct walk *walk, struct walk_entry *out, bool *out_end)
{
    const char *path = walk->options.feed(walk->options.feed_context);
    *out_end = !path;
    if (!path)
        return false;
    if (!set_path(walk, 0, "", path))
        return lacks_memory(out);
    bool there = stat(path, &out->stat) == 0;
    if (!there && walk->options.found && (errno == ENOENT || errno == ENOTDIR))
        return false;
    if (!there || !S_ISDIR(out->stat.st_mode))
        return visit(walk, AT_FDCWD, walk->path, true, out);
    doppel_fail(&out->error, DOPPEL_E_FORMAT, "a folder, not a file");
    return found(walk, WALK_ERROR, out);
}

static bool next_listed(struct walk *walk, struct walk_entry *out, bool *out_end)
{
    if (walk->options.feed && !walk->options.files_from)
        return next_fed_file(walk, out, out_end);
    bool cut;
    const char *line = path_list_next(&walk->list, &cut);
    *out_end = !line;
    if (!line)
        return false;
    if (!set_path(walk, 0, "", line))
        return lacks_memory(out);
    if (!cut)
        return visit(walk, AT_FDCWD, walk->path, true, out);
    walk->path[64] = 0;
    doppel_fail(&out->error, DOPPEL_E_ARGUMENT, "a line longer than a path can be");
    return found(walk, WALK_ERROR, out);
}

static bool next_operand(struct walk *walk, struct walk_entry *out, bool *out_end)
{
    const struct doppel_strings *paths = &walk->options.paths;
    walk->argument = walk->next_path;
    *out_end = false;
    if (walk->next_path == paths->count)
        return next_listed(walk, out, out_end);
    if (!set_path(walk, 0, "", paths->items[walk->next_path++]))
        return lacks_memory(out);
    if (walk->options.stdin_operand && strcmp(walk->path, "-") == 0)
        return visit_stdin(walk, out);
    return visit(walk, AT_FDCWD, walk->path, true, out);
}

bool walk_next(struct walk *walk, struct walk_entry *out)
{
    bool end = false, given = false;
    while (!given && !end) {
        *out = (struct walk_entry){0};
        given = walk->depth ? next_in_directory(walk, out) : next_operand(walk, out, &end);
    }
    return given;
}

/* ---- opening ---- */

static int open_entry(const struct walk *walk, const struct walk_entry *entry, bool again)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    if (entry->is_member)
        return fcntl(entry->member_fd, F_DUPFD_CLOEXEC, 3);
    if (entry->is_stdin)
        return fcntl(walk->stdin_fd, F_DUPFD_CLOEXEC, 3);
    if (again || !walk->depth)
        return open(entry->path, flags);
    const struct directory *directory = &walk->stack[walk->depth - 1];
    return openat(directory->fd, directory->names[directory->next - 1],
                  flags | (walk->options.follow ? 0 : O_NOFOLLOW));
}

static enum doppel_status open_same(const struct walk *walk, const struct walk_entry *entry,
                                    bool again, int *out_fd, struct doppel_error *error)
{
    struct stat now;
    int fd = open_entry(walk, entry, again);
    if (fd < 0)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s",
                           strerror(errno));
    if (entry->is_member) {
        *out_fd = fd;
        return DOPPEL_OK;
    }
    bool same = fstat(fd, &now) == 0 && now.st_dev == entry->stat.st_dev &&
                now.st_ino == entry->stat.st_ino && S_ISREG(now.st_mode);
    if (!same) {
        close(fd);
        return doppel_fail(error, DOPPEL_E_CHANGED, "another file took its place");
    }
    *out_fd = fd;
    return DOPPEL_OK;
}

enum doppel_status walk_open(struct walk *walk, const struct walk_entry *entry, int *out_fd,
                             struct doppel_error *error)
{
    return open_same(walk, entry, false, out_fd, error);
}

enum doppel_status walk_open_again(struct walk *walk, const struct walk_entry *entry, int *out_fd,
                                   struct doppel_error *error)
{
    return open_same(walk, entry, true, out_fd, error);
}
