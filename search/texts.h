/* The texts of a library, found by their words, signatures and shingles; or by passages. */
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

/* Visit what matches, each item once: those of the same words, then the others. Segments are
 * borrowed during the visit. */
enum doppel_status search_texts_find(struct search_texts *texts, const struct text_view *query,
                                     text_visitor *visitor, void *context,
                                     struct doppel_error *error);

#endif
