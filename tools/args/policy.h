/* What the administrator of this machine allows: limits that users may tighten and not loosen. */
#ifndef DOPPEL_TOOLS_ARGS_POLICY_H
#define DOPPEL_TOOLS_ARGS_POLICY_H

#include "tools/args/options.h"

/* Where it is written down: fixed when doppel is built (meson option `policy`). */
const char *policy_path(void);

/* Bring what a command line says within the policy; no file is none.
 * DOPPEL_E_ARGUMENT with path, line and what is wrong; DOPPEL_E_IO: it cannot be read */
enum doppel_status policy_apply(struct settings *settings, struct doppel_error *error);

#endif
