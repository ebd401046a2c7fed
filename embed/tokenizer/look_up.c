/* Words to tokens: whole, or as the longest pieces that a model has. Source of the pieces: Wu et
 * al., "Google's Neural Machine Translation System" (2016), as BERT does it. */
#include "core/scratch.h"
#include "embed/tokenizer/points.h"
#include "embed/tokenizer/tokenizer.h"

/* The longest piece that a text begins with. @return 1 + its token; 0: there is none */
static uint32_t longest_piece(const struct doppel_model *model, uint32_t base, const char *text,
                              size_t size, size_t *out_size)
{
    uint32_t found = 0;
    for (size_t i = 0; i < size; i++) {
        uint64_t cell = trie_step(model->cells, model->cell_count, base, (uint8_t)text[i]);
        if (!cell)
            break;
        base = trie_base(cell);
        if (!trie_value(cell))
            continue;
        found = trie_value(cell);
        *out_size = i + 1;
    }
    return found;
}

static size_t count_points(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((uint8_t)text[i] & 0xc0) != 0x80;
    return count;
}

void look_up_word_pieces(struct tokenizing *work, const char *word, size_t size)
{
    const struct model_head *head = &work->model->head;
    SCRATCH uint32_t pieces[MOST_WORD];
    size_t count = 0, length = 0;
    if (size > head->max_word && count_points(word, size) > head->max_word) {
        use_token(work, head->unknown);
        return;
    }
    for (size_t at = 0; at < size; at += length) {
        uint32_t root = head->roots[at ? ROOT_CONTINUED : ROOT_WORD];
        uint32_t piece = longest_piece(work->model, root, word + at, size - at, &length);
        if (!piece || count == MOST_WORD) {
            use_token(work, head->unknown);
            return;
        }
        pieces[count++] = piece;
    }
    for (size_t i = 0; i < count; i++)
        use_token(work, pieces[i]);
}

void look_up_whole_word(struct tokenizing *work, const char *word, size_t size)
{
    size_t length = 0;
    uint32_t token =
        longest_piece(work->model, work->model->head.roots[ROOT_WORD], word, size, &length);
    use_token(work, length == size ? token : work->model->head.unknown);
}

/* ---- ASCII as it comes ---- */

/* Letters and marks, or digits, of what was normalised, until it ends. */
static void look_up_list_words(struct tokenizing *work, const char *text, size_t size)
{
    size_t begin = 0;
    enum byte_class before = BYTE_SPACE;
    for (size_t at = 0; at < size;) {
        size_t here = at;
        uint32_t point = point_next(text, size, &at);
        enum byte_class class = point_is_letter(point) || point_is_mark(point) ? BYTE_WORD
                                : point_is_number(point)                       ? BYTE_DIGIT
                                                                               : BYTE_SPACE;
        if (class == before)
            continue;
        if (before != BYTE_SPACE)
            look_up_whole_word(work, text + begin, here - begin);
        begin = here;
        before = class;
    }
    if (before != BYTE_SPACE && size > begin)
        look_up_whole_word(work, text + begin, size - begin);
}

/* What is more than ASCII, up to the next space. @return where that is */
static size_t take_slow_chunk(struct tokenizing *work, const uint8_t *text, size_t size,
                              size_t begin)
{
    const struct doppel_model *model = work->model;
    size_t end = begin, out_size;
    const char *out;
    while (end < size && model->classes[text[end]] != BYTE_SPACE)
        end++;
    normalize(&work->normalizing, model->normalizers, (const char *)text + begin, end - begin, &out,
              &out_size);
    if (model->head.kind == DOPPEL_MODEL_WORD_LIST)
        look_up_list_words(work, out, out_size);
    else
        split_and_look_up(work, model->splits, out, out_size, 0, false);
    return end;
}

/* A word that is not there as a whole. */
static void take_unknown_word(struct tokenizing *work, const uint8_t *word, size_t size)
{
    const struct doppel_model *model = work->model;
    SCRATCH char lower[MOST_WORD];
    if (model->head.kind == DOPPEL_MODEL_WORD_LIST || size > model->head.max_word) {
        use_token(work, model->head.unknown);
        return;
    }
    for (size_t i = 0; i < size; i++)
        lower[i] = (char)model->lower[word[i]];
    look_up_word_pieces(work, lower, size);
}

/* The word that begins here: walked through the trie while it is read. @return its end */
static size_t look_up_ascii_word(struct tokenizing *work, const uint8_t *text, size_t size,
                                 size_t begin)
{
    const struct doppel_model *model = work->model;
    const uint64_t *cells = model->cells;
    uint64_t cell = model->head.roots[ROOT_WORD];
    size_t at = begin;
    uint8_t class = model->classes[text[begin]];
    for (; at < size && model->classes[text[at]] == class; at++) {
        cell = trie_step(cells, model->cell_count, trie_base(cell), model->lower[text[at]]);
        if (!cell)
            break;
    }
    while (at < size && model->classes[text[at]] == class)
        at++;
    if (at < size && model->classes[text[at]] == BYTE_SLOW)
        return take_slow_chunk(work, text, size, begin);
    bool short_enough =
        model->head.kind == DOPPEL_MODEL_WORD_LIST || at - begin <= model->head.max_word;
    if (trie_value(cell) && short_enough)
        use_token(work, trie_value(cell));
    else
        take_unknown_word(work, text + begin, at - begin);
    return at;
}

void tokenize_by_bytes(struct tokenizing *work, const char *text, size_t size)
{
    const struct doppel_model *model = work->model;
    const uint8_t *bytes = (const uint8_t *)text;
    for (size_t at = 0; at < size && !work->full;) {
        switch ((enum byte_class)model->classes[bytes[at]]) {
        case BYTE_SPACE:
            at++;
            break;
        case BYTE_SLOW:
            at = take_slow_chunk(work, bytes, size, at);
            break;
        case BYTE_ALONE: {
            uint64_t cell = trie_step(model->cells, model->cell_count, model->head.roots[ROOT_WORD],
                                      bytes[at++]);
            use_token(work, trie_value(cell) ? trie_value(cell) : model->head.unknown);
            break;
        }
        default:
            at = look_up_ascii_word(work, bytes, size, at);
        }
    }
}
