/* The steps that split a text: each hands its pieces to the next, the last to the vocabulary.
 * Source: huggingface's tokenizers, whose steps these are. */
#include "embed/tokenizer/points.h"
#include "embed/tokenizer/step.h"
#include "embed/tokenizer/tokenizer.h"

/* A text that is split, and what is next. */
struct splitting {
    struct tokenizing *work;
    const struct text_step *next;
    const char *text;
    unsigned depth;
    bool first; /* nothing of the text was handed on yet */
};

static void pass_piece(struct splitting *splitting, size_t begin, size_t end)
{
    if (end == begin)
        return;
    split_and_look_up(splitting->work, splitting->next, splitting->text + begin, end - begin,
                      splitting->depth + 1, splitting->first);
    splitting->first = false;
}

/* What a character is to a step. Runs of one class stay together, but for ALONE. */
enum point_class { POINT_REMOVED, POINT_ALONE, POINT_RUN, POINT_OTHER_RUN };

static enum point_class classify_point(const struct text_step *step, uint32_t point)
{
    switch (step->kind) {
    case STEP_SPLIT_SPACES:
        return point_is_space(point) ? POINT_REMOVED : POINT_RUN;
    case STEP_SPLIT_WORDS:
        return point_is_word(point)    ? POINT_RUN
               : point_is_space(point) ? POINT_REMOVED
                                       : POINT_OTHER_RUN;
    case STEP_SPLIT_PUNCTUATION:
        return point_is_punctuation(point) ? POINT_ALONE : POINT_RUN;
    case STEP_SPLIT_DIGITS:
        if (!point_is_number(point))
            return POINT_RUN;
        return step->flags & DIGITS_ALONE ? POINT_ALONE : POINT_OTHER_RUN;
    default: /* STEP_SPLIT_BERT */
        return point_is_space(point)         ? POINT_REMOVED
               : point_is_punctuation(point) ? POINT_ALONE
                                             : POINT_RUN;
    }
}

static void split_by_class(struct splitting *splitting, const struct text_step *step, size_t size)
{
    size_t begin = 0;
    enum point_class before = POINT_REMOVED;
    for (size_t at = 0; at < size && !splitting->work->full;) {
        size_t here = at;
        enum point_class class = classify_point(step, point_next(splitting->text, size, &at));
        if (class == before && class != POINT_ALONE)
            continue;
        if (before != POINT_REMOVED)
            pass_piece(splitting, begin, here);
        begin = here;
        before = class;
    }
    if (before != POINT_REMOVED)
        pass_piece(splitting, begin, size);
}

/* At each sign for a blank a piece begins. */
static void split_at_signs(struct splitting *splitting, const struct text_step *step, size_t size)
{
    size_t begin = 0;
    for (size_t at = 0; at < size && !splitting->work->full;) {
        const char *found =
            memmem(splitting->text + at, size - at, step->content, step->content_size);
        size_t here = found ? (size_t)(found - splitting->text) : size;
        pass_piece(splitting, begin, here);
        begin = here;
        at = here + step->content_size;
    }
    pass_piece(splitting, begin, size);
}

static bool starts_with_sign(const char *text, size_t size, const struct text_step *step)
{
    return size >= step->content_size && memcmp(text, step->content, step->content_size) == 0;
}

static void split_metaspace(struct splitting *splitting, const struct text_step *step, size_t size)
{
    struct embed_text *out = &splitting->work->spaced[splitting->depth];
    const char *text = splitting->text, *end = text + size;
    out->size = 0;
    bool prepend =
        step->flags & METASPACE_ALWAYS || (step->flags & METASPACE_FIRST && splitting->first);
    bool blank = *text == ' ' || starts_with_sign(text, size, step);
    if (prepend && !blank)
        embed_text_append(out, step->content, step->content_size);
    while (text < end) {
        const char *found = memchr(text, ' ', (size_t)(end - text));
        embed_text_append(out, text, (size_t)((found ? found : end) - text));
        if (found)
            embed_text_append(out, step->content, step->content_size);
        text = found ? found + 1 : end;
    }
    splitting->work->failed |= out->failed;
    if (out->failed)
        return;
    splitting->text = out->bytes;
    if (step->flags & METASPACE_SPLIT)
        split_at_signs(splitting, step, out->size);
    else
        pass_piece(splitting, 0, out->size);
}

static void look_up_piece(struct tokenizing *work, const char *text, size_t size)
{
    switch (work->model->head.kind) {
    case DOPPEL_MODEL_WORD_PIECES:
        look_up_word_pieces(work, text, size);
        break;
    case DOPPEL_MODEL_UNIGRAM:
        look_up_unigram(work, text, size);
        break;
    default:
        look_up_whole_word(work, text, size);
    }
}

void split_and_look_up(struct tokenizing *work, const struct text_step *steps, const char *text,
                       size_t size, unsigned depth, bool first)
{
    struct splitting splitting = {work, steps + 1, text, depth, first};
    if (!size || work->full)
        return;
    if (steps->kind == STEP_END || depth >= MOST_SPLITS)
        look_up_piece(work, text, size);
    else if (steps->kind == STEP_METASPACE)
        split_metaspace(&splitting, steps, size);
    else
        split_by_class(&splitting, steps, size);
}
