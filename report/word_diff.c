/* Two texts, word by word. */
#include "report/word_diff.h"

#include <stdlib.h>
#include <string.h>

#include "core/text/printable.h"

enum {
    CONTEXT_WORDS = 12, /* around what differs */
    EXCERPT_WORDS = 60,
    PASSAGE_WORDS = 300,
    MOST_SHOWN_WORDS = 1500, /* of all runs of a difference */
};

/* ---- words ---- */

/* Scripts that are written without spaces: Thai, Lao, Burmese, Khmer, Han, kana. */
static bool stands_alone(uint32_t point)
{
    return (point >= 0x0e00 && point < 0x0f00) || (point >= 0x1000 && point < 0x10a0) ||
           (point >= 0x1780 && point < 0x1800) || (point >= 0x2e80 && point < 0xa000) ||
           (point >= 0xf900 && point < 0xfb00) || (point >= 0x20000 && point < 0x40000);
}

static bool is_space(uint32_t point)
{
    return point <= ' ' || point == 0x7f || point == 0x85 || point == 0xa0 || point == 0x3000 ||
           (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029;
}

/* A byte that is not UTF-8 is a character of its own. */
static size_t step(const char *text, uint32_t *out_point)
{
    size_t length = utf8_decode(text, out_point);
    if (length == 0)
        *out_point = 0xfffd;
    return length ? length : 1;
}

/* @return false without memory */
static bool cut_words(const char *text, struct diff_words *out)
{
    const char *begin = NULL;
    for (size_t length; *text; text += length) {
        uint32_t point;
        length = step(text, &point);
        bool alone = stands_alone(point);
        if (begin && (alone || is_space(point))) {
            struct word word = {begin, (uint32_t)(text - begin), 0};
            if (!array_push(&out->items, word))
                return false;
            begin = NULL;
        }
        struct word word = {text, (uint32_t)length, 0};
        if (alone && !array_push(&out->items, word))
            return false;
        if (!begin && !alone && !is_space(point))
            begin = text;
    }
    struct word word = {begin, begin ? (uint32_t)(text - begin) : 0, 0};
    return !begin || array_push(&out->items, word);
}

/* An open table of words; a number is that of the first equal one, plus 1. */
struct lexicon {
    struct word **slots;
    size_t mask;
    uint32_t count;
};

static void number_words(struct lexicon *lexicon, struct diff_words *words)
{
    for (size_t i = 0; i < words->items.count; i++) {
        struct word *word = &words->items.items[i];
        struct doppel_digest digest = doppel_digest_bytes(word->at, word->size);
        size_t slot;
        memcpy(&slot, digest.bytes, sizeof slot);
        slot &= lexicon->mask;
        while (lexicon->slots[slot] && (lexicon->slots[slot]->size != word->size ||
                                        memcmp(lexicon->slots[slot]->at, word->at, word->size)))
            slot = (slot + 1) & lexicon->mask;
        if (!lexicon->slots[slot]) {
            lexicon->slots[slot] = word;
            word->number = lexicon->count++;
        } else {
            word->number = lexicon->slots[slot]->number;
        }
    }
}

bool words_of(const char *a, const char *b, struct diff_words *out_a, struct diff_words *out_b)
{
    *out_a = *out_b = (struct diff_words){0};
    if (!cut_words(a, out_a) || !cut_words(b, out_b))
        return false;
    size_t room = 16;
    while (room < 2 * (out_a->items.count + out_b->items.count))
        room *= 2;
    struct lexicon lexicon = {calloc(room, sizeof *lexicon.slots), room - 1, 0};
    if (!lexicon.slots)
        return false;
    number_words(&lexicon, out_a);
    number_words(&lexicon, out_b);
    free(lexicon.slots);
    return true;
}

/* ---- the difference ---- */

/* Furthest x on diagonal k (x of a, x - k of b) after d edits stands in row d at k + d. */
struct edit_search {
    const struct word *a, *b;
    int n, m;
    int **rows; /* one for each d */
    int depth;  /* rows that are there */
};

static int furthest(const struct edit_search *search, int d, int k)
{
    if (d == 0)
        return 0;
    const int *row = search->rows[d - 1];
    int from = d - 1; /* row[k + from] */
    bool down = k == -d || (k != d && row[k - 1 + from] < row[k + 1 + from]);
    return down ? row[k + 1 + from] : row[k - 1 + from] + 1;
}

enum { TOO_MANY_EDITS = -1, NO_MEMORY = -2 };

/* @return how many edits it takes, or one of these */
static int search_forward(struct edit_search *search, int most)
{
    for (int d = 0; d <= most; d++) {
        int *row = malloc((size_t)(2 * d + 1) * sizeof *row);
        if (!row)
            return NO_MEMORY;
        search->rows[search->depth++] = row;
        for (int k = -d; k <= d; k += 2) {
            int x = furthest(search, d, k), y = x - k;
            while (x >= 0 && y >= 0 && x < search->n && y < search->m &&
                   search->a[x].number == search->b[y].number) {
                x++;
                y++;
            }
            row[k + d] = x;
            if (x >= search->n && y >= search->m)
                return d;
        }
    }
    return TOO_MANY_EDITS;
}

/* Runs come from the end. @return false without memory */
static bool put_run(struct word_runs *out, enum word_edit edit, int a, int b, int count)
{
    struct word_run *last = out->items.count ? &out->items.items[out->items.count - 1] : NULL;
    if (count == 0)
        return true;
    if (last && last->edit == edit) {
        last->a = (uint32_t)a;
        last->b = (uint32_t)b;
        last->count += (uint32_t)count;
        return true;
    }
    struct word_run run = {edit, (uint32_t)a, (uint32_t)b, (uint32_t)count};
    return array_push(&out->items, run);
}

static bool trace_back(const struct edit_search *search, int edits, struct word_runs *out)
{
    int x = search->n, y = search->m;
    for (int d = edits; d > 0; d--) {
        int k = x - y, start = furthest(search, d, k);
        const int *row = search->rows[d - 1];
        bool down = k == -d || (k != d && row[k - 1 + d - 1] < row[k + 1 + d - 1]);
        if (!put_run(out, WORDS_SAME, start, start - k, x - start))
            return false;
        x = down ? start : start - 1;
        y = down ? start - k - 1 : start - k;
        if (!put_run(out, down ? WORDS_NEW : WORDS_GONE, x, y, 1))
            return false;
    }
    if (!put_run(out, WORDS_SAME, 0, 0, x))
        return false;
    for (size_t i = 0, j = out->items.count; j && i < --j; i++) {
        struct word_run first = out->items.items[i];
        out->items.items[i] = out->items.items[j];
        out->items.items[j] = first;
    }
    return true;
}

enum doppel_status word_diff(const struct diff_words *a, const struct diff_words *b, uint32_t most,
                             struct word_runs *out)
{
    struct edit_search search = {a->items.items,      b->items.items, (int)a->items.count,
                                 (int)b->items.count, NULL,           0};
    search.rows = calloc((size_t)most + 1, sizeof *search.rows);
    int edits = search.rows ? search_forward(&search, (int)most) : NO_MEMORY;
    if (edits >= 0 && !trace_back(&search, edits, out))
        edits = NO_MEMORY;
    for (int d = 0; d < search.depth; d++)
        free(search.rows[d]);
    free(search.rows);
    return edits >= 0 ? DOPPEL_OK : edits == NO_MEMORY ? DOPPEL_E_MEMORY : DOPPEL_E_LIMIT;
}

/* ---- as JSON ---- */

static void append_words(struct doppel_json *json, const char *mark, const struct diff_words *words,
                         size_t first, size_t count)
{
    if (count == 0)
        return;
    const struct word *from = &words->items.items[first], *last = from + count - 1;
    doppel_json_array_begin(json, NULL);
    doppel_json_text(json, NULL, mark);
    doppel_json_text_of(json, NULL, from->at, (size_t)(last->at + last->size - from->at));
    doppel_json_array_end(json);
}

static void append_gap(struct doppel_json *json, size_t count)
{
    if (!count)
        return;
    doppel_json_array_begin(json, NULL);
    doppel_json_text(json, NULL, "…");
    doppel_json_integer(json, NULL, count);
    doppel_json_array_end(json);
}

/* Of many words that are the same only those near to what differs. */
static void append_same(struct doppel_json *json, const struct diff_words *words,
                        const struct word_run *run, bool first, bool last)
{
    size_t head = first ? 0 : CONTEXT_WORDS, tail = last ? 0 : CONTEXT_WORDS;
    if (run->count <= head + tail + 3) {
        append_words(json, "=", words, run->b, run->count);
        return;
    }
    append_words(json, "=", words, run->b, head);
    append_gap(json, run->count - head - tail);
    append_words(json, "=", words, run->b + run->count - tail, tail);
}

static void append_runs(struct doppel_json *json, const struct diff_words words[2],
                        const struct word_runs *runs)
{
    size_t shown = 0;
    for (size_t i = 0; i < runs->items.count && shown < MOST_SHOWN_WORDS; i++) {
        const struct word_run *run = &runs->items.items[i];
        if (run->edit == WORDS_SAME)
            append_same(json, &words[1], run, i == 0, i + 1 == runs->items.count);
        else if (run->edit == WORDS_GONE)
            append_words(json, "-", &words[0], run->a, run->count);
        else
            append_words(json, "+", &words[1], run->b, run->count);
        shown += run->edit == WORDS_SAME && run->count > 2 * CONTEXT_WORDS ? 2 * CONTEXT_WORDS
                                                                           : run->count;
        if (shown >= MOST_SHOWN_WORDS && i + 1 < runs->items.count)
            append_gap(json, words[1].items.count - run->b);
    }
}

/* Without what is gone at both ends. */
static void trim_runs(struct word_runs *runs)
{
    size_t count = runs->items.count;
    if (count && runs->items.items[count - 1].edit == WORDS_GONE)
        count = --runs->items.count;
    if (count && runs->items.items[0].edit == WORDS_GONE)
        memmove(runs->items.items, runs->items.items + 1,
                --runs->items.count * sizeof *runs->items.items);
}

bool word_diff_to_json(struct doppel_json *json, const char *key, const char *a, const char *b,
                       bool cut)
{
    struct diff_words words[2];
    struct word_runs runs = {0};
    enum doppel_status status = DOPPEL_E_MEMORY;
    if (words_of(a, b, &words[0], &words[1]))
        status = word_diff(&words[0], &words[1], WORD_MAX_EDITS, &runs);
    if (status == DOPPEL_OK) {
        if (cut)
            trim_runs(&runs);
        doppel_json_array_begin(json, key);
        append_runs(json, words, &runs);
        doppel_json_array_end(json);
    } else if (status == DOPPEL_E_LIMIT) {
        doppel_json_null(json, key);
    } else {
        json->failed = true;
    }
    array_free(&runs.items);
    array_free(&words[0].items);
    array_free(&words[1].items);
    return status != DOPPEL_E_LIMIT;
}

void word_excerpt_to_json(struct doppel_json *json, const char *key, const char *text)
{
    struct diff_words words = {0};
    if (!cut_words(text, &words))
        json->failed = true;
    size_t count = words.items.count < EXCERPT_WORDS ? words.items.count : EXCERPT_WORDS;
    doppel_json_array_begin(json, key);
    append_words(json, "=", &words, 0, count);
    append_gap(json, words.items.count - count);
    doppel_json_array_end(json);
    array_free(&words.items);
}

/* ---- passages ---- */

static bool is_in_passage(uint64_t at, const struct word_range *passages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (at >= passages[i].start && at < passages[i].end)
            return true;
    return false;
}

/* Whether each word is in one of the passages. */
static bool *words_in_passages(const char *text, const struct diff_words *words,
                               const struct word_range *passages, size_t count)
{
    bool *inside = calloc(words->items.count + 1, sizeof *inside);
    uint64_t characters = 0;
    for (size_t i = 0; i < words->items.count && inside; i++) {
        for (; text < words->items.items[i].at; text++)
            characters += ((unsigned char)*text & 0xc0) != 0x80; /* none that goes on */
        inside[i] = is_in_passage(characters, passages, count);
    }
    return inside;
}

void word_passages_to_json(struct doppel_json *json, const char *key, const char *text,
                           const struct word_range *passages, size_t count)
{
    struct diff_words words = {0};
    const bool cut = cut_words(text, &words);
    bool *inside = cut ? words_in_passages(text, &words, passages, count) : NULL;
    size_t first = 0;
    json->failed |= !inside;
    while (inside && first < words.items.count && !inside[first])
        first++;
    if (first == words.items.count)
        first = 0; /* they are beyond what is shown */
    const size_t rest = words.items.count - first;
    const size_t end = first + (rest < PASSAGE_WORDS ? rest : PASSAGE_WORDS);
    doppel_json_array_begin(json, key);
    append_gap(json, first);
    for (size_t from = first, to; inside && from < end; from = to) {
        for (to = from + 1; to < end && inside[to] == inside[from];)
            to++;
        append_words(json, inside[from] ? "≈" : "=", &words, from, to - from);
    }
    append_gap(json, words.items.count - end);
    doppel_json_array_end(json);
    array_free(&words.items);
    free(inside);
}
