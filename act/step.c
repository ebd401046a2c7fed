/* One duplicate: what is to be done about it, and doing it. */
#include "act/step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/files/absolute_path.h"
#include "core/try.h"

void pair_close(struct held_pair *pair)
{
    held_close(&pair->twin);
    held_close(&pair->kept);
}

static bool makes_link(enum doppel_action action)
{
    return action == DOPPEL_ACTION_HARDLINK || action == DOPPEL_ACTION_SYMLINK;
}

static bool is_others_in_sticky(const struct held_file *held)
{
    struct stat folder;
    uid_t me = geteuid();
    return fstat(held->folder, &folder) == 0 && folder.st_mode & S_ISVTX && me != 0 &&
           me != folder.st_uid && me != held->stat.st_uid;
}

/* What hinders an action, as far as it can be known beforehand. */
static enum doppel_status check_pair(const struct held_pair *pair, enum doppel_action action,
                                     struct doppel_error *error)
{
    const struct stat *twin = &pair->twin.stat, *kept = &pair->kept.stat;
    if (is_same_file(twin, kept))
        return doppel_fail(error, DOPPEL_E_CHANGED, "has changed since it was read");
    if (action == DOPPEL_ACTION_HARDLINK && twin->st_dev != kept->st_dev)
        return doppel_fail(error, DOPPEL_E_IO,
                           "is on another file system than the kept file: no hard link can lead "
                           "there, a symlink can");
    if (makes_link(action) && twin->st_uid != kept->st_uid)
        return doppel_fail(error, DOPPEL_E_IO,
                           "belongs to another user than the kept file: a link would take it "
                           "from them");
    if (action != DOPPEL_ACTION_REFLINK && is_others_in_sticky(&pair->twin))
        return doppel_fail(error, DOPPEL_E_IO,
                           "belongs to another user, in a folder where only they may remove it");
    if (action != DOPPEL_ACTION_REFLINK &&
        faccessat(pair->twin.folder, ".", W_OK | X_OK, AT_EACCESS))
        return doppel_fail(error, DOPPEL_E_IO, "its folder cannot be written to: %s",
                           strerror(errno));
    return DOPPEL_OK;
}

static enum doppel_status of_kept(const struct doppel_error *reason, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CHANGED, "the kept file %s", reason->message);
}

/* As a run leaves them that makes links, whatever stamp they had before. */
static bool is_one_file(const struct pair_files *files)
{
    struct stat twin, kept;
    return stat(files->path, &twin) == 0 && stat(files->kept, &kept) == 0 &&
           is_same_file(&twin, &kept);
}

/* Two runs that see one file as the kept one and as the duplicate must not both act. */
static enum doppel_status lock_pair(const struct held_pair *pair, struct doppel_error *error)
{
    if ((flock(pair->twin.file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) ||
        (flock(pair->kept.file, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK))
        return doppel_fail(error, DOPPEL_E_BUSY, "is locked by another program");
    if (held_being_written(&pair->twin))
        return doppel_fail(error, DOPPEL_E_BUSY, "is open for writing in another program");
    if (!held_unchanged(&pair->twin))
        return doppel_fail(error, DOPPEL_E_CHANGED, "has changed since it was read");
    if (!held_unchanged(&pair->kept))
        return doppel_fail(error, DOPPEL_E_CHANGED, "the kept file has changed since it was read");
    return DOPPEL_OK;
}

enum doppel_status pair_open(const struct doppel_run *run, const struct pair_files *files,
                             enum doppel_action action, struct held_pair *out,
                             struct doppel_error *error)
{
    struct held_pair pair = {.twin = {.folder = -1, .file = -1},
                             .kept = {.folder = -1, .file = -1}};
    struct doppel_error reason;
    struct doppel_file_stamp stamp = files->stamp, kept_stamp = files->kept_stamp;
    if (is_one_file(files))
        return doppel_fail(error, DOPPEL_E_EMPTY, "is the kept file already, by another name");
    if (files->will_be_compared)
        stamp.inode = kept_stamp.inode = 0;
    enum doppel_status status;
    TRY(held_open(run, files->path, &stamp, &pair.twin, error));
    if (held_open(run, files->kept, &kept_stamp, &pair.kept, &reason))
        TRY(of_kept(&reason, error));
    TRY(check_pair(&pair, action, error));
    TRY(lock_pair(&pair, error));
done:
    if (status)
        pair_close(&pair);
    else
        *out = pair;
    return status;
}

/* ---- where it goes ---- */

/* As errno says. */
static enum doppel_status no_place(struct doppel_error *error)
{
    if (errno == ENOENT || errno == ENOTDIR)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "its folder is gone");
    return doppel_fail(error, DOPPEL_E_IO, "its folder cannot be resolved: %s", strerror(errno));
}

/* `folder`/PATH, of which nothing leads up again. NULL without memory. */
static char *path_below(const char *folder, const char *path)
{
    char *below = malloc(strlen(folder) + strlen(path) + 2);
    if (!below)
        return NULL;
    char *end = stpcpy(below, folder);
    for (size_t length; *path; path += length + (path[length] == '/')) {
        length = strcspn(path, "/");
        if (length && !(length == 1 && *path == '.') && !(length == 2 && !memcmp(path, "..", 2)))
            end += sprintf(end, "/%.*s", (int)length, path);
    }
    return below;
}

/* Below the folder, under the path by which the duplicate is known. */
static enum doppel_status move_target(const struct held_pair *pair, const char *to,
                                      const char *real, char **out, struct doppel_error *error)
{
    if (lies_below(real, to))
        return doppel_fail(error, DOPPEL_E_EMPTY, "lies in %s already", to);
    bool relative = to[0] != '/';
    char *here = relative ? realpath(".", NULL) : NULL, *folder = NULL, *target = NULL;
    if (relative && !here) /* undo goes by whole paths */
        return no_place(error);
    if (asprintf(&folder, "%s%s%s", here ? here : "", here ? "/" : "", to) < 0)
        folder = NULL;
    for (size_t length = folder ? strlen(folder) : 0; length > 1 && folder[length - 1] == '/';)
        folder[--length] = '\0';
    char *path = folder ? path_below(folder, pair->twin.path) : NULL;
    if (path) {
        char *name = strrchr(path, '/');
        *name = '\0';
        target = find_free_path(&(struct free_name){path, name + 1, NULL, ""});
    }
    free(path);
    free(folder);
    free(here);
    if (!target)
        return doppel_fail(error, DOPPEL_E_IO, "there is no free name for it in %s", to);
    *out = target;
    return DOPPEL_OK;
}

/* The first folder above a path that is not there. Given (free); NULL: all are. */
static char *first_missing_folder(const char *path)
{
    char *folder = strdup(path);
    for (char *slash = folder ? strchr(folder + 1, '/') : NULL; slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (access(folder, F_OK) && errno == ENOENT)
            return folder;
        *slash = '/';
    }
    free(folder);
    return NULL;
}

static enum doppel_status find_target(struct held_pair *pair,
                                      const struct doppel_act_policy *policy,
                                      struct journal_entry *step, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (policy->action == DOPPEL_ACTION_MOVE_TO) {
        status = move_target(pair, policy->move_to, step->path, &step->target, error);
        step->made = status ? NULL : first_missing_folder(step->target);
        return status;
    }
    if (policy->action == DOPPEL_ACTION_SYMLINK)
        step->target = link_text(step->path, step->kept);
    if (policy->action != DOPPEL_ACTION_TRASH || policy->dry_run)
        return DOPPEL_OK;
    status = trash_find(policy->trash, step->path, &pair->twin.stat, &pair->trash, error);
    if (!status && !(step->target = trash_target(&pair->trash, step->path)))
        status = doppel_fail(error, DOPPEL_E_IO, "there is no free name for it in the trash");
    return status;
}

enum doppel_status step_make(struct held_pair *pair, const struct doppel_act_policy *policy,
                             struct journal_entry *out, struct doppel_error *error)
{
    const struct stat *stat = &pair->twin.stat;
    char *path = real_place(pair->twin.path), *kept = path ? real_place(pair->kept.path) : NULL;
    enum doppel_status status = kept ? DOPPEL_OK : no_place(error);
    struct journal_entry step = {.action = policy->action,
                                 .path = path,
                                 .kept = kept,
                                 .stamp = doppel_file_stamp_of(stat),
                                 .kept_stamp = doppel_file_stamp_of(&pair->kept.stat),
                                 .mode = stat->st_mode & 07777,
                                 .owner = stat->st_uid,
                                 .group = stat->st_gid};
    if (!status)
        status = find_target(pair, policy, &step, error);
    if (status)
        step_free(&step);
    else
        *out = step;
    return status;
}

enum doppel_status step_number(struct journal_entry *step, uint64_t run, uint64_t number,
                               struct doppel_error *error)
{
    char name[80];
    snprintf(name, sizeof name, ".doppel-%ld-%llu-%llu", (long)getpid(), (unsigned long long)run,
             (unsigned long long)number);
    step->run = run;
    step->number = number;
    if (makes_link(step->action) || step->action == DOPPEL_ACTION_MOVE_TO)
        if (!(step->temporary = strdup(name)))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path");
    return DOPPEL_OK;
}

enum doppel_status step_take(const struct held_pair *pair, const struct journal_entry *step,
                             struct doppel_error *error)
{
    enum doppel_status status;
    switch (step->action) {
    case DOPPEL_ACTION_HARDLINK:
        return act_hardlink(&pair->twin, &pair->kept, step->temporary, error);
    case DOPPEL_ACTION_SYMLINK:
        return act_symlink(&pair->twin, &pair->kept, step->temporary, step->target, error);
    case DOPPEL_ACTION_REFLINK:
        return act_reflink(&pair->twin, &pair->kept, error);
    case DOPPEL_ACTION_TRASH:
        return act_trash(&pair->twin, &pair->trash, step->path, step->target, error);
    case DOPPEL_ACTION_MOVE_TO:
        status = make_folders_above(step->target, error);
        return status ? status : act_move(&pair->twin, step->target, step->temporary, error);
    default:
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "nothing to do");
    }
}
