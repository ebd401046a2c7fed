/* All codes of a Hamming table read one after the other: where looking buckets up would cost more.
 */
#include "index/hamming/search.h"

#include "index/scan_codes.h"

enum { SOME = 512 }; /* codes at a time, which stay in the cache */

/* Wide codes, from `first` on, as the kernels of a linear scan want them. */
static void groups_fill(const struct hamming *table, uint64_t first, size_t count, uint64_t *groups)
{
    const size_t words = table->shape.words;
    const uint64_t *code = table->apart + first * words;
    segment_touch(table->segment, code, count * words * sizeof *code);
    for (size_t i = 0; i < count; i++)
        for (size_t word = 0; word < words; word++)
            groups[scan_place(i, words) + word * SCAN_GROUP] = *code++;
}

static void offer_apart(const struct hamming *table, struct hamming_scratch *scratch,
                        unsigned number, uint64_t id, uint32_t distance)
{
    const struct active *active = &scratch->active[number];
    const uint64_t *code = table->apart + id * table->shape.words;
    if ((int32_t)distance > active->known && distance <= active->limit &&
        !is_found_before(table, active, 0, code))
        found_push(table, scratch, (uint32_t)id, distance, number);
}

void scan_apart(const struct hamming *table, struct hamming_scratch *scratch, unsigned number)
{
    const struct active *active = &scratch->active[number];
    scan_kernel *kernel = scan_choose(table->shape.bits);
    uint64_t groups[SOME * WORDS_MAX] = {0};
    struct scan_hit hits[SOME];
    for (uint64_t first = 0; first < table->distinct; first += SOME) {
        const uint64_t left = table->distinct - first;
        const size_t count = left < SOME ? (size_t)left : SOME;
        groups_fill(table, first, count, groups);
        const size_t whole = (count + SCAN_GROUP - 1) / SCAN_GROUP;
        const size_t found = kernel(groups, whole, active->code, active->limit, hits);
        for (size_t i = 0; i < found && hits[i].position < count; i++)
            offer_apart(table, scratch, number, first + hits[i].position, hits[i].distance);
    }
}
