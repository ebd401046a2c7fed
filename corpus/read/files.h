/* Which files a corpus is made of. */
#ifndef DOPPEL_CORPUS_READ_FILES_H
#define DOPPEL_CORPUS_READ_FILES_H

#include <doppel/core.h>

#include "core/array.h"

typedef ARRAY(char *) path_array;

/** Append what `path` stands for: itself, or, where it is a folder, the corpus files in it and its
 * folders, by byte order of names (hidden ones are left out); an empty folder stands for itself.
 * @param paths given: strings to free. DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status files_append(path_array *paths, const char *path, struct doppel_error *error);

#endif
