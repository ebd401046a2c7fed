/* doppel serve: a library for every client, by HTTP. */
#include "serve/serve.h"

#include <stdlib.h>
#include <string.h>

#include "tools/args/commands.h"
#include "tools/args/engine_options.h"
#include "tools/args/library_options.h"
#include "tools/args/paths.h"
#include "tools/output/messages.h"
#include "tools/signals.h"
#include "tools/verbs/semantic/embedder.h"

#ifdef HAVE_MICROHTTPD
static void tell_address(void *context, const char *address)
{
    report_notice(context, "answers at %s; Ctrl-C ends it", address);
}

/* Uploads are compared by the schemes that the library has by now; one that is not there yet, or
 * cannot be opened, is the service's to tell. */
static void adopt_kept_schemes(struct settings *settings, struct report *report)
{
    struct doppel_library *library;
    struct doppel_error error;
    if (open_library(settings, false, true, &library, &error))
        return;
    adopt_schemes(settings, library, report);
    doppel_library_close(library);
}

int cmd_serve(const struct settings *given, struct report *report)
{
    struct doppel_error error;
    struct settings adopted = *given, *settings = &adopted;
    adopt_kept_schemes(settings, report);
    char *library = library_directory(settings);
    if (!library)
        return report_fatal(report, "no place for a library is known; name one with --library DIR");
    struct served_embedder embedder;
    served_embedder_fill(settings, report, &embedder);
    const struct serve_options options = {
        .library = library,
        .cluster = {.password = settings->library_secret,
                    .authority = settings->library_ca,
                    .replicas = settings->replicas,
                    .refuse_partial = settings->partial == PARTIAL_REFUSE},
        .listen = settings->listen,
        .keys = settings->keys,
        .insecure = settings->insecure,
        .certificate = settings->tls_cert,
        .key = settings->tls_key,
        .allow_paths = {settings->allow_paths.items, settings->allow_paths.count},
        .max_body = settings->max_body,
        .webhook_allow = {settings->webhook_allow.items, settings->webhook_allow.count},
        .webhook_secret = settings->webhook_secret,
        .hma = settings->api == API_HMA,
        .durable = settings->durable,
        .decide = decide_options_from(settings),
        .read = read_options_from(settings),
        .embed = embedder.options,
        .stopped = signals_stopped,
        .on_ready = tell_address,
        .context = report,
    };
    enum doppel_status status = serve_library(report->run, &options, &error);
    free(library);
    served_embedder_free(&embedder);
    if (!status)
        signals_forget();
    return status ? report_fatal(report, "%s", error.message) : EXIT_DONE;
}

#else
int cmd_serve(const struct settings *settings, struct report *report)
{
    (void)settings;
    return report_fatal(report, "this doppel was built without libmicrohttpd, and serves nothing");
}
#endif
