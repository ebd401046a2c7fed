/* What goes together of the options of a service, of what it calls, and of what is asked. */
#include "tools/args/service_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/try.h"

/* A folder that is not there would allow nothing, without a word. */
static enum doppel_status check_allowed(const struct settings *settings, struct doppel_error *error)
{
    struct stat status;
    for (size_t i = 0; i < settings->allow_paths.count; i++) {
        const char *folder = settings->allow_paths.items[i];
        if (stat(folder, &status))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "--allow-paths %s: %s", folder,
                               strerror(errno));
        if (!S_ISDIR(status.st_mode))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "--allow-paths %s: not a folder", folder);
    }
    return DOPPEL_OK;
}

/* A key is neither on the command line, which everybody sees, nor in a message. */
static enum doppel_status read_secret(const char *path, char **out, struct doppel_error *error)
{
    enum { MOST = 1000 };
    char line[MOST + 2] = "";
    FILE *file = fopen(path, "re");
    bool read = file && fgets(line, sizeof line, file);
    int why = errno;
    if (file)
        fclose(file);
    if (!file)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: %s", path, strerror(why));
    line[strcspn(line, "\r\n")] = '\0';
    if (!read || !*line || strlen(line) > MOST)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: it holds no key in its first line", path);
    *out = strdup(line);
    explicit_bzero(line, sizeof line);
    return *out ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a key");
}

static enum doppel_status check_upstream(struct settings *settings, struct doppel_error *error)
{
    const char *set = getenv("DOPPEL_UPSTREAM_KEY");
    if (!settings->upstream)
        return settings->upstream_key || settings->upstream_ca ||
                       settings->upstream_policy != DOPPEL_UPSTREAM_WAIT
                   ? doppel_fail(error, DOPPEL_E_ARGUMENT,
                                 "'--upstream-key', '--upstream-ca' and '--upstream-policy' go "
                                 "with '--upstream'")
                   : DOPPEL_OK;
    if (settings->upstream_key)
        return read_secret(settings->upstream_key, &settings->upstream_secret, error);
    if (set && *set && !(settings->upstream_secret = strdup(set)))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a key");
    return DOPPEL_OK;
}

static enum doppel_status check_webhooks(struct settings *settings, struct doppel_error *error)
{
    for (size_t i = 0; i < settings->webhook_allow.count; i++)
        if (!doppel_webhook_is_host(settings->webhook_allow.items[i]))
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "--webhook-allow %s: not HOST or HOST:PORT",
                               settings->webhook_allow.items[i]);
    if (!settings->webhook_allow.count != !settings->webhook_secret_file)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--webhook-allow' and '--webhook-secret' belong together: give both");
    return settings->webhook_secret_file
               ? read_secret(settings->webhook_secret_file, &settings->webhook_secret, error)
               : DOPPEL_OK;
}

enum doppel_status service_options_check(struct settings *settings, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(check_allowed(settings, error));
    TRY(check_upstream(settings, error));
    TRY(check_webhooks(settings, error));
done:
    return status;
}
