/* An HTML document as gumbo reads it, within limits of memory and time. */
#ifndef DOPPEL_TEXT_PAGE_H
#define DOPPEL_TEXT_PAGE_H

#include <gumbo.h>

#include "text/text_internal.h"

struct html_page;

/** @param bytes borrowed as long as the page lives @param out given (page_free) @return DOPPEL_OK;
 * DOPPEL_E_LIMIT; DOPPEL_E_MEMORY */
enum doppel_status page_parse(const void *bytes, size_t size, struct html_page **out,
                              struct doppel_error *error);
void page_free(struct html_page *page);

/** The document node: the root of all. */
const GumboNode *page_root(const struct html_page *page);

#endif
