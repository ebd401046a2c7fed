/* The cache of what was read, or one for this run alone. */
#include "intake/open_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/args/paths.h"

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

/* A damaged cache is set aside; a file that was named by mistake, a picture perhaps, is left alone.
 */
static bool is_something_else(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, head, sizeof head);
    close(fd);
    return got > 0 && memcmp(head, magic, sizeof magic) != 0;
}

void limits_text(const struct settings *settings, char out[LIMITS_BYTES])
{
    snprintf(out, LIMITS_BYTES, "timeout %u%s memory %llu pixels %llu bytes %llu ms %u",
             settings->timeout_ms, settings->timeout_given ? " whole" : "",
             (unsigned long long)settings->max_memory, (unsigned long long)settings->max_pixels,
             (unsigned long long)settings->max_bytes, settings->max_ms);
}

enum doppel_status open_cache(const struct settings *settings, struct doppel_run *run,
                              struct doppel_cache **out, struct doppel_error *error)
{
    char *path = cache_file(settings);
    bool renewed = false;
    struct doppel_error reason;
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    if (settings->cache && is_something_else(settings->cache))
        status = doppel_fail(&reason, DOPPEL_E_FORMAT, "%s: not a cache of doppel, left alone",
                             settings->cache);
    else if (path)
        status = doppel_cache_open(path, out, &renewed, &reason);
    if (path && status)
        doppel_run_notice(run, "going on without the cache: %s", reason.message);
    if (path && renewed)
        doppel_run_notice(run, "%s: damaged or of another version; begun anew", path);
    free(path);
    if (status)
        status = open_temporary_cache(out, error);
    char limits[LIMITS_BYTES];
    limits_text(settings, limits);
    if (!status && doppel_cache_set_limits(*out, limits, settings->retry))
        doppel_run_notice(run, "files that cannot be read are tried each time: no memory");
    return status;
}
