/* Running heads: lines that repeat at the edges of pages, and elsewhere less. */
#include "documents/running_heads.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

/* Of a page so many lines at its top, and at its bottom, may be running heads; one stands there on
 * so many pages, or on all of a document of fewer, and less often elsewhere. Longer lines are none.
 */
enum { EDGE_LINES = 3, HEAD_PAGES = 3, HEAD_MAX_BYTES = 200 };

uint64_t hash_of_bytes(const void *bytes, size_t size)
{
    const struct doppel_digest digest = doppel_digest_bytes(bytes, size);
    return get_u64(digest.bytes);
}

struct page_line page_lines(const struct typeset_pages *pages, size_t page)
{
    size_t start = page ? pages->ends[page - 1] : 0;
    return (struct page_line){pages->bytes + start, pages->ends[page] - start};
}

static bool is_line_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\n';
}

bool take_line(struct page_line *rest, struct page_line *out)
{
    if (!rest->size)
        return false;
    const char *end = memchr(rest->text, '\n', rest->size);
    struct page_line line = {rest->text, end ? (size_t)(end - rest->text) : rest->size};
    size_t taken = line.size + (end ? 1 : 0);
    rest->text += taken;
    rest->size -= taken;
    while (line.size && is_line_blank(line.text[line.size - 1]))
        line.size--;
    while (line.size && is_line_blank(*line.text)) {
        line.text++;
        line.size--;
    }
    *out = line;
    return true;
}

static bool is_roman(const struct page_line *line)
{
    for (size_t i = 0; i < line->size; i++)
        if (!line->text[i] || !strchr("ivxlc", line->text[i]))
            return false;
    return line->size > 0;
}

/* A number alone: which page it would be of, if it counted pages. */
static bool is_page_number(const struct page_line *line, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < line->size; i++)
        if (line->text[i] < '0' || line->text[i] > '9')
            return false;
        else
            value = value * 10 + (uint64_t)(line->text[i] - '0');
    *out = value;
    return line->size > 0 && line->size < 7;
}

/* What running heads of different pages have in common: any number in them is one, and so is any
 * case of ASCII; numbers alone count the pages. 0: the line is none. */
static uint64_t head_key(const struct page_line *line, size_t page)
{
    char key[HEAD_MAX_BYTES];
    size_t used = 0;
    uint64_t number;
    if (!line->size || line->size > sizeof key)
        return 0;
    if (is_page_number(line, &number))
        return hash_of_bytes(&(uint64_t){number - page}, sizeof number) | 1;
    if (is_roman(line))
        return 1;
    for (size_t i = 0; i < line->size; i++) {
        char c = line->text[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c >= '0' && c <= '9' ? '#' : c;
        if (!used || c != key[used - 1] || (c != '#' && c != ' '))
            key[used++] = c;
    }
    return hash_of_bytes(key, used) | 1;
}

/* How many pages have a line at one of their edges, and how often it stands elsewhere: by hashing,
 * with open addresses. */
struct head_count {
    uint64_t key;
    size_t pages, last_page, elsewhere;
};

struct running_heads {
    struct head_count *slots;
    size_t mask, pages;
    bool none; /* what looks like running heads is most of the text: pages of a form */
};

static struct head_count *head_slot(const struct running_heads *heads, uint64_t key)
{
    size_t at = key & heads->mask;
    while (heads->slots[at].key && heads->slots[at].key != key)
        at = (at + 1) & heads->mask;
    return &heads->slots[at];
}

size_t count_lines(struct page_line page)
{
    struct page_line line;
    size_t count = 0;
    while (take_line(&page, &line))
        count += line.size > 0;
    return count;
}

static bool is_at_edge(size_t line, size_t count)
{
    return line < EDGE_LINES || line + EDGE_LINES >= count;
}

static void count_heads(struct running_heads *heads, struct page_line page, size_t number)
{
    struct page_line line;
    size_t count = count_lines(page), at = 0;
    while (take_line(&page, &line)) {
        if (!line.size || !is_at_edge(at++, count))
            continue;
        uint64_t key = head_key(&line, number);
        struct head_count *slot = key ? head_slot(heads, key) : NULL;
        if (!slot || (slot->key && slot->last_page == number))
            continue;
        slot->key = key;
        slot->last_page = number;
        slot->pages++;
    }
}

/* Of lines that stand at edges as well, those between. */
static void count_elsewhere(struct running_heads *heads, struct page_line page, size_t number)
{
    struct page_line line;
    size_t count = count_lines(page), at = 0;
    while (take_line(&page, &line)) {
        if (!line.size || is_at_edge(at++, count))
            continue;
        uint64_t key = head_key(&line, number);
        struct head_count *slot = key ? head_slot(heads, key) : NULL;
        if (slot && slot->key)
            slot->elsewhere++;
    }
}

bool is_running_head(const struct running_heads *heads, const struct page_line *line, size_t page,
                     size_t at, size_t count)
{
    if (heads->pages < 2 || heads->none || !is_at_edge(at, count))
        return false;
    uint64_t key = head_key(line, page);
    size_t wanted = heads->pages < HEAD_PAGES ? heads->pages : HEAD_PAGES;
    const struct head_count *slot = key ? head_slot(heads, key) : NULL;
    return slot && slot->pages >= wanted && slot->pages > slot->elsewhere;
}

static size_t size_of_heads(const struct running_heads *heads, struct page_line page, size_t number)
{
    struct page_line line;
    size_t count = count_lines(page), at = 0, size = 0;
    while (take_line(&page, &line))
        if (line.size && is_running_head(heads, &line, number, at++, count))
            size += line.size;
    return size;
}

struct running_heads *running_heads_find(const struct typeset_pages *pages)
{
    size_t slots = 16, size = 0;
    while (slots / 2 < pages->count * 2 * EDGE_LINES)
        slots *= 2;
    struct running_heads *heads = calloc(1, sizeof *heads);
    if (!heads || !(heads->slots = calloc(slots, sizeof *heads->slots))) {
        free(heads);
        return NULL;
    }
    heads->mask = slots - 1;
    heads->pages = pages->count;
    for (size_t i = 0; i < pages->count; i++)
        count_heads(heads, page_lines(pages, i), i);
    for (size_t i = 0; i < pages->count; i++)
        count_elsewhere(heads, page_lines(pages, i), i);
    for (size_t i = 0; i < pages->count; i++)
        size += size_of_heads(heads, page_lines(pages, i), i);
    heads->none = size > pages->size / 4 * 3;
    return heads;
}

void running_heads_free(struct running_heads *heads)
{
    if (heads)
        free(heads->slots);
    free(heads);
}
