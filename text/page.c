/* gumbo within limits. It knows no failing allocation, walks the tree recursively to free it, and
 * takes quadratic time and memory for some broken markup. Hence all it allocates is of an arena,
 * freed at once; and the allocator leaves by longjmp when there is no memory or no time left. */
#include "text/page.h"

#include <setjmp.h>
#include <stdlib.h>
#include <time.h>

enum {
    CHUNK_BYTES = 1 << 16,
    ALIGNMENT = 16,
    /* Ordinary pages take 15 times their size. */
    MEMORY_TIMES_SIZE = 64,
    MEMORY_AT_LEAST = 64 << 20,
    /* Ordinary pages take 80 ns a byte. */
    NS_A_BYTE = 500,
    NS_AT_LEAST = 1000000000,
    CLOCK_EVERY = 4096 /* allocations */
};

struct page_chunk {
    struct page_chunk *next;
    size_t size, used;
    _Alignas(ALIGNMENT) char bytes[];
};

struct html_page {
    GumboOutput *output;
    struct page_chunk *chunks;
    size_t memory_left;
    int64_t deadline_ns; /* of this thread's CPU time: other work does not count */
    uint64_t allocations;
    enum doppel_status status;
    jmp_buf give_up;
};

static int64_t cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void leave_page(struct html_page *page, enum doppel_status status)
{
    page->status = status;
    longjmp(page->give_up, 1);
}

static void add_chunk(struct html_page *page, size_t size)
{
    size = size > CHUNK_BYTES ? size : CHUNK_BYTES;
    if (size > page->memory_left)
        leave_page(page, DOPPEL_E_LIMIT);
    struct page_chunk *chunk = malloc(sizeof *chunk + size);
    if (!chunk)
        leave_page(page, DOPPEL_E_MEMORY);
    *chunk = (struct page_chunk){.next = page->chunks, .size = size};
    page->chunks = chunk;
    page->memory_left -= size;
}

static void *allocate_page(void *context, size_t size)
{
    struct html_page *page = context;
    if (++page->allocations % CLOCK_EVERY == 0 && cpu_ns() > page->deadline_ns)
        leave_page(page, DOPPEL_E_LIMIT);
    if (size > SIZE_MAX / 2)
        leave_page(page, DOPPEL_E_LIMIT);
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!page->chunks || size > page->chunks->size - page->chunks->used)
        add_chunk(page, size);
    void *memory = page->chunks->bytes + page->chunks->used;
    page->chunks->used += size;
    return memory;
}

static void deallocate(void *context, void *memory)
{
    (void)context;
    (void)memory;
}

static enum doppel_status parse_page(struct html_page *page, const char *bytes, size_t size)
{
    GumboOptions options = kGumboDefaultOptions;
    options.allocator = allocate_page;
    options.deallocator = deallocate;
    options.userdata = page;
    options.max_errors = 0;
    if (setjmp(page->give_up))
        return page->status;
    page->output = gumbo_parse_with_options(&options, bytes, size);
    return DOPPEL_OK;
}

enum doppel_status page_parse(const void *bytes, size_t size, struct html_page **out,
                              struct doppel_error *error)
{
    if (size > UINT32_MAX / 2) /* its places are 32 bits wide */
        return doppel_fail(error, DOPPEL_E_LIMIT, "HTML of %zu bytes; 2 GB can be read", size);
    struct html_page *page = calloc(1, sizeof *page);
    if (!page)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read HTML");
    page->memory_left = MEMORY_TIMES_SIZE * size + MEMORY_AT_LEAST;
    page->deadline_ns = cpu_ns() + (int64_t)size * NS_A_BYTE + NS_AT_LEAST;
    enum doppel_status status = parse_page(page, size ? bytes : "", size);
    if (!status) {
        *out = page;
        return DOPPEL_OK;
    }
    page_free(page);
    if (status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "no memory to read HTML of %zu bytes", size);
    return doppel_fail(
        error, status,
        "HTML nested too deeply, or broken: its %zu bytes take too much time or memory", size);
}

void page_free(struct html_page *page)
{
    if (!page)
        return;
    for (struct page_chunk *chunk = page->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(page);
}

const GumboNode *page_root(const struct html_page *page)
{
    return page->output->document;
}
