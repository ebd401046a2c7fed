/* Files that a library knows by an MD5, SHA-1 or SHA-256 alone. */
#ifndef DOPPEL_TOOLS_EXACT_DIGESTS_H
#define DOPPEL_TOOLS_EXACT_DIGESTS_H

#include <doppel/library.h>

/* The item that stands for a file's bytes; 0: none, also when the file cannot be read or is no
 * longer what it was. The file is read for it, only where the library has such items.
 * @param path absolute */
enum doppel_status exact_find(struct doppel_library *library, const char *path,
                              const struct doppel_file_stamp *stamp, uint64_t *out_id,
                              struct doppel_error *error);

#endif
