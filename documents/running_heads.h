/* Lines of typeset pages, and which of them are running heads or page numbers. */
#ifndef DOPPEL_DOCUMENTS_RUNNING_HEADS_H
#define DOPPEL_DOCUMENTS_RUNNING_HEADS_H

#include "documents/pages.h"

struct page_line {
    const char *text;
    size_t size;
};

/* All lines of a page, from 0 on. */
struct page_line page_lines(const struct typeset_pages *pages, size_t page);

/* Cut the first line off `rest`, without blanks around it; false at the end. */
bool take_line(struct page_line *rest, struct page_line *out);

/* Of a page the lines that are not empty: how many there are. */
size_t count_lines(struct page_line page);

/* A hash of some bytes. */
uint64_t hash_of_bytes(const void *bytes, size_t size);

/* What repeats at the edges of a document's pages. */
struct running_heads;

/* Given (running_heads_free); NULL without memory. */
struct running_heads *running_heads_find(const struct typeset_pages *pages);
void running_heads_free(struct running_heads *heads);

/* Whether a line is one. @param at which it is of the `count` lines of its page that are not empty
 */
bool is_running_head(const struct running_heads *heads, const struct page_line *line, size_t page,
                     size_t at, size_t count);

#endif
