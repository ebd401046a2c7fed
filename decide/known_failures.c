/* Files that could not be read, as a library remembers them. */
#include "decide/known_failures.h"

#include <time.h>

#include "intake/open_cache.h"

bool failure_is_known(const struct doppel_run *run, struct doppel_library *library,
                      const char *path, const struct doppel_file_stamp *stamp,
                      struct doppel_error *out)
{
    char limits[LIMITS_BYTES];
    if (doppel_run_get_options(run)->retry)
        return false;
    limits_text(doppel_run_get_options(run), limits);
    return doppel_library_failure(library, path, stamp, limits, out) == DOPPEL_OK;
}

/* What tells whether another try would fail, too: "" nothing, "-" it may go otherwise any time. */
static const char *limits_text_of_run(const struct doppel_run *run, enum doppel_status status,
                                      char storage[LIMITS_BYTES])
{
    switch (status) {
    case DOPPEL_E_EMPTY:
    case DOPPEL_E_FORMAT:
    case DOPPEL_E_CORRUPT:
    case DOPPEL_E_FLAT:
        return "";
    case DOPPEL_E_TIMEOUT:
    case DOPPEL_E_CRASH:
    case DOPPEL_E_MEMORY:
    case DOPPEL_E_LIMIT:
        limits_text(doppel_run_get_options(run), storage);
        return storage;
    default:
        return "-";
    }
}

enum doppel_status failure_keep(const struct doppel_run *run, struct doppel_library *library,
                                const char *path, const struct doppel_file_stamp *stamp,
                                const struct doppel_error *reason, struct doppel_error *error)
{
    char storage[LIMITS_BYTES];
    const struct doppel_failure failure = {.path = path,
                                           .stamp = stamp,
                                           .time_ns = (int64_t)time(NULL) * 1000000000,
                                           .error = *reason,
                                           .limits =
                                               limits_text_of_run(run, reason->status, storage)};
    /* What passes is no fault of the bytes. */
    if (reason->status == DOPPEL_E_NOT_FOUND || reason->status == DOPPEL_E_CHANGED ||
        reason->status == DOPPEL_E_KILLED || reason->status == DOPPEL_E_NO_SPACE)
        return DOPPEL_OK;
    return doppel_library_put_failure(library, &failure, error);
}
