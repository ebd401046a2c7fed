/* What texts are embedded by, as the command line has it: for every verb with a stage of vectors.
 */
#ifndef DOPPEL_TOOLS_VERBS_SEMANTIC_EMBEDDER_H
#define DOPPEL_TOOLS_VERBS_SEMANTIC_EMBEDDER_H

#include <doppel/embedder.h>

#include "tools/args/options.h"

struct report;

/* Zeroed, nothing is open. Stays where it is while it is. */
struct embedder_of_run {
    struct doppel_embedder *embedder;         /* NULL: none */
    bool is_service;                          /* which takes time, and perhaps money */
    struct doppel_embedder_estimate estimate; /* of what embedder_foresee was shown */
    struct doppel_error refusal;              /* the first text that a service did not take */
    struct report *report;
};

/* The service of --embeddings; else the model that --model names, or the only one there is. */
enum doppel_status embedder_open(const struct settings *settings, struct report *report,
                                 struct embedder_of_run *out, struct doppel_error *error);
/* The same where vectors are there already: without --model that of these. @param kept NULL: none
 * are there */
enum doppel_status embedder_open_for(const struct settings *settings, struct report *report,
                                     const struct doppel_embedder_identity *kept,
                                     struct embedder_of_run *out, struct doppel_error *error);
void embedder_close(struct embedder_of_run *run);

/* The embedder options of `doppel serve`, which opens the embedder itself; all is borrowed. */
struct served_embedder {
    struct doppel_embedder_options options;
    struct doppel_endpoint_options endpoint;
    char *folder, *cache;
};
void served_embedder_fill(const struct settings *settings, struct report *report,
                          struct served_embedder *out);
void served_embedder_free(struct served_embedder *served);

/* Count what texts will take; then say it, before the first is sent, unless it costs too much
 * (DOPPEL_E_LIMIT). Of a service alone. */
enum doppel_status embedder_foresee(struct embedder_of_run *run,
                                    const struct doppel_model_texts *texts,
                                    struct doppel_error *error);
enum doppel_status embedder_begin(struct embedder_of_run *run, struct doppel_error *error);

/* What a service did, in a sentence; and what of it is kept, where it failed. */
void embedder_print_usage(const struct embedder_of_run *run, bool failed);

#endif
