/* Temporary files: where they lie, and reading and writing them. */
#ifndef DOPPEL_CORPUS_READ_TEMPORARY_H
#define DOPPEL_CORPUS_READ_TEMPORARY_H

#include <doppel/core.h>

/** The folder that was given, else $TMPDIR, else /tmp; borrowed. @param given may be NULL */
const char *temporary_folder(const char *given);

/** A file without a name in the folder. @param out_fd given (close) */
enum doppel_status temporary_file(const char *folder, int *out_fd, struct doppel_error *error);
/** @param at from the beginning of the file. DOPPEL_E_NO_SPACE; DOPPEL_E_IO */
enum doppel_status temporary_write(const char *folder, int fd, const void *bytes, size_t size,
                                   uint64_t at, struct doppel_error *error);
enum doppel_status temporary_read(const char *folder, int fd, void *bytes, size_t size, uint64_t at,
                                  struct doppel_error *error);
/** The sentence for a temporary file that failed for this reason (errno). */
enum doppel_status temporary_failed(const char *folder, int reason, struct doppel_error *error);

#endif
