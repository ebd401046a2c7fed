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

static void sift_up(struct doppel_index_hit *heap, size_t at)
{
    while (at > 0 && comes_before(&heap[(at - 1) / 2], &heap[at])) {
        struct doppel_index_hit swap = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = swap;
        at = (at - 1) / 2;
    }
}

static void sift_down(struct doppel_index_hit *heap, size_t count)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && comes_before(&heap[child], &heap[child + 1]))
            child++;
        if (!comes_before(&heap[at], &heap[child]))
            return;
        struct doppel_index_hit swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

void hits_make_heap(hit_array *hits)
{
    for (size_t i = 1; i < hits->count; i++)
        sift_up(hits->items, i);
}

bool hits_offer(hit_array *hits, size_t k, const struct doppel_index_hit *hit)
{
    if (hits->count < k) {
        if (!array_push(hits, *hit))
            return false;
        sift_up(hits->items, hits->count - 1);
    } else if (comes_before(hit, &hits->items[0])) {
        hits->items[0] = *hit;
        sift_down(hits->items, hits->count);
    }
    return true;
}

void hits_keep_nearest(hit_array *hits, size_t k)
{
    hits_sort(hits->items, hits->count);
    if (hits->count > k)
        hits->count = k;
}
