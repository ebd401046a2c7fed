/* The k nearest codes: shells are searched, cheapest first, until the k-th is within the radius
 * that they cover. */
#include "index/hamming/search.h"

#include "index/hamming/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void nearest_offer(struct active *active, const struct doppel_index_hit *hit,
                   struct hamming_scratch *scratch)
{
    hit_array *hits = active->query->hits;
    if (!hits_offer(hits, active->nearest, hit)) {
        scratch->no_memory = true;
        return;
    }
    if (hits->count == active->nearest && hits->items[0].distance < active->limit)
        active->limit = hits->items[0].distance;
}

/* A radius within which there should be a few times as many as wanted, were the codes uniform. */
static uint32_t likely_radius(const struct hamming *table, size_t nearest)
{
    uint32_t bits = table->shape.bits;
    double found = (double)table->distinct * exp2(-(double)bits), shell = found, sum = 0;
    for (uint32_t radius = 0; radius < bits; radius++) {
        if ((sum += shell) > 4. * (double)nearest + 4)
            return radius;
        shell = shell * (bits - radius) / (radius + 1);
    }
    return bits;
}

/* A query of a k-NN search on its way. */
struct radius_growing {
    uint32_t covered; /* units of shares spent: all codes at less than that distance are found */
    uint32_t most;    /* the query's radius */
    uint32_t likely;  /* a radius with enough codes, were they uniform */
    uint32_t window;  /* what chunk and remainder may differ by, about */
    int8_t shares[CHUNKS_MAX]; /* of the limit: chunks are searched so far at most */
    bool whole;                /* all codes are read: looking up costs more, and others are far */
    bool done;
};

/* Begin with a limit, or again. While shells are searched in whatever order, up to the shares of
 * the limit, its windows are no narrower than those of any limit that turns out to be enough. */
static void limit_set(const struct hamming *table, struct active *active,
                      struct radius_growing *growing, uint32_t limit)
{
    const uint32_t chunks = table->shape.chunks;
    active->limit = limit;
    growing->covered = 0;
    growing->whole = false;
    growing->window = window_usual(&table->shape, limit);
    if (shares_choose(table, limit, active->sizes, growing->shares)) {
        shares_windows(&table->shape, growing->shares, active->windows);
    } else {
        growing->window = limit;
        growing->whole = table->shape.apart;
        memset(growing->shares, INT8_MAX, sizeof growing->shares);
        for (unsigned chunk = 0; chunk < chunks; chunk++)
            active->windows[chunk] = UINT32_MAX;
    }
    for (unsigned chunk = 0; chunk < chunks; chunk++)
        active->share[chunk] = active->before[chunk] = -1;
}

static void knn_begin(const struct hamming *table, struct active *active,
                      struct radius_growing *growing, size_t nearest)
{
    hit_array *hits = active->query->hits;
    uint32_t radius = active->query->radius;
    *growing =
        (struct radius_growing){.most = radius < table->shape.bits ? radius : table->shape.bits};
    active->nearest = nearest;
    hits_make_heap(hits);
    growing->likely = likely_radius(table, nearest);
    uint32_t limit = growing->likely < growing->most ? growing->likely : growing->most;
    if (limit > table->design_radius && table->shape.apart) /* of wide ones others are far */
        limit = table->design_radius;
    if (hits->count >= nearest && hits->items[0].distance < limit)
        limit = hits->items[0].distance;
    active_sizes(table, active);
    limit_set(table, active, growing, limit);
}

/* Add the cheapest shell that is left. @return its cost; infinite: there is none */
static float grow_hamming(const struct hamming *table, struct active *active,
                          const struct radius_growing *growing)
{
    unsigned best = 0;
    float least = INFINITY;
    for (unsigned chunk = 0; chunk < table->shape.chunks; chunk++) {
        uint32_t ones = (uint32_t)(active->share[chunk] + 1);
        if (ones >= table->shells || (int32_t)ones > growing->shares[chunk])
            continue;
        float cost = shell_cost(table, chunk, ones, growing->window, active->sizes[chunk]);
        if (cost < least) {
            least = cost;
            best = chunk;
        }
    }
    if (least < INFINITY)
        active->share[best]++;
    return least;
}

static void plan_growth(const struct hamming *table, struct hamming_scratch *scratch,
                        unsigned number)
{
    struct active *active = &scratch->active[number];
    for (unsigned chunk = 0; chunk < table->shape.chunks; chunk++)
        plan_shells(table, scratch, number, chunk, active->before[chunk] + 1, active->share[chunk]);
}

static void knn_scan(const struct hamming *table, struct hamming_scratch *scratch, unsigned number,
                     struct radius_growing *growing)
{
    plan_scan(table, scratch, number);
    growing->covered = scratch->active[number].limit + 1;
}

/* The next round: shells worth about what was spent before, at least some. */
static void knn_round(const struct hamming *table, struct hamming_scratch *scratch, unsigned number,
                      struct radius_growing *growing)
{
    enum { LEAST_NS = 500 };
    struct active *active = &scratch->active[number];
    if (growing->whole) {
        knn_scan(table, scratch, number, growing);
        return;
    }
    memcpy(active->before, active->share, sizeof active->before);
    float spent = 0, scan = scan_cost(table, active->limit);
    for (; growing->covered <= active->limit && spent < LEAST_NS; growing->covered++) {
        spent += grow_hamming(table, active, growing);
        if (spent > scan) {
            memcpy(active->share, active->before, sizeof active->share);
            knn_scan(table, scratch, number, growing);
            return;
        }
    }
    plan_growth(table, scratch, number);
}

/* Whether all that can matter is found; when the likely radius was too small it starts again with a
 * larger one, leaving out what is known. */
static bool knn_finished(const struct hamming *table, struct active *active,
                         struct radius_growing *growing)
{
    const hit_array *hits = active->query->hits;
    if (growing->covered <= active->limit)
        return false;
    const bool full = hits->count >= active->nearest;
    if ((full && hits->items[0].distance <= active->limit) || active->limit >= growing->most)
        return true;
    active->known = (int32_t)active->limit;
    uint32_t limit = active->limit + 2 + active->limit / 8;
    if (limit < growing->likely)
        limit = growing->likely;
    if (full && hits->items[0].distance < limit) /* of another table */
        limit = hits->items[0].distance;
    limit_set(table, active, growing, limit < growing->most ? limit : growing->most);
    return false;
}

static void knn_some(const struct hamming *table, struct hamming_scratch *scratch,
                     struct query *queries, unsigned count, size_t nearest)
{
    struct radius_growing growing[ACTIVE_MAX];
    for (unsigned i = 0; i < count; i++)
        active_begin(table, scratch, i, &queries[i]);
    for (unsigned i = 0; i < count; i++)
        knn_begin(table, &scratch->active[i], &growing[i], nearest);
    for (unsigned left = count; left > 0 && !scratch->no_memory;) {
        for (unsigned i = 0; i < count; i++)
            if (!growing[i].done)
                knn_round(table, scratch, i, &growing[i]);
        plan_run(table, scratch);
        for (unsigned i = 0; i < count; i++)
            if (!growing[i].done && knn_finished(table, &scratch->active[i], &growing[i])) {
                growing[i].done = true;
                left--;
            }
    }
}

enum doppel_status hamming_knn(const struct hamming *table, struct hamming_scratch *scratch,
                               struct query *queries, size_t count, size_t k,
                               struct hamming_counts *counts, struct doppel_error *error)
{
    scratch->no_memory = false;
    scratch->counts = (struct hamming_counts){0};
    for (size_t first = 0; first < count && k && table->distinct; first += ACTIVE_MAX) {
        size_t left = count - first;
        knn_some(table, scratch, queries + first, left < ACTIVE_MAX ? (unsigned)left : ACTIVE_MAX,
                 k);
    }
    for (size_t i = 0; i < count; i++)
        hits_sort(queries[i].hits->items, queries[i].hits->count);
    return search_status(table, scratch, counts, error);
}
