/* Two videos as a picture: time against time, a dot where frames are alike, the lines that were
 * fitted, and frames of both beside them, in SVG. */
#ifndef DOPPEL_REPORT_VIDEO_CHART_H
#define DOPPEL_REPORT_VIDEO_CHART_H

#include <doppel/match.h>
#include <doppel/video.h>

/* A moment that both videos have. */
struct video_shot {
    double seconds[2];
    char *images[2]; /* PNGs in base64; given (free); NULL: none */
};

enum { VIDEO_SHOTS = 4 };

struct video_chart {
    struct doppel_video_track tracks[2]; /* the query, with its cells, and the item */
    const char *names[2];                /* any bytes */
    const struct doppel_match *match;    /* without segments: no line is drawn */
    struct video_shot shots[VIDEO_SHOTS];
    size_t shot_count;
};

/* The moments that tell most of a match: four along its one segment, or else the
 * middles of its longest ones, in order of time. @return how many */
size_t video_shots_choose(const struct doppel_match *match, struct video_shot out[VIDEO_SHOTS]);

/** Write it to a file. DOPPEL_E_IO, DOPPEL_E_MEMORY. */
enum doppel_status video_chart_write(const char *path, struct video_chart *chart,
                                     struct doppel_error *error);

#endif
