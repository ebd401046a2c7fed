/* Which chunks of two texts mean the same. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "corpus/dedup/semantic_internal.h"

enum { OPEN_SEGMENTS = 16 }; /* that a pair of chunks may go on with */

/* Of pairs of texts of no relation so many may have chunks that are taken for the same: once two
 * have what is rarer than that. */
static const double aligned_rate = 0.001;

/* The nearest chunk of the other text. */
struct partner {
    uint32_t chunk;
    float cosine, value;
};

static const struct partner no_partner = {0, -2, -4};

struct aligned_chunks {
    uint32_t a, b; /* of the query and of the item, from 0 */
    float cosine;
};

struct chunk_alignment {
    struct semantic_embedding *embedding;
    uint32_t first_a, first_b, count_a, count_b; /* rows */
    float least;
    struct partner *partners; /* of the query's chunks, then of the item's */
    ARRAY(struct aligned_chunks) aligned;
};

/* The lowest value of chunks that are taken for the same. */
static float find_least_aligned(const struct semantic_embedding *embedding, uint64_t chunk_pairs)
{
    const double asked = embedding->options->max_fp_rate;
    const double rate = asked > aligned_rate ? asked : aligned_rate;
    if (embedding->options->min_cosine != 0)
        return embedding->options->min_cosine;
    return semantic_value_of_rate(embedding, chunk_pairs, rate);
}

/* ---- partners ---- */

static void note_nearest_chunk(struct partner *partner, struct partner other)
{
    if (other.value > partner->value)
        *partner = other;
}

static enum doppel_status find_partners(struct chunk_alignment *alignment,
                                        struct doppel_error *error)
{
    const struct semantic_embedding *embedding = alignment->embedding;
    const uint32_t dimension = embedding->options->dimension;
    struct partner *of_a = alignment->partners, *of_b = of_a + alignment->count_a;
    for (uint32_t i = 0; i < alignment->count_a; i++)
        of_a[i] = no_partner;
    for (uint32_t j = 0; j < alignment->count_b; j++)
        of_b[j] = no_partner;
    for (uint32_t i = 0; i < alignment->count_a; i++) {
        const float *row = embedding->rows + (size_t)(alignment->first_a + i) * dimension;
        if (i % 256 == 255 && !dedup_goes_on(embedding->dedup, "vectors compared",
                                             embedding->compared, embedding->summary.chunks))
            return semantic_interrupted(error);
        for (uint32_t j = 0; j < alignment->count_b; j++) {
            const float *other = embedding->rows + (size_t)(alignment->first_b + j) * dimension;
            const float cosine = doppel_vector_cosine(row, other, dimension);
            const float value =
                semantic_value(embedding, alignment->first_a + i, alignment->first_b + j, cosine);
            note_nearest_chunk(&of_a[i], (struct partner){j, cosine, value});
            note_nearest_chunk(&of_b[j], (struct partner){i, cosine, value});
        }
    }
    return DOPPEL_OK;
}

static int compare_aligned(const void *a, const void *b)
{
    const struct aligned_chunks *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static bool take_partners(struct chunk_alignment *alignment)
{
    const struct partner *of_a = alignment->partners, *of_b = of_a + alignment->count_a;
    for (uint32_t i = 0; i < alignment->count_a; i++) {
        const struct aligned_chunks chunks = {i, of_a[i].chunk, of_a[i].cosine};
        if (of_a[i].value >= alignment->least && !array_push(&alignment->aligned, chunks))
            return false;
    }
    for (uint32_t j = 0; j < alignment->count_b; j++) {
        const struct aligned_chunks chunks = {of_b[j].chunk, j, of_b[j].cosine};
        const bool is_near = of_b[j].value >= alignment->least;
        if (is_near && of_a[chunks.a].chunk != j && !array_push(&alignment->aligned, chunks))
            return false;
    }
    if (alignment->aligned.count)
        qsort(alignment->aligned.items, alignment->aligned.count, sizeof *alignment->aligned.items,
              compare_aligned);
    return true;
}

/* ---- segments ---- */

/* Of chunks, to the last of them. */
struct chunk_run {
    struct aligned_chunks first, last;
    float cosines;
    uint32_t pairs;
};

static bool chunk_run_goes_on(const struct chunk_run *run, const struct aligned_chunks *next)
{
    return next->a <= run->last.a + 1 && next->b >= run->last.b && next->b <= run->last.b + 1;
}

static struct doppel_semantic_segment segment_of_chunks(const struct chunk_alignment *alignment,
                                                        const struct chunk_run *run)
{
    const struct embedded_chunk *a = alignment->embedding->chunks.items + alignment->first_a;
    const struct embedded_chunk *b = alignment->embedding->chunks.items + alignment->first_b;
    return (struct doppel_semantic_segment){
        .a_start = a[run->first.a].start,
        .a_end = a[run->last.a].end,
        .b_start = b[run->first.b].start,
        .b_end = b[run->last.b].end,
        .cosine = run->cosines / (float)run->pairs,
    };
}

/* Chunks that follow each other in both texts are one segment. */
static bool put_semantic_segments(struct chunk_alignment *alignment, struct semantic_found *found)
{
    struct dedup *dedup = alignment->embedding->dedup;
    ARRAY(struct chunk_run) runs = {0};
    bool room = true;
    for (size_t i = 0; i < alignment->aligned.count && room; i++) {
        const struct aligned_chunks *next = &alignment->aligned.items[i];
        struct chunk_run *run = NULL;
        for (size_t back = 1; back <= runs.count && back <= OPEN_SEGMENTS && !run; back++)
            if (chunk_run_goes_on(&runs.items[runs.count - back], next))
                run = &runs.items[runs.count - back];
        if (run) {
            run->last = *next;
            run->cosines += next->cosine;
            run->pairs++;
        } else {
            const struct chunk_run begun = {*next, *next, next->cosine, 1};
            room = array_push(&runs, begun);
        }
    }
    for (size_t i = 0; i < runs.count && room; i++)
        room = array_push(&dedup->segments, segment_of_chunks(alignment, &runs.items[i]));
    found->segment_count = (uint32_t)runs.count;
    array_free(&runs);
    return room;
}

/* ---- coverage ---- */

/* Of the characters of its chunks that have a vector, those of the ones that have a partner. */
static uint32_t coverage_of(const struct chunk_alignment *alignment, uint32_t first, uint32_t count,
                            const struct partner *partners)
{
    const struct embedded_chunk *chunks = alignment->embedding->chunks.items + first;
    uint64_t all = 0, covered = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t size = chunks[i].end - chunks[i].start;
        all += partners[i].cosine != 0 ? size : 0; /* that of no vector is 0 */
        covered += partners[i].value >= alignment->least ? size : 0;
    }
    return share_pack(all ? (double)covered / (double)all : 0);
}

static enum doppel_status align_chunks(struct chunk_alignment *alignment,
                                       struct semantic_found *found, struct doppel_error *error)
{
    const uint32_t count_a = alignment->count_a, count_b = alignment->count_b;
    enum doppel_status status;
    TRY(find_partners(alignment, error));
    found->query_coverage =
        coverage_of(alignment, alignment->first_a, count_a, alignment->partners);
    found->item_coverage =
        coverage_of(alignment, alignment->first_b, count_b, alignment->partners + count_a);
    if (!take_partners(alignment) || !put_semantic_segments(alignment, found))
        TRY(semantic_no_memory(error));
done:
    return status;
}

enum doppel_status semantic_align(struct semantic_embedding *embedding,
                                  const struct near_texts *pair, struct semantic_found *found,
                                  struct doppel_error *error)
{
    const struct embedded_text *a = &embedding->texts.items[pair->b]; /* the query is the later */
    const struct embedded_text *b = &embedding->texts.items[pair->a];
    struct chunk_alignment alignment = {
        .embedding = embedding,
        .first_a = a->first,
        .first_b = b->first,
        .count_a = semantic_rows_end(embedding, pair->b) - a->first,
        .count_b = semantic_rows_end(embedding, pair->a) - b->first,
    };
    const uint64_t chunk_pairs = (uint64_t)a->known * b->known;
    alignment.least = find_least_aligned(embedding, chunk_pairs);
    if (alignment.least > pair->value)
        alignment.least = pair->value;
    *found = (struct semantic_found){.number = a->number,
                                     .of = b->number,
                                     .cosine = pair->cosine,
                                     .has_score = embedding->levels != NULL,
                                     .score = pair->value,
                                     .rate = semantic_rate(embedding, chunk_pairs, pair->value),
                                     .query_coverage = share_pack(1),
                                     .item_coverage = share_pack(1),
                                     .first_segment = (uint32_t)embedding->dedup->segments.count};
    if (alignment.count_a == 1 && alignment.count_b == 1)
        return DOPPEL_OK;
    alignment.partners =
        malloc(((size_t)alignment.count_a + alignment.count_b) * sizeof *alignment.partners);
    if (!alignment.partners)
        return semantic_no_memory(error);
    const enum doppel_status status = align_chunks(&alignment, found, error);
    free(alignment.partners);
    array_free(&alignment.aligned);
    return status;
}
