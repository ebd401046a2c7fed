/* Models, as the verbs about them print them. */
#ifndef DOPPEL_TOOLS_VERBS_MODEL_MODEL_H
#define DOPPEL_TOOLS_VERBS_MODEL_MODEL_H

#include <doppel/embed.h>

#include "tools/args/options.h"

/* Both return the verb's exit code. */
int fail_without_models(struct report *report);
int print_one_model(const struct settings *settings, struct report *report,
                    const struct doppel_model_info *info);

#endif
