/* The cache of what was read, or one for this run alone. */
#include "tools/open_cache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/paths.h"

/* Its files lose their names at once, so that nothing stays behind however the run ends. */
static enum doppel_status open_temporary_cache(struct doppel_cache **out,
                                               struct doppel_error *error)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    const char *parent = getenv("TMPDIR");
    char folder[PATH_MAX], path[PATH_MAX + 16];
    snprintf(folder, sizeof folder, "%s/doppel-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s; name another folder by TMPDIR", folder,
                           strerror(errno));
    snprintf(path, sizeof path, "%s/cache.db", folder);
    enum doppel_status status = doppel_cache_open(path, out, NULL, error);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s/cache.db%s", folder, endings[i]);
        unlink(path);
    }
    rmdir(folder);
    return status;
}

enum doppel_status open_cache(const struct settings *settings, struct report *report,
                              struct doppel_cache **out, struct doppel_error *error)
{
    char *path = cache_file(settings);
    bool renewed = false;
    struct doppel_error reason;
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    if (path)
        status = doppel_cache_open(path, out, &renewed, &reason);
    if (path && status)
        report_notice(report, "going on without the cache: %s", reason.message);
    if (renewed)
        report_notice(report, "%s: damaged or of another version; begun anew", path);
    free(path);
    return status ? open_temporary_cache(out, error) : DOPPEL_OK;
}
