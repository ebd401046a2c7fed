/* The likeliest pieces of a text. Source: Kudo, "Subword Regularization" (2018); ties and unknown
 * characters as in huggingface's tokenizers. */
#include "embed/tokenizer/points.h"
#include "embed/tokenizer/tokenizer.h"

static bool reserve_ways(struct tokenizing *work, size_t count)
{
    if (count <= work->way_capacity)
        return true;
    size_t bytes, wanted = count + count / 2;
    struct best_way *grown =
        __builtin_mul_overflow(wanted, sizeof *grown, &bytes) ? NULL : realloc(work->ways, bytes);
    if (!grown) {
        work->failed = true;
        return false;
    }
    work->ways = grown;
    work->way_capacity = wanted;
    return true;
}

static inline void offer_way(struct best_way *way, double score, size_t begin, uint32_t token)
{
    if (way->begin != UINT32_MAX && score <= way->score)
        return;
    *way = (struct best_way){score, (uint32_t)begin, token};
}

/* All pieces that begin here. */
static void extend_ways(struct tokenizing *work, const char *text, size_t size, size_t begin,
                        size_t character)
{
    const struct doppel_model *model = work->model;
    uint32_t base = model->head.roots[ROOT_WORD];
    double until = work->ways[begin].score;
    bool known = false;
    for (size_t at = begin; at < size;) {
        uint64_t cell = trie_step(model->cells, model->cell_count, base, (uint8_t)text[at++]);
        if (!cell)
            break;
        base = trie_base(cell);
        uint32_t token = trie_value(cell);
        if (!token || token > model->head.tokens)
            continue;
        offer_way(&work->ways[at], until + model->scores[token - 1], begin, token);
        known |= at - begin == character;
    }
    if (!known)
        offer_way(&work->ways[begin + character], until + model->head.unknown_score, begin,
                  model->head.unknown);
}

/* The pieces on the best way to the end, from the first on. */
static void take_best_way(struct tokenizing *work, size_t size)
{
    struct best_way *ways = work->ways;
    uint32_t unknown = work->model->head.unknown;
    size_t next = UINT32_MAX;
    for (size_t at = size; at;) { /* turn it round: `begin` becomes where the next piece ends */
        size_t begin = ways[at].begin;
        if (begin >= at) { /* of a damaged file */
            work->damaged = true;
            return;
        }
        ways[at].begin = (uint32_t)next;
        next = at;
        at = begin;
    }
    bool before = false;
    for (size_t at = next; at != UINT32_MAX; at = ways[at].begin) {
        bool is_unknown = ways[at].token == unknown;
        if (!is_unknown || !before) /* unknown ones in a row are one */
            use_token(work, ways[at].token);
        before = is_unknown;
    }
}

void look_up_unigram(struct tokenizing *work, const char *text, size_t size)
{
    if (!size || size >= UINT32_MAX || !reserve_ways(work, size + 1))
        return;
    for (size_t i = 0; i <= size; i++)
        work->ways[i].begin = UINT32_MAX;
    work->ways[0].score = 0;
    for (size_t at = 0; at < size;) {
        size_t begin = at;
        point_next(text, size, &at);
        extend_ways(work, text, size, begin, at - begin);
    }
    take_best_way(work, size);
}
