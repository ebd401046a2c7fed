/* Documents without text compared by their pages: which page of one is which of the other. */
#ifndef DOPPEL_COMPARE_PAGES_H
#define DOPPEL_COMPARE_PAGES_H

#include "compare/text.h"

/* The pages of a document without text. Zero-initialised there are none. */
struct drawn_pages {
    struct doppel_page *items; /* given (free) */
    size_t count, telling;     /* all; those that are not too empty */
};

/* @param out given (drawn_pages_free); none where they cannot be read. False without memory. */
bool drawn_pages_read(const struct doppel_text_extra *extra, struct drawn_pages *out);
void drawn_pages_free(struct drawn_pages *pages);

/* Whether two documents may be alike, by how the ink of their pages is spread: so much of either is
 * to be found in the other. */
bool drawn_pages_are_hopeful(const struct doppel_text_limits *limits, const uint64_t *query,
                             size_t query_count, const uint64_t *item, size_t item_count);

/* Word 0 of the codes of those that tell. @param out room for `telling` of them */
void drawn_pages_codes(const struct drawn_pages *pages, uint64_t *out);

/* Whether two documents are the same by their pages, or one holds the other.
 * @param parts whether a part that both have is a match, too
 * @param out filled for a match; its segments, which name pages alone, are given (free)
 * @return DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status drawn_pages_match(const struct doppel_compare_options *compare,
                                     const struct text_view *query, const struct text_view *item,
                                     bool parts, struct doppel_comparison *out);

#endif
