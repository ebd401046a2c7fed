/* Two recordings as a picture, in SVG. */
#include "report/audio_chart.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/output/output.h"
#include "compare/audio_frame.h"
#include "compare/audio.h"
#include "report/svg.h"

enum { MOST_NAME_BYTES = 72 }; /* of a name that are shown: its end */

/* What counts as met: 1.1 bins and 1.3 hops. */
static const double NEAR_BINS = 1.1, NEAR_HOPS = 1.3;

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

struct tally {
    size_t met, peaks;
};

/* How many of the query's peaks in a passage are met. @param met marks them, of both; or NULL */
static struct tally meet_in(const struct audio_chart *chart, const struct doppel_segment *segment,
                            bool **met)
{
    const struct doppel_audio_track *query = &chart->tracks[0];
    double speed = segment->speed > 0 ? segment->speed : 1, end = doppel_audio_time(segment->a_end);
    struct tally tally = {0};
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
                                            struct tally *out_tally)
{
    const struct doppel_segment *main = NULL;
    *out_tally = (struct tally){0};
    for (size_t i = 0; i < chart->match->segment_count; i++) {
        struct tally tally = meet_in(chart, &chart->match->segments[i], NULL);
        if (main && tally.met <= out_tally->met)
            continue;
        main = &chart->match->segments[i];
        *out_tally = tally;
    }
    return main;
}

/* All peaks of a kind are one path: a dot is a line without length. */
static void draw_peaks(FILE *stream, const struct frame *frame, int side, const bool *met,
                       bool wanted)
{
    const struct doppel_audio_track *track = &frame->chart->tracks[side];
    fprintf(stream, "<path class=\"%s\" d=\"", wanted ? "met" : "peak");
    for (size_t i = 0; i < track->count; i++) {
        double seconds = doppel_audio_seconds(track->peaks[i].time);
        if (met[i] == wanted && frame_has(frame, side, seconds))
            fprintf(stream, "M%.1f %.1fh0", frame_x(frame, side, seconds),
                    frame_y(side, hertz_of(&track->peaks[i])));
    }
    fputs("\"/>\n", stream);
}

/* ---- axes ---- */

/* The times of a recording, below its panel; only where there is audio. */
static void draw_times(FILE *stream, const struct frame *frame, int side)
{
    char text[32];
    int bottom = frame_top(side) + PLOT_HEIGHT;
    double speed = side == 0 ? 1 : frame->speed;
    double step = svg_clock_step((frame->end - frame->begin) * speed, 12);
    double from = fmax(0, side == 0 ? frame->begin : frame->begin * speed + frame->offset);
    for (double at = ceil(from / step) * step;
         at <= frame_duration(frame, side) && frame_has(frame, side, at); at += step) {
        double x = frame_x(frame, side, at);
        human_clock(at, step < 1 ? 1 : 0, text, sizeof text);
        fprintf(stream, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", x,
                frame_top(side), x, bottom + 5);
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
        double y = frame_y(side, ticks[i].hertz);
        fprintf(stream, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n",
                LEFT, y, WIDTH - RIGHT, y);
        fprintf(stream, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
                y + 4, ticks[i].name);
    }
}

/* ---- what is shared ---- */

struct range {
    double from, to;
};

static int by_start(const void *left, const void *right)
{
    const struct range *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* What is shared of a recording, each moment once. */
static void draw_shared(FILE *stream, const struct frame *frame, int side)
{
    const struct doppel_match *match = frame->chart->match;
    struct range *ranges = must_allocate(match->segment_count * sizeof *ranges);
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        ranges[i] = side == 0 ? (struct range){segment->a_start, segment->a_end}
                              : (struct range){segment->b_start, segment->b_end};
    }
    qsort(ranges, match->segment_count, sizeof *ranges, by_start);
    for (size_t i = 0, next; i < match->segment_count; i = next) {
        struct range range = ranges[i];
        for (next = i + 1; next < match->segment_count && ranges[next].from <= range.to; next++)
            range.to = fmax(range.to, ranges[next].to);
        double from = frame_x(frame, side, range.from), to = frame_x(frame, side, range.to);
        if (to > from)
            fprintf(stream,
                    "<rect class=\"shared\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
                    "height=\"%d\"/>\n",
                    from, frame_top(side), to - from, PLOT_HEIGHT);
    }
    free(ranges);
}

static void draw_link(FILE *stream, const struct frame *frame, const struct doppel_segment *segment)
{
    int top = TOP_A + PLOT_HEIGHT + 26, bottom = TOP_B - 32;
    double a_start = frame_x(frame, 0, segment->a_start), a_end = frame_x(frame, 0, segment->a_end);
    double b_start = frame_x(frame, 1, segment->b_start), b_end = frame_x(frame, 1, segment->b_end);
    if (a_end > a_start && b_end > b_start)
        fprintf(stream, "<polygon class=\"link\" points=\"%.1f,%d %.1f,%d %.1f,%d %.1f,%d\"/>\n",
                a_start, top, a_end, top, b_end, bottom, b_start, bottom);
}

static void print_main(FILE *stream, const struct frame *frame, const struct tally *tally)
{
    char from[32], to[32], item_from[32], item_to[32];
    const struct doppel_segment *main = frame->main;
    size_t count = frame->chart->match->segment_count;
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
    if (fabs(frame->speed - 1) >= 5e-4 || fabs(frame->pitch - 1) >= 5e-4)
        fprintf(stream, " at speed %.3f and pitch %.3f", frame->speed, frame->pitch);
    fprintf(stream, ": %zu of %zu peaks are met", tally->met, tally->peaks);
    if (count > 1)
        fprintf(stream, "; %zu passages in all", count);
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
            "the other audio</text>\n",
            LEFT + 204, y - 4, LEFT + 214, y);
    fprintf(stream,
            "<rect class=\"shared\" x=\"%d\" y=\"%d\" width=\"18\" height=\"12\"/><text "
            "class=\"small\" x=\"%d\" y=\"%d\">shared%s</text>\n",
            LEFT + 380, y - 10, LEFT + 404, y,
            frame->cut ? " (not all of the two recordings is drawn)" : "");
}

static void draw_panel(FILE *stream, const struct frame *frame, int side, const bool *met)
{
    int top = frame_top(side);
    fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"%d\">", LEFT, top - 12);
    svg_print_name(stream, frame->chart->names[side], MOST_NAME_BYTES);
    fputs("</text>\n", stream);
    fprintf(stream,
            "<text class=\"small\" x=\"%d\" y=\"%d\" text-anchor=\"end\">frequency by time "
            "(minutes:seconds)</text>\n",
            WIDTH - RIGHT, top - 12);
    draw_shared(stream, frame, side);
    draw_frequencies(stream, side);
    draw_times(stream, frame, side);
    draw_peaks(stream, frame, side, met, false);
    draw_peaks(stream, frame, side, met, true);
    fprintf(stream, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT,
            top, PLOT_WIDTH, PLOT_HEIGHT);
}

static void draw(void *context, FILE *stream)
{
    const struct audio_chart *chart = context;
    struct tally tally;
    struct frame frame = frame_of(chart, main_of(chart, &tally));
    bool *met[2] = {must_allocate(chart->tracks[0].count), must_allocate(chart->tracks[1].count)};
    fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"28\">What two recordings share</text>\n",
            LEFT);
    print_main(stream, &frame, &tally);
    for (size_t i = 0; i < chart->match->segment_count; i++) {
        draw_link(stream, &frame, &chart->match->segments[i]);
        (void)meet_in(chart, &chart->match->segments[i], met);
    }
    draw_panel(stream, &frame, 0, met[0]);
    draw_panel(stream, &frame, 1, met[1]);
    draw_key(stream, &frame);
    free(met[0]);
    free(met[1]);
}

enum doppel_status audio_chart_write(const char *path, struct audio_chart *chart,
                                     struct doppel_error *error)
{
    const struct svg svg = {WIDTH, HEIGHT, style, draw, chart};
    return svg_write(path, &svg, error);
}
