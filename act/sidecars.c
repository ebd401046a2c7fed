/* What goes with an image, and what stays with one. */
#include "act/sidecars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files/camera_names.h"

/* ---- shots ---- */

static bool a_companion_stays(const struct doppel_plan *plan, const struct doppel_group *group,
                              size_t first, size_t member)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->members[i].shot == group->members[member].shot &&
            (plan->files.items[first + i].left || plan->files.items[first + i].reference))
            return true;
    return false;
}

static bool is_chosen_by_hand(const struct doppel_plan_file *file)
{
    return file->left || file->reference || file->mark == DOPPEL_FILE_REMOVE;
}

void keep_shots_whole(struct doppel_plan *plan, const struct doppel_group *group, size_t first)
{
    const uint32_t kept = group->members[0].shot;
    for (size_t i = 1; i < group->count; i++) {
        const uint32_t shot = group->members[i].shot;
        struct doppel_plan_file *file = &plan->files.items[first + i];
        if (!shot || is_chosen_by_hand(file))
            continue;
        if (shot == kept)
            file->left = "is of one shot with the file to keep";
        else if (a_companion_stays(plan, group, first, i))
            file->left = "is of one shot with a file that stays";
    }
}

/* ---- sidecars ---- */

/* Other images that may have the name of one but for its extension. */
static const char *const image_endings[] = {
    ".jpg", ".JPG", ".jpeg", ".JPEG", ".heic", ".HEIC", ".png", ".PNG", ".tif",
    ".TIF", ".dng", ".DNG",  ".cr2",  ".CR2",  ".cr3",  ".CR3", ".nef", ".NEF",
    ".arw", ".ARW", ".raf",  ".RAF",  ".orf",  ".ORF",  ".rw2", ".RW2", NULL};

/* A member of the group that goes, by its path. */
static bool goes(const struct doppel_plan *plan, const struct doppel_group *group, size_t first,
                 const char *path)
{
    for (size_t i = 1; i < group->count; i++) {
        const struct doppel_plan_file *file = &plan->files.items[first + i];
        if (strcmp(file->path, path) == 0)
            return !file->left && !file->reference;
    }
    return false;
}

/* The path of a file whose name is `bytes` of another's, and an ending; NULL: no memory. */
static char *beside(const char *path, size_t bytes, const char *ending)
{
    char *name = NULL;
    return asprintf(&name, "%.*s%s", (int)bytes, path, ending) < 0 ? NULL : name;
}

/* Whether an image of that stem stays, to which a sidecar may belong. */
static bool stem_stays(const struct doppel_plan *plan, const struct doppel_group *group,
                       size_t first, const char *path)
{
    bool stays = false;
    for (const char *const *ending = image_endings; *ending && !stays; ending++) {
        struct stat status;
        char *other = beside(path, stem_length(path), *ending);
        stays = !other || (lstat(other, &status) == 0 && !goes(plan, group, first, other));
        free(other);
    }
    return stays;
}

static bool is_in_plan(const struct doppel_plan *plan, size_t first, const char *path)
{
    for (size_t i = first; i < plan->files.count; i++)
        if (strcmp(plan->files.items[i].path, path) == 0)
            return true;
    return false;
}

/* @param bytes of the path of the image that are those of the sidecar's. @return false without
 * memory */
static bool add_beside(struct doppel_plan *plan, size_t first, size_t image, size_t bytes,
                       const char *const *endings)
{
    for (; *endings; endings++) {
        struct doppel_plan_file file = plan->files.items[image];
        struct stat status;
        char *path = beside(file.path, bytes, *endings);
        if (!path)
            return false;
        if (lstat(path, &status) || !S_ISREG(status.st_mode) || is_in_plan(plan, first, path)) {
            free(path);
            continue;
        }
        file.path = path;
        file.stamp = doppel_file_stamp_of(&status);
        file.identical = false;
        file.sidecar_of = image;
        file.is_sidecar = true;
        file.first_name = plan->files.count;
        file.freed_bytes = (uint64_t)status.st_size;
        if (!array_push(&plan->files, file)) {
            free(path);
            return false;
        }
    }
    return true;
}

bool add_sidecars(struct doppel_plan *plan, const struct doppel_group *group, size_t first)
{
    const enum doppel_action action = plan->policy.action;
    bool moves = action == DOPPEL_ACTION_TRASH || action == DOPPEL_ACTION_MOVE_TO, room = true;
    for (size_t i = 1; i < group->count && moves && room; i++) {
        const struct doppel_plan_file *file = &plan->files.items[first + i];
        const char *path = file->path;
        if (file->left || file->reference || file->duplicate_of == first + i ||
            !group->members[i].is_file)
            continue;
        room = add_beside(plan, first, first + i, strlen(path), sidecar_endings);
        if (room && !stem_stays(plan, group, first, path))
            room = add_beside(plan, first, first + i, stem_length(path), sidecar_endings) &&
                   add_beside(plan, first, first + i, stem_length(path), live_video_endings);
    }
    return room;
}
