/* Where things lie in the picture of two recordings: the query's panel above, the item's below, on
 * one axis of time. */
#ifndef DOPPEL_COMPARE_AUDIO_FRAME_H
#define DOPPEL_COMPARE_AUDIO_FRAME_H

#include <stdbool.h>

#include "report/audio_chart.h"

/* In pixels. The query's panel stands above the item's, with a gap for what connects them. */
enum {
    WIDTH = 1040,
    HEIGHT = 712,
    LEFT = 72,
    RIGHT = 24,
    PLOT_WIDTH = WIDTH - LEFT - RIGHT,
    PLOT_HEIGHT = 230,
    TOP_A = 96,
    TOP_B = TOP_A + PLOT_HEIGHT + 92
};

/* Where things lie: the axis is of the query's time, and the item's is laid on it by the main
 * passage. */
struct frame {
    const struct audio_chart *chart;
    const struct doppel_segment *main; /* NULL: nothing is shared */
    double begin, end;                 /* seconds of the query */
    double speed, offset;              /* item = query * speed + offset */
    double pitch;
    bool cut; /* not all is drawn */
};

struct frame frame_of(const struct audio_chart *chart, const struct doppel_segment *main);

/* `side` 0 is the query, 1 the item. */
double frame_duration(const struct frame *frame, int side);
bool frame_has(const struct frame *frame, int side, double seconds);
double frame_x(const struct frame *frame, int side, double seconds);
double frame_y(int side, double hertz);
int frame_top(int side);

#endif
