/* Which files a corpus is made of. */
#include "corpus/read/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 64 };

static bool name_ends_in(const char *name, size_t size, const char *ending)
{
    size_t length = strlen(ending);
    return size > length && memcmp(name + size - length, ending, length) == 0;
}

static bool name_ends_in_one(const char *name, size_t size, const char *const *endings)
{
    while (*endings && !name_ends_in(name, size, *endings))
        endings++;
    return *endings;
}

size_t files_name_size(const char *name)
{
    size_t size = strlen(name);
    return size - (name_ends_in(name, size, ".gz") ? 3 : name_ends_in(name, size, ".zst") ? 4 : 0);
}

bool files_is_archive_name(const char *name)
{
    static const char *const endings[] = {".warc", ".wet", ".parquet", ".arrow", ".feather", NULL};
    return name_ends_in_one(name, files_name_size(name), endings);
}

enum doppel_corpus_format files_format_by_name(const char *name)
{
    size_t size = files_name_size(name);
    return name_ends_in(name, size, ".csv")   ? DOPPEL_CORPUS_CSV
           : name_ends_in(name, size, ".tsv") ? DOPPEL_CORPUS_TSV
                                              : DOPPEL_CORPUS_JSONL;
}

/* What Hugging Face's libraries write beside the records of a data set. */
static bool is_description(const char *name)
{
    static const char *const names[] = {"dataset_info.json", "dataset_infos.json",
                                        "dataset_dict.json", "state.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_corpus_name(const char *name)
{
    if (is_description(name))
        return false;
    static const char *const endings[] = {".jsonl", ".ndjson", ".json", NULL};
    return name_ends_in_one(name, files_name_size(name), endings) || files_is_archive_name(name) ||
           files_format_by_name(name) != DOPPEL_CORPUS_JSONL;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static char *join_folder_and_name(const char *folder, const char *name)
{
    char *path;
    bool slash = folder[0] && folder[strlen(folder) - 1] == '/';
    return asprintf(&path, "%s%s%s", folder, slash ? "" : "/", name) < 0 ? NULL : path;
}

static bool append_corpus_file(path_array *paths, char *path)
{
    if (path && array_push(paths, path))
        return true;
    free(path);
    return false;
}

static bool append_folder(path_array *paths, const char *folder, int depth);

/* Opening a pipe or device that lies about may never end. What cannot be looked at is read: that
 * says why. */
static bool is_corpus_file(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

static bool append_entry(path_array *paths, const char *folder, const char *name, int depth)
{
    struct stat status;
    char *path = join_folder_and_name(folder, name);
    if (!path)
        return false;
    bool good = true;
    if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
        good = depth == DEEPEST || append_folder(paths, path, depth + 1);
    else if (is_corpus_name(name) && is_corpus_file(path))
        return append_corpus_file(paths, path);
    free(path);
    return good;
}

static bool append_folder(path_array *paths, const char *folder, int depth)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, by_bytes);
    if (count < 0) /* reading it as a file says why */
        return append_corpus_file(paths, strdup(folder));
    bool good = true;
    for (int i = 0; i < count; i++) {
        good = good && append_entry(paths, folder, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
    return good;
}

enum doppel_status files_append(path_array *paths, const char *path, struct doppel_error *error)
{
    struct stat status;
    size_t before = paths->count;
    bool good = true;
    if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        good = append_folder(paths, path, 0);
    if (good && paths->count == before)
        good = append_corpus_file(paths, strdup(path));
    return good ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to list %s", path);
}
