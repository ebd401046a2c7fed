/* A peer: the linear scan with this processor's best kernel, one query at a time. */
#include <stdlib.h>
#include <string.h>

#include "index/index_bench.h"
#include "index/scan.h"

enum { BLOCK_GROUPS = 256 };

struct scan {
    const struct codes *codes;
    uint64_t *groups;
    struct scan_hit hits[BLOCK_GROUPS * SCAN_GROUP];
};

static void search(void *self, const uint64_t *query, uint32_t radius, hit_array *out)
{
    struct scan *scan = self;
    const struct codes *codes = scan->codes;
    scan_kernel *kernel = scan_choose(codes->bits);
    for (size_t first = 0; first < codes->count; first += BLOCK_GROUPS * SCAN_GROUP) {
        size_t left = (codes->count - first + SCAN_GROUP - 1) / SCAN_GROUP;
        size_t found = kernel(scan->groups + first * codes->words,
                              left < BLOCK_GROUPS ? left : BLOCK_GROUPS, query, radius, scan->hits);
        for (size_t i = 0; i < found; i++) {
            size_t at = first + scan->hits[i].position;
            if (at < codes->count)
                (void)array_push(out, ((struct doppel_index_hit){codes->payloads[at],
                                                                 scan->hits[i].distance, 0}));
        }
    }
}

static int nearer(const void *a, const void *b)
{
    const struct doppel_index_hit *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->payload < y->payload ? -1 : x->payload > y->payload;
}

/* Within a radius that grows until k are found. */
static void nearest(void *self, const uint64_t *query, size_t k, hit_array *out)
{
    const struct codes *codes = ((struct scan *)self)->codes;
    for (uint32_t radius = codes->bits / 8;; radius += codes->bits / 16) {
        out->count = 0;
        search(self, query, radius, out);
        if (out->count >= k || radius >= codes->bits)
            break;
    }
    qsort(out->items, out->count, sizeof *out->items, nearer);
    if (out->count > k)
        out->count = k;
}

static void release(void *self)
{
    struct scan *scan = self;
    free(scan->groups);
    free(scan);
}

struct finder finder_scan(const struct codes *codes)
{
    struct finder finder = {
        .name = "linear scan", .search = search, .nearest = nearest, .free = release};
    double start = thread_seconds();
    struct scan *scan = need(calloc(1, sizeof *scan));
    size_t groups = codes->count / SCAN_GROUP + 1, bytes = groups * SCAN_GROUP * codes->words * 8;
    scan->codes = codes;
    scan->groups = need(aligned_alloc(64, bytes));
    memset(scan->groups, 0, bytes);
    for (size_t i = 0; i < codes->count; i++)
        for (size_t w = 0; w < codes->words; w++)
            scan->groups[(i / SCAN_GROUP * codes->words + w) * SCAN_GROUP + i % SCAN_GROUP] =
                codes->codes[i * codes->words + w];
    finder.self = scan;
    finder.bytes = bytes + codes->count * 8;
    finder.build_seconds = thread_seconds() - start;
    return finder;
}
