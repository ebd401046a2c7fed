/* The options of the engine's calls, as a command line gives them. */
#ifndef DOPPEL_TOOLS_ARGS_ENGINE_OPTIONS_H
#define DOPPEL_TOOLS_ARGS_ENGINE_OPTIONS_H

#include <doppel/compare.h>

#include "tools/args/options.h"

/* When records match. */
struct doppel_compare_options compare_options_from(const struct settings *settings);

#endif
