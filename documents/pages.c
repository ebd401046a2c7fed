/* Typeset pages to plain text: no running heads, no page numbers, no divided words. */
#include "documents/pages.h"

#include <stdlib.h>
#include <string.h>

#include "documents/running_heads.h"

/* Words that were seen, by a bit each of their hashes: a wrong yes joins a word. */
enum { SEEN_BITS = 20, WORD_MAX_BYTES = 64 };

/* ---- pages as they come ---- */

static bool room_for(struct typeset_pages *pages, size_t more)
{
    size_t wanted = pages->capacity ? pages->capacity : 65536;
    while (wanted - pages->size < more)
        if (__builtin_mul_overflow(wanted, 2, &wanted))
            return false;
    if (wanted == pages->capacity)
        return true;
    char *grown = realloc(pages->bytes, wanted);
    if (!grown)
        return false;
    pages->bytes = grown;
    pages->capacity = wanted;
    return true;
}

enum doppel_status typeset_pages_add(struct typeset_pages *pages, const char *text, size_t size,
                                     struct doppel_error *error)
{
    if (!room_for(pages, size) || !array_grow((void **)&pages->ends, pages->count,
                                              &pages->ends_capacity, sizeof *pages->ends))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the text of page %zu",
                           pages->count + 1);
    memcpy(pages->bytes + pages->size, text, size);
    pages->size += size;
    pages->ends[pages->count++] = pages->size;
    return DOPPEL_OK;
}

void typeset_pages_free(struct typeset_pages *pages)
{
    free(pages->bytes);
    free(pages->ends);
    *pages = (struct typeset_pages){0};
}

/* ---- divided words ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

/* Of the end of a line a hyphen's bytes: ASCII, U+2010, U+00AD; 0: none. */
static size_t hyphen_bytes(const char *text, size_t size, bool *out_soft)
{
    *out_soft = size >= 2 && !memcmp(text + size - 2, "\xc2\xad", 2);
    if (*out_soft)
        return 2;
    if (size >= 3 && !memcmp(text + size - 3, "\xe2\x80\x90", 3))
        return 3;
    return size && text[size - 1] == '-';
}

static size_t word_at_end(const char *text, size_t size)
{
    size_t start = size;
    while (start && is_letter(text[start - 1]))
        start--;
    return size - start;
}

static size_t word_at_start(const char *text, size_t size)
{
    size_t end = 0;
    while (end < size && is_letter(text[end]))
        end++;
    return end;
}

/* The bit of a word in two parts, of which the second may be empty. */
static uint32_t word_bit(const char *a, size_t a_size, const char *b, size_t b_size)
{
    char word[WORD_MAX_BYTES];
    a_size = a_size > sizeof word ? sizeof word : a_size;
    b_size = b_size > sizeof word - a_size ? sizeof word - a_size : b_size;
    memcpy(word, a, a_size);
    memcpy(word + a_size, b, b_size);
    for (size_t i = 0; i < a_size + b_size; i++)
        if (word[i] >= 'A' && word[i] <= 'Z')
            word[i] = (char)(word[i] + 32);
    return (uint32_t)(hash_of_bytes(word, a_size + b_size) >> (64 - SEEN_BITS));
}

/* What words a document has. */
struct seen_words {
    uint8_t bits[(1 << SEEN_BITS) / 8];
};

static bool was_seen(const struct seen_words *seen, uint32_t bit)
{
    return seen->bits[bit / 8] >> bit % 8 & 1;
}

/* Words at the ends of lines are left out where a hyphen follows, and where one came before. */
static void note_words(struct seen_words *seen, struct page_line page)
{
    struct page_line line;
    bool soft, divided = false;
    while (take_line(&page, &line)) {
        size_t at = divided ? word_at_start(line.text, line.size) : 0, end = line.size;
        divided = hyphen_bytes(line.text, line.size, &soft) > 0;
        if (divided)
            end -= word_at_end(line.text, end - hyphen_bytes(line.text, end, &soft)) +
                   hyphen_bytes(line.text, end, &soft);
        while (at < end) {
            size_t word = word_at_start(line.text + at, end - at);
            if (word) {
                uint32_t bit = word_bit(line.text + at, word, "", 0);
                seen->bits[bit / 8] |= (uint8_t)(1 << bit % 8);
            }
            at += word ? word : 1;
        }
    }
}

/* Whether the hyphen between two parts of a word came of the line's end, and is no part of it. */
static bool is_division(const struct seen_words *seen, const char *a, size_t a_size, const char *b,
                        size_t b_size)
{
    if (was_seen(seen, word_bit(a, a_size, b, b_size)))
        return true;
    return !was_seen(seen, word_bit(a, a_size, "", 0)) ||
           !was_seen(seen, word_bit(b, b_size, "", 0));
}

/* ---- putting it together ---- */

struct joined_text {
    char *bytes; /* room for all that comes: no line grows */
    size_t size;
};

/* A line goes behind what is there: after a line's end, or right behind a divided word. */
static void join_line(struct joined_text *out, const struct seen_words *seen,
                      const struct page_line *line)
{
    bool soft;
    size_t hyphen = hyphen_bytes(out->bytes, out->size, &soft);
    size_t before = hyphen ? word_at_end(out->bytes, out->size - hyphen) : 0;
    size_t after = word_at_start(line->text, line->size);
    bool goes_on = before && after && !(line->text[0] >= 'A' && line->text[0] <= 'Z');
    if (goes_on && (soft || is_division(seen, out->bytes + out->size - hyphen - before, before,
                                        line->text, after)))
        out->size -= hyphen;
    else if (!goes_on && out->size)
        out->bytes[out->size++] = '\n';
    memcpy(out->bytes + out->size, line->text, line->size);
    out->size += line->size;
}

/* The text of a page goes behind those before it. @return where it begins */
static size_t join_page(struct joined_text *out, const struct seen_words *seen,
                        const struct running_heads *heads, const struct typeset_pages *pages,
                        size_t number)
{
    struct page_line line, page = page_lines(pages, number);
    size_t count = count_lines(page), at = 0, start = SIZE_MAX;
    while (take_line(&page, &line)) {
        if (!line.size || is_running_head(heads, &line, number, at++, count))
            continue;
        join_line(out, seen, &line);
        if (start == SIZE_MAX)
            start = out->size - line.size;
    }
    return start == SIZE_MAX ? out->size : start;
}

enum doppel_status typeset_pages_join(const struct typeset_pages *pages,
                                      struct document_writer *out, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    struct running_heads *heads = NULL;
    struct seen_words *seen = calloc(1, sizeof *seen);
    struct joined_text joined = {malloc(pages->size + pages->count + 1), 0};
    if (!seen || !joined.bytes || !(heads = running_heads_find(pages))) {
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the text of %zu pages",
                             pages->count);
        goto done;
    }
    for (size_t i = 0; i < pages->count; i++)
        note_words(seen, page_lines(pages, i));
    for (size_t i = 0; i < pages->count; i++)
        if (!array_push(&out->pages, join_page(&joined, seen, heads, pages, i)))
            out->status = DOPPEL_E_MEMORY;
    writer_add(out, joined.bytes, joined.size);
    status = writer_check(out, error);
done:
    running_heads_free(heads);
    free(seen);
    free(joined.bytes);
    return status;
}
