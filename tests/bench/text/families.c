/* Which source package a file comes from: dpkg's status and lists of files. */
#include "families.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "documents.h"

/* From a hash to another: of a package to its source, of a path to its source. */
struct entry {
    uint64_t key, family;
};

struct entries {
    struct entry *items;
    size_t count, capacity;
};

struct families {
    struct entries packages, paths;
};

static uint64_t hash_text(const char *text)
{
    return hash_bytes(text, strlen(text));
}

static void keep(struct entries *entries, uint64_t key, uint64_t family)
{
    if (entries->count == entries->capacity) {
        entries->capacity = 2 * entries->capacity + 4096;
        entries->items = realloc(entries->items, entries->capacity * sizeof *entries->items);
        if (!entries->items)
            abort();
    }
    entries->items[entries->count++] = (struct entry){key, family};
}

static int by_key(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static uint64_t look_up(const struct entries *entries, uint64_t key)
{
    struct entry wanted = {key, 0};
    const struct entry *found =
        entries->count ? bsearch(&wanted, entries->items, entries->count, sizeof wanted, by_key)
                       : NULL;
    return found ? found->family : key;
}

static FILE *must_open(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file)
        return file;
    perror(path);
    exit(2);
}

/* "Package: NAME", and for most "Source: NAME (VERSION)" after it. */
static void read_status(struct families *families)
{
    FILE *file = must_open("/var/lib/dpkg/status");
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "Package: ", 9) == 0)
            keep(&families->packages, hash_text(line + 9), hash_text(line + 9));
        else if (strncmp(line, "Source: ", 8) == 0 && families->packages.count)
            families->packages.items[families->packages.count - 1].family =
                hash_bytes(line + 8, strcspn(line + 8, " "));
    }
    free(line);
    fclose(file);
    qsort(families->packages.items, families->packages.count, sizeof(struct entry), by_key);
}

static void read_list(struct families *families, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    uint64_t family =
        look_up(&families->packages,
                hash_bytes(name, strcspn(name, ":") < strlen(name) ? strcspn(name, ":")
                                                                   : strlen(name) - 5));
    FILE *file = must_open(path);
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "/usr/", 5) == 0)
            keep(&families->paths, hash_text(line), family);
    }
    free(line);
    fclose(file);
}

struct families *families_load(void)
{
    struct families *families = calloc(1, sizeof *families);
    glob_t lists;
    if (!families || glob("/var/lib/dpkg/info/*.list", 0, NULL, &lists) != 0) {
        fputs("no lists of dpkg\n", stderr);
        exit(2);
    }
    read_status(families);
    for (size_t i = 0; i < lists.gl_pathc; i++)
        read_list(families, lists.gl_pathv[i]);
    globfree(&lists);
    qsort(families->paths.items, families->paths.count, sizeof(struct entry), by_key);
    return families;
}

void families_free(struct families *families)
{
    free(families->packages.items);
    free(families->paths.items);
    free(families);
}

uint64_t family_of(const struct families *families, const char *path)
{
    return look_up(&families->paths, hash_text(path));
}
