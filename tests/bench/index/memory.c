/* Memory that a virtual machine's host has to give first. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "index/index_bench.h"

enum { PAGE_BYTES = 4096 };

/* In large pages, as segments have it; in a child, so that the peak of this process stays what it
 * is. */
void claim_memory(size_t bytes)
{
    pid_t child = fork();
    if (!child) {
        void *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
        for (size_t at = 0; memory != MAP_FAILED && at < bytes; at += PAGE_BYTES)
            ((volatile char *)memory)[at] = 1;
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}
