/* Two sounds as a picture, in SVG. Its colours follow the viewer's preference for light or dark. */
#include "tools/sound_chart.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/printable.h"

/* In pixels. The query's panel stands above the item's, with a gap for what connects them. */
enum {
    WIDTH = 1040,
    HEIGHT = 700,
    LEFT = 72,
    RIGHT = 24,
    PLOT_WIDTH = WIDTH - LEFT - RIGHT,
    PLOT_HEIGHT = 230,
    TOP_A = 96,
    TOP_B = TOP_A + PLOT_HEIGHT + 92
};

enum { MOST_SECONDS = 120 }; /* that are drawn: more are a blot */

/* Peaks lie between these; the scale is logarithmic, as pitch is heard. */
static const double LOWEST_HERTZ = 80, HIGHEST_HERTZ = 5500;

/* What counts as met: 1.1 bins and 1.3 hops. */
static const double NEAR_BINS = 1.1, NEAR_HOPS = 1.3;

static const char style[] =
    "<style>\n"
    "text { font: 13px system-ui, sans-serif; fill: #1f2328 }\n"
    ".title { font-size: 15px; font-weight: 600 }\n"
    ".small { font-size: 12px; fill: #59636e }\n"
    ".paper { fill: #ffffff }\n"
    ".grid { stroke: #d0d7de; stroke-width: 1 }\n"
    ".frame { fill: none; stroke: #8c959f; stroke-width: 1 }\n"
    ".shared { fill: #0969da; fill-opacity: .12 }\n"
    ".link { fill: #0969da; fill-opacity: .07; stroke: #0969da; stroke-opacity: .5 }\n"
    ".peak { stroke: #8c959f; stroke-width: 2; stroke-linecap: round; fill: none }\n"
    ".met { stroke: #0969da; stroke-width: 3.6; stroke-linecap: round; fill: none }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #e6edf3 }\n"
    ".small { fill: #9198a1 }\n"
    ".paper { fill: #0d1117 }\n"
    ".grid { stroke: #30363d }\n"
    ".frame, .peak { stroke: #6e7681 }\n"
    ".shared, .link { fill: #58a6ff }\n"
    ".link, .met { stroke: #58a6ff }\n"
    "}\n"
    "</style>\n";

/* Where things lie: the axis is of the query's time, and the item's is laid on it by the longest
 * passage. */
struct frame {
    const struct sound_chart *chart;
    const struct doppel_segment *longest; /* NULL: nothing is shared */
    double begin, end;                    /* seconds of the query */
    double speed, offset;                 /* item = query * speed + offset */
    double pitch;
    bool cut; /* not all is drawn */
};

/* ---- the frame ---- */

static double duration_of(const struct frame *frame, int side)
{
    return (double)frame->chart->tracks[side].duration_ms / 1000;
}

/* A time of either sound on the axis. */
static double on_axis(const struct frame *frame, int side, double seconds)
{
    return side == 0 ? seconds : (seconds - frame->offset) / frame->speed;
}

static const struct doppel_segment *longest_of(const struct doppel_match *match)
{
    const struct doppel_segment *longest = NULL;
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        if (!longest || segment->a_end - segment->a_start > longest->a_end - longest->a_start)
            longest = segment;
    }
    return longest;
}

/* The whole of both where it is short; else what is shared, and some of what is around it. */
static void choose_range(struct frame *frame)
{
    double first = fmin(0, on_axis(frame, 1, 0));
    double last = fmax(duration_of(frame, 0), on_axis(frame, 1, duration_of(frame, 1)));
    frame->begin = first;
    frame->end = fmax(last, first + 1);
    if (frame->longest) {
        double start = frame->longest->a_start, end = frame->longest->a_end;
        double margin = fmax(2, (end - start) / 4);
        frame->begin = fmax(first, start - margin);
        frame->end = fmin(frame->end, end + margin);
    }
    frame->end = fmin(frame->end, frame->begin + MOST_SECONDS);
    frame->cut = frame->begin > first || frame->end < last;
}

static struct frame frame_of(const struct sound_chart *chart)
{
    struct frame frame = {.chart = chart, .speed = 1, .pitch = 1};
    frame.longest = longest_of(chart->match);
    if (frame.longest) {
        if (frame.longest->speed > 0)
            frame.speed = frame.longest->speed;
        if (chart->match->transform.pitch > 0)
            frame.pitch = chart->match->transform.pitch;
        frame.offset = frame.longest->b_start - frame.longest->a_start * frame.speed;
    }
    choose_range(&frame);
    return frame;
}

static double x_of(const struct frame *frame, int side, double seconds)
{
    double share = (on_axis(frame, side, seconds) - frame->begin) / (frame->end - frame->begin);
    return LEFT + fmin(1, fmax(0, share)) * PLOT_WIDTH;
}

static bool is_inside(const struct frame *frame, int side, double seconds)
{
    double at = on_axis(frame, side, seconds);
    return at >= frame->begin && at <= frame->end;
}

static int top_of(int side)
{
    return side == 0 ? TOP_A : TOP_B;
}

static double y_of(int side, double hertz)
{
    double share = log(hertz / LOWEST_HERTZ) / log(HIGHEST_HERTZ / LOWEST_HERTZ);
    return top_of(side) + (1 - fmin(1, fmax(0, share))) * PLOT_HEIGHT;
}

/* ---- peaks ---- */

static double hertz_of(const struct doppel_audio_peak *peak)
{
    return peak->frequency * (double)DOPPEL_AUDIO_RATE /
           (DOPPEL_AUDIO_WINDOW * DOPPEL_AUDIO_BIN_STEPS);
}

static size_t first_from(const struct doppel_audio_track *track, double time)
{
    size_t low = 0, high = track->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((double)track->peaks[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Mark the peaks of the item that lie where this one of the query belongs. */
static bool meet(const struct frame *frame, const struct doppel_audio_peak *peak, double item_time,
                 bool *met)
{
    const struct doppel_audio_track *item = &frame->chart->tracks[1];
    double reach = NEAR_HOPS * DOPPEL_AUDIO_TIME_STEPS;
    double frequency = peak->frequency / frame->pitch;
    bool any = false;
    for (size_t i = first_from(item, item_time - reach);
         i < item->count && (double)item->peaks[i].time <= item_time + reach; i++) {
        if (fabs(item->peaks[i].frequency - frequency) > NEAR_BINS * DOPPEL_AUDIO_BIN_STEPS)
            continue;
        met[i] = true;
        any = true;
    }
    return any;
}

static size_t meet_in(const struct frame *frame, const struct doppel_segment *segment, bool *met[2])
{
    const struct doppel_audio_track *query = &frame->chart->tracks[0];
    double speed = segment->speed > 0 ? segment->speed : 1, end = doppel_audio_time(segment->a_end);
    size_t count = 0;
    for (size_t i = first_from(query, doppel_audio_time(segment->a_start));
         i < query->count && (double)query->peaks[i].time < end; i++) {
        double seconds = doppel_audio_seconds(query->peaks[i].time);
        double item_seconds = segment->b_start + (seconds - segment->a_start) * speed;
        if (met[0][i] || !meet(frame, &query->peaks[i], doppel_audio_time(item_seconds), met[1]))
            continue;
        met[0][i] = true;
        count++;
    }
    return count;
}

/* All peaks of a kind are one path: a dot is a line without length. */
static void draw_peaks(FILE *stream, const struct frame *frame, int side, const bool *met,
                       bool wanted)
{
    const struct doppel_audio_track *track = &frame->chart->tracks[side];
    fprintf(stream, "<path class=\"%s\" d=\"", wanted ? "met" : "peak");
    for (size_t i = 0; i < track->count; i++) {
        double seconds = doppel_audio_seconds(track->peaks[i].time);
        if (met[i] == wanted && is_inside(frame, side, seconds))
            fprintf(stream, "M%.1f %.1fh0", x_of(frame, side, seconds),
                    y_of(side, hertz_of(&track->peaks[i])));
    }
    fputs("\"/>\n", stream);
}

/* ---- axes ---- */

/* "1:02" */
static void format_clock(double seconds, int decimals, char *out, size_t size)
{
    long minutes = (long)(seconds / 60);
    double rest = seconds - 60.0 * (double)minutes;
    snprintf(out, size, "%ld:%0*.*f", minutes, decimals ? 3 + decimals : 2, decimals, rest);
}

static double tick_step(double range)
{
    static const double steps[] = {.1, .2, .5, 1, 2, 5, 10, 15, 30, 60};
    size_t i = 0;
    while (i + 1 < sizeof steps / sizeof *steps && range / steps[i] > 12)
        i++;
    return steps[i];
}

/* The times of a sound, below its panel; only where there is sound. */
static void draw_times(FILE *stream, const struct frame *frame, int side)
{
    char text[32];
    int bottom = top_of(side) + PLOT_HEIGHT;
    double speed = side == 0 ? 1 : frame->speed;
    double step = tick_step((frame->end - frame->begin) * speed);
    double from = fmax(0, side == 0 ? frame->begin : frame->begin * speed + frame->offset);
    for (double at = ceil(from / step) * step;
         at <= duration_of(frame, side) && is_inside(frame, side, at); at += step) {
        double x = x_of(frame, side, at);
        format_clock(at, step < 1, text, sizeof text);
        fprintf(stream, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", x,
                top_of(side), x, bottom + 5);
        fprintf(stream, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x,
                bottom + 20, text);
    }
}

static void draw_frequencies(FILE *stream, int side)
{
    static const struct {
        double hertz;
        const char *name;
    } ticks[] = {{100, "100 Hz"}, {200, "200 Hz"}, {500, "500 Hz"},
                 {1000, "1 kHz"}, {2000, "2 kHz"}, {5000, "5 kHz"}};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        double y = y_of(side, ticks[i].hertz);
        fprintf(stream, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n",
                LEFT, y, WIDTH - RIGHT, y);
        fprintf(stream, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
                y + 4, ticks[i].name);
    }
}

/* A name may be anything: what XML or a terminal would not take is replaced. */
static void print_name(FILE *stream, const char *name)
{
    char *shown = printable(name, true);
    for (const char *at = shown; *at; at++)
        switch (*at) {
        case '&':
            fputs("&amp;", stream);
            break;
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        default:
            fputc(*at, stream);
        }
    free(shown);
}

/* ---- what is shared ---- */

static void draw_shared(FILE *stream, const struct frame *frame,
                        const struct doppel_segment *segment)
{
    double a_start = x_of(frame, 0, segment->a_start), a_end = x_of(frame, 0, segment->a_end);
    double b_start = x_of(frame, 1, segment->b_start), b_end = x_of(frame, 1, segment->b_end);
    const char *rectangle =
        "<rect class=\"shared\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n";
    if (a_end > a_start)
        fprintf(stream, rectangle, a_start, TOP_A, a_end - a_start, PLOT_HEIGHT);
    if (b_end > b_start)
        fprintf(stream, rectangle, b_start, TOP_B, b_end - b_start, PLOT_HEIGHT);
    if (a_end > a_start && b_end > b_start)
        fprintf(stream, "<polygon class=\"link\" points=\"%.1f,%d %.1f,%d %.1f,%d %.1f,%d\"/>\n",
                a_start, TOP_A + PLOT_HEIGHT + 26, a_end, TOP_A + PLOT_HEIGHT + 26, b_end,
                TOP_B - 32, b_start, TOP_B - 32);
}

static void print_longest(FILE *stream, const struct frame *frame, size_t met, size_t peaks)
{
    char from[32], to[32], item_from[32], item_to[32];
    const struct doppel_segment *longest = frame->longest;
    fprintf(stream, "<text x=\"%d\" y=\"50\">", LEFT);
    if (!longest) {
        fputs("nothing is shared</text>\n", stream);
        return;
    }
    format_clock(longest->a_start, 2, from, sizeof from);
    format_clock(longest->a_end, 2, to, sizeof to);
    format_clock(longest->b_start, 2, item_from, sizeof item_from);
    format_clock(longest->b_end, 2, item_to, sizeof item_to);
    fprintf(stream, "%s to %s above is %s to %s below", from, to, item_from, item_to);
    if (fabs(frame->speed - 1) >= 5e-4 || fabs(frame->pitch - 1) >= 5e-4)
        fprintf(stream, ", at speed %.3f and pitch %.3f", frame->speed, frame->pitch);
    if (frame->chart->match->segment_count > 1)
        fprintf(stream, "; %zu passages in all", frame->chart->match->segment_count);
    if (peaks)
        fprintf(stream, "; of %zu peaks above, %zu are met below (%.0f %%)", peaks, met,
                100 * (double)met / (double)peaks);
    fputs("</text>\n", stream);
}

static void draw_key(FILE *stream, const struct frame *frame)
{
    int y = HEIGHT - 16;
    fprintf(stream,
            "<path class=\"peak\" d=\"M%d %dh0\"/><text class=\"small\" x=\"%d\" y=\"%d\">a peak "
            "of the spectrogram</text>\n",
            LEFT + 4, y - 4, LEFT + 14, y);
    fprintf(stream,
            "<path class=\"met\" d=\"M%d %dh0\"/><text class=\"small\" x=\"%d\" y=\"%d\">met in "
            "the other sound</text>\n",
            LEFT + 204, y - 4, LEFT + 214, y);
    fprintf(stream,
            "<rect class=\"shared\" x=\"%d\" y=\"%d\" width=\"18\" height=\"12\"/><text "
            "class=\"small\" x=\"%d\" y=\"%d\">shared%s</text>\n",
            LEFT + 380, y - 10, LEFT + 404, y,
            frame->cut ? " (not all of the two sounds is drawn)" : "");
}

static void draw_panel(FILE *stream, const struct frame *frame, int side, const bool *met)
{
    int top = top_of(side);
    fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"%d\">", LEFT, top - 12);
    print_name(stream, frame->chart->names[side]);
    fputs("</text>\n", stream);
    draw_frequencies(stream, side);
    draw_times(stream, frame, side);
    draw_peaks(stream, frame, side, met, false);
    draw_peaks(stream, frame, side, met, true);
    fprintf(stream, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT,
            top, PLOT_WIDTH, PLOT_HEIGHT);
}

static size_t peaks_within(const struct frame *frame)
{
    const struct doppel_audio_track *query = &frame->chart->tracks[0];
    size_t count = 0;
    for (size_t i = 0; i < frame->chart->match->segment_count; i++) {
        const struct doppel_segment *segment = &frame->chart->match->segments[i];
        count += first_from(query, doppel_audio_time(segment->a_end)) -
                 first_from(query, doppel_audio_time(segment->a_start));
    }
    return count;
}

static void draw(FILE *stream, const struct sound_chart *chart)
{
    struct frame frame = frame_of(chart);
    bool *met[2] = {must_allocate(chart->tracks[0].count), must_allocate(chart->tracks[1].count)};
    size_t count = 0;
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n%s"
            "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, style, WIDTH, HEIGHT);
    for (size_t i = 0; i < chart->match->segment_count; i++) {
        draw_shared(stream, &frame, &chart->match->segments[i]);
        count += meet_in(&frame, &chart->match->segments[i], met);
    }
    fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"28\">What two sounds share</text>\n", LEFT);
    print_longest(stream, &frame, count, peaks_within(&frame));
    draw_panel(stream, &frame, 0, met[0]);
    draw_panel(stream, &frame, 1, met[1]);
    draw_key(stream, &frame);
    fputs("</svg>\n", stream);
    free(met[0]);
    free(met[1]);
}

enum doppel_status sound_chart_write(const char *path, const struct sound_chart *chart,
                                     struct doppel_error *error)
{
    FILE *stream = fopen(path, "we");
    if (!stream)
        return doppel_fail(error, DOPPEL_E_IO, "%s: cannot be written (%s)", path, strerror(errno));
    draw(stream, chart);
    bool failed = ferror(stream);
    failed |= fclose(stream) != 0;
    if (failed)
        return doppel_fail(error, DOPPEL_E_IO, "%s: cannot be written (%s)", path, strerror(errno));
    return DOPPEL_OK;
}
