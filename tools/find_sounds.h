/* The sounds of a library, to be found by the peaks that they share with another one. */
#ifndef DOPPEL_TOOLS_FIND_SOUNDS_H
#define DOPPEL_TOOLS_FIND_SOUNDS_H

#include <doppel/library.h>
#include <doppel/match.h>

#include "tools/report.h"

struct find_sounds;

/** @param settings,library borrowed for its life. @param out given (find_sounds_free) */
enum doppel_status find_sounds_new(const struct settings *settings, struct doppel_library *library,
                                   struct find_sounds **out, struct doppel_error *error);
void find_sounds_free(struct find_sounds *sounds);

/* Add an item of the library; a damaged one is reported and left out. */
enum doppel_status find_sounds_add(struct find_sounds *sounds, const struct doppel_item *item,
                                   struct report *report, struct doppel_error *error);

/* Visit what matches, best first, and near misses as `borderline`; segments are borrowed during the
 * visit. What has nothing to be told by is said. */
enum doppel_status find_sounds_ask(const struct find_sounds *sounds,
                                   const struct doppel_record *query, doppel_found_visitor *visitor,
                                   void *context, struct doppel_error *error);

#endif
