/* What a command line says of the items it brings in: --list, --label, --external-id, --source,
 * --meta. */
#ifndef DOPPEL_TOOLS_ARGS_METADATA_OPTIONS_H
#define DOPPEL_TOOLS_ARGS_METADATA_OPTIONS_H

#include <doppel/library.h>

#include "tools/args/options.h"

/* Whether it says anything. */
bool metadata_is_given(const struct settings *settings);

/* Before anything is read: DOPPEL_E_ARGUMENT for a meta that is no object in JSON, or a bad name.
 */
enum doppel_status about_check(const struct settings *settings, struct doppel_error *error);

/* What it says; borrows from the settings. */
struct doppel_metadata about_of(const struct settings *settings);

/* Say it of an item or text; nothing where nothing is said. As doppel_library_set_metadata. */
enum doppel_status about_tell(const struct settings *settings, struct doppel_library *library,
                              uint64_t id, struct doppel_error *error);

#endif
