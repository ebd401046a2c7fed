/* Where things lie in the picture of two recordings. */
#include "compare/audio_frame.h"

#include <math.h>

enum { MOST_SECONDS = 120 }; /* that are drawn: more are a blot */

/* Peaks lie between these; the scale is logarithmic, as pitch is heard. */
static const double LOWEST_HERTZ = 80, HIGHEST_HERTZ = 5500;

double frame_duration(const struct frame *frame, int side)
{
    return (double)frame->chart->tracks[side].duration_ms / 1000;
}

/* A time of either audio on the axis. */
static double on_axis(const struct frame *frame, int side, double seconds)
{
    return side == 0 ? seconds : (seconds - frame->offset) / frame->speed;
}

/* The whole of both where it is short; else what is shared, and some of what is around it. */
static void choose_range(struct frame *frame)
{
    double first = fmin(0, on_axis(frame, 1, 0));
    double last = fmax(frame_duration(frame, 0), on_axis(frame, 1, frame_duration(frame, 1)));
    frame->begin = first;
    frame->end = fmax(last, first + 1);
    if (frame->main) {
        double start = frame->main->a_start, end = frame->main->a_end;
        double margin = fmax(2, (end - start) / 4);
        frame->begin = fmax(first, start - margin);
        frame->end = fmin(frame->end, end + margin);
    }
    frame->end = fmin(frame->end, frame->begin + MOST_SECONDS);
    frame->cut = frame->begin > first || frame->end < last;
}

struct frame frame_of(const struct audio_chart *chart, const struct doppel_segment *main)
{
    struct frame frame = {.chart = chart, .main = main, .speed = 1, .pitch = 1};
    if (frame.main) {
        if (frame.main->speed > 0)
            frame.speed = frame.main->speed;
        if (chart->match->transform.pitch > 0)
            frame.pitch = chart->match->transform.pitch;
        frame.offset = frame.main->b_start - frame.main->a_start * frame.speed;
    }
    choose_range(&frame);
    return frame;
}

double frame_x(const struct frame *frame, int side, double seconds)
{
    double share = (on_axis(frame, side, seconds) - frame->begin) / (frame->end - frame->begin);
    return LEFT + fmin(1, fmax(0, share)) * PLOT_WIDTH;
}

bool frame_has(const struct frame *frame, int side, double seconds)
{
    double at = on_axis(frame, side, seconds);
    return at >= frame->begin && at <= frame->end;
}

int frame_top(int side)
{
    return side == 0 ? TOP_A : TOP_B;
}

double frame_y(int side, double hertz)
{
    double share = log(hertz / LOWEST_HERTZ) / log(HIGHEST_HERTZ / LOWEST_HERTZ);
    return frame_top(side) + (1 - fmin(1, fmax(0, share))) * PLOT_HEIGHT;
}
