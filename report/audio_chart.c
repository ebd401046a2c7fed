/* Two recordings as a picture, in SVG. */
#include "report/audio_chart.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/audio.h"
#include "core/text/printable.h"
#include "report/svg.h"

/* In pixels. The query's panel stands above the item's, with a gap for what connects them. */
enum {
    WIDTH = 1040,
    HEIGHT = 712,
    LEFT = 72,
    RIGHT = 24,
    PLOT_WIDTH = WIDTH - LEFT - RIGHT,
    PLOT_HEIGHT = 230,
    TOP_A = 96,
    TOP_B = TOP_A + PLOT_HEIGHT + 92,
    MOST_SECONDS = 120,  /* that are drawn: more are a blot */
    MOST_NAME_BYTES = 72 /* of a name that are shown: its end */
};

/* What counts as met: 1.1 bins and 1.3 hops. */
static const double NEAR_BINS = 1.1, NEAR_HOPS = 1.3;

/* Peaks lie between these; the scale is logarithmic, as pitch is heard. */
static const double LOWEST_HERTZ = 80, HIGHEST_HERTZ = 5500;

static const char style[] =
    ".shared { fill: #0969da; fill-opacity: .12 }\n"
    ".link { fill: #0969da; fill-opacity: .07; stroke: #0969da; stroke-opacity: .5 }\n"
    ".peak { stroke: #8c959f; stroke-width: 2.4; stroke-linecap: round; fill: none }\n"
    ".met { stroke: #0969da; stroke-width: 3.6; stroke-linecap: round; fill: none }\n"
    "@media (prefers-color-scheme: dark) {\n"
    ".peak { stroke: #6e7681 }\n"
    ".shared, .link { fill: #58a6ff }\n"
    ".link, .met { stroke: #58a6ff }\n"
    "}\n";

/* ---- where things lie ---- */

/* The axis is of the query's time, and the item's is laid on it by the main passage. `side` 0 is
 * the query, 1 the item. */
struct audio_plot {
    const struct audio_chart *chart;
    const struct doppel_segment *main; /* NULL: nothing is shared */
    double begin, end;                 /* seconds of the query */
    double speed, offset;              /* item = query * speed + offset */
    double pitch;
    bool cut; /* not all is drawn */
};

static double plot_duration(const struct audio_plot *plot, int side)
{
    return (double)plot->chart->tracks[side].duration_ms / 1000;
}

/* A time of either audio on the axis. */
static double on_axis(const struct audio_plot *plot, int side, double seconds)
{
    return side == 0 ? seconds : (seconds - plot->offset) / plot->speed;
}

/* The whole of both where it is short; else what is shared, and some of what is around it. */
static void choose_axis(struct audio_plot *plot)
{
    double first = fmin(0, on_axis(plot, 1, 0));
    double last = fmax(plot_duration(plot, 0), on_axis(plot, 1, plot_duration(plot, 1)));
    plot->begin = first;
    plot->end = fmax(last, first + 1);
    if (plot->main) {
        double start = plot->main->a_start, end = plot->main->a_end;
        double margin = fmax(2, (end - start) / 4);
        plot->begin = fmax(first, start - margin);
        plot->end = fmin(plot->end, end + margin);
    }
    plot->end = fmin(plot->end, plot->begin + MOST_SECONDS);
    plot->cut = plot->begin > first || plot->end < last;
}

static struct audio_plot plot_of(const struct audio_chart *chart, const struct doppel_segment *main)
{
    struct audio_plot plot = {.chart = chart, .main = main, .speed = 1, .pitch = 1};
    if (plot.main) {
        if (plot.main->speed > 0)
            plot.speed = plot.main->speed;
        if (chart->match->transform.pitch > 0)
            plot.pitch = chart->match->transform.pitch;
        plot.offset = plot.main->b_start - plot.main->a_start * plot.speed;
    }
    choose_axis(&plot);
    return plot;
}

static double plot_x(const struct audio_plot *plot, int side, double seconds)
{
    double share = (on_axis(plot, side, seconds) - plot->begin) / (plot->end - plot->begin);
    return LEFT + fmin(1, fmax(0, share)) * PLOT_WIDTH;
}

static bool plot_has(const struct audio_plot *plot, int side, double seconds)
{
    double at = on_axis(plot, side, seconds);
    return at >= plot->begin && at <= plot->end;
}

static int plot_top(int side)
{
    return side == 0 ? TOP_A : TOP_B;
}

static double plot_y(int side, double hertz)
{
    double share = log(hertz / LOWEST_HERTZ) / log(HIGHEST_HERTZ / LOWEST_HERTZ);
    return plot_top(side) + (1 - fmin(1, fmax(0, share))) * PLOT_HEIGHT;
}

/* ---- peaks ---- */

static double hertz_of(const struct doppel_audio_peak *peak)
{
    return peak->frequency * (double)DOPPEL_AUDIO_RATE /
           (DOPPEL_AUDIO_WINDOW * DOPPEL_AUDIO_BIN_STEPS);
}

/* Whether the item has a peak where this one of the query belongs. @param met marks them; may be
 * NULL */
static bool meet(const struct audio_chart *chart, const struct doppel_audio_peak *peak,
                 double item_time, bool *met)
{
    const struct doppel_audio_track *item = &chart->tracks[1];
    double reach = NEAR_HOPS * DOPPEL_AUDIO_TIME_STEPS, pitch = chart->match->transform.pitch;
    double frequency = pitch > 0 ? peak->frequency / pitch : peak->frequency;
    bool any = false;
    for (size_t i = audio_first_from(item, item_time - reach);
         i < item->count && (double)item->peaks[i].time <= item_time + reach; i++) {
        if (fabs(item->peaks[i].frequency - frequency) > NEAR_BINS * DOPPEL_AUDIO_BIN_STEPS)
            continue;
        if (met)
            met[i] = true;
        any = true;
    }
    return any;
}

struct peak_tally {
    size_t met, peaks;
};

/* How many of the query's peaks in a passage are met. @param met marks them, of both; or NULL */
static struct peak_tally meet_in(const struct audio_chart *chart,
                                 const struct doppel_segment *segment, bool **met)
{
    const struct doppel_audio_track *query = &chart->tracks[0];
    double speed = segment->speed > 0 ? segment->speed : 1, end = doppel_audio_time(segment->a_end);
    struct peak_tally tally = {0};
    for (size_t i = audio_first_from(query, doppel_audio_time(segment->a_start));
         i < query->count && (double)query->peaks[i].time < end; i++, tally.peaks++) {
        double seconds = doppel_audio_seconds(query->peaks[i].time);
        double item_seconds = segment->b_start + (seconds - segment->a_start) * speed;
        double item_time = doppel_audio_time(item_seconds);
        if (!meet(chart, &query->peaks[i], item_time, met ? met[1] : NULL))
            continue;
        tally.met++;
        if (met)
            met[0][i] = true;
    }
    return tally;
}

/* The passage of which most is met. */
static const struct doppel_segment *main_of(const struct audio_chart *chart,
                                            struct peak_tally *out_tally)
{
    const struct doppel_segment *main = NULL;
    *out_tally = (struct peak_tally){0};
    for (size_t i = 0; i < chart->match->segment_count; i++) {
        struct peak_tally tally = meet_in(chart, &chart->match->segments[i], NULL);
        if (main && tally.met <= out_tally->met)
            continue;
        main = &chart->match->segments[i];
        *out_tally = tally;
    }
    return main;
}

/* All peaks of a kind are one path: a dot is a line without length. */
static void draw_peaks(FILE *stream, const struct audio_plot *plot, int side, const bool *met,
                       bool wanted)
{
    const struct doppel_audio_track *track = &plot->chart->tracks[side];
    fprintf(stream, "<path class=\"%s\" d=\"", wanted ? "met" : "peak");
    for (size_t i = 0; i < track->count; i++) {
        double seconds = doppel_audio_seconds(track->peaks[i].time);
        if (met[i] == wanted && plot_has(plot, side, seconds))
            fprintf(stream, "M%.1f %.1fh0", plot_x(plot, side, seconds),
                    plot_y(side, hertz_of(&track->peaks[i])));
    }
    fputs("\"/>\n", stream);
}

/* ---- axes ---- */

/* The times of a recording, below its panel; only where there is audio. */
static void draw_time_axis(FILE *stream, const struct audio_plot *plot, int side)
{
    char text[32];
    int bottom = plot_top(side) + PLOT_HEIGHT;
    double speed = side == 0 ? 1 : plot->speed;
    double step = svg_clock_step((plot->end - plot->begin) * speed, 12);
    double from = fmax(0, side == 0 ? plot->begin : plot->begin * speed + plot->offset);
    for (double at = ceil(from / step) * step;
         at <= plot_duration(plot, side) && plot_has(plot, side, at); at += step) {
        double x = plot_x(plot, side, at);
        human_clock(at, step < 1 ? 1 : 0, text, sizeof text);
        fprintf(stream, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", x,
                plot_top(side), x, bottom + 5);
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
        double y = plot_y(side, ticks[i].hertz);
        fprintf(stream, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n",
                LEFT, y, WIDTH - RIGHT, y);
        fprintf(stream, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
                y + 4, ticks[i].name);
    }
}

/* ---- what is shared ---- */

struct time_range {
    double from, to;
};

static int by_start(const void *left, const void *right)
{
    const struct time_range *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* What is shared of a recording, each moment once. */
static bool draw_shared(FILE *stream, const struct audio_plot *plot, int side)
{
    const struct doppel_match *match = plot->chart->match;
    struct time_range *ranges = calloc(match->segment_count + 1, sizeof *ranges);
    if (!ranges)
        return false;
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        ranges[i] = side == 0 ? (struct time_range){segment->a_start, segment->a_end}
                              : (struct time_range){segment->b_start, segment->b_end};
    }
    qsort(ranges, match->segment_count, sizeof *ranges, by_start);
    for (size_t i = 0, next; i < match->segment_count; i = next) {
        struct time_range range = ranges[i];
        for (next = i + 1; next < match->segment_count && ranges[next].from <= range.to; next++)
            range.to = fmax(range.to, ranges[next].to);
        double from = plot_x(plot, side, range.from), to = plot_x(plot, side, range.to);
        if (to > from)
            fprintf(stream,
                    "<rect class=\"shared\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
                    "height=\"%d\"/>\n",
                    from, plot_top(side), to - from, PLOT_HEIGHT);
    }
    free(ranges);
    return true;
}

static void draw_link(FILE *stream, const struct audio_plot *plot,
                      const struct doppel_segment *segment)
{
    int top = TOP_A + PLOT_HEIGHT + 26, bottom = TOP_B - 32;
    double a_start = plot_x(plot, 0, segment->a_start), a_end = plot_x(plot, 0, segment->a_end);
    double b_start = plot_x(plot, 1, segment->b_start), b_end = plot_x(plot, 1, segment->b_end);
    if (a_end > a_start && b_end > b_start)
        fprintf(stream, "<polygon class=\"link\" points=\"%.1f,%d %.1f,%d %.1f,%d %.1f,%d\"/>\n",
                a_start, top, a_end, top, b_end, bottom, b_start, bottom);
}

static void print_passage(FILE *stream, const struct audio_plot *plot,
                          const struct peak_tally *tally)
{
    char from[32], to[32], item_from[32], item_to[32];
    const struct doppel_segment *main = plot->main;
    size_t count = plot->chart->match->segment_count;
    fprintf(stream, "<text x=\"%d\" y=\"50\">", LEFT);
    if (!main) {
        fputs("nothing is shared</text>\n", stream);
        return;
    }
    human_clock(main->a_start, 2, from, sizeof from);
    human_clock(main->a_end, 2, to, sizeof to);
    human_clock(main->b_start, 2, item_from, sizeof item_from);
    human_clock(main->b_end, 2, item_to, sizeof item_to);
    fprintf(stream, "%s to %s above is %s to %s below", from, to, item_from, item_to);
    if (fabs(plot->speed - 1) >= 5e-4 || fabs(plot->pitch - 1) >= 5e-4)
        fprintf(stream, " at speed %.3f and pitch %.3f", plot->speed, plot->pitch);
    fprintf(stream, ": %zu of %zu peaks are met", tally->met, tally->peaks);
    if (count > 1)
        fprintf(stream, "; %zu passages in all", count);
    fputs("</text>\n", stream);
}

static void draw_audio_key(FILE *stream, const struct audio_plot *plot)
{
    int y = HEIGHT - 16;
    fprintf(stream,
            "<path class=\"peak\" d=\"M%d %dh0\"/><text class=\"small\" x=\"%d\" y=\"%d\">a peak "
            "of the spectrogram</text>\n",
            LEFT + 4, y - 4, LEFT + 14, y);
    fprintf(stream,
            "<path class=\"met\" d=\"M%d %dh0\"/><text class=\"small\" x=\"%d\" y=\"%d\">met in "
            "the other audio</text>\n",
            LEFT + 204, y - 4, LEFT + 214, y);
    fprintf(stream,
            "<rect class=\"shared\" x=\"%d\" y=\"%d\" width=\"18\" height=\"12\"/><text "
            "class=\"small\" x=\"%d\" y=\"%d\">shared%s</text>\n",
            LEFT + 380, y - 10, LEFT + 404, y,
            plot->cut ? " (not all of the two recordings is drawn)" : "");
}

static bool draw_recording(FILE *stream, const struct audio_plot *plot, int side, const bool *met)
{
    int top = plot_top(side);
    fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"%d\">", LEFT, top - 12);
    svg_print_name(stream, plot->chart->names[side], MOST_NAME_BYTES);
    fputs("</text>\n", stream);
    fprintf(stream,
            "<text class=\"small\" x=\"%d\" y=\"%d\" text-anchor=\"end\">frequency by time "
            "(minutes:seconds)</text>\n",
            WIDTH - RIGHT, top - 12);
    if (!draw_shared(stream, plot, side))
        return false;
    draw_frequencies(stream, side);
    draw_time_axis(stream, plot, side);
    draw_peaks(stream, plot, side, met, false);
    draw_peaks(stream, plot, side, met, true);
    fprintf(stream, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT,
            top, PLOT_WIDTH, PLOT_HEIGHT);
    return true;
}

/* @param met the peaks of both that are met */
static bool draw_all(FILE *stream, const struct audio_chart *chart, bool *met[2])
{
    struct peak_tally tally;
    struct audio_plot plot = plot_of(chart, main_of(chart, &tally));
    fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"28\">What two recordings share</text>\n",
            LEFT);
    print_passage(stream, &plot, &tally);
    for (size_t i = 0; i < chart->match->segment_count; i++) {
        draw_link(stream, &plot, &chart->match->segments[i]);
        (void)meet_in(chart, &chart->match->segments[i], met);
    }
    bool drawn =
        draw_recording(stream, &plot, 0, met[0]) && draw_recording(stream, &plot, 1, met[1]);
    draw_audio_key(stream, &plot);
    return drawn;
}

static bool draw_audio(void *context, FILE *stream)
{
    const struct audio_chart *chart = context;
    bool *met[2] = {calloc(chart->tracks[0].count + 1, sizeof *met[0]),
                    calloc(chart->tracks[1].count + 1, sizeof *met[1])};
    bool drawn = met[0] && met[1] && draw_all(stream, chart, met);
    free(met[0]);
    free(met[1]);
    return drawn;
}

enum doppel_status audio_chart_write(const char *path, struct audio_chart *chart,
                                     struct doppel_error *error)
{
    const struct svg svg = {WIDTH, HEIGHT, style, draw_audio, chart};
    return svg_write(path, &svg, error);
}
