/* The pictures of a bench: those of folders, or of files with a path a line. */
#ifndef BENCH_LOCAL_PICTURES_H
#define BENCH_LOCAL_PICTURES_H

#include "../recall/image.h"

struct picture_list {
    char **paths;
    size_t count;
};

/** Add the pictures of a folder, or of a file with a path a line. Nothing is freed. */
void pictures_list(const char *path, struct picture_list *out);

/** In an order of their names' hashes; with MOST in the environment so many of them. */
void pictures_order(struct picture_list *list);

/** At most 1024 samples a side; no pixels: none, or one of less than 160. */
struct image pictures_load(const char *path);

#endif
