/* The other names of files, sorted by the file when they are looked up. */
#include "group/file_names.h"

#include <stdlib.h>
#include <string.h>

static int compare_linked_files(const struct file_name *a, const struct file_name *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->inode > b->inode) - (a->inode < b->inode);
}

static int compare_linked_names(const void *left, const void *right)
{
    const struct file_name *a = left, *b = right;
    int order = compare_linked_files(a, b);
    return order ? order : strcmp(a->path, b->path);
}

bool file_names_add(struct file_names *names, const struct stat *stat, const char *path)
{
    if (stat->st_nlink < 2)
        return true;
    struct file_name name = {stat->st_dev, stat->st_ino, strdup(path)};
    if (name.path && array_push(&names->items, name))
        return true;
    free(name.path);
    return false;
}

void file_names_clear(struct file_names *names)
{
    for (size_t i = 0; i < names->items.count; i++)
        free(names->items.items[i].path);
    names->items.count = names->sorted = 0;
}

void file_names_free(struct file_names *names)
{
    file_names_clear(names);
    array_free(&names->items);
}

/* ---- looking up ---- */

/* A name in a folder: two paths may lead to it. */
struct folder_entry {
    dev_t device;
    ino_t folder;
    const char *name;
};

static bool find_folder_entry(const char *path, struct folder_entry *out)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    struct stat stat_buffer;
    bool there = folder && stat(folder, &stat_buffer) == 0;
    if (there)
        *out =
            (struct folder_entry){stat_buffer.st_dev, stat_buffer.st_ino, slash ? slash + 1 : path};
    free(folder);
    return there;
}

static bool is_same_entry(const struct folder_entry *a, const struct folder_entry *b)
{
    return a->device == b->device && a->folder == b->folder && strcmp(a->name, b->name) == 0;
}

static bool is_name_of(const char *path, const struct file_name *file)
{
    struct stat now;
    return lstat(path, &now) == 0 && S_ISREG(now.st_mode) && now.st_dev == file->device &&
           now.st_ino == file->inode;
}

/* The first name of a file, or where it would be. */
static size_t first_name_of(const struct file_names *names, const struct file_name *file)
{
    size_t low = 0, high = names->items.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_linked_files(&names->items.items[middle], file) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* @param entries the first is of the path that is looked up; room for one more name than there is
 */
static void take_names(const struct file_names *names, size_t first, size_t count,
                       struct folder_entry *entries, struct other_names *out)
{
    for (size_t i = first; i < first + count; i++) {
        const struct file_name *name = &names->items.items[i];
        struct folder_entry entry;
        bool known = !is_name_of(name->path, name) || !find_folder_entry(name->path, &entry);
        for (size_t k = 0; k <= out->count && !known; k++)
            known = is_same_entry(&entry, &entries[k]);
        if (known)
            continue;
        out->paths[out->count++] = name->path;
        entries[out->count] = entry;
    }
}

bool file_names_find(struct file_names *names, const char *path, struct other_names *out)
{
    struct stat now;
    *out = (struct other_names){0};
    if (lstat(path, &now) || !S_ISREG(now.st_mode))
        return true;
    out->links = now.st_nlink;
    const struct file_name file = {now.st_dev, now.st_ino, NULL};
    if (now.st_nlink < 2 || !names->items.count)
        return true;
    if (names->sorted < names->items.count)
        qsort(names->items.items, names->items.count, sizeof *names->items.items,
              compare_linked_names);
    names->sorted = names->items.count;
    size_t first = first_name_of(names, &file), end = first;
    while (end < names->items.count && compare_linked_files(&names->items.items[end], &file) == 0)
        end++;
    if (end == first)
        return true;
    struct folder_entry *entries = calloc(end - first + 1, sizeof *entries);
    out->paths = calloc(end - first, sizeof *out->paths);
    bool room = entries && out->paths;
    if (room && find_folder_entry(path, &entries[0]))
        take_names(names, first, end - first, entries, out);
    free(entries);
    if (!room)
        free(out->paths);
    return room;
}
