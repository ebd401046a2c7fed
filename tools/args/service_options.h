/* Folders that a service may read, webhooks that it may call, and the upstream that is asked:
 * --allow-paths, --webhook-…, --upstream…; and the service that is asked in place of a library:
 * --server…; and one that embeds: --embeddings…, --allow-host, --price, --max-cost. */
#ifndef DOPPEL_TOOLS_ARGS_SERVICE_OPTIONS_H
#define DOPPEL_TOOLS_ARGS_SERVICE_OPTIONS_H

#include "tools/args/options.h"

/* Whether an option of a verb says something with --server: to this client, or to the service. */
bool is_for_server(const struct verb *verb, const struct option_info *option);

/* A key from its file, else from a variable of the environment. @param path NULL: not given. @param
 * out given; untouched where there is none */
enum doppel_status service_read_key(const char *path, const char *variable, char **out,
                                    struct doppel_error *error);

/* Check them, and read the keys that are in files: webhook_secret, upstream_secret,
 * server_secret, embeddings_secret. DOPPEL_E_ARGUMENT with a sentence. */
enum doppel_status service_options_check(struct settings *settings, struct doppel_error *error);

#endif
