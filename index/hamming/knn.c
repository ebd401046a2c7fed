/* The k nearest codes: shells are searched, cheapest first, until the k-th is within the radius
 * that they cover. */
#include "index/hamming/search.h"

#include "index/hamming/shares.h"

#include <math.h>
#include <stdlib.h>

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
    bool done;
};

static void knn_begin(const struct hamming *table, struct active *active,
                      struct radius_growing *growing, size_t nearest)
{
    hit_array *hits = active->query->hits;
    uint32_t radius = active->query->radius;
    *growing =
        (struct radius_growing){.most = radius < table->shape.bits ? radius : table->shape.bits};
    active->nearest = nearest;
    hits_make_heap(hits);
    uint32_t likely = likely_radius(table, nearest);
    active->limit = likely < growing->most ? likely : growing->most;
    if (hits->count >= nearest && hits->items[0].distance < active->limit)
        active->limit = hits->items[0].distance;
    for (unsigned chunk = 0; chunk < table->shape.chunks; chunk++)
        active->share[chunk] = -1;
    active_sizes(table, active);
}

/* Add the cheapest shell that is left. @return its cost; infinite: there is none */
static float grow_hamming(const struct hamming *table, struct active *active)
{
    unsigned best = 0;
    float least = INFINITY;
    for (unsigned chunk = 0; chunk < table->shape.chunks; chunk++) {
        uint32_t ones = (uint32_t)(active->share[chunk] + 1);
        if (ones >= table->shells)
            continue;
        float cost = shell_cost(table, chunk, ones, active->limit, active->sizes[chunk]);
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

/* The next round: shells worth about what was spent before, at least some. */
static void knn_round(const struct hamming *table, struct hamming_scratch *scratch, unsigned number,
                      struct radius_growing *growing)
{
    enum { LEAST_NS = 500 };
    struct active *active = &scratch->active[number];
    for (unsigned chunk = 0; chunk < table->shape.chunks; chunk++)
        active->before[chunk] = active->share[chunk];
    float spent = 0, scan = scan_cost(table, active->limit);
    while (growing->covered <= active->limit && spent < LEAST_NS) {
        float cost = grow_hamming(table, active);
        if ((spent += cost) > scan) {
            for (unsigned chunk = 0; chunk < table->shape.chunks; chunk++)
                active->share[chunk] = active->before[chunk];
            growing->covered = active->limit + 1;
            plan_scan(table, scratch, number);
            return;
        }
        growing->covered++;
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
    if (hits->count >= active->nearest || active->limit >= growing->most)
        return true;
    active->known = (int32_t)active->limit;
    uint32_t limit = active->limit + 2 + active->limit / 8;
    active->limit = limit < growing->most ? limit : growing->most;
    growing->covered = 0;
    for (unsigned chunk = 0; chunk < table->shape.chunks; chunk++)
        active->share[chunk] = active->before[chunk] = -1;
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
