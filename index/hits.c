/* Hits in their order. */
#include "index/hits.h"

static bool comes_before(const struct doppel_index_hit *a, const struct doppel_index_hit *b)
{
    return a->distance != b->distance ? a->distance < b->distance : a->payload < b->payload;
}

static int compare_hit_order(const void *a, const void *b)
{
    return comes_before(a, b) ? -1 : comes_before(b, a);
}

void hits_sort(struct doppel_index_hit *hits, size_t count)
{
    enum { FEW = 16 };
    if (count > FEW) {
        qsort(hits, count, sizeof *hits, compare_hit_order);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct doppel_index_hit moved = hits[i];
        size_t at = i;
        for (; at > 0 && comes_before(&moved, &hits[at - 1]); at--)
            hits[at] = hits[at - 1];
        hits[at] = moved;
    }
}

void hits_keep_nearest(hit_array *hits, size_t k)
{
    hits_sort(hits->items, hits->count);
    if (hits->count > k)
        hits->count = k;
}
