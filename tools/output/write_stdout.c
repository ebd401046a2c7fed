/* Rows by the million on stdout. */
#include "tools/output/write_stdout.h"

#include <errno.h>
#include <unistd.h>

#include "tools/args/options.h"
#include "tools/signals.h"

bool wants_json_lines(const struct settings *settings)
{
    if (settings->format_chosen)
        return settings->format == FORMAT_JSON;
    return isatty(STDOUT_FILENO) != 1;
}

int write_stdout(const char *bytes, size_t size)
{
    int failed = 0;
    for (size_t at = 0; at < size && !failed;) {
        ssize_t written = write(STDOUT_FILENO, bytes + at, size - at);
        if (written < 0 && (errno != EINTR || signals_stopped()))
            failed = errno;
        at += written > 0 ? (size_t)written : 0;
    }
    if (failed == EPIPE)
        signals_closed_pipe();
    return failed;
}
