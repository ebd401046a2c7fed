/* The curves of a ladder as a picture: shares caught and wrongly matched by limit, in SVG. */
#ifndef DOPPEL_REPORT_CHART_H
#define DOPPEL_REPORT_CHART_H

#include <stddef.h>

#include <doppel/core.h>

#include "report/threshold_sweep.h"

/* One of the charts that stand below each other. */
struct chart_panel {
    const char *title; /* ASCII, without <, > and & */
    const struct ladder *ladder;
    int recommended; /* as ladder_recommend says */
};

/** Write them to a file. DOPPEL_E_IO. */
enum doppel_status chart_write(const char *path, const struct chart_panel *panels, size_t count,
                               struct doppel_error *error);

#endif
