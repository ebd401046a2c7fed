/* Probes, by a sample that is compared with all. */
#include "vector/join_plan.h"

#include <stdlib.h>

#include "core/array.h"
#include "core/try.h"
#include "vector/scan.h"

enum {
    SAMPLE = 2048, /* at most */
    SAMPLE_STEP =
        1265,     /* odd, about SAMPLE / the golden ratio: the first few lie everywhere, too */
    ENOUGH = 512, /* vectors that have a partner */
    PARTNERS_MOST = 64, /* of a sampled vector that are looked at; others are as these */
    PROBES_MOST = CENTRES_RANK_MOST
};

/* So much of what may be missed is missed of the sample: of all it may be more. */
static const double sampling_margin = 0.8;

struct probe_sample {
    const struct vector_cells *cells;
    int16_t *scores;
    uint32_t own[PREFIX_QUERIES];             /* places of sampled vectors */
    ARRAY(uint32_t) partners[PREFIX_QUERIES]; /* places */
    /* By how many probes would find them, and no fewer, 0 being more than there may be: pairs; and
     * the share of its own that each vector has, so that a few large families are not all. */
    double pairs[PROBES_MOST + 1], shares[PROBES_MOST + 1];
    uint32_t partnered; /* sampled vectors that have some */
    bool no_memory;
};

static bool note_partner(void *context, uint32_t a, uint32_t b, float cosine)
{
    struct probe_sample *sample = context;
    uint32_t k = 0;
    (void)cosine;
    while (sample->own[k] != a)
        k++;
    sample->no_memory = a != b && !array_push(&sample->partners[k], b);
    return !sample->no_memory;
}

/* How many cells are nearer to the vector whose scores these are. */
static uint32_t rank_of_cell(const struct centres *centres, const int16_t *scores, uint32_t cell)
{
    uint32_t rank = 0;
    for (size_t i = 0; i < centres->count; i++)
        rank += scores[i] > scores[cell];
    return rank;
}

static void score_place(const struct vector_cells *cells, uint32_t place, int16_t *scores)
{
    centres_score_places(&cells->centres, &cells->blocks, place, 1, scores);
}

static void weigh_partners(struct probe_sample *sample, uint32_t k)
{
    const struct vector_cells *cells = sample->cells;
    const size_t count = sample->partners[k].count;
    const size_t looked_at = count < PARTNERS_MOST ? count : PARTNERS_MOST;
    int16_t *own = sample->scores, *theirs = own + PREFIX_QUERIES * centres_stride(&cells->centres);
    const uint32_t own_cell = cells_cell_of(cells, sample->own[k]);
    score_place(cells, sample->own[k], own);
    for (size_t i = 0; i < looked_at; i++) {
        const uint32_t place = sample->partners[k].items[i * count / looked_at];
        uint32_t rank = rank_of_cell(&cells->centres, own, cells_cell_of(cells, place));
        if (rank) {
            score_place(cells, place, theirs);
            const uint32_t other = rank_of_cell(&cells->centres, theirs, own_cell);
            rank = other < rank ? other : rank;
        }
        const uint32_t probes = rank < PROBES_MOST ? rank + 1 : 0;
        sample->pairs[probes] += (double)count / (double)looked_at;
        sample->shares[probes] += 1 / (double)looked_at;
    }
}

static enum doppel_status weigh_sampled(struct probe_sample *sample, struct cell_scan *scan,
                                        uint32_t count, struct doppel_error *error)
{
    for (uint32_t k = 0; k < count; k++)
        sample->partners[k].count = 0;
    cell_scan_take(scan, sample->own, count);
    if (!cell_scan_run(scan, 0, sample->cells->places))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare vectors");
    for (uint32_t k = 0; k < count; k++)
        if (sample->partners[k].count) {
            weigh_partners(sample, k);
            sample->partnered++;
        }
    return DOPPEL_OK;
}

static enum doppel_status weigh_all_sampled(struct probe_sample *sample, struct cell_scan *scan,
                                            struct doppel_error *error)
{
    const struct vector_cells *cells = sample->cells;
    uint32_t count = 0;
    for (size_t i = 0; i < SAMPLE && sample->partnered < ENOUGH; i++) {
        const uint64_t number = i * SAMPLE_STEP % SAMPLE;
        const uint32_t place = (uint32_t)(number * (uint64_t)(cells->places - 1) / (SAMPLE - 1));
        if (cells->rows[place] < cells->vectors.count)
            sample->own[count++] = place;
        if (count < (i + 1 < SAMPLE ? PREFIX_QUERIES : 1))
            continue;
        enum doppel_status status = weigh_sampled(sample, scan, count, error);
        if (status)
            return status;
        count = 0;
    }
    return DOPPEL_OK;
}

static uint32_t probes_for(const double *weights, double recall)
{
    double all = 0, found = 0;
    for (size_t i = 0; i <= PROBES_MOST; i++)
        all += weights[i];
    for (uint32_t probes = 1; probes <= PROBES_MOST; probes++) {
        found += weights[probes];
        if (found >= all * (1 - (1 - recall) * sampling_margin))
            return probes;
    }
    return 0;
}

enum doppel_status join_choose_probes(const struct vector_cells *cells,
                                      const struct join_threshold *threshold, float recall,
                                      uint32_t *out, struct doppel_error *error)
{
    const size_t stride = centres_stride(&cells->centres);
    struct probe_sample sample = {.cells = cells};
    struct cell_scan *scan = NULL;
    enum doppel_status status;
    sample.scores = malloc(2 * stride * PREFIX_QUERIES * sizeof *sample.scores);
    if (!sample.scores)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare vectors"));
    TRY(cell_scan_make(cells, &threshold->of, &scan, error));
    scan->heads = true;
    scan->visitor = note_partner;
    scan->context = &sample;
    TRY(weigh_all_sampled(&sample, scan, error));
    const uint32_t of_pairs = probes_for(sample.pairs, (double)recall);
    const uint32_t of_shares = probes_for(sample.shares, (double)recall);
    *out = !of_pairs || !of_shares ? 0 : of_pairs > of_shares ? of_pairs : of_shares;
done:
    for (uint32_t k = 0; k < PREFIX_QUERIES; k++)
        array_free(&sample.partners[k]);
    cell_scan_free(scan);
    free(sample.scores);
    return status;
}
