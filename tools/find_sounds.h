/* The sounds of a library, to be found by the peaks that they share with another one. */
#ifndef DOPPEL_TOOLS_FIND_SOUNDS_H
#define DOPPEL_TOOLS_FIND_SOUNDS_H

#include <doppel/library.h>
#include <doppel/match.h>

#include "tools/options.h"

/* Visit what matches the sound of a record, best first, and near misses as `borderline`; segments
 * are borrowed during the visit. */
enum doppel_status find_sounds(const struct settings *settings, struct doppel_library *library,
                               const struct doppel_record *query, doppel_found_visitor *visitor,
                               void *context, struct doppel_error *error);

#endif
