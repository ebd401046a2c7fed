/* The library that a command line names, the items it asks for, and what is said of them. */
#ifndef DOPPEL_TOOLS_ARGS_LIBRARY_OPTIONS_H
#define DOPPEL_TOOLS_ARGS_LIBRARY_OPTIONS_H

#include <doppel/exchange.h>
#include <doppel/library.h>

#include "core/files/absolute_path.h"
#include "tools/args/options.h"
#include "tools/output/messages.h"

/* Open the library that the settings name. @param create for verbs that add to it: it is made, and
 * goes again when nothing was added */
enum doppel_status open_library(const struct settings *settings, bool create, bool read_only,
                                struct doppel_library **out, struct doppel_error *error);

/* --where, --list, --label; borrows from the settings. */
struct doppel_item_filter item_filter_from(const struct settings *settings);
enum doppel_status filter_library(const struct settings *settings, struct doppel_library *library,
                                  struct doppel_item_set *out, struct doppel_error *error);

/* The same with --kind and --scheme. */
struct doppel_exchange_filter exchange_filter_from(const struct settings *settings);

/* What --list, --label, --source and --meta say of all that is imported; borrows from the settings.
 */
struct doppel_metadata imported_metadata_from(const struct settings *settings);

/* doppel_library_resolve_to_change, and notice_other_reference. */
enum doppel_status resolve_to_change(struct doppel_library *library, const char *name,
                                     struct report *report, struct doppel_reference *out,
                                     struct doppel_error *error);

/* Notify that a name stands for something else, too. */
void notice_other_reference(struct doppel_library *library, const char *name,
                            struct report *report);

/* Notify of items of another version of their scheme. */
void notice_old_items(struct report *report, uint64_t count);

#endif
