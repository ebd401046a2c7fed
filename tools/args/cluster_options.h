/* A library in a cluster, -L redis://…: which verbs take it, and which of their options. */
#ifndef DOPPEL_TOOLS_ARGS_CLUSTER_OPTIONS_H
#define DOPPEL_TOOLS_ARGS_CLUSTER_OPTIONS_H

#include "tools/args/options.h"

/* Set `clustered` and `library_secret` of the settings. DOPPEL_E_ARGUMENT, with a sentence: an
 * option that means nothing there was given, or one that means nothing elsewhere. */
enum doppel_status cluster_options_check(struct settings *settings, struct doppel_error *error);

/* DOPPEL_E_UNSUPPORTED, with a sentence, where a library is one in a cluster. @param library NULL:
 * none */
enum doppel_status refuse_cluster(const struct settings *settings, const char *library,
                                  struct doppel_error *error);

#endif
