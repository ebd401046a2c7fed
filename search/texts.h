/* The texts of a library, found by their words, signatures and shingles; and by passages. */
#ifndef DOPPEL_SEARCH_TEXTS_H
#define DOPPEL_SEARCH_TEXTS_H

#include <doppel/search.h>

#include "compare/text_set.h"

struct search_texts;

/** @param options,library,run borrowed for its life. @param out given (search_texts_free) */
enum doppel_status search_texts_new(const struct doppel_search_options *options,
                                    struct doppel_library *library, struct doppel_run *run,
                                    struct search_texts **out, struct doppel_error *error);
void search_texts_free(struct search_texts *texts);

/* Whether passages are searched: then items have to be added, in order of ids. A damaged one is
 * reported and left out. */
bool search_texts_has_passages(const struct search_texts *texts);
enum doppel_status search_texts_add(struct search_texts *texts, const struct doppel_item *item,
                                    struct doppel_error *error);

/* Visit what matches, each item once: those of the same words, then the others. Segments are
 * borrowed during the visit. */
enum doppel_status search_texts_find(struct search_texts *texts, const struct text_view *query,
                                     text_visitor *visitor, void *context,
                                     struct doppel_error *error);

#endif
