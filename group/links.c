/* Members of a group that have become one file: by 'groups --action hardlink', or by others. */
#include <stdlib.h>
#include <sys/stat.h>

#include "core/file_set.h"
#include "group/grouping_internal.h"
#include "tools/memory.h"

/* What a path is by now. Of an item that was scanned it is known already. */
static mode_t look(const struct grouping *grouping, uint32_t number, struct stat *out)
{
    struct grouping_item item = item_store_get(&grouping->items, number);
    struct stat itself;
    if (!item.id || item.no_file)
        return 0;
    char *path = item_store_path(&grouping->items, number);
    bool there = lstat(path, &itself) == 0 && stat(path, out) == 0;
    free(path);
    return there ? itself.st_mode & S_IFMT : 0;
}

/* Leave out those of one mode that are in the set already. */
static void note(const struct grouping *grouping, const struct member *members, size_t count,
                 mode_t mode, struct file_set *files, bool *linked)
{
    for (size_t i = 0; i < count; i++) {
        struct stat file;
        if (look(grouping, members[i].item, &file) == mode)
            linked[i] = !file_set_add(files, &file);
    }
}

size_t grouping_merge_links(const struct grouping *grouping, struct member *members, size_t count)
{
    struct file_set files = {0};
    size_t used = 0;
    if (count < 2 || !item_store_get(&grouping->items, members[0].item).id)
        return count;
    bool *linked = must_allocate(count * sizeof *linked);
    note(grouping, members, count, S_IFREG, &files, linked);
    note(grouping, members, count, S_IFLNK, &files, linked);
    for (size_t i = 0; i < count; i++)
        if (!linked[i])
            members[used++] = members[i];
    file_set_free(&files);
    free(linked);
    return used;
}
