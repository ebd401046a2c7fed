/* A set of documents without text, looked up by how the ink of their pages is spread. */
#ifndef DOPPEL_COMPARE_PAGE_SET_H
#define DOPPEL_COMPARE_PAGE_SET_H

#include "compare/text_set.h"
#include "core/array.h"

/* A document, and the codes of its pages in the set. */
struct page_entry {
    uint64_t id;
    size_t first, count;
};

/* Zero-initialised it is empty. */
struct page_set {
    ARRAY(struct page_entry) entries;
    ARRAY(uint64_t) codes;
};

void page_set_free(struct page_set *set);

/* False without memory. */
bool page_set_add(struct page_set *set, uint64_t id, const struct text_view *view);

/* Visit the documents that match, in the order in which they were added.
 * @param load by which their pages are had. DOPPEL_E_CANCELLED by the visitor; DOPPEL_E_MEMORY */
struct page_search {
    const struct doppel_compare_options *compare;
    const struct text_view *query;
    text_loader *load;
    void *load_context;
    text_visitor *visitor;
    void *context;
};
enum doppel_status page_set_find(const struct page_set *set, const struct page_search *search,
                                 struct doppel_error *error);

#endif
