/* A set of files, distinguished by device and inode; 16 bytes each, at most twice that in memory.
 */
#ifndef DOPPEL_CORE_FILES_FILE_SET_H
#define DOPPEL_CORE_FILES_FILE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Zeroed it is empty. */
struct file_set {
    struct file_id *slots;
    size_t count, capacity;
};

/* Make room for one more: then it is remembered. @return false without memory */
bool file_set_reserve(struct file_set *set);

/* True when it was not there yet; without memory it is not remembered. */
bool file_set_add(struct file_set *set, const struct stat *stat);
bool file_set_has(const struct file_set *set, const struct stat *stat);
void file_set_free(struct file_set *set);

#endif
