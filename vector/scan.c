/* Prefixes first, then bytes, then floats. */
#include "vector/scan.h"

#include <stdlib.h>
#include <string.h>

static size_t padded(const struct vector_cells *cells)
{
    return ((size_t)cells->vectors.dimension + 31) / 32 * 32;
}

enum doppel_status cell_scan_make(const struct vector_cells *cells,
                                  const struct scan_threshold *threshold, struct cell_scan **out,
                                  struct doppel_error *error)
{
    struct cell_scan *scan = aligned_alloc(_Alignof(struct cell_scan), sizeof *scan);
    int8_t *bytes = calloc(PREFIX_QUERIES, padded(cells));
    if (!scan || !bytes) {
        free(scan);
        free(bytes);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare vectors");
    }
    scan->cells = cells;
    scan->kernels = vector_kernels_get();
    scan->threshold = *threshold;
    scan->blocks = cells->blocks;
    if (threshold->errors)
        scan->blocks.error = threshold->errors;
    scan->heads = false;
    scan->bytes = bytes;
    scan->compared = scan->candidates = 0;
    *out = scan;
    return DOPPEL_OK;
}

void cell_scan_free(struct cell_scan *scan)
{
    if (!scan)
        return;
    free(scan->bytes);
    free(scan);
}

/* Few that are compared have a candidate. */
static void round_query(struct cell_scan *scan, uint32_t k)
{
    const struct vector_cells *cells = scan->cells;
    const size_t dimension = cells->vectors.dimension;
    const uint32_t place = scan->places[k], row = cells->rows[place];
    int8_t *bytes = scan->bytes + k * padded(cells);
    if (!(scan->is_rounded & 1U << k)) {
        memcpy(bytes, cells->bytes + place * dimension, dimension);
        scan->rounded[k] =
            (struct rounded_vector){cells->vectors.rows + row * dimension, cells->inverses[row],
                                    bytes, cells->scales[place], cells->lost[place]};
    }
    scan->is_rounded |= 1U << k;
}

static float level_at(const struct cell_scan *scan, uint32_t place)
{
    return scan->threshold.levels ? scan->threshold.levels[place] : 0;
}

static bool judge_candidate(struct cell_scan *scan, uint32_t k, uint32_t place)
{
    scan->candidates++;
    const float least =
        scan_least(&scan->threshold, level_at(scan, scan->places[k]), level_at(scan, place));
    const float cosine = cells_cosine(scan->cells, scan->kernels, &scan->rounded[k], place, least);
    return cosine < least || scan->visitor(scan->context, scan->places[k], place, cosine);
}

static bool judge_hit(struct cell_scan *scan, const struct prefix_hit *hit)
{
    for (uint32_t k = 0; k < scan->count; k++) {
        if (!hit->marks[k])
            continue;
        round_query(scan, k);
        for (uint32_t marks = hit->marks[k]; marks; marks &= marks - 1)
            if (!judge_candidate(scan, k,
                                 hit->block * PREFIX_BLOCK + (uint32_t)__builtin_ctz(marks)))
                return false;
    }
    return true;
}

/* Of any other vector; with errors of the threshold, which hold its level, of the lowest. */
static float least_of_query(const struct cell_scan *scan, uint32_t place)
{
    const struct scan_threshold *threshold = &scan->threshold;
    const float level = level_at(scan, place);
    const float least = threshold->min_score + (level + threshold->lowest) / 2;
    if (!threshold->errors)
        return scan_least_bound(threshold, level, threshold->lowest);
    return least < 1 ? least : 1;
}

void cell_scan_take(struct cell_scan *scan, const uint32_t *places, uint32_t count)
{
    memcpy(scan->places, places, count * sizeof *places);
    scan->count = count;
    scan->is_rounded = 0;
    for (uint32_t k = 0; k < PREFIX_QUERIES; k++) {
        const uint32_t place = places[k < count ? k : 0];
        scan->kernels->spread(&scan->cells->blocks, place, &scan->queries[k]);
        scan->queries[k].below =
            prefix_below(least_of_query(scan, place), scan->cells->blocks.error[place]);
    }
}

bool cell_scan_run(struct cell_scan *scan, uint32_t from, uint32_t to)
{
    const struct prefix_blocks *blocks = &scan->blocks;
    const uint32_t end = (to + PREFIX_BLOCK - 1) / PREFIX_BLOCK;
    for (uint32_t block = from / PREFIX_BLOCK; block < end; block += SCAN_BLOCKS) {
        const uint32_t last = block + SCAN_BLOCKS < end ? block + SCAN_BLOCKS : end;
        const size_t hits =
            scan->heads ? scan->kernels->scan_heads(scan->queries, blocks, block, last, scan->hits)
                        : scan->kernels->scan(scan->queries, blocks, block, last, scan->hits);
        scan->compared += (uint64_t)(last - block) * PREFIX_BLOCK * scan->count;
        for (size_t i = 0; i < hits; i++)
            if (!judge_hit(scan, &scan->hits[i]))
                return false;
    }
    return true;
}
