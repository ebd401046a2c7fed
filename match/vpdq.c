/* Not built yet. */
#include <doppel/match.h>

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct doppel_vpdq_limits doppel_vpdq_limits_default(void)
{
    struct doppel_vpdq_limits nothing = {0};
    return nothing;
}

enum doppel_status doppel_match_vpdqs(const struct doppel_vpdq *query,
                                      const struct doppel_vpdq *item,
                                      const struct doppel_vpdq_limits *limits, bool *out_matches,
                                      struct doppel_match *out_match, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "not built yet");
}
