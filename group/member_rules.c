/* What somebody wants of the members of all groups. */
#include "group/member_rules.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/absolute_path.h"

bool is_protected(const struct doppel_strings *globs, const char *path)
{
    char below[PATH_MAX + 2];
    for (size_t i = 0; i < globs->count; i++) {
        const char *glob = globs->items[i];
        int size = snprintf(below, sizeof below, "*/%s", glob);
        if (fnmatch(glob, path, 0) == 0 ||
            (size < (int)sizeof below && fnmatch(below, path, 0) == 0))
            return true;
    }
    return false;
}

static bool member_lies_under(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || (length && folder[length - 1] == '/'));
}

/* @param out_memory false: there was none */
static bool lies_in_any(const struct doppel_strings *folders, char *path, bool *out_memory)
{
    char *whole = path ? absolute_path(path) : NULL;
    bool lies = false;
    *out_memory &= whole != NULL;
    for (size_t i = 0; i < folders->count && whole && !lies; i++) {
        char *folder = absolute_path(folders->items[i]);
        *out_memory &= folder != NULL;
        lies = folder && member_lies_under(whole, folder);
        free(folder);
    }
    free(whole);
    free(path);
    return lies;
}

size_t prefer_folders(const struct grouping *grouping, struct led_item *members, size_t count)
{
    const struct doppel_strings *folders = &grouping->options->group->keep_from;
    size_t used = 0;
    bool memory = true;
    for (size_t i = 0; i < count && folders->count; i++)
        if (lies_in_any(folders, item_store_path(&grouping->items, members[i].item), &memory)) {
            struct led_item there = members[i];
            members[i] = members[used]; /* the others stay, behind */
            members[used++] = there;
        }
    if (!memory)
        return 0;
    return used ? used : count;
}

static size_t member_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

bool last_shares_folder(const struct doppel_group_member *members, size_t count)
{
    const char *last = members[count - 1].path;
    size_t length = member_folder_length(last);
    for (size_t i = 0; i + 1 < count; i++)
        if (member_folder_length(members[i].path) == length &&
            memcmp(members[i].path, last, length) == 0)
            return true;
    return false;
}
