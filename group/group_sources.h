/* Where groups come from: the files under paths, or a library. */
#ifndef DOPPEL_GROUP_GROUP_SOURCES_H
#define DOPPEL_GROUP_GROUP_SOURCES_H

#include "group/grouping.h"

/* The groups of the files under the operands, read through the cache. @param receiver NULL: they
 * are printed. DOPPEL_E_CANCELLED after a signal; others when the run cannot go on. */
enum doppel_status scan_groups(const struct settings *settings, struct report *report,
                               const struct group_receiver *receiver, struct doppel_error *error);

/* The groups of the items of the library. The same. */
enum doppel_status library_groups(const struct settings *settings, struct report *report,
                                  const struct group_receiver *receiver,
                                  struct doppel_error *error);

#endif
