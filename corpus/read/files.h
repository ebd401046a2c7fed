/* Which files a corpus is made of. */
#ifndef DOPPEL_CORPUS_READ_FILES_H
#define DOPPEL_CORPUS_READ_FILES_H

#include <doppel/corpus.h>

#include "core/array.h"

typedef ARRAY(char *) path_array;

/** Append what `path` stands for: itself, or, where it is a folder, the corpus files in it and its
 * folders, by byte order of names (hidden ones are left out); an empty folder stands for itself.
 * @param paths given: strings to free. DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status files_append(path_array *paths, const char *path, struct doppel_error *error);

/** Bytes of a name without ".gz" or ".zst" at its end. */
size_t files_name_size(const char *name);
/** CSV or TSV, else JSON Lines. */
enum doppel_corpus_format files_format_by_name(const char *name);
/** Whether it is that of an archive (archive.h), which is recognised by its bytes. */
bool files_is_archive_name(const char *name);

#endif
