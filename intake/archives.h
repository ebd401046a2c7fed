/* Archives on the way: what is in them comes in their place, as files "a.zip!/b/c.jpg", of an mbox
 * "mbox#12". */
#ifndef DOPPEL_INTAKE_ARCHIVES_H
#define DOPPEL_INTAKE_ARCHIVES_H

#include <doppel/worker.h>

#include "intake/walk.h"

enum { ARCHIVE_DEPTH = 3 /* archives in archives that are opened */ };

struct open_archive {
    char *path;
    size_t argument;
    bool named; /* by who started the run: that it is none is to be said */
    struct timespec changed;
    struct doppel_unpack_limits left; /* of what may still come of it, and of all in it */
    struct doppel_unpacker *unpacker; /* kept for the next */
};

/* Zero-initialised there are none. The last is the innermost. */
struct archives {
    struct open_archive open[ARCHIVE_DEPTH];
    size_t depth;
};

void archives_free(struct archives *archives);

/* Whether the first bytes are an archive's, or an mbox's, of no document. */
bool is_archive(int fd);

/* Begin with an archive: what is in it comes next. @param entry of it. @param named on the command
 * line: then it is a failure that it is none
 * @return DOPPEL_OK; DOPPEL_E_LIMIT: too deep; others where it cannot be opened */
enum doppel_status archives_begin(struct archives *archives, struct doppel_run *run,
                                  const struct walk_entry *entry, bool named, int fd,
                                  struct doppel_error *error);

/* The next file of the innermost archive, as the walk would give it; or that this ends with an
 * error. @return false when there is nothing left of any. @param out given (walk_entry_free) */
bool archives_next(struct archives *archives, const struct doppel_walk_options *options,
                   struct walk_entry *out);

#endif
