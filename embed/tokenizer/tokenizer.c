/* A text to tokens: added tokens are found first, what lies between them is normalised, split and
 * looked up. */
#include "embed/tokenizer/tokenizer.h"

#include <string.h>

#include "embed/tokenizer/points.h"
#include "embed/tokenizer/step.h"

/* ---- added tokens ---- */

struct added_match {
    size_t begin, end;
    struct model_added token;
};

/* The longest added token that begins here. */
static bool match_added(const struct doppel_model *model, int which, const char *text, size_t size,
                        size_t begin, struct added_match *out)
{
    uint32_t base = model->head.roots[ROOT_ADDED + which], found = 0;
    *out = (struct added_match){begin, begin, {0, 0}};
    for (size_t at = begin; at < size;) {
        uint64_t cell = trie_step(model->cells, model->cell_count, base, (uint8_t)text[at++]);
        if (!cell)
            break;
        base = trie_base(cell);
        if (!trie_value(cell) || trie_value(cell) > model->added_count)
            continue;
        found = trie_value(cell);
        out->end = at;
    }
    if (found)
        out->token = model->added[found - 1];
    return found;
}

static bool is_single_word(const char *text, size_t size, const struct added_match *match)
{
    size_t at = match->end, before;
    bool left = match->begin && point_is_word(point_before(text, match->begin, &before));
    bool right = match->end < size && point_is_word(point_next(text, size, &at));
    return !left && !right;
}

/* The spaces around a token that are its own. */
static void strip_around(const char *text, size_t size, size_t least, struct added_match *match)
{
    size_t at;
    while (match->token.flags & ADDED_STRIP_LEFT && match->begin > least &&
           point_is_space(point_before(text, match->begin, &at)) && at >= least)
        match->begin = at;
    while (match->token.flags & ADDED_STRIP_RIGHT && match->end < size) {
        at = match->end;
        if (!point_is_space(point_next(text, size, &at)))
            break;
        match->end = at;
    }
}

/* Where an added token may begin. */
static size_t find_first_byte(const struct doppel_model *model, int which, const char *text,
                              size_t size, size_t at)
{
    if (at < size && model->added_firsts[which] == 1) {
        const char *found = memchr(text + at, model->added_first_byte[which], size - at);
        return found ? (size_t)(found - text) : size;
    }
    while (at < size && !model->added_first[which][(uint8_t)text[at]])
        at++;
    return at;
}

/* The next added token. @param at where to look; moves behind it. @param done behind the last one
 */
static bool next_added(const struct doppel_model *model, int which, const char *text, size_t size,
                       size_t *at, size_t done, struct added_match *out)
{
    for (; (*at = find_first_byte(model, which, text, size, *at)) < size; ++*at) {
        if (!match_added(model, which, text, size, *at, out))
            continue;
        if (out->token.flags & ADDED_SINGLE_WORD && !is_single_word(text, size, out)) {
            *at = out->end - 1;
            continue;
        }
        *at = out->end;
        strip_around(text, size, done, out);
        return true;
    }
    return false;
}

typedef void take_between(struct tokenizing *work, const char *text, size_t size, bool first);

/* Added tokens, and what lies between them to `take`. */
static void take_added(struct tokenizing *work, int which, const char *text, size_t size,
                       bool first, take_between *take)
{
    struct added_match match;
    size_t done = 0, at = 0;
    if (!work->model->added_firsts[which]) {
        take(work, text, size, first);
        return;
    }
    while (!work->full && next_added(work->model, which, text, size, &at, done, &match)) {
        if (match.begin > done)
            take(work, text + done, match.begin - done, first && !done);
        use_token(work, match.token.token + 1);
        done = match.end;
        at = at < done ? done : at;
    }
    if (done < size)
        take(work, text + done, size - done, first && !done);
}

/* ---- segments ---- */

static void take_normalized(struct tokenizing *work, const char *text, size_t size, bool first)
{
    split_and_look_up(work, work->model->splits, text, size, 0, first);
}

/* Whether the first character is not dropped: only then Metaspace's "first" means this segment. */
static bool begins_with_what_stays(struct tokenizing *work, const char *text, size_t size)
{
    const char *out;
    size_t at = 0, out_size;
    point_next(text, size, &at);
    normalize(&work->normalizing, work->model->normalizers, text, at, &out, &out_size);
    return out_size;
}

static void take_segment(struct tokenizing *work, const char *text, size_t size, bool first)
{
    const char *out;
    size_t out_size;
    if (work->model->by_bytes) {
        tokenize_by_bytes(work, text, size);
        return;
    }
    first = first && work->model->knows_first && begins_with_what_stays(work, text, size);
    normalize(&work->normalizing, work->model->normalizers, text, size, &out, &out_size);
    take_added(work, 1, out, out_size, first, take_normalized);
}

/* So many bytes have no more than the characters that a model looks at. */
static size_t cut_to_characters(const char *text, size_t size, size_t most)
{
    size_t at = 0;
    if (!most || size <= most)
        return size;
    for (size_t count = 0; at < size && count < most; count++)
        point_next(text, size, &at);
    return at;
}

void add_waiting_rows(struct tokenizing *work)
{
    const struct doppel_model *model = work->model;
    size_t stride = model->head.stride;
    if (model->exact)
        model->kernels->add_float(work->sum, model->float_rows, stride, work->rows, work->weights,
                                  work->waiting);
    else
        model->kernels->add_int8(work->sum, model->int8_rows, stride, work->rows, work->weights,
                                 work->waiting);
    work->waiting = 0;
}

void tokenize(struct tokenizing *work, const char *text, size_t size)
{
    const struct doppel_model *model = work->model;
    work->all = work->taken = work->known = work->waiting = 0;
    work->full = false;
    work->normalizing.charsmap = model->charsmap;
    work->normalizing.charsmap_size = model->charsmap_size;
    size = cut_to_characters(text, size, model->head.max_characters);
    if (size)
        take_added(work, 0, text, size, true, take_segment);
    if (work->waiting)
        add_waiting_rows(work);
    work->failed |= work->normalizing.failed;
}

void tokenizing_free(struct tokenizing *work)
{
    normalizing_free(&work->normalizing);
    for (int i = 0; i < MOST_SPLITS; i++)
        embed_text_free(&work->spaced[i]);
    free(work->ways);
}
