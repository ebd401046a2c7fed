/* Two files that were compared, as a picture: two recordings, or two videos. */
#ifndef DOPPEL_REPORT_PAIR_CHART_H
#define DOPPEL_REPORT_PAIR_CHART_H

#include "intake/video_previews.h"
#include "intake/intake.h"
#include "compare/pair.h"

/* Write it where the settings say. DOPPEL_E_ARGUMENT for other kinds; DOPPEL_E_IO. */
enum doppel_status pair_chart_write(const struct settings *settings,
                                    const struct intake_file files[2],
                                    const struct pair_match *pair, struct video_looks *looks,
                                    struct doppel_error *error);

#endif
