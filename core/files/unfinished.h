/* A folder that gets its name when it is whole. */
#ifndef DOPPEL_CORE_FILES_UNFINISHED_H
#define DOPPEL_CORE_FILES_UNFINISHED_H

#include <doppel/core.h>

struct unfinished {
    char *path; /* NAME.doppel-unfinished-XXXXXX; NULL: none */
    int lock;   /* held for as long as it is being filled */
};

/** Make one beside its name, and sweep away those that killed processes left there.
 * @param name of the folder to be. @param out given: to unfinished_rename or unfinished_remove.
 * DOPPEL_OK; DOPPEL_E_IO; DOPPEL_E_MEMORY */
enum doppel_status unfinished_make(const char *name, struct unfinished *out,
                                   struct doppel_error *error);

/** Give it its name, at which nothing or an empty folder may be. On failure it is still there.
 * DOPPEL_OK; DOPPEL_E_IO */
enum doppel_status unfinished_rename(struct unfinished *unfinished, const char *name,
                                     struct doppel_error *error);

/** Remove it and what lies in it; nothing where there is none. */
void unfinished_remove(struct unfinished *unfinished);

#endif
