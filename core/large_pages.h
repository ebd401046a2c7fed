/* Memory that is read at random: in large pages, where the system has them. */
#ifndef DOPPEL_CORE_LARGE_PAGES_H
#define DOPPEL_CORE_LARGE_PAGES_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

/** @return given (free), aligned to 16 bytes or more; NULL without memory */
static inline void *large_pages_alloc(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    if (bytes < page)
        return malloc(bytes ? bytes : 1);
    size_t rounded = (bytes + page - 1) / page * page;
    void *memory = rounded < bytes ? NULL : aligned_alloc(page, rounded);
    if (memory)
        (void)madvise(memory, rounded, MADV_HUGEPAGE); /* a wish, no more */
    return memory;
}

#endif
