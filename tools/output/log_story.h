/* What the log says of one item, in sentences. */
#ifndef DOPPEL_TOOLS_OUTPUT_LOG_STORY_H
#define DOPPEL_TOOLS_OUTPUT_LOG_STORY_H

#include <doppel/library.h>

/* The sentence of an entry as it concerns item `id`; given (free). */
char *log_sentence(const struct doppel_log_entry *entry, uint64_t id);

/* How the item stands now: whom it follows, who follows it; given (free).
 * @param successor what the log says took its place; 0: nothing did */
char *log_standing(struct doppel_library *library, uint64_t id, uint64_t successor);

#endif
