/* Reading a file into memory, up to a limit. */
#ifndef DOPPEL_CORE_FILES_READ_BEGINNING_H
#define DOPPEL_CORE_FILES_READ_BEGINNING_H

#include <doppel/core.h>

/**
 * Read the first `most` bytes of a regular file. Other files (pipes, devices) are refused without
 * waiting.
 *
 * @param out given (free); never NULL; untouched on failure, as `out_size`
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND; DOPPEL_E_FORMAT: no regular file; DOPPEL_E_IO;
 *         DOPPEL_E_MEMORY. Thread-safe.
 */
enum doppel_status read_file_beginning(const char *path, size_t most, char **out, size_t *out_size,
                                       struct doppel_error *error);

#endif
