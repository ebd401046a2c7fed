/* A service's life: it opens what it needs, listens, and ends when it is told to. */
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/try.h"
#include "serve/answers/group_cache.h"
#include "serve/cluster_openings.h"
#include "serve/desk.h"
#include "serve/http.h"
#include "serve/jobs/events.h"
#include "serve/jobs/jobs.h"
#include "serve/keys.h"
#include "serve/listen.h"
#include "serve/metrics.h"
#include "serve/readers.h"
#include "serve/request_key.h"
#include "serve/service.h"
#include "serve/warm_up.h"
#include "serve/writer.h"

enum { LARGEST_PEM = 1 << 20, DESKS_A_JOB = 4 };

/* When the service ends: until its parts are closed, and then, as nothing is taken any more. */
static const struct http_patience first_patience = {.answered_s = 30, .arriving_s = 5},
                                  last_patience = {.answered_s = 30, .arriving_s = 1};

uint64_t service_most_kept(const struct service *service)
{
    enum { BODIES = 16 };
    const uint64_t most = service->options->max_body;
    return most < UINT64_MAX / BODIES ? most * BODIES : UINT64_MAX;
}

const char *service_temporary(const struct service *service)
{
    const char *given = doppel_run_get_options(service->run)->temporary, *set = getenv("TMPDIR");
    return given && *given ? given : set && *set ? set : "/tmp";
}

/* ---- who may ask ---- */

/* A whole small file, ended by NUL; given (free). */
static enum doppel_status read_pem(const char *path, char **out, struct doppel_error *error)
{
    char *text = malloc(LARGEST_PEM + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = text && fd >= 0 ? read(fd, text, LARGEST_PEM) : -1;
    int why = errno;
    if (fd >= 0)
        close(fd);
    if (size < 0) {
        free(text);
        return doppel_fail(error, text ? DOPPEL_E_IO : DOPPEL_E_MEMORY, "%s: %s", path,
                           strerror(why));
    }
    text[size] = '\0';
    *out = text;
    return DOPPEL_OK;
}

static enum doppel_status check_options(const struct serve_options *options,
                                        const struct listening_socket *listening,
                                        struct doppel_error *error)
{
    if (!options->certificate != !options->key)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "--tls-cert and --tls-key belong together: give both");
    if (!listening->local && !options->keys && !options->insecure)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "others than this machine could reach %s: say who may with --keys FILE, "
                           "or that everybody may with --insecure",
                           listening->address);
    return DOPPEL_OK;
}

/* ---- the parts ---- */

/* Whether there is a worker at all is known before the first request, too. */
static enum doppel_status examine_worker(struct service *service, struct doppel_error *error)
{
    const struct doppel_run_options *run = doppel_run_get_options(service->run);
    struct doppel_pool_options options = doppel_pool_options_default();
    options.max_memory = run->limits.max_memory;
    options.sandbox = run->sandbox;
    return doppel_worker_examine(&options, &service->held, error);
}

/* Of a library in a folder. */
static enum doppel_status open_library_parts(struct service *service, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(writer_open(service, &service->writer, error)); /* makes the library */
    TRY(readers_open(service, &service->readers, error));
    TRY(writing_readers_open(&service->writing_readers, error));
    TRY(jobs_open(service, &service->jobs, error));
    TRY(job_events_open(service, &service->job_events, error));
    TRY(warm_up_begin(service, &service->warm_up, error));
done:
    return status;
}

static enum doppel_status open_service_parts(struct service *service, struct doppel_error *error)
{
    uint32_t jobs = doppel_run_jobs(service->run);
    enum doppel_status status;
    TRY(examine_worker(service, error));
    TRY(keys_read(service->options->keys, &service->keys, error));
    service->metrics = metrics_new();
    service->request_keys = request_keys_new();
    service->groups = group_cache_new();
    if (!service->metrics || !service->request_keys || !service->groups)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a service"));
    if (service->options->decide.upstream.service.url)
        TRY(doppel_run_new(doppel_run_get_options(service->run), &service->upstream_run, error));
    TRY(desk_open(jobs * DESKS_A_JOB, &service->desk, error));
    if (doppel_is_shards_address(service->options->library))
        TRY(cluster_openings_open(service, &service->cluster, error));
    else
        TRY(open_library_parts(service, error));
done:
    return status;
}

/* Connections that are kept alive send requests until the server stops, so the desk is there, if
 * closed, until then; and the server stops when nobody holds a connection any more. */
static void close_parts(struct service *service)
{
    warm_up_end(service->warm_up);
    desk_end(service->desk);
    writer_close(service->writer);
    if (service->http)
        http_drain(service->http, last_patience); /* what took longer is answered, and goes out */
    http_stop(service->http);
    desk_free(service->desk);
    job_events_close(service->job_events);
    jobs_close(service->jobs);
    readers_close(service->readers);
    readers_close(service->writing_readers);
    cluster_openings_close(service->cluster);
    group_cache_free(service->groups);
    metrics_free(service->metrics);
    request_keys_free(service->request_keys);
    keys_free(service->keys);
    doppel_run_free(service->upstream_run);
}

static enum doppel_status listen_and_answer(struct service *service,
                                            struct listening_socket *listening,
                                            struct doppel_error *error)
{
    const struct serve_options *options = service->options;
    char *certificate = NULL, *key = NULL;
    enum doppel_status status;
    TRY(check_options(options, listening, error));
    if (options->certificate) {
        TRY(read_pem(options->certificate, &certificate, error));
        TRY(read_pem(options->key, &key, error));
    }
    const struct http_options http = {.service = service,
                                      .socket = listening->socket,
                                      .threads = doppel_run_jobs(service->run),
                                      .certificate = certificate,
                                      .key = key};
    TRY(http_start(&http, &service->http, error));
    if (options->on_ready)
        options->on_ready(options->context, listening->address);
    notify_manager("READY=1");
    while (!options->stopped()) {
        static const struct timespec turn = {.tv_nsec = 100 * 1000000L};
        nanosleep(&turn, NULL); /* a signal ends it early */
    }
    notify_manager("STOPPING=1");
    atomic_store(&service->ending, true);
    if (service->upstream_run) /* which may be away for days */
        doppel_run_cancel(service->upstream_run);
    if (service->jobs) {
        jobs_stop(service->jobs);
        job_events_stop(service->job_events);
    }
    http_refuse(service->http);
    stop_listening(listening); /* or new connections would wait to be taken */
    http_drain(service->http, first_patience);
done:
    free(certificate);
    free(key);
    return status;
}

enum doppel_status serve_library(struct doppel_run *run, const struct serve_options *options,
                                 struct doppel_error *error)
{
    struct service service = {.options = options, .run = run};
    struct listening_socket listening = {.socket = -1};
    enum doppel_status status;
    json_set_alloc_funcs(malloc,
                         free); /* a request without memory fails, and the service goes on */
    TRY(listen_at(options->listen ? options->listen : SERVE_DEFAULT_ADDRESS,
                  options->certificate != NULL, &listening, error));
    TRY(open_service_parts(&service, error));
    TRY(listen_and_answer(&service, &listening, error));
done:
    close_parts(&service);
    stop_listening(&listening);
    return status;
}
