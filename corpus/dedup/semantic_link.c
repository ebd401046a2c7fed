/* Near texts to links: each text to the nearest of those before it that says something new. */
#include <stdlib.h>

#include "core/try.h"
#include "corpus/dedup/semantic_internal.h"

enum { LOOKED_AT = 8 }; /* earlier texts of one, for one that has most of it */

/* Half of a text: it says nothing new. */
static const uint32_t most_of_it = UINT32_C(1) << 30; /* of share_pack */

static int compare_near(const struct near_texts *x, const struct near_texts *y)
{
    if (x->rate < y->rate || x->rate > y->rate)
        return x->rate < y->rate ? -1 : 1;
    if (x->value < y->value || x->value > y->value)
        return x->value > y->value ? -1 : 1;
    return 0;
}

/* By the later text, then the earlier, then the nearest first. */
static int compare_pairs_of_texts(const void *a, const void *b)
{
    const struct near_texts *x = a, *y = b;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return compare_near(x, y);
}

/* By the later text; then the nearest first. */
static int compare_nearest_texts(const void *a, const void *b)
{
    const struct near_texts *x = a, *y = b;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    const int nearer = compare_near(x, y);
    return nearer ? nearer : x->a < y->a ? -1 : x->a > y->a;
}

/* Of each two texts the nearest chunks alone. */
static void keep_each_pair_once(struct semantic_embedding *embedding)
{
    struct near_texts *pairs = embedding->pairs.items;
    size_t kept = 0;
    qsort(pairs, embedding->pairs.count, sizeof *pairs, compare_pairs_of_texts);
    for (size_t i = 0; i < embedding->pairs.count; i++)
        if (!kept || pairs[i].a != pairs[kept - 1].a || pairs[i].b != pairs[kept - 1].b)
            pairs[kept++] = pairs[i];
    embedding->pairs.count = kept;
    embedding->summary.near = kept;
    qsort(pairs, kept, sizeof *pairs, compare_nearest_texts);
}

/* The segments of the one that was chosen before, `chosen`, lie before those of another, `found`.
 */
static void choose_found(struct dedup *dedup, struct semantic_found *chosen,
                         const struct semantic_found *found)
{
    struct doppel_semantic_segment *segments = dedup->segments.items;
    for (uint32_t i = 0; i < found->segment_count; i++)
        segments[chosen->first_segment + i] = segments[found->first_segment + i];
    const uint32_t first = chosen->first_segment;
    *chosen = *found;
    chosen->first_segment = first;
}

/* The nearest, unless there is one among the next that has most of the text.
 * @param pairs of one later text. @param out `number` is NO_RECORD: all earlier ones are linked */
static enum doppel_status choose_earlier(struct semantic_embedding *embedding,
                                         const struct near_texts *pairs, size_t count,
                                         const bool *linked, struct semantic_found *out,
                                         struct doppel_error *error)
{
    struct dedup *dedup = embedding->dedup;
    enum doppel_status status = DOPPEL_OK;
    out->number = NO_RECORD;
    for (size_t i = 0, looked = 0; i < count && looked < LOOKED_AT; i++) {
        struct semantic_found found;
        if (linked[pairs[i].a])
            continue;
        looked++;
        TRY(semantic_align(embedding, &pairs[i], &found, error));
        if (out->number == NO_RECORD)
            *out = found;
        else if (found.query_coverage >= most_of_it)
            choose_found(dedup, out, &found);
        dedup->segments.count = out->first_segment + out->segment_count;
        if (out->query_coverage >= most_of_it)
            break;
    }
done:
    return status;
}

/* A text of which most is in the one that it is linked to, is linked to by none. */
enum doppel_status semantic_link_texts(struct semantic_embedding *embedding,
                                       struct doppel_error *error)
{
    struct dedup *dedup = embedding->dedup;
    enum doppel_status status = DOPPEL_OK;
    bool *linked = calloc(embedding->texts.count + 1, sizeof *linked);
    if (!linked)
        return semantic_no_memory(error);
    if (embedding->pairs.count)
        keep_each_pair_once(embedding);
    const struct near_texts *pairs = embedding->pairs.items;
    for (size_t i = 0, end; i < embedding->pairs.count; i = end) {
        struct semantic_found found;
        for (end = i; end < embedding->pairs.count && pairs[end].b == pairs[i].b;)
            end++;
        TRY(choose_earlier(embedding, pairs + i, end - i, linked, &found, error));
        if (found.number == NO_RECORD)
            continue;
        if (!array_push(&dedup->semantic, found))
            TRY(semantic_no_memory(error));
        linked[pairs[i].b] = found.query_coverage >= most_of_it;
    }
    embedding->summary.linked = dedup->semantic.count;
done:
    free(linked);
    return status;
}
