/* The texts of a library, to be found by their words and shingles. */
#ifndef DOPPEL_SEARCH_TEXTS_H
#define DOPPEL_SEARCH_TEXTS_H

#include <doppel/library.h>

#include "compare/text_set.h"

struct search_texts;

/** @param compare,library borrowed for its life. @param out given (search_texts_free) */
enum doppel_status search_texts_new(const struct doppel_compare_options *compare,
                                    struct doppel_library *library, struct search_texts **out,
                                    struct doppel_error *error);
void search_texts_free(struct search_texts *texts);

/* Add an item of the library, in order of ids; a damaged one is reported and left out.
 * @param leads else it is found by the same words alone */
enum doppel_status search_texts_add(struct search_texts *texts, const struct doppel_item *item,
                                    bool leads, struct doppel_run *run, struct doppel_error *error);

/* Likewise a text of a corpus; one that was read in another way is left out. */
enum doppel_status search_texts_add_record(struct search_texts *texts,
                                           const struct doppel_library_text *text, bool leads,
                                           struct doppel_error *error);

/* Visit what matches, each item once: those of the same words, then the others. Segments are
 * borrowed during the visit. */
enum doppel_status search_texts_find(struct search_texts *texts, const struct text_view *query,
                                     text_visitor *visitor, void *context,
                                     struct doppel_error *error);

#endif
