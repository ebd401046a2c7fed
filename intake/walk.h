/* Walks PATHs in a deterministic order: PATHs as given, a directory's names by byte order, depth
 * first. An iterator; it holds the names of the directories that are open and the device and inode
 * of files that could be met again, nothing else. */
#ifndef DOPPEL_INTAKE_WALK_H
#define DOPPEL_INTAKE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <doppel/intake.h>

enum walk_what {
    WALK_FILE,      /* a regular file to read */
    WALK_SAME_FILE, /* another name of a file that came before, or is named as a PATH (hard link,
                       or reached twice) */
    WALK_SKIPPED,   /* left out: see `skip` */
    WALK_ERROR      /* could not be read: see `error` */
};

enum walk_skip {
    SKIP_HIDDEN,
    SKIP_EXCLUDED,
    SKIP_TRASH, /* trash and thumbnail folders */
    SKIP_SMALL,
    SKIP_EXTENSION,
    SKIP_AGE,
    SKIP_SYMLINK,
    SKIP_SPECIAL, /* FIFO, device, socket */
    SKIP_OTHER_FILE_SYSTEM,
    SKIP_WALKED,  /* a directory reached a second time */
    SKIP_OPERAND, /* met in a walk, but also named as a PATH of its own: it comes there */
    SKIP_COUNT
};

/* "hidden", "trash or thumbnails", …; static storage. */
const char *walk_skip_text(enum walk_skip skip);

struct walk_entry {
    enum walk_what what;
    char *path;       /* given: walk_entry_free; NULL: no memory, see `error` */
    struct stat stat; /* of WALK_FILE and WALK_SAME_FILE */
    size_t argument;  /* number of the PATH it came from */
    bool is_stdin;    /* its path "-" names no file */
    bool is_member;   /* it lies in an archive: `stat` has its size and time alone */
    int member_fd;    /* of a member: its bytes, in memory; -1: they are let go */
    enum walk_skip skip;
    struct doppel_error error;
};

void walk_entry_free(struct walk_entry *entry);

/* Let the bytes of a member go. @return how many */
uint64_t walk_entry_let_go(struct walk_entry *entry);

/* Whether the same walk can be made a second time: not when it takes anything from standard input.
 */
bool walk_repeatable(const struct doppel_walk_options *walk_options);

struct walk;

/** @param run may end a walk that waits for a list; NULL: nothing does. @param out given
 * (walk_free). DOPPEL_E_MEMORY; DOPPEL_E_IO when files_from cannot be opened. */
enum doppel_status walk_new(const struct doppel_walk_options *walk_options,
                            const struct doppel_run *run, struct walk **out,
                            struct doppel_error *error);
void walk_free(struct walk *walk);

/** False at the end, and when the feed has no path for now. @param out given (walk_entry_free). */
bool walk_next(struct walk *walk, struct walk_entry *out);

/**
 * Open the file of the entry that walk_next gave last: relative to its directory, so that it is the
 * file that was looked at, not one swapped in by a symlink.
 * @param out_fd close-on-exec; given (close)
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND (gone), DOPPEL_E_CHANGED (another file now), DOPPEL_E_IO
 */
enum doppel_status walk_open(struct walk *walk, const struct walk_entry *entry, int *out_fd,
                             struct doppel_error *error);

/** The same for an entry given earlier: by its path, since the walk has left its directory. */
enum doppel_status walk_open_again(struct walk *walk, const struct walk_entry *entry, int *out_fd,
                                   struct doppel_error *error);

#endif
