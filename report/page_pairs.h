/* Two texts with pages: which pages of one are those of the other, and which of their words
 * differ. */
#ifndef DOPPEL_REPORT_PAGE_PAIRS_H
#define DOPPEL_REPORT_PAGE_PAIRS_H

#include "report/word_diff.h"

/* A text whose pages begin with form feeds, but for the first. */
struct paged_words {
    struct diff_words words; /* of all pages; they borrow the text */
    ARRAY(uint32_t) pages;   /* the first word of each page, at least one */
};

/* Pages count from 0. */
struct page_pair {
    uint32_t a, b;
    uint32_t differing; /* words of both */
};

struct page_pairs {
    struct paged_words a, b;
    ARRAY(struct page_pair) items; /* pages of `b` that are in `a`, in their order */
};

/* @param a,b borrowed for the life of the pairs. @param out given (page_pairs_free), also without
 * success. @return false without memory */
bool page_pairs_find(const char *a, const char *b, struct page_pairs *out);
void page_pairs_free(struct page_pairs *pairs);

/* Of each word of a page whether it differs from that page of the other text, and from the pages
 * before and after: it does not stand where three words in a row, that are there once, put it.
 * @param out_count of the words. @return given (free); NULL without memory */
bool *page_words_differ(const struct paged_words *of, uint32_t page,
                        const struct paged_words *other, uint32_t other_page, size_t *out_count);

/* The pages of `a`, from the first to the last one that `b` has; all where it has none. @return
 * given (free); NULL without memory */
char *matched_pages_of(const char *a, const char *b);

/* Where the words of a drawn page are, as DOPPEL_LOOK_PAGE has them. */
struct drawn_page {
    const uint8_t *jpeg, *boxes;
    const char *words; /* each ended by '\n', all by NUL */
    size_t jpeg_size, count;
};

/* Append the boxes of the words that differ as a list of [left, top, right, bottom], in thousandths
 * of the page; none where the page's words are not those of its text. */
void page_marks_to_json(struct doppel_json *json, const char *key, const struct paged_words *of,
                        uint32_t page, const bool *differ, const struct drawn_page *drawn);

#endif
