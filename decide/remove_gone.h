/* Items whose files are gone, as opposed to those of a drive that is not there. */
#ifndef DOPPEL_DECIDE_REMOVE_GONE_H
#define DOPPEL_DECIDE_REMOVE_GONE_H

#include <doppel/library.h>

#include <doppel/run.h>

#include "core/text/string_list.h"

/**
 * Remove the items, and the failures, of files that were deleted; with paths only of files that are
 * these, or lie below.
 *
 * A file is gone when it is not there, but its folder is, with something in it, on the device on
 * which the file was. Otherwise it may come back: a drive that is not mounted leaves an empty
 * folder or none, a folder that was renamed none.
 * @param dry_run only say what would be removed
 */
enum doppel_status remove_gone(struct doppel_library *library, const struct strings *paths,
                               bool dry_run, struct doppel_run *run, struct doppel_error *error);

#endif
