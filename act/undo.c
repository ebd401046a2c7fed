/* Taking back a step, whatever ended the run in which it was taken. */
#include "act/step.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The path of a step, and what stands there now. */
struct site {
    int folder; /* -1: it is gone */
    const char *name;
    bool there;
    struct stat stat;
    const struct doppel_run *run;     /* who undoes */
    const struct steps_of_file *same; /* steps about its file */
};

static void open_site(const struct doppel_run *run, const char *path, struct site *out)
{
    const char *slash = strrchr(path, '/');
    char *folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    *out = (struct site){.folder = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1,
                         .name = slash + 1,
                         .run = run};
    free(folder);
    out->there =
        out->folder >= 0 && fstatat(out->folder, out->name, &out->stat, AT_SYMLINK_NOFOLLOW) == 0;
}

static void close_site(const struct site *site)
{
    if (site->folder >= 0)
        close(site->folder);
}

static bool has_journal_stamp(const struct stat *stat, const struct doppel_file_stamp *stamp)
{
    struct doppel_file_stamp now = doppel_file_stamp_of(stat);
    return S_ISREG(stat->st_mode) && doppel_file_stamp_equal(&now, stamp);
}

/* Of a copy the inode is another one. */
static bool has_content_of(const struct stat *stat, const struct doppel_file_stamp *stamp)
{
    struct doppel_file_stamp now = doppel_file_stamp_of(stat);
    return S_ISREG(stat->st_mode) && now.size == stamp->size && now.mtime_ns == stamp->mtime_ns;
}

static enum undone refused(struct doppel_error *error, const char *reason)
{
    doppel_fail(error, DOPPEL_E_CHANGED, "%s", reason);
    return UNDO_REFUSED;
}

static enum undone nothing(struct doppel_error *error)
{
    doppel_fail(error, DOPPEL_E_NOT_FOUND, "is as it was");
    return UNDO_NOTHING;
}

/* The name under which a copy is made that comes back. */
struct undo_name {
    char text[64];
};

static struct undo_name undo_name(const struct journal_entry *step)
{
    struct undo_name name;
    snprintf(name.text, sizeof name.text, ".doppel-undo-%llu-%llu", (unsigned long long)step->run,
             (unsigned long long)step->number);
    return name;
}

/* What a killed run left in a folder under the temporary name of a step: that is the duplicate
 * itself, or what was to take its place and can be had again. */
static void remove_rest(const struct site *site, const struct journal_entry *step)
{
    struct stat stat;
    if (step->temporary && site->folder >= 0 &&
        fstatat(site->folder, step->temporary, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
        !has_journal_stamp(&stat, &step->stamp))
        unlinkat(site->folder, step->temporary, 0);
}

/* A copy that a killed undoing run was about to bring back, or what it was copied from and was
 * about to go. */
static void remove_rest_of_undo(const struct site *site, const struct journal_entry *step)
{
    if (site->folder >= 0)
        unlinkat(site->folder, undo_name(step).text, 0);
}

static bool double_is_beside(const struct site *site, const struct journal_entry *step)
{
    struct stat stat;
    return step->temporary && site->folder >= 0 &&
           fstatat(site->folder, step->temporary, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
           has_journal_stamp(&stat, &step->stamp);
}

/* ---- other names ---- */

/* Whether a path is a name of the file of a step, or of what came back of it: a file with the bytes
 * of `content`, and another one than that. @param out given (held_close) */
static bool open_name(const struct site *site, const struct journal_entry *step, const char *path,
                      const struct held_file *content, struct held_file *out)
{
    if (held_open(site->run, path, NULL, out, NULL))
        return false;
    if (has_content_of(&out->stat, &step->stamp) && !is_same_file(&out->stat, &content->stat) &&
        !held_same_bytes(out, content, NULL))
        return true;
    held_close(out);
    return false;
}

/* Another name of the file of a step: what the run came to, or was to come to when it ended. */
static bool open_other_name(const struct site *site, const struct journal_entry *step,
                            const struct held_file *content, struct held_file *out)
{
    for (size_t i = site->same->count; i-- > 0;) { /* the last one was undone first */
        const struct journal_entry *other = site->same->steps[i];
        if (other != step && open_name(site, step, other->path, content, out))
            return true;
    }
    return step->other && open_name(site, step, step->other, content, out);
}

/* Give that file a name in a folder, where none is. @return false: there is no such file, or it
 * cannot be named there */
static bool link_other_name(const struct site *site, const struct journal_entry *step,
                            const struct held_file *content, const char *name)
{
    struct held_file other;
    struct stat now;
    if (!open_other_name(site, step, content, &other))
        return false;
    bool linked = linkat(other.folder, other.name, site->folder, name, 0) == 0;
    if (linked && (fstatat(site->folder, name, &now, AT_SYMLINK_NOFOLLOW) ||
                   !is_as_it_was(&now, &other.stat))) {
        unlinkat(site->folder, name, 0);
        linked = false;
    }
    held_close(&other);
    return linked;
}

/* ---- what was moved ---- */

static void remove_note(const struct journal_entry *step)
{
    char *info = step->action == DOPPEL_ACTION_TRASH ? trash_info_path(step->target) : NULL;
    if (info)
        unlink(info);
    free(info);
}

/* The duplicate is where it was, and where it was to go, or had been, is a copy of it: a run was
 * killed before it could remove the one of the two, or an undoing run the other. */
static void remove_copy(const struct doppel_run *run, const struct journal_entry *step)
{
    struct held_file there, back;
    if (held_open(run, step->target, NULL, &there, NULL))
        return;
    if (has_content_of(&there.stat, &step->stamp) &&
        held_open(run, step->path, NULL, &back, NULL) == DOPPEL_OK) {
        if (!is_same_file(&there.stat, &back.stat) && !held_same_bytes(&there, &back, NULL))
            unlinkat(there.folder, there.name, 0);
        held_close(&back);
    }
    held_close(&there);
}

/* The duplicate is back: what killed runs left where it was to go is removed. */
static void remove_rest_of_move(const struct doppel_run *run, const struct journal_entry *step)
{
    struct site site;
    open_site(run, step->target, &site);
    if (step->action == DOPPEL_ACTION_TRASH && !site.there)
        remove_note(step);
    if (step->action == DOPPEL_ACTION_MOVE_TO) {
        remove_rest(&site, step);
        remove_rest_of_undo(&site, step);
        remove_copy(run, step);
    }
    close_site(&site);
}

/* What was moved by a copy is a file of its own: of a file of several names one comes back, and has
 * the other names again. @return whether it was done */
static bool name_back(const struct site *site, const struct journal_entry *step,
                      const struct held_file *held)
{
    if (held->stat.st_dev == step->stamp.device || !link_other_name(site, step, held, site->name))
        return false;
    unlinkat(held->folder, held->name, 0);
    return true;
}

static enum undone move_back(const struct site *site, const struct journal_entry *step,
                             struct doppel_error *error)
{
    struct held_file held;
    enum undone undone = UNDO_REFUSED;
    if (held_open(site->run, step->target, NULL, &held, NULL))
        return refused(error, "is no longer where it was moved to");
    if (!has_content_of(&held.stat, &step->stamp))
        refused(error, "has changed since it was moved: it stays there");
    else if (name_back(site, step, &held) ||
             (!make_folders_above(step->path, error) &&
              !act_move(&held, step->path, undo_name(step).text, error)))
        undone = UNDO_DONE;
    held_close(&held);
    if (undone == UNDO_DONE)
        remove_note(step);
    return undone;
}

/* A run was killed when the duplicate had its copy, and was about to go. */
static enum undone name_again(const struct site *site, const struct journal_entry *step,
                              struct doppel_error *error)
{
    if (renameat2(site->folder, step->temporary, site->folder, site->name, RENAME_NOREPLACE))
        return refused(error, "its folder cannot be written to");
    remove_rest_of_move(site->run, step);
    return UNDO_DONE;
}

/* Whether move_back will find what it wants. */
static enum undone look_at_moved(const struct journal_entry *step, struct doppel_error *error)
{
    struct held_file held;
    if (held_open(NULL, step->target, NULL, &held, NULL))
        return refused(error, "is no longer where it was moved to");
    bool good = has_content_of(&held.stat, &step->stamp);
    held_close(&held);
    return good ? UNDO_DONE : refused(error, "has changed since it was moved: it stays there");
}

/* The folders that the move made go, as far as nothing else is in them. */
static void remove_made_folders(const struct journal_entry *step)
{
    size_t length = step->made ? strlen(step->made) : 0;
    bool above =
        length && strncmp(step->target, step->made, length) == 0 && step->target[length] == '/';
    char *folder = above ? strdup(step->target) : NULL, *slash;
    while (folder && (slash = strrchr(folder, '/')) && (size_t)(slash - folder) >= length) {
        *slash = '\0';
        if (rmdir(folder))
            break;
    }
    free(folder);
}

static enum undone undo_move(const struct site *site, const struct journal_entry *step,
                             bool look_only, struct doppel_error *error)
{
    if (site->there && has_content_of(&site->stat, &step->stamp)) {
        if (!look_only)
            remove_rest_of_move(site->run, step);
        return nothing(error);
    }
    if (site->there)
        return refused(error, "another file is there now");
    bool beside = double_is_beside(site, step);
    if (look_only)
        return beside ? UNDO_DONE : look_at_moved(step, error);
    return beside ? name_again(site, step, error) : move_back(site, step, error);
}

/* ---- what became a link ---- */

static bool is_its_link(const struct site *site, const struct journal_entry *step)
{
    char text[PATH_MAX + 1];
    if (step->action == DOPPEL_ACTION_HARDLINK)
        return S_ISREG(site->stat.st_mode) && site->stat.st_dev == step->kept_stamp.device &&
               site->stat.st_ino == step->kept_stamp.inode;
    ssize_t length = readlinkat(site->folder, site->name, text, PATH_MAX);
    if (length < 0 || !step->target)
        return false;
    text[length] = '\0';
    return strcmp(text, step->target) == 0;
}

/* The kept file, which has what the duplicate had: by the link itself, for it may have moved. */
static enum doppel_status open_content(const struct doppel_run *run,
                                       const struct journal_entry *step, struct held_file *out,
                                       struct doppel_error *error)
{
    const char *path = step->action == DOPPEL_ACTION_HARDLINK ? step->path : step->kept;
    if (held_open(run, path, NULL, out, NULL))
        return doppel_fail(error, DOPPEL_E_CHANGED, "the file that it is a link to is gone");
    if (has_content_of(&out->stat, &step->kept_stamp))
        return DOPPEL_OK;
    held_close(out);
    return doppel_fail(error, DOPPEL_E_CHANGED,
                       "the file that it is a link to has changed: what it was is not known");
}

static struct stat as_it_was(const struct journal_entry *step)
{
    struct timespec mtime = {step->stamp.mtime_ns / 1000000000, step->stamp.mtime_ns % 1000000000};
    return (struct stat){.st_mode = S_IFREG | step->mode,
                         .st_uid = step->owner,
                         .st_gid = step->group,
                         .st_atim = mtime,
                         .st_mtim = mtime};
}

/* A copy takes the place of the link, or another name of what was copied. */
static enum undone copy_back(const struct site *site, const struct journal_entry *step,
                             struct doppel_error *error)
{
    struct held_file held, link = {site->folder, -1, site->name, step->path, site->stat, site->run};
    struct stat like = as_it_was(step);
    if (open_content(site->run, step, &held, error))
        return UNDO_REFUSED;
    const struct undo_name name = undo_name(step);
    enum doppel_status status = link_other_name(site, step, &held, name.text)
                                    ? DOPPEL_OK
                                    : copy_into(&held, &like, site->folder, name.text, error);
    if (!status && (status = take_place(&link, name.text, error)))
        unlinkat(site->folder, name.text, 0);
    held_close(&held);
    return status ? UNDO_REFUSED : UNDO_DONE;
}

/* Whether copy_back will find what it wants. */
static enum undone look_at_content(const struct journal_entry *step, struct doppel_error *error)
{
    struct held_file held;
    if (open_content(NULL, step, &held, error))
        return UNDO_REFUSED;
    held_close(&held);
    return UNDO_DONE;
}

static enum undone undo_link(const struct site *site, const struct journal_entry *step,
                             bool look_only, struct doppel_error *error)
{
    struct held_file link = {site->folder, -1, site->name, step->path, site->stat, site->run};
    if (!site->there)
        return refused(error, "is gone");
    if (has_journal_stamp(&site->stat, &step->stamp) ||
        (!is_its_link(site, step) && has_content_of(&site->stat, &step->stamp))) {
        if (!look_only)
            remove_rest(site, step);
        return nothing(error);
    }
    if (!is_its_link(site, step))
        return refused(error, "another file is there now");
    bool beside = double_is_beside(site, step);
    if (look_only)
        return beside ? UNDO_DONE : look_at_content(step, error);
    if (beside) /* the run was killed before it removed the duplicate */
        return take_place(&link, step->temporary, error) ? UNDO_REFUSED : UNDO_DONE;
    return copy_back(site, step, error);
}

enum undone step_undo(const struct doppel_run *run, const struct journal_entry *step,
                      const struct steps_of_file *same, bool look_only, struct doppel_error *error)
{
    struct site site;
    enum undone undone = UNDO_NOTHING;
    open_site(run, step->path, &site);
    site.same = same;
    if (!look_only)
        remove_rest_of_undo(&site, step);
    if (step->action == DOPPEL_ACTION_TRASH || step->action == DOPPEL_ACTION_MOVE_TO)
        undone = undo_move(&site, step, look_only, error);
    else if (step->action == DOPPEL_ACTION_HARDLINK || step->action == DOPPEL_ACTION_SYMLINK)
        undone = undo_link(&site, step, look_only, error);
    else
        doppel_fail(error, DOPPEL_E_NOT_FOUND, "is a file of its own: only its blocks are shared");
    close_site(&site);
    if (undone != UNDO_REFUSED && !look_only && step->action == DOPPEL_ACTION_MOVE_TO)
        remove_made_folders(step);
    return undone;
}
