/* What other programs print of a file: read whole, within bounds. */
#include <stdlib.h>
#include <unistd.h>

#include "core/files/read_at.h"
#include "worker/fingerprint.h"

enum doppel_status read_printed(int fd, size_t most, const char *what, char **out, size_t *out_size,
                                struct doppel_error *error)
{
    char *text = malloc(most);
    if (!text)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read %s", what);
    ssize_t size = read_at(fd, text, most, 0);
    if (size >= 0 && (size_t)size < most) {
        *out = text;
        *out_size = (size_t)size;
        return DOPPEL_OK;
    }
    free(text);
    return size < 0 ? doppel_fail(error, DOPPEL_E_IO, "cannot be read")
                    : doppel_fail(error, DOPPEL_E_LIMIT, "is too long for %s", what);
}
