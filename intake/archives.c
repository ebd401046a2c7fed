/* Archives on the way: their members, in their order, as entries of the walk. */
#include "intake/archives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/media.h>

#include "core/files/read_at.h"
#include "core/try.h"
#include "intake/walk_filter.h"

/* Of one archive on the disk, with all that is in it: so many members, and of what they unpack to
 * so many times its size, and a little more. */
enum { MOST_MEMBERS = 100000, MOST_RATIO = 200, FREE_BYTES = 16 << 20 };

static const uint64_t usual_member_bytes = UINT64_C(1) << 30;

void archives_free(struct archives *archives)
{
    for (size_t i = 0; i < ARCHIVE_DEPTH; i++) {
        doppel_unpacker_free(archives->open[i].unpacker);
        free(archives->open[i].path);
    }
    *archives = (struct archives){0};
}

/* ---- what is one ---- */

static bool has_magic(const uint8_t *head, size_t size)
{
    static const struct {
        const char *bytes;
        uint16_t size, offset;
    } magics[] = {{"PK\3\4", 4, 0},
                  {"7z\xbc\xaf\x27\x1c", 6, 0},
                  {"Rar!\x1a\7", 6, 0},
                  {"ustar", 5, 257},
                  {"\x1f\x8b", 2, 0},
                  {"BZh", 3, 0},
                  {"\xfd"
                   "7zXZ\0",
                   6, 0},
                  {"\x28\xb5\x2f\xfd", 4, 0}};
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (size >= magics[i].offset + (size_t)magics[i].size &&
            !memcmp(head + magics[i].offset, magics[i].bytes, magics[i].size))
            return true;
    return false;
}

bool is_archive(int fd)
{
    enum { PROBE_BYTES = 4096 };
    uint8_t head[PROBE_BYTES];
    enum doppel_format format;
    ssize_t size = read_at(fd, head, sizeof head, 0);
    if (size <= 0)
        return false;
    enum doppel_kind kind = doppel_media_probe_file(fd, head, (size_t)size, &format);
    if (format == DOPPEL_FORMAT_MAIL)
        return memcmp(head, "From ", 5) == 0;
    return kind == DOPPEL_KIND_UNKNOWN && has_magic(head, (size_t)size);
}

/* ---- in and out ---- */

/* Of one in another, no more than is left of that. */
static struct doppel_unpack_limits limits_of(const struct archives *archives,
                                             const struct doppel_run *run, uint64_t size)
{
    uint64_t most = doppel_run_get_options(run)->limits.max_bytes;
    struct doppel_unpack_limits limits = {.member_bytes = most ? most : usual_member_bytes,
                                          .members = MOST_MEMBERS};
    if (__builtin_mul_overflow(size, MOST_RATIO, &limits.all_bytes) ||
        __builtin_add_overflow(limits.all_bytes, FREE_BYTES, &limits.all_bytes))
        limits.all_bytes = UINT64_MAX;
    if (!archives->depth)
        return limits;
    const struct doppel_unpack_limits *outer = &archives->open[archives->depth - 1].left;
    limits.members = outer->members;
    if (limits.all_bytes > outer->all_bytes)
        limits.all_bytes = outer->all_bytes;
    return limits;
}

enum doppel_status archives_begin(struct archives *archives, struct doppel_run *run,
                                  const struct walk_entry *entry, bool named, int fd,
                                  struct doppel_error *error)
{
    enum doppel_status status;
    if (archives->depth == ARCHIVE_DEPTH)
        return doppel_fail(error, DOPPEL_E_LIMIT, "archives in %d others are not opened",
                           ARCHIVE_DEPTH);
    struct open_archive *open = &archives->open[archives->depth];
    if (!open->unpacker)
        TRY(doppel_unpacker_new(run, &open->unpacker, error));
    open->left = limits_of(archives, run, (uint64_t)entry->stat.st_size);
    TRY(doppel_unpacker_begin(open->unpacker, fd, &open->left, error));
    open->argument = entry->argument;
    open->named = named;
    open->changed = entry->stat.st_mtim;
    open->path = strdup(entry->path);
    if (!open->path)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path"));
    archives->depth++;
done:
    return status;
}

/* What came of it is taken off the others, too. */
static void take_off_limits(struct archives *archives, uint64_t size)
{
    for (size_t i = 0; i < archives->depth; i++) {
        struct doppel_unpack_limits *left = &archives->open[i].left;
        left->all_bytes -= size < left->all_bytes ? size : left->all_bytes;
        left->members -= left->members > 0;
    }
}

/* ---- members ---- */

/* "a.zip!/b/c.jpg": no part of it is "..", or nothing, as paths below a folder have it. */
static char *member_path(const char *archive, const char *name)
{
    bool message = name[0] == '#';
    size_t size = strlen(archive);
    char *path = malloc(size + 3 + 2 * strlen(name) + 1);
    if (!path)
        return NULL;
    char *out = stpcpy(stpcpy(path, archive), message ? "" : "!");
    while (*name) {
        size_t slashes = strspn(name, "/"), length = strcspn(name + slashes, "/");
        const char *part = name + slashes;
        name = part + length;
        if (!length || (length == 1 && *part == '.'))
            continue;
        if (!message)
            *out++ = '/';
        out =
            length == 2 && !memcmp(part, "..", 2) ? stpcpy(out, "__") : mempcpy(out, part, length);
    }
    *out = '\0';
    return path;
}

static bool has_hidden_part(const char *below)
{
    return strstr(below, "/.");
}

static bool skip_member(enum walk_skip skip, struct walk_entry *out)
{
    out->what = WALK_SKIPPED;
    out->skip = skip;
    return true;
}

/* As a walk would leave it out. */
static bool is_member_left_out(const struct doppel_walk_options *options, const char *below,
                               struct walk_entry *out)
{
    if (is_trash(out->path))
        return skip_member(SKIP_TRASH, out);
    if (!options->hidden && has_hidden_part(below))
        return skip_member(SKIP_HIDDEN, out);
    if (is_excluded(&options->exclude, below + (*below == '/'), false))
        return skip_member(SKIP_EXCLUDED, out);
    if ((uint64_t)out->stat.st_size < options->min_size)
        return skip_member(SKIP_SMALL, out);
    if (!has_extension_of(&options->extensions, out->path))
        return skip_member(SKIP_EXTENSION, out);
    return !is_of_age(options, &out->stat) && skip_member(SKIP_AGE, out);
}

/* @param member its descriptor is taken */
static void entry_of_member(const struct open_archive *open,
                            const struct doppel_walk_options *options, struct doppel_member *member,
                            struct walk_entry *out)
{
    *out = (struct walk_entry){.what = WALK_FILE, .is_member = true, .member_fd = member->fd};
    member->fd = -1;
    out->argument = open->argument;
    out->path = member_path(open->path, member->name);
    out->stat.st_mode = S_IFREG;
    out->stat.st_size = (off_t)member->size;
    out->stat.st_mtim =
        member->mtime_s ? (struct timespec){.tv_sec = member->mtime_s} : open->changed;
    if (!out->path) {
        out->what = WALK_ERROR;
        doppel_fail(&out->error, DOPPEL_E_MEMORY, "no memory for a path");
    } else if (!is_member_left_out(options, out->path + strlen(open->path), out) &&
               member->error.status) {
        out->what = WALK_ERROR;
        out->error = member->error;
    }
}

/* The innermost is done with. */
static void leave_archive(struct archives *archives)
{
    struct open_archive *open = &archives->open[--archives->depth];
    free(open->path);
    open->path = NULL;
}

bool archives_next(struct archives *archives, const struct doppel_walk_options *options,
                   struct walk_entry *out)
{
    while (archives->depth) {
        struct open_archive *open = &archives->open[archives->depth - 1];
        struct doppel_member member;
        struct doppel_error error = {0};
        enum doppel_status status = doppel_unpacker_next(open->unpacker, &member, &error);
        if (status == DOPPEL_OK) {
            take_off_limits(archives, member.size);
            entry_of_member(open, options, &member, out);
            doppel_member_free(&member);
            return true;
        }
        *out = (struct walk_entry){
            .what = WALK_ERROR, .path = open->path, .argument = open->argument, .error = error};
        open->path = NULL;
        leave_archive(archives);
        /* What only begins like an archive is none, and no failure unless it was named. */
        if (status != DOPPEL_E_NOT_FOUND && (status != DOPPEL_E_FORMAT || open->named))
            return true;
        walk_entry_free(out);
    }
    return false;
}
