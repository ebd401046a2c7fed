/* Which files are gone, and what is known of them removed. */
#include "decide/remove_gone.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files/absolute_path.h"
#include "core/files/path_is_gone.h"
#include "core/array.h"

enum whereabouts { THERE, GONE, ABSENT };

/* The folder that was looked at last: files of one come together. */
struct folder {
    char *path; /* NULL: none yet */
    bool has_files;
    uint64_t device;
};

struct gone_search {
    struct doppel_run *run;
    char **below; /* absolute */
    size_t below_count;
    struct folder folder;
    ARRAY(uint64_t) ids;
    ARRAY(char *) failures; /* their paths */
    uint64_t absent;
    bool no_memory;
};

/* ---- what is there ---- */

static bool has_entries(const char *path)
{
    DIR *directory = opendir(path);
    bool found = false;
    const struct dirent *entry;
    while (directory && !found && (entry = readdir(directory)))
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (directory)
        closedir(directory);
    return found;
}

/* @param path taken */
static void look_at(struct folder *folder, char *path)
{
    struct stat status;
    if (folder->path && strcmp(folder->path, path) == 0) {
        free(path);
        return;
    }
    free(folder->path);
    folder->path = path;
    folder->has_files = stat(path, &status) == 0 && has_entries(path);
    folder->device = folder->has_files ? (uint64_t)status.st_dev : 0;
}

static enum whereabouts where_is(struct gone_search *search, const char *path, uint64_t device)
{
    if (!path_is_gone(path))
        return THERE;
    const char *slash = strrchr(path, '/');
    size_t length = slash && slash != path ? (size_t)(slash - path) : 1;
    char *folder = strndup(path, length);
    if (!folder) {
        search->no_memory = true;
        return THERE;
    }
    look_at(&search->folder, folder);
    return search->folder.has_files && search->folder.device == device ? GONE : ABSENT;
}

static bool is_asked_for(const struct gone_search *search, const char *path)
{
    for (size_t i = 0; i < search->below_count; i++) {
        size_t length = strlen(search->below[i]);
        if (strncmp(path, search->below[i], length) == 0 &&
            (!path[length] || path[length] == '/' || search->below[i][length - 1] == '/'))
            return true;
    }
    return search->below_count == 0;
}

/* Whether it is to be removed. @param absent counts what may come back; NULL: nobody asks */
static bool file_is_gone(struct gone_search *search, const char *path, uint64_t device,
                         uint64_t *absent)
{
    if (!is_asked_for(search, path))
        return false;
    enum whereabouts whereabouts = where_is(search, path, device);
    if (absent)
        *absent += whereabouts == ABSENT;
    if (whereabouts != THERE)
        doppel_run_detail(search->run, path, whereabouts == GONE ? "gone" : "absent, kept");
    return whereabouts == GONE;
}

/* ---- all of them ---- */

static bool take_gone_item(void *context, const struct doppel_item *item)
{
    struct gone_search *search = context;
    if (item->record.error.status)
        doppel_run_failed(search->run, item->path, &item->record.error);
    else if (file_is_gone(search, item->path, item->stamp.device, &search->absent))
        search->no_memory |= !array_push(&search->ids, item->id);
    return !search->no_memory && !doppel_run_cancelled(search->run);
}

static bool take_gone_failure(void *context, const struct doppel_failure *failure)
{
    struct gone_search *search = context;
    if (file_is_gone(search, failure->path, failure->stamp->device, NULL)) {
        char *path = strdup(failure->path);
        if (!path || !array_push(&search->failures, path)) {
            free(path);
            search->no_memory = true;
        }
    }
    return !search->no_memory && !doppel_run_cancelled(search->run);
}

static enum doppel_status remove_found(struct doppel_library *library,
                                       const struct gone_search *search, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < search->ids.count && !status; i++)
        status = doppel_library_remove(library, search->ids.items[i], error);
    for (size_t i = 0; i < search->failures.count && !status; i++)
        status = doppel_library_forget_failure(library, search->failures.items[i], error);
    return status;
}

static void say_what_was_done(const struct gone_search *search, bool dry_run)
{
    bool one = search->ids.count == 1;
    if (search->ids.count)
        doppel_run_notice(search->run, "%zu item%s %s: %s gone", search->ids.count, one ? "" : "s",
                          dry_run ? "would be removed" : "removed",
                          one ? "its file is" : "their files are");
    else
        doppel_run_notice(search->run, "nothing to remove");
    if (search->absent)
        doppel_run_notice(
            search->run,
            "%llu item%s kept: the folder is not there, empty, or of another drive (-v names %s)",
            (unsigned long long)search->absent, search->absent == 1 ? "" : "s",
            search->absent == 1 ? "it" : "them");
}

static void search_end(struct gone_search *search)
{
    for (size_t i = 0; i < search->below_count; i++)
        free(search->below[i]);
    for (size_t i = 0; i < search->failures.count; i++)
        free(search->failures.items[i]);
    free(search->below);
    free(search->folder.path);
    array_free(&search->ids);
    array_free(&search->failures);
}

static void set_below(struct gone_search *search, const struct strings *paths)
{
    search->below = calloc(paths->count + 1, sizeof *search->below);
    search->no_memory = !search->below;
    for (size_t i = 0; i < paths->count && !search->no_memory; i++) {
        search->below[i] = absolute_path(paths->items[i]);
        search->no_memory = !search->below[i];
        search->below_count += !search->no_memory;
    }
}

enum doppel_status remove_gone(struct doppel_library *library, const struct strings *paths,
                               bool dry_run, struct doppel_run *run, struct doppel_error *error)
{
    struct gone_search search = {.run = run};
    enum doppel_status status = DOPPEL_OK;
    set_below(&search, paths);
    if (!search.no_memory)
        status = doppel_library_each(library, take_gone_item, &search, error);
    if (!status && !search.no_memory)
        status = doppel_library_each_failure(library, take_gone_failure, &search, error);
    if (status == DOPPEL_E_CORRUPT) { /* the others are known all the same */
        doppel_run_failed(run, "the library", error);
        status = DOPPEL_OK;
    }
    if (search.no_memory)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the items that are gone");
    if (!status && !dry_run)
        status = remove_found(library, &search, error);
    if (!status)
        say_what_was_done(&search, dry_run);
    search_end(&search);
    return status;
}
