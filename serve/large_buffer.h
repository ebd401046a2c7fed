/* Bytes that come piece by piece: in memory as long as they are few, else in a file without a
 * name. */
#ifndef DOPPEL_SERVE_LARGE_BUFFER_H
#define DOPPEL_SERVE_LARGE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>

enum { LARGE_BUFFER_MEMORY = 1 << 20 };

/* Zero-initialised it is empty. */
struct large_buffer {
    char *bytes; /* the first of them, while they are in memory */
    size_t capacity;
    uint64_t size;
    bool in_file;
    int file; /* where all of them are, if in_file */
};

/* Append. @param folder of the file. DOPPEL_E_MEMORY; DOPPEL_E_NO_SPACE; DOPPEL_E_IO */
enum doppel_status large_buffer_append(struct large_buffer *buffer, const void *bytes, size_t size,
                                       const char *folder, struct doppel_error *error);

/* All of it as text that ends in NUL, borrowed; NULL: it is in a file, too long for that. */
const char *large_buffer_text(struct large_buffer *buffer);

/* A descriptor that reads all of it from its beginning; given. -1 with errno */
int large_buffer_open(const struct large_buffer *buffer);

/* Keep all of it as a file at a path, where nothing is yet. @param durable it survives power loss,
 * but for its name. DOPPEL_E_NO_SPACE; DOPPEL_E_IO */
enum doppel_status large_buffer_save(const struct large_buffer *buffer, const char *path,
                                     bool durable, struct doppel_error *error);

void large_buffer_free(struct large_buffer *buffer);

#endif
