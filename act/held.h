/* Files are held open from the check to the deed, and named relative to their folders, which are
 * held too. At every moment either the old file or what takes its place is at the path; what cannot
 * be done leaves everything as it was, with a sentence why. Nothing is ever overwritten. */
#ifndef DOPPEL_ACT_HELD_H
#define DOPPEL_ACT_HELD_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include <doppel/core.h>
#include <doppel/library.h>
#include <doppel/run.h>

/* A regular file, open for reading. */
struct held_file {
    int folder, file; /* -1: not open */
    const char *name; /* in the folder; borrowed from the path */
    const char *path; /* borrowed */
    struct stat stat;
    const struct doppel_run *run; /* may be NULL */
};

/**
 * Open a file that is still as it was read. Symbolic links are not followed at its name.
 * @param run   which may be cancelled while its bytes are read; borrowed; NULL: none
 * @param path  borrowed as long as the file is held
 * @param stamp NULL: any regular file will do; its inode 0: one with that size and mtime
 * @param out   given (held_close)
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND, DOPPEL_E_CHANGED, DOPPEL_E_IO
 */
enum doppel_status held_open(const struct doppel_run *run, const char *path,
                             const struct doppel_file_stamp *stamp, struct held_file *out,
                             struct doppel_error *error);
void held_close(struct held_file *held);

/* Whether the run is to end. */
bool held_cancelled(const struct held_file *held);

/* Whether its name still names it, and nothing was written to it since it was opened. */
bool held_unchanged(const struct held_file *held);

/* Whether a program has it open to write to it, as far as the system tells. */
bool held_being_written(const struct held_file *held);

bool is_same_file(const struct stat *a, const struct stat *b);
/* The same file with the same size and mtime. */
bool is_as_it_was(const struct stat *now, const struct stat *then);

/* Compare byte by byte. @return DOPPEL_OK; DOPPEL_E_CHANGED when they differ, or changed meanwhile;
 * DOPPEL_E_IO; DOPPEL_E_CANCELLED */
enum doppel_status held_same_bytes(const struct held_file *a, const struct held_file *b,
                                   struct doppel_error *error);

/* As the one above ends. @return DOPPEL_OK; DOPPEL_E_CHANGED when one changed meanwhile */
enum doppel_status held_both_unchanged(const struct held_file *a, const struct held_file *b,
                                       struct doppel_error *error);

/* ---- links: the two have the same bytes, says the caller ---- */

/* `temporary` is a name in the folder of the duplicate that is free. */
enum doppel_status act_hardlink(const struct held_file *twin, const struct held_file *kept,
                                const char *temporary, struct doppel_error *error);
/* @param text what the link is to hold, see link_text */
enum doppel_status act_symlink(const struct held_file *twin, const struct held_file *kept,
                               const char *temporary, const char *text, struct doppel_error *error);
/* Let the two share their blocks: the duplicate stays a file of its own. */
enum doppel_status act_reflink(const struct held_file *twin, const struct held_file *kept,
                               struct doppel_error *error);

/* A path without symbolic links but for its name; NULL when its folder is not there. Given (free).
 */
char *real_place(const char *path);

/* The way from the folder of `path` to `kept`, by their real places; NULL when there is none. Given
 * (free). */
char *link_text(const char *path, const char *kept);

/* Let what stands at `temporary` in the folder of a file take its place, if it is still that file,
 * and remove that. @return DOPPEL_OK; else `temporary` still is what it was */
enum doppel_status take_place(const struct held_file *held, const char *temporary,
                              struct doppel_error *error);

/* ---- moving ---- */

/**
 * Move a file to `target`, in a folder that exists, where nothing is. Onto another file system it
 * is copied, and compared, before it goes.
 * @param temporary a name that is free in the folders of both; NULL: not onto another one
 */
enum doppel_status act_move(const struct held_file *held, const char *target, const char *temporary,
                            struct doppel_error *error);

/* Copy into a new file of that name, down to the disk.
 * @param like whose times, mode and, as far as can be, owner it has; of the file itself: extended
 *             attributes too */
enum doppel_status copy_into(const struct held_file *held, const struct stat *like, int folder,
                             const char *name, struct doppel_error *error);

/* Make the folders above `path`, as mkdir -p. */
enum doppel_status make_folders_above(const char *path, struct doppel_error *error);

/* `folder`/`name`, or where that is taken "name.2.ext", and so on. The name must be free in
 * `folder`, and with `also_ending` behind it in `also`, unless that is NULL. Given (free). */
struct free_name {
    const char *folder, *name;
    const char *also, *also_ending;
};
char *find_free_path(const struct free_name *wanted);

/* ---- trash ---- */

/* A trash can of the freedesktop.org specification. */
struct trash_can {
    char folder[PATH_MAX]; /* has "files" and "info" */
    char top[PATH_MAX];    /* paths in it are relative to this; "": they are absolute */
};

/* The trash for a file, made if need be: the user's own, or one on the file system of the file.
 * @param home the user's own, or NULL
 * @param path absolute, without symbolic links but for its name */
enum doppel_status trash_find(const char *home, const char *path, const struct stat *stat,
                              struct trash_can *out, struct doppel_error *error);
/* Where in its "files" a file of that path would come. Given (free). */
char *trash_target(const struct trash_can *trash, const char *path);
/* @param target of trash_target */
enum doppel_status act_trash(const struct held_file *held, const struct trash_can *trash,
                             const char *path, const char *target, struct doppel_error *error);
/* The .trashinfo that belongs to "…/files/NAME"; NULL when that is no such path. Given (free). */
char *trash_info_path(const char *target);

#endif
