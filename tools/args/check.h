/* What was given, as a whole: what goes together, and which kinds and schemes it asks for. */
#ifndef DOPPEL_TOOLS_ARGS_CHECK_H
#define DOPPEL_TOOLS_ARGS_CHECK_H

#include "tools/args/options.h"

/* Check the settings, and fill what follows from what was given: text, scheme, by_kind, pcm.
 * DOPPEL_E_ARGUMENT with a sentence. */
enum doppel_status settings_check(struct settings *settings, struct doppel_error *error);

/* The part of it that fills scheme and by_kind. */
enum doppel_status check_scheme(struct settings *settings, struct doppel_error *error);

/* What was given and would do nothing for the one kind that is asked for. */
enum doppel_status check_options_of_kind(const struct settings *settings,
                                         struct doppel_error *error);

#endif
