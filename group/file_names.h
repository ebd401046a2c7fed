/* The other names of files: hard links that a walk came upon, or that a library has. */
#ifndef DOPPEL_GROUP_FILE_NAMES_H
#define DOPPEL_GROUP_FILE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/array.h"

struct file_name {
    uint64_t device, inode;
    char *path;
};

/* Zero-initialised it is empty. */
struct file_names {
    ARRAY(struct file_name) items;
    size_t sorted; /* so many of the first ones are */
};

/* @param stat of the file; one with a single name is passed over. @param path copied.
 * @return false without memory */
bool file_names_add(struct file_names *names, const struct stat *stat, const char *path);
void file_names_clear(struct file_names *names);
void file_names_free(struct file_names *names);

/* What a file is called besides. */
struct other_names {
    uint64_t links;     /* all its names, as its file system counts them; 0: it is not there */
    const char **paths; /* given (free); what they lead to is borrowed from the names */
    size_t count;
};

/* The other names of the file at `path` that are there now, each once, in byte order.
 * @return false without memory */
bool file_names_find(struct file_names *names, const char *path, struct other_names *out);

#endif
