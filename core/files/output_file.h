/* A file that appears when it is whole: written beside its place, then renamed. */
#ifndef DOPPEL_CORE_FILES_OUTPUT_FILE_H
#define DOPPEL_CORE_FILES_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include <doppel/core.h>

struct output_file {
    FILE *stream;
    const char *path;
    char *temporary; /* NULL: it is written in place */
    bool borrowed;   /* the stream is the caller's */
};

/** @param path borrowed. @param stream borrowed: then it is written there, and `path` is but the
 * name in messages; NULL: to the file. @param out given (output_file_close). DOPPEL_E_IO,
 * DOPPEL_E_MEMORY. */
enum doppel_status output_file_open(const char *path, FILE *stream, struct output_file *out,
                                    struct doppel_error *error);

/** Whether a file could be written there, before there is anything to write. DOPPEL_E_IO,
 * DOPPEL_E_MEMORY. */
enum doppel_status output_file_try(const char *path, struct doppel_error *error);

/** Put it where it belongs, or with a failure `status`, which is returned then, remove it.
 * DOPPEL_E_IO. */
enum doppel_status output_file_close(struct output_file *file, enum doppel_status status,
                                     struct doppel_error *error);

#endif
