/* Pictures of folders and lists, in an order that their folders do not give. */
#include "pictures.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { LEAST_SIDE = 160, MOST_SIDE = 1024, MOST_FILES = 200000 };

/* ---- files ---- */

static bool is_picture(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (!strcasecmp(dot, ".jpg") || !strcasecmp(dot, ".jpeg") ||
                   !strcasecmp(dot, ".png") || !strcasecmp(dot, ".webp"));
}

static void list_folder(const char *folder, struct picture_list *out)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) && out->count < MOST_FILES;) {
        char path[4096];
        struct stat info;
        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path ||
            lstat(path, &info))
            continue;
        if (S_ISDIR(info.st_mode))
            list_folder(path, out);
        else if (S_ISREG(info.st_mode) && info.st_size > 8000 && is_picture(path))
            out->paths[out->count++] = strdup(path);
    }
    if (dir)
        closedir(dir);
}

void pictures_list(const char *path, struct picture_list *out)
{
    struct stat info;
    char line[4096];
    if (!out->paths)
        out->paths = malloc(MOST_FILES * sizeof *out->paths);
    FILE *file = !stat(path, &info) && S_ISREG(info.st_mode) ? fopen(path, "r") : NULL;
    if (!file)
        list_folder(path, out);
    while (file && out->count < MOST_FILES && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        out->paths[out->count++] = strdup(line);
    }
    if (file)
        fclose(file);
}

static uint64_t path_hash(const char *path)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *path; path++)
        hash = (hash ^ (uint8_t)*path) * UINT64_C(1099511628211);
    return hash ^ hash >> 29;
}

static int compare_paths(const void *a, const void *b)
{
    uint64_t left = path_hash(*(char *const *)a), right = path_hash(*(char *const *)b);
    return (left > right) - (left < right);
}

void pictures_order(struct picture_list *list)
{
    const char *most = getenv("MOST");
    qsort(list->paths, list->count, sizeof *list->paths, compare_paths);
    if (most && list->count > (size_t)atoi(most))
        list->count = (size_t)atoi(most);
}

struct image pictures_load(const char *path)
{
    struct image image = image_load(path, MOST_SIDE);
    if (image.pixels && (image.width < LEAST_SIDE || image.height < LEAST_SIDE))
        image_free(&image);
    int longer = image.width > image.height ? image.width : image.height;
    if (image.pixels && longer > MOST_SIDE) {
        double scale = (double)MOST_SIDE / longer;
        struct image small =
            image_resize(&image, (int)(image.width * scale) + 1, (int)(image.height * scale) + 1);
        image_free(&image);
        image = small;
    }
    return image;
}
