/* A library in a cluster, as the verbs use it. */
#ifndef DOPPEL_TOOLS_CLUSTERED_LIBRARY_H
#define DOPPEL_TOOLS_CLUSTERED_LIBRARY_H

#include <doppel/shards.h>

#include "intake/reader.h"
#include "tools/args/options.h"
#include "tools/output/messages.h"

/* Open the one that the settings name. @param out given (doppel_shards_close). As
 * doppel_shards_open */
enum doppel_status clustered_open(const struct settings *settings, struct report *report,
                                  struct doppel_shards **out, struct doppel_error *error);

/* The run cannot go on: say so, with the address. @return EXIT_WRONG_USE */
int clustered_fatal(const struct settings *settings, struct report *report,
                    const struct doppel_error *error);

/* A file as an item, with what the settings say of it. @return its path is given (free); the rest
 * is borrowed from the file and the settings */
struct doppel_shards_item clustered_item(const struct settings *settings,
                                         const struct intake_file *file);

/* Whether --list and --label of the settings leave an item in. */
bool clustered_is_wanted(const struct settings *settings, const struct doppel_metadata *about);

#endif
