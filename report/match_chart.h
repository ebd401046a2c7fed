/* Two files that were compared, as a picture: two recordings, or two videos. */
#ifndef DOPPEL_REPORT_MATCH_CHART_H
#define DOPPEL_REPORT_MATCH_CHART_H

#include <doppel/library.h>
#include <doppel/match.h>

#include "intake/video_previews.h"

/* A file that was compared; borrowed. */
struct chart_side {
    const char *path; /* any bytes */
    const struct doppel_file_stamp *stamp;
    const struct doppel_record *record;
};

/* Write it to a file, as SVG. @param looks for frames of videos; NULL: none are drawn.
 * DOPPEL_E_ARGUMENT for other kinds; DOPPEL_E_IO. */
enum doppel_status match_chart_write(const char *path, const struct chart_side sides[2],
                                     const struct doppel_match *match, struct video_looks *looks,
                                     struct doppel_error *error);

#endif
