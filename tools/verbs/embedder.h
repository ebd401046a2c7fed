/* What texts are embedded by, as the command line has it: for every verb with a stage of vectors.
 */
#ifndef DOPPEL_TOOLS_VERBS_EMBEDDER_H
#define DOPPEL_TOOLS_VERBS_EMBEDDER_H

#include <doppel/embedder.h>

#include "tools/args/options.h"

/* The model that --model names, else the only one there is.
 * @param out given (doppel_embedder_free) */
enum doppel_status embedder_of_settings(const struct settings *settings,
                                        struct doppel_embedder **out, struct doppel_error *error);

#endif
