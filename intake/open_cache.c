/* The cache of what was read, or one for this run alone. */
#include "intake/open_cache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/quarantine.h"
#include "core/run_kept.h"

/* Its files lose their names at once, so that nothing stays behind however the run ends. */
static enum doppel_status open_temporary_cache(const char *parent, struct doppel_cache **out,
                                               struct doppel_error *error)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
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

void limits_text(const struct doppel_run_options *options, char out[LIMITS_BYTES])
{
    const struct doppel_limits *limits = &options->limits;
    bool held = options->sandbox != DOPPEL_SANDBOX_NONE; /* by more than those */
    snprintf(out, LIMITS_BYTES, "timeout %u%s memory %llu pixels %llu bytes %llu ms %u%s%x%s",
             limits->timeout_ms, limits->whole_timeout ? " whole" : "",
             (unsigned long long)limits->max_memory, (unsigned long long)limits->max_pixels,
             (unsigned long long)limits->max_bytes, limits->max_ms,
             limits->switched_off ? " off " : "", limits->switched_off, held ? "" : " no sandbox");
}

/* The one that the run names. */
static enum doppel_status open_named_cache(struct doppel_run *run, struct doppel_cache **out)
{
    const struct doppel_run_options *options = doppel_run_get_options(run);
    const char *path = options->cache;
    struct doppel_cache *kept = run_take_kept(run, RUN_CACHE);
    if (kept && doppel_cache_resume(kept)) {
        *out = kept;
        return DOPPEL_OK;
    }
    doppel_cache_close(kept);
    bool renewed = false;
    struct doppel_error reason;
    enum doppel_status status;
    if (!options->replace_cache && is_no_database(path))
        status =
            doppel_fail(&reason, DOPPEL_E_FORMAT, "%s: not a cache of doppel, left alone", path);
    else
        status = doppel_cache_open(path, out, &renewed, &reason);
    if (status)
        doppel_run_notice(run, "going on without the cache: %s", reason.message);
    if (renewed)
        doppel_run_notice(run, "%s: damaged or of another version; started again", path);
    return status;
}

enum doppel_status open_cache(struct doppel_run *run, struct doppel_cache **out,
                              struct doppel_error *error)
{
    const struct doppel_run_options *options = doppel_run_get_options(run);
    enum doppel_status status = options->cache ? open_named_cache(run, out) : DOPPEL_E_NOT_FOUND;
    if (status)
        status = open_temporary_cache(options->temporary, out, error);
    if (status)
        return status;
    char limits[LIMITS_BYTES];
    limits_text(options, limits);
    if (doppel_cache_set_limits(*out, limits, options->retry))
        doppel_run_notice(run, "files that cannot be read are tried each time: no memory");
    return DOPPEL_OK;
}

static void close_kept_cache(void *cache)
{
    doppel_cache_close(cache);
}

void leave_cache(struct doppel_run *run, struct doppel_cache *cache)
{
    if (!cache)
        return;
    (void)doppel_cache_flush(cache, NULL);
    if (doppel_run_get_options(run)->cache)
        run_keep(run, RUN_CACHE, cache, close_kept_cache);
    else
        doppel_cache_close(cache); /* a temporary one would grow as long as the run lasts */
}
