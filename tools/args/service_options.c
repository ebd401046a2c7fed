/* What goes together of the options of a service, of what it calls, and of what is asked: also for
 * vectors. */
#include "tools/args/service_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/text/printable.h"
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
        (void)fclose(file);
    if (!file)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: %s", path, strerror(why));
    line[strcspn(line, "\r\n")] = '\0';
    if (!read || !*line || strlen(line) > MOST)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: it holds no key in its first line", path);
    *out = strdup(line);
    explicit_bzero(line, sizeof line);
    return *out ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a key");
}

enum doppel_status service_read_key(const char *path, const char *variable, char **out,
                                    struct doppel_error *error)
{
    const char *set = getenv(variable);
    if (path)
        return read_secret(path, out, error);
    if (set && *set && !(*out = strdup(set)))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a key");
    return DOPPEL_OK;
}

static enum doppel_status check_upstream(struct settings *settings, struct doppel_error *error)
{
    if (!settings->upstream)
        return settings->upstream_key || settings->upstream_ca ||
                       settings->upstream_policy != DOPPEL_UPSTREAM_WAIT
                   ? doppel_fail(error, DOPPEL_E_ARGUMENT,
                                 "'--upstream-key', '--upstream-ca' and '--upstream-policy' go "
                                 "with '--upstream'")
                   : DOPPEL_OK;
    return service_read_key(settings->upstream_key, "DOPPEL_UPSTREAM_KEY",
                            &settings->upstream_secret, error);
}

static enum doppel_status check_stream(struct settings *settings, struct doppel_error *error)
{
    if (!settings->stream)
        return settings->stream_key || settings->stream_ca || settings->consumer ||
                       settings->stream_to || settings->drain
                   ? doppel_fail(error, DOPPEL_E_ARGUMENT,
                                 "'--stream-key', '--stream-ca', '--consumer', '--to' and "
                                 "'--drain' go with '--stream'")
                   : DOPPEL_OK;
    return service_read_key(settings->stream_key, "DOPPEL_STREAM_KEY", &settings->stream_secret,
                            error);
}

/* ---- --server ---- */

/* What goes to a service, or is done with files before, by verbs. */
static const struct {
    uint64_t verbs;
    const char *options; /* with blanks around each */
} remote_options[] = {
    {VERBS_REMOTE,
     " server server-key server-ca format json color quiet verbose help all version "},
    {VERB_FIND | VERB_CHECK | VERB_INGEST,
     " upload kind scheme text-format preset unit shingle min-words ocr ocr-languages pcm fast "
     "no-audio no-video "
     "exclude hidden min-size ext newer-than older-than one-file-system follow files-from "
     "max-pixels max-seconds max-bytes max-memory sandbox timeout jobs cache no-cache retry null "
     "progress no-progress "},
    {VERB_FIND | VERB_CHECK | VERB_INGEST | VERB_GROUPS, " semantic min-cosine max-fp-rate "},
    {VERB_FIND, " max-distance min-similarity code "},
    {VERB_CHECK | VERB_INGEST, " list label external-id source meta "},
    {VERB_LIST, " kind where list label null "},
    {VERB_GROUPS, " null progress no-progress "},
    {VERB_TAG, " list label external-id source meta remove "},
    {VERB_MARK, " list same distinct forget note "},
};

bool is_for_server(const struct verb *verb, const struct option_info *option)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", option->name);
    for (size_t i = 0; i < sizeof remote_options / sizeof *remote_options; i++)
        if (remote_options[i].verbs & verb->bit && strstr(remote_options[i].options, word))
            return true;
    return false;
}

/* What is said of items goes as JSON, in which there is nothing but UTF-8. */
static enum doppel_status check_sent_words(const struct settings *settings,
                                           struct doppel_error *error)
{
    const struct {
        const char *option, *word;
    } sent[] = {{"external-id", settings->external_id},
                {"source", settings->source},
                {"note", settings->note}};
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
        if (sent[i].word && !utf8_valid(sent[i].word))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' takes UTF-8 where it is sent",
                               sent[i].option);
    return DOPPEL_OK;
}

static enum doppel_status check_server(struct settings *settings, struct doppel_error *error)
{
    if (!settings->server)
        return settings->server_key || settings->server_ca || settings->upload
                   ? doppel_fail(error, DOPPEL_E_ARGUMENT,
                                 "'--server-key', '--server-ca' and '--upload' go with '--server'")
                   : DOPPEL_OK;
    if (settings->semantic && !settings->upload && settings->verb->bit != VERB_GROUPS)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a service is sent codes, which do not say what a text means: "
                           "'--semantic' goes with '--upload', which sends the text");
    if (!settings->local_option && !settings->semantic && settings->max_false_positives > 0)
        settings->local_option = "max-fp-rate";
    if (settings->local_option)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--%s' is for a library here: with '--server', 'doppel serve' decides "
                           "it",
                           settings->local_option);
    if (check_sent_words(settings, error))
        return DOPPEL_E_ARGUMENT;
    return service_read_key(settings->server_key, "DOPPEL_SERVER_KEY", &settings->server_secret,
                            error);
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

/* ---- --embeddings ---- */

static enum doppel_status check_embeddings(struct settings *settings, struct doppel_error *error)
{
    if (!settings->embeddings)
        return settings->embeddings_key || settings->allow_hosts.count || settings->price > 0 ||
                       settings->max_cost > 0
                   ? doppel_fail(error, DOPPEL_E_ARGUMENT,
                                 "'--embeddings-key', '--allow-host', '--price' and '--max-cost' "
                                 "go with '--embeddings URL'")
                   : DOPPEL_OK;
    const bool wanted = settings->semantic || settings->verb->bit == VERB_SERVE;
    if (settings->verb->bit != VERB_MODEL_WHITEN && (!wanted || !settings->model))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--embeddings' goes with '%s'",
                           wanted ? "--model NAME" : "--semantic");
    if (settings->max_cost > 0 && !(settings->price > 0))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--max-cost' wants the price of a million tokens: '--price X'");
    for (size_t i = 0; i < settings->allow_hosts.count; i++)
        if (!doppel_webhook_is_host(settings->allow_hosts.items[i]))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "--allow-host %s: not HOST or HOST:PORT",
                               settings->allow_hosts.items[i]);
    return service_read_key(settings->embeddings_key, "DOPPEL_EMBEDDINGS_KEY",
                            &settings->embeddings_secret, error);
}

enum doppel_status service_options_check(struct settings *settings, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(check_allowed(settings, error));
    TRY(check_upstream(settings, error));
    TRY(check_stream(settings, error));
    TRY(check_server(settings, error));
    TRY(check_webhooks(settings, error));
    TRY(check_embeddings(settings, error));
done:
    return status;
}
