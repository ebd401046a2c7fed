/* The options of the engine's calls, as a command line gives them. */
#ifndef DOPPEL_TOOLS_ARGS_ENGINE_OPTIONS_H
#define DOPPEL_TOOLS_ARGS_ENGINE_OPTIONS_H

#include <doppel/compare.h>
#include <doppel/search.h>

#include "intake/read_options.h"
#include "intake/walk.h"
#include "tools/args/options.h"

/* When records match. */
struct doppel_compare_options compare_options_from(const struct settings *settings);

/* How files are read. */
struct doppel_read_options read_options_from(const struct settings *settings);

/* Which files: the operands, and what is said of walking. Borrows from the settings. */
struct walk_options walk_options_from(const struct settings *settings);

/* How a library is searched; nothing is refined. */
struct doppel_search_options search_options_from(const struct settings *settings);

#endif
