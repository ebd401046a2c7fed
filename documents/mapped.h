/* A whole file, to be read. */
#ifndef DOPPEL_DOCUMENTS_MAPPED_H
#define DOPPEL_DOCUMENTS_MAPPED_H

#include <sys/mman.h>
#include <sys/stat.h>

#include <doppel/core.h>

struct mapped_document {
    const char *bytes;
    size_t size;
};

static inline enum doppel_status map_document(int fd, struct mapped_document *out,
                                              struct doppel_error *error)
{
    struct stat file;
    if (fstat(fd, &file) || file.st_size <= 0)
        return doppel_fail(error, DOPPEL_E_EMPTY, "the file is empty");
    void *bytes = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no room to map it");
    *out = (struct mapped_document){bytes, (size_t)file.st_size};
    return DOPPEL_OK;
}

static inline void unmap_document(struct mapped_document *file)
{
    munmap((void *)file->bytes, file->size);
}

#endif
