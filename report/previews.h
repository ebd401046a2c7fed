/* What the members of groups look like: files looked at by the workers, and told as JSON. */
#ifndef DOPPEL_REPORT_PREVIEWS_H
#define DOPPEL_REPORT_PREVIEWS_H

#include "report/report.h"

struct page_looks;

/* Starts no worker before one is needed. Borrows all. @param text how records were read.
 * Given (page_looks_free) */
struct page_looks *page_looks_new(const struct settings *settings, struct report *report,
                                  const struct doppel_text_options *text);
void page_looks_free(struct page_looks *looks);

/* How many looks are wanted and not yet cleared. */
size_t page_looks_count(const struct page_looks *looks);

/* Want the members of a group. @param group borrowed until page_looks_clear */
void page_looks_want(struct page_looks *looks, const struct page_group *group);

/* Have all that is wanted. A file that cannot be looked at is reported. DOPPEL_E_CANCELLED; others
 * when the run cannot go on. */
enum doppel_status page_looks_take(struct page_looks *looks, struct doppel_error *error);

/* What was seen of the group that was wanted as number `index`; given. docs/formats.md says what it
 * holds. */
json_t *page_looks_tell(const struct page_looks *looks, size_t index);

void page_looks_clear(struct page_looks *looks);

#endif
