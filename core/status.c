/* Every way to fail, and the sentence for it. */
#include <doppel/core.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *doppel_version(void)
{
    return DOPPEL_VERSION;
}

enum doppel_status doppel_fail(struct doppel_error *error, enum doppel_status status,
                               const char *format, ...)
{
    if (!error)
        return status;
    char message[sizeof error->message]; /* the old message may be among the arguments */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    error->status = status;
    memcpy(error->message, message, strlen(message) + 1);
    return status;
}

const char *doppel_status_name(enum doppel_status status)
{
    static const char *const names[] = {
        [DOPPEL_OK] = "ok",
        [DOPPEL_E_ARGUMENT] = "argument",
        [DOPPEL_E_MEMORY] = "memory",
        [DOPPEL_E_IO] = "io",
        [DOPPEL_E_NOT_FOUND] = "not-found",
        [DOPPEL_E_EMPTY] = "empty",
        [DOPPEL_E_FORMAT] = "format",
        [DOPPEL_E_CORRUPT] = "corrupt",
        [DOPPEL_E_LIMIT] = "limit",
        [DOPPEL_E_UNSUPPORTED] = "unsupported",
        [DOPPEL_E_FLAT] = "flat",
        [DOPPEL_E_TIMEOUT] = "timeout",
        [DOPPEL_E_CRASH] = "crash",
        [DOPPEL_E_CHANGED] = "changed",
        [DOPPEL_E_VERSION] = "version",
        [DOPPEL_E_BUSY] = "busy",
        [DOPPEL_E_CANCELLED] = "cancelled",
        [DOPPEL_E_KILLED] = "killed",
        [DOPPEL_E_NO_SPACE] = "no-space",
        [DOPPEL_E_TOO_SHORT] = "too-short",
    };
    size_t index = (size_t)status;
    return index < sizeof names / sizeof *names ? names[index] : "unknown";
}
