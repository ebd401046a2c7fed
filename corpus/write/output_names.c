/* How the outputs of the files of a corpus are called: by the name of the file, of those in a
 * folder by their path in it, which begins with the folder's name where it is not the only one that
 * was given; where two would be called the same, by as much of their paths as they do not all have
 * in common. */
#include "corpus/write/output_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files/absolute_path.h"
#include "core/try.h"
#include "corpus/read/files.h"

static enum doppel_status no_memory_for_names(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to name outputs");
}

static bool is_input_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Behind a folder and its slashes, or NULL: the path lies elsewhere. */
static const char *below_folder(const char *folder, const char *path)
{
    size_t size = strlen(folder);
    while (size && folder[size - 1] == '/')
        size--;
    if (strncmp(folder, path, size) != 0 || (path[size] && path[size] != '/'))
        return NULL;
    return path + size + strspn(path + size, "/");
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- the inputs of one operand ---- */

/* Where a folder lies, or will lie: without links and dots as far as it is there. Given; NULL
 * without memory. */
static char *resolve_folder(const char *path)
{
    char *resolved = realpath(path, NULL);
    bool last = resolved || strcmp(path, ".") == 0; /* which may be gone */
    char *copy = last ? NULL : strdup(path);
    if (!copy)
        return resolved;
    size_t size = strlen(copy);
    while (size > 1 && copy[size - 1] == '/')
        copy[--size] = '\0';
    char *slash = strrchr(copy, '/'), *name = slash ? slash + 1 : copy;
    char *outer = resolve_folder(!slash ? "." : slash == copy ? "/" : (*slash = '\0', copy));
    if (!outer || asprintf(&resolved, "%s/%s", outer, name) < 0)
        resolved = NULL;
    free(outer);
    free(copy);
    return resolved;
}

static enum doppel_status check_operand(const char *operand, const char *folder,
                                        struct doppel_error *error)
{
    if (strcmp(operand, "-") == 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "standard input has no name by which its output could be called; leave "
                           "out the folder, or write it to a file");
    if (!is_input_folder(operand))
        return DOPPEL_OK;
    char *outer = absolute_path(operand), *inner = resolve_folder(folder);
    enum doppel_status status = DOPPEL_OK;
    if (!outer || !inner)
        status = no_memory_for_names(error);
    else if (below_folder(outer, inner))
        status = doppel_fail(error, DOPPEL_E_ARGUMENT,
                             "%s lies in %s, whose files are read: choose a folder elsewhere",
                             folder, operand);
    free(outer);
    free(inner);
    return status;
}

/* Records of archives are written as JSON Lines, and called so, before ".gz" or ".zst". */
static char *name_as_lines(char *name)
{
    char *longer;
    if (!name || !files_is_archive_name(name))
        return name;
    int size = (int)files_name_size(name);
    if (asprintf(&longer, "%.*s.jsonl%s", size, name, name + size) < 0)
        longer = NULL;
    free(name);
    return longer;
}

/* Of a file that was given, or lies in the folder that was. */
static char *name_by_operand(const char *operand, bool alone, const char *path)
{
    const char *below = is_input_folder(operand) ? below_folder(operand, path) : NULL;
    char *name, *folder;
    if (!below || !*below)
        return strdup(last_name(path));
    if (alone)
        return strdup(below);
    folder = absolute_path(operand); /* it may be called ".", or end in a slash */
    if (!folder || asprintf(&name, "%s/%s", last_name(folder), below) < 0)
        name = NULL;
    free(folder);
    return name;
}

static enum doppel_status append_names(struct output_names *names, const char *operand, bool alone,
                                       const path_array *paths, struct doppel_error *error)
{
    for (size_t i = 0; i < paths->count; i++) {
        struct output_name *name = &names->items[names->count++];
        name->input = strdup(paths->items[i]);
        name->absolute = absolute_path(paths->items[i]);
        name->name = name_as_lines(name_by_operand(operand, alone, paths->items[i]));
        if (!name->input || !name->absolute || !name->name)
            return no_memory_for_names(error);
    }
    return DOPPEL_OK;
}

static enum doppel_status find_names_of(struct output_names *names,
                                        const struct doppel_corpus_outputs_options *options,
                                        const char *operand, struct doppel_error *error)
{
    path_array paths = {0};
    enum doppel_status status;
    TRY(check_operand(operand, options->folder, error));
    TRY(files_append(&paths, operand, error));
    struct output_name *grown =
        realloc(names->items, (names->count + paths.count) * sizeof *names->items);
    if (!grown)
        TRY(no_memory_for_names(error));
    names->items = grown;
    memset(grown + names->count, 0, paths.count * sizeof *grown);
    TRY(append_names(names, operand, options->files.count == 1, &paths, error));
done:
    for (size_t i = 0; i < paths.count; i++)
        free(paths.items[i]);
    free(paths.items);
    return status;
}

/* ---- names that are the same ---- */

static int by_name(const void *a, const void *b)
{
    const struct output_name *const *one = a, *const *other = b;
    return strcmp((*one)->name, (*other)->name);
}

/* Two that are called the same. False: none, or no memory, which is set then. */
static bool find_clash(const struct output_names *names, const struct output_name *out[2],
                       bool *out_no_memory)
{
    const struct output_name **sorted = calloc(names->count + 1, sizeof(void *));
    bool found = false;
    *out_no_memory = !sorted;
    for (size_t i = 0; sorted && i < names->count; i++)
        sorted[i] = &names->items[i];
    if (sorted)
        qsort(sorted, names->count, sizeof(void *), by_name);
    for (size_t i = 1; sorted && i < names->count && !found; i++) {
        found = strcmp(sorted[i - 1]->name, sorted[i]->name) == 0;
        out[0] = sorted[i - 1];
        out[1] = sorted[i];
    }
    free(sorted);
    return found;
}

/* Bytes of the folder that all inputs have in common, with its slash. */
static size_t common_folder(const struct output_names *names)
{
    const char *first = names->items[0].absolute;
    size_t common = (size_t)(last_name(first) - first);
    for (size_t i = 1; i < names->count; i++) {
        const char *path = names->items[i].absolute;
        while (common && strncmp(first, path, common) != 0)
            for (common--; common && first[common - 1] != '/'; common--) {
            }
    }
    return common;
}

static bool name_by_folders(struct output_names *names)
{
    size_t common = common_folder(names);
    for (size_t i = 0; i < names->count; i++) {
        struct output_name *name = &names->items[i];
        free(name->name);
        name->name = strdup(name->absolute + common);
        if (!name->name)
            return false;
    }
    return true;
}

static enum doppel_status tell_apart(struct output_names *names, struct doppel_error *error)
{
    const struct output_name *two[2];
    bool no_memory, clash = find_clash(names, two, &no_memory);
    if (clash) {
        no_memory = !name_by_folders(names);
        clash = !no_memory && find_clash(names, two, &no_memory);
    }
    if (no_memory)
        return no_memory_for_names(error);
    if (clash)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s and %s are the same file, given twice",
                           two[0]->input, two[1]->input);
    return DOPPEL_OK;
}

enum doppel_status output_names_find(const struct doppel_corpus_outputs_options *options,
                                     struct output_names *out, struct doppel_error *error)
{
    struct output_names names = {0};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < options->files.count; i++)
        TRY(find_names_of(&names, options, options->files.paths[i], error));
    if (names.count)
        TRY(tell_apart(&names, error));
    *out = names;
done:
    if (status)
        output_names_free(&names);
    return status;
}

void output_names_free(struct output_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->items[i].input);
        free(names->items[i].absolute);
        free(names->items[i].name);
    }
    free(names->items);
    *names = (struct output_names){0};
}
