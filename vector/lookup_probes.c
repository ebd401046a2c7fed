/* How many cells to visit, by a sample. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "vector/lookup.h"

/* So much of what may be missed is missed of the sample: of others, which had no part in where the
 * centres lie, it is more. */
static const double sampling_margin = 0.25;

enum {
    FEWEST = 256,  /* pairs that say something; where fewer are as near, others count too */
    MOST_FULL = 50 /* one in so many sampled vectors may have more that are near than are known */
};

/* The nearest of one vector, but itself. */
struct lookup_neighbours {
    const struct vector_cells *cells;
    uint32_t own;                       /* row */
    uint32_t places[LOOKUP_NEIGHBOURS]; /* the lowest cosine last */
    float cosines[LOOKUP_NEIGHBOURS];
    uint32_t count;
};

static float keep_neighbour(void *context, uint32_t place, float cosine)
{
    struct lookup_neighbours *near = context;
    if (near->cells->rows[place] == near->own)
        return -1;
    uint32_t at = near->count < LOOKUP_NEIGHBOURS ? near->count++ : LOOKUP_NEIGHBOURS - 1;
    for (; at && near->cosines[at - 1] < cosine; at--) {
        near->cosines[at] = near->cosines[at - 1];
        near->places[at] = near->places[at - 1];
    }
    near->cosines[at] = cosine;
    near->places[at] = place;
    return near->count < LOOKUP_NEIGHBOURS ? -1 : near->cosines[LOOKUP_NEIGHBOURS - 1];
}

static uint16_t rank_of_place(const struct vector_cells *cells, const int16_t *scores,
                              uint32_t place)
{
    const uint32_t cell = cells_cell_of(cells, place);
    uint32_t rank = 0;
    for (uint32_t i = 0; i < cells->centres.count; i++)
        rank += scores[i] > scores[cell];
    return (uint16_t)rank;
}

static void note_ranks(const struct lookup_neighbours *near, uint32_t own_place, int16_t *scores,
                       struct lookup_rank *ranks, uint32_t *count)
{
    centres_score_places(&near->cells->centres, &near->cells->blocks, own_place, 1, scores);
    for (uint32_t i = 0; i < near->count; i++)
        ranks[(*count)++] = (struct lookup_rank){
            near->cosines[i], rank_of_place(near->cells, scores, near->places[i]), (uint16_t)i};
}

static int compare_ranks(const void *a, const void *b)
{
    const struct lookup_rank *x = a, *y = b;
    if (x->cosine != y->cosine)
        return x->cosine > y->cosine ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

enum doppel_status lookup_ranks(const struct vector_cells *cells, struct lookup_rank *ranks,
                                uint32_t *out_count, struct doppel_error *error)
{
    const struct doppel_vectors *vectors = &cells->vectors;
    struct lookup_neighbours near = {.cells = cells};
    struct vector_lookup lookup = {.cells = cells, .visit = keep_neighbour, .context = &near};
    int16_t *scores = malloc(PREFIX_QUERIES * centres_stride(&cells->centres) * sizeof *scores);
    enum doppel_status status = DOPPEL_OK;
    *out_count = 0;
    if (!scores)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the cells of vectors"));
    for (uint32_t i = 0; i < LOOKUP_SAMPLE && cells->centres.count > 1; i++) {
        const uint32_t place = (uint32_t)(i * (uint64_t)cells->places / LOOKUP_SAMPLE);
        if (cells->rows[place] >= vectors->count)
            continue; /* behind the last of a cell */
        near.own = cells->rows[place];
        near.count = 0;
        lookup.min_cosine = -1;
        TRY(vector_lookup_run(&lookup, vectors->rows + (size_t)near.own * vectors->dimension,
                              error));
        note_ranks(&near, place, scores, ranks, out_count);
    }
    if (*out_count)
        qsort(ranks, *out_count, sizeof *ranks, compare_ranks);
done:
    free(scores);
    return status;
}

/* Whether so few are as near to most that the sample has them all. */
static bool sample_has_all(const struct lookup_rank *ranks, uint32_t count, float min_cosine)
{
    uint32_t vectors = 0, full = 0;
    for (uint32_t i = 0; i < count; i++) {
        vectors += ranks[i].number == 0;
        full += ranks[i].number == LOOKUP_NEIGHBOURS - 1 && ranks[i].cosine >= min_cosine;
    }
    return full * MOST_FULL <= vectors;
}

uint32_t lookup_probes(const struct lookup_rank *ranks, uint32_t count,
                       const struct doppel_vector_search *search)
{
    uint32_t by_rank[CENTRES_RANK_MOST] = {0}, pairs = 0, within = 0;
    const float min_cosine = search->min_cosine;
    const uint64_t nearest = search->nearest ? search->nearest : LOOKUP_NEIGHBOURS;
    if (nearest > LOOKUP_NEIGHBOURS ||
        (!search->nearest && !sample_has_all(ranks, count, min_cosine)))
        return 0;
    for (uint32_t i = 0; i < count && (pairs < FEWEST || ranks[i].cosine >= min_cosine); i++) {
        if (ranks[i].number >= nearest)
            continue;
        pairs++;
        if (ranks[i].rank < CENTRES_RANK_MOST)
            by_rank[ranks[i].rank]++;
    }
    const double wanted = pairs * (1 - (1 - (double)search->recall) * sampling_margin);
    for (uint32_t probes = 0; probes < CENTRES_RANK_MOST && pairs; probes++) {
        within += by_rank[probes];
        if (within >= wanted)
            return probes + 1 + (probes + 3) / 2; /* others need more */
    }
    return 0;
}
