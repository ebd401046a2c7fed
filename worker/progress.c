/* How far a worker is: the page between it and its pool. */
#include "worker/progress.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* No video is longer than its times can tell; what a worker says beyond that is nonsense. */
static const uint64_t LONGEST_MS = UINT32_MAX;
static const uint64_t MOST_PAGES = 200000; /* as documents/pdf.c */

/* ---- the pool's side ---- */

const struct progress_page *progress_page_make(int *out_fd)
{
    void *page = MAP_FAILED;
    int fd = memfd_create("progress", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    *out_fd = -1;
    if (fd < 0)
        return NULL;
    /* A page that the worker could cut off would end us when we read it. */
    if (ftruncate(fd, sizeof(struct progress_page)) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        page = mmap(NULL, sizeof(struct progress_page), PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        close(fd);
        return NULL;
    }
    *out_fd = fd;
    return page;
}

void progress_page_free(const struct progress_page *page)
{
    if (page)
        munmap((void *)(uintptr_t)page, sizeof *page);
}

static uint64_t read_progress_number(const atomic_uint_least64_t *number, uint64_t most)
{
    uint64_t value = atomic_load_explicit(number, memory_order_relaxed);
    return value < most ? value : most;
}

struct doppel_progress progress_read(const struct progress_page *page)
{
    struct doppel_progress progress = {0};
    if (!page)
        return progress;
    progress.expected_ms = read_progress_number(&page->expected_ms, LONGEST_MS);
    progress.done_ms = read_progress_number(&page->done_ms, progress.expected_ms);
    progress.pages_total = read_progress_number(&page->pages_total, MOST_PAGES);
    progress.pages = read_progress_number(&page->pages, progress.pages_total);
    return progress;
}

uint64_t progress_worked_ms(const struct progress_page *page)
{
    return page ? read_progress_number(&page->worked_ms, UINT64_MAX) : 0;
}

void progress_read_refused(const struct progress_page *page, char out[PROGRESS_NAME_BYTES])
{
    size_t length = 0;
    while (page && length < PROGRESS_NAME_BYTES - 1 &&
           (isalnum((unsigned char)page->refused[length]) || page->refused[length] == '_')) {
        out[length] = page->refused[length];
        length++;
    }
    out[length] = '\0';
}

/* ---- the worker's side ---- */

struct progress_page *progress_page_take(int fd)
{
    struct stat status;
    void *page = MAP_FAILED;
    if (fstat(fd, &status) == 0 && status.st_size == (off_t)sizeof(struct progress_page))
        page = mmap(NULL, sizeof(struct progress_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return page == MAP_FAILED ? NULL : page;
}

void progress_begin_file(struct progress_page *page)
{
    if (!page)
        return;
    atomic_store_explicit(&page->expected_ms, 0, memory_order_relaxed);
    atomic_store_explicit(&page->done_ms, 0, memory_order_relaxed);
    atomic_store_explicit(&page->pages, 0, memory_order_relaxed);
    atomic_store_explicit(&page->pages_total, 0, memory_order_relaxed);
}

void progress_work(struct progress_page *page, uint64_t more_ms)
{
    if (page)
        atomic_fetch_add_explicit(&page->worked_ms, more_ms, memory_order_relaxed);
}

void progress_page_done(struct progress_page *page, uint32_t done, uint32_t total)
{
    progress_work(page, PROGRESS_PAGE_MS);
    if (!page)
        return;
    atomic_store_explicit(&page->pages_total, total, memory_order_relaxed);
    atomic_store_explicit(&page->pages, done, memory_order_relaxed);
}

void progress_report(struct progress_page *page, uint64_t done_ms, uint64_t expected_ms)
{
    if (!page)
        return;
    uint64_t before = atomic_load_explicit(&page->done_ms, memory_order_relaxed);
    if (done_ms > before) {
        progress_work(page, done_ms - before);
        atomic_store_explicit(&page->done_ms, done_ms, memory_order_relaxed);
    }
    uint64_t whole = expected_ms && expected_ms < done_ms ? done_ms : expected_ms;
    atomic_store_explicit(&page->expected_ms, whole, memory_order_relaxed);
}
