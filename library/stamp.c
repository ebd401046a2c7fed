/* What tells whether a file is still the same. */
#include <doppel/library.h>

#include <sys/stat.h>

#include "core/clock.h"

struct doppel_file_stamp doppel_file_stamp_of(const struct stat *status)
{
    return (struct doppel_file_stamp){
        .device = status->st_dev,
        .inode = status->st_ino,
        .size = status->st_size,
        .mtime_ns = timespec_ns(status->st_mtim),
    };
}

bool doppel_file_stamp_equal(const struct doppel_file_stamp *a, const struct doppel_file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->mtime_ns == b->mtime_ns;
}
