/* Which pages of two texts are the same ones, by the words that they have three in a row. */
#include "report/page_pairs.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/worker.h>

#include "core/bytes.h"

enum {
    GRAM = 3,              /* words in a row */
    LEAST_SHARED = 3,      /* such rows that a page has of another */
    LEAST_SHARE = 10,      /* one of so many of its own */
    MOST_MARK_EDITS = 600, /* between a page's text and what is drawn of it */
};

/* ---- rows of words ---- */

/* From row to a number; an open table. */
struct gram_table {
    uint64_t *keys; /* 0: none */
    uint32_t *values;
    size_t mask;
};

static uint64_t gram_at(const struct diff_words *words, size_t at)
{
    const struct word *word = &words->items.items[at];
    uint64_t key = 0;
    for (size_t i = 0; i < GRAM; i++)
        key = (key ^ (word[i].number + 1)) * UINT64_C(0x9e3779b97f4a7c15) ^ key >> 29;
    return key ? key : 1;
}

static bool gram_table_new(size_t count, struct gram_table *out)
{
    size_t room = 16;
    while (room < 2 * count)
        room *= 2;
    *out = (struct gram_table){calloc(room, sizeof *out->keys), calloc(room, sizeof *out->values),
                               room - 1};
    return out->keys && out->values;
}

static void gram_table_free(struct gram_table *table)
{
    free(table->keys);
    free(table->values);
}

/* Its place; of one that is not there an empty one. */
static size_t gram_slot(const struct gram_table *table, uint64_t key)
{
    size_t slot = (size_t)(key ^ key >> 32) & table->mask;
    while (table->keys[slot] && table->keys[slot] != key)
        slot = (slot + 1) & table->mask;
    return slot;
}

/* ---- pages ---- */

static uint32_t end_of_page(const struct paged_words *of, uint32_t page)
{
    return page + 1 < of->pages.count ? of->pages.items[page + 1] : (uint32_t)of->words.items.count;
}

static bool find_pages(const char *text, struct paged_words *of)
{
    bool done = array_push(&of->pages, 0);
    for (uint32_t i = 0; done && *text; text++) {
        while (i < of->words.items.count && of->words.items.items[i].at < text)
            i++;
        if (*text == '\f')
            done = array_push(&of->pages, i);
    }
    return done;
}

/* Rows of words that begin on one page alone, by that page + 1; 0: on several. */
static bool note_pages(const struct paged_words *of, struct gram_table *out)
{
    const size_t count = of->words.items.count;
    if (!gram_table_new(count, out))
        return false;
    for (uint32_t page = 0; page < of->pages.count; page++)
        for (size_t i = of->pages.items[page]; i < end_of_page(of, page) && i + GRAM <= count;
             i++) {
            uint64_t key = gram_at(&of->words, i);
            size_t slot = gram_slot(out, key);
            if (!out->keys[slot])
                out->values[slot] = page + 1;
            else if (out->values[slot] != page + 1)
                out->values[slot] = 0;
            out->keys[slot] = key;
        }
    return true;
}

/* The page of which most of a page's rows are; false: of none enough. @param votes zeros, one for
 * each page, which they are again */
static bool vote_for_page(const struct paged_words *of, uint32_t page,
                          const struct gram_table *other, uint32_t *votes, uint32_t *out)
{
    const size_t first = of->pages.items[page], end = end_of_page(of, page);
    const size_t count = of->words.items.count;
    uint32_t best = 0, rows = 0;
    for (size_t i = first; i < end && i + GRAM <= count; i++, rows++) {
        uint32_t at = other->values[gram_slot(other, gram_at(&of->words, i))];
        uint32_t seen = at ? ++votes[at - 1] : 0;
        if (seen > best || (seen == best && seen && at - 1 < *out)) {
            best = seen;
            *out = at - 1;
        }
    }
    for (size_t i = first; i < end && i + GRAM <= count; i++) {
        uint32_t at = other->values[gram_slot(other, gram_at(&of->words, i))];
        if (at)
            votes[at - 1] = 0;
    }
    return best >= LEAST_SHARED && (uint64_t)best * LEAST_SHARE >= rows;
}

/* ---- the words of a page ---- */

/* Words of a page and of those before and after it; rows that are there once, by where they begin,
 * + 1; 0: more often. */
struct page_window {
    const struct paged_words *of;
    size_t first, end;
    struct gram_table rows;
};

static bool note_window(const struct paged_words *of, uint32_t page, struct page_window *out)
{
    uint32_t last = page + 1 < of->pages.count ? page + 1 : page;
    *out = (struct page_window){
        .of = of, .first = of->pages.items[page ? page - 1 : 0], .end = end_of_page(of, last)};
    if (!gram_table_new(out->end - out->first, &out->rows))
        return false;
    for (size_t i = out->first; i + GRAM <= out->end; i++) {
        uint64_t key = gram_at(&of->words, i);
        size_t slot = gram_slot(&out->rows, key);
        out->rows.values[slot] = out->rows.keys[slot] ? 0 : (uint32_t)i + 1;
        out->rows.keys[slot] = key;
    }
    return true;
}

/* Where the row of words that begins at a place is in the window; false: not there, or not
 * once. */
static bool find_word_row(const struct page_window *window, const struct diff_words *words,
                          size_t at, int64_t *out_moved)
{
    if (at + GRAM > words->items.count)
        return false;
    size_t slot = gram_slot(&window->rows, gram_at(words, at));
    if (!window->rows.values[slot])
        return false;
    *out_moved = (int64_t)window->rows.values[slot] - 1 - (int64_t)at;
    return true;
}

static bool is_near_page(const struct page_window *window, const struct word *word, int64_t at)
{
    return at >= (int64_t)window->first && at < (int64_t)window->end &&
           window->of->words.items.items[at].number == word->number;
}

/* Words that go on as the row before them does, or lead to the one after them. */
static void find_common_words(const struct page_window *window, const struct diff_words *words,
                              size_t first, size_t end, bool *differ)
{
    int64_t moved = 0;
    bool known = false;
    for (size_t i = first < GRAM - 1 ? 0 : first - (GRAM - 1); i < end; i++) {
        known = find_word_row(window, words, i, &moved) || known;
        if (i >= first && known && is_near_page(window, &words->items.items[i], (int64_t)i + moved))
            differ[i - first] = false;
    }
    known = false;
    for (size_t i = end; i-- > first;) {
        known = find_word_row(window, words, i, &moved) || known;
        if (known && is_near_page(window, &words->items.items[i], (int64_t)i + moved))
            differ[i - first] = false;
    }
}

bool *page_words_differ(const struct paged_words *of, uint32_t page,
                        const struct paged_words *other, uint32_t other_page, size_t *out_count)
{
    const size_t first = of->pages.items[page], end = end_of_page(of, page);
    struct page_window window = {0};
    bool *differ = malloc(end - first + 1);
    if (!differ || !note_window(other, other_page, &window)) {
        free(differ);
        gram_table_free(&window.rows);
        return NULL;
    }
    memset(differ, 1, end - first + 1);
    find_common_words(&window, &of->words, first, end, differ);
    gram_table_free(&window.rows);
    *out_count = end - first;
    return differ;
}

static bool count_differing(const struct paged_words *of, uint32_t page,
                            const struct paged_words *other, uint32_t other_page, uint32_t *out)
{
    size_t count;
    bool *differ = page_words_differ(of, page, other, other_page, &count);
    for (size_t i = 0; differ && i < count; i++)
        *out += differ[i];
    free(differ);
    return differ != NULL;
}

/* ---- pairs ---- */

static bool add_page_pair(struct page_pairs *pairs, uint32_t a, uint32_t b)
{
    struct page_pair pair = {a, b, 0};
    return count_differing(&pairs->a, a, &pairs->b, b, &pair.differing) &&
           count_differing(&pairs->b, b, &pairs->a, a, &pair.differing) &&
           array_push(&pairs->items, pair);
}

bool page_pairs_find(const char *a, const char *b, struct page_pairs *out)
{
    struct gram_table where = {0};
    uint32_t *votes = NULL;
    *out = (struct page_pairs){0};
    bool done = words_of(a, b, &out->a.words, &out->b.words) && find_pages(a, &out->a) &&
                find_pages(b, &out->b) && note_pages(&out->a, &where);
    if (done)
        votes = calloc(out->a.pages.count, sizeof *votes);
    done = done && votes;
    for (uint32_t page = 0; done && page < out->b.pages.count; page++) {
        uint32_t found = 0;
        if (vote_for_page(&out->b, page, &where, votes, &found))
            done = add_page_pair(out, found, page);
    }
    free(votes);
    gram_table_free(&where);
    return done;
}

void page_pairs_free(struct page_pairs *pairs)
{
    array_free(&pairs->a.words.items);
    array_free(&pairs->a.pages);
    array_free(&pairs->b.words.items);
    array_free(&pairs->b.pages);
    array_free(&pairs->items);
}

/* The words of some pages as a text. @return given (free); NULL without memory */
static char *text_of_pages(const struct paged_words *of, uint32_t from, uint32_t to)
{
    const size_t first = of->pages.items[from], end = end_of_page(of, to);
    const struct word *words = of->words.items.items;
    size_t size =
        end > first ? (size_t)(words[end - 1].at + words[end - 1].size - words[first].at) : 0;
    return size ? strndup(words[first].at, size) : strdup("");
}

char *matched_pages_of(const char *a, const char *b)
{
    struct page_pairs pairs;
    char *text = NULL;
    uint32_t first = UINT32_MAX, last = 0;
    if (!strchr(a, '\f'))
        return strdup(a);
    const bool done = page_pairs_find(a, b, &pairs);
    for (size_t i = 0; i < pairs.items.count; i++) {
        const uint32_t page = pairs.items.items[i].a;
        first = page < first ? page : first;
        last = page > last ? page : last;
    }
    if (done)
        text = first > last ? strdup(a) : text_of_pages(&pairs.a, first, last);
    page_pairs_free(&pairs);
    return text;
}

/* ---- marks ---- */

static unsigned thousandths(const uint8_t *share)
{
    return (get_u16(share) * 1000u + 32767) / 65535;
}

static void put_word_box(struct doppel_json *json, const uint8_t *box)
{
    doppel_json_array_begin(json, NULL);
    for (size_t i = 0; i < 4; i++)
        doppel_json_integer(json, NULL, thousandths(box + 2 * i));
    doppel_json_array_end(json);
}

/* Which of the drawn words lies at a place, from the one that lay at the place before. */
static size_t drawn_word_at(const struct drawn_page *drawn, const char *at, const char **end,
                            size_t word)
{
    while (word < drawn->count && at > *end) {
        const char *next = strchr(*end + 1, '\n');
        if (!next)
            return drawn->count;
        *end = next;
        word++;
    }
    return word;
}

static void put_boxes(struct doppel_json *json, const struct word_runs *runs,
                      const struct diff_words *on_page, const bool *differ,
                      const struct drawn_page *drawn)
{
    const char *end = strchr(drawn->words, '\n');
    size_t word = 0, last = SIZE_MAX;
    for (size_t i = 0; end && i < runs->items.count; i++) {
        const struct word_run *run = &runs->items.items[i];
        for (uint32_t j = 0; run->edit == WORDS_SAME && j < run->count; j++) {
            if (!differ[run->a + j])
                continue;
            word = drawn_word_at(drawn, on_page->items.items[run->b + j].at, &end, word);
            if (word < drawn->count && word != last)
                put_word_box(json, drawn->boxes + word * DOPPEL_PAGE_WORD_BYTES);
            last = word;
        }
    }
}

void page_marks_to_json(struct doppel_json *json, const char *key, const struct paged_words *of,
                        uint32_t page, const bool *differ, const struct drawn_page *drawn)
{
    struct diff_words words[2] = {0};
    struct word_runs runs = {0};
    char *text = text_of_pages(of, page, page);
    doppel_json_array_begin(json, key);
    if (!text || !words_of(text, drawn->words, &words[0], &words[1]))
        json->failed = true;
    else if (word_diff(&words[0], &words[1], MOST_MARK_EDITS, &runs) == DOPPEL_OK)
        put_boxes(json, &runs, &words[1], differ, drawn);
    doppel_json_array_end(json);
    array_free(&runs.items);
    array_free(&words[0].items);
    array_free(&words[1].items);
    free(text);
}
