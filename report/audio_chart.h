/* Two recordings as a picture: their peaks one above the other on one axis of time, the peaks that
 * meet and the passages that are shared marked, in SVG. */
#ifndef DOPPEL_REPORT_AUDIO_CHART_H
#define DOPPEL_REPORT_AUDIO_CHART_H

#include <doppel/audio.h>
#include <doppel/match.h>

struct audio_chart {
    struct doppel_audio_track tracks[2]; /* the query, the item */
    const char *names[2];                /* any bytes */
    const struct doppel_match *match;    /* without segments: none is drawn */
};

/** Write it to a file. DOPPEL_E_IO, DOPPEL_E_MEMORY. */
enum doppel_status audio_chart_write(const char *path, struct audio_chart *chart,
                                     struct doppel_error *error);

#endif
