/* Members of a group that have become one file: by 'groups --action hardlink', or by others. */
#include <stdlib.h>
#include <sys/stat.h>

#include "core/file_set.h"
#include "group/grouping_internal.h"

/* The type that a path has by now, 0 where it is gone. An item that was scanned need not be
 * looked at. */
static mode_t type_of_path(const struct grouping *grouping, uint32_t number, struct stat *out)
{
    struct grouping_item item = item_store_get(&grouping->items, number);
    struct stat itself;
    if (!item.id || item.no_file)
        return 0;
    char *path = item_store_path(&grouping->items, number);
    bool there = path && lstat(path, &itself) == 0 && stat(path, out) == 0;
    free(path);
    return there ? itself.st_mode & S_IFMT : 0;
}

/* Leave out those of one type that are in the set already. */
static void mark_links(const struct grouping *grouping, const struct member *members, size_t count,
                       mode_t type, struct file_set *files, bool *linked)
{
    for (size_t i = 0; i < count; i++) {
        struct stat file;
        if (type_of_path(grouping, members[i].item, &file) == type)
            linked[i] = !file_set_add(files, &file);
    }
}

enum doppel_status grouping_merge_links(const struct grouping *grouping, struct member *members,
                                        size_t *count, struct doppel_error *error)
{
    struct file_set files = {0};
    size_t used = 0;
    if (*count < 2 || !item_store_get(&grouping->items, members[0].item).id)
        return DOPPEL_OK;
    bool *linked = calloc(*count, sizeof *linked);
    if (!linked)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group of %zu", *count);
    mark_links(grouping, members, *count, S_IFREG, &files, linked);
    mark_links(grouping, members, *count, S_IFLNK, &files, linked);
    for (size_t i = 0; i < *count; i++)
        if (!linked[i])
            members[used++] = members[i];
    file_set_free(&files);
    free(linked);
    *count = used;
    return DOPPEL_OK;
}
