/* What other programs print of a file: read whole, within bounds. */
#include <stdlib.h>
#include <unistd.h>

#include "worker/fingerprint.h"

enum doppel_status read_printed(int fd, size_t most, const char *what, char **out, size_t *out_size,
                                struct doppel_error *error)
{
    char *text = malloc(most);
    size_t size = 0;
    ssize_t got = 1;
    if (!text)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read %s", what);
    while (got > 0 && size < most) {
        got = pread(fd, text + size, most - size, (off_t)size);
        size += got > 0 ? (size_t)got : 0;
    }
    if (got == 0) {
        *out = text;
        *out_size = size;
        return DOPPEL_OK;
    }
    free(text);
    return got < 0 ? doppel_fail(error, DOPPEL_E_IO, "cannot be read")
                   : doppel_fail(error, DOPPEL_E_LIMIT, "is too long for %s", what);
}
