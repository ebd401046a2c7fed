/* Two videos as a picture, in SVG: time against time. */
#include "report/video_chart.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare/video_candidates.h"
#include "compare/video.h"
#include "core/text/printable.h"
#include "report/svg.h"

/* In pixels; frames stand to the right of the plot. */
enum {
    LEFT = 84,
    TOP = 84,
    PLOT_WIDTH = 620,
    PLOT_HEIGHT = 500,
    RIGHT = 28,
    BOTTOM = 92,
    HEIGHT = TOP + PLOT_HEIGHT + BOTTOM,
    SHOTS_LEFT = LEFT + PLOT_WIDTH + 56,
    SHOT_WIDTH = 168,
    SHOT_HEIGHT = 104,
    SHOT_STEP = SHOT_HEIGHT + 22,
    WIDTH = LEFT + PLOT_WIDTH + RIGHT,
    WIDTH_WITH_SHOTS = SHOTS_LEFT + 2 * SHOT_WIDTH + 8 + RIGHT,
    MOST_NAME_BYTES = 60, /* that are shown: its end */
    SHOT_NAME_BYTES = 22,
    MOST_MARKS = 10
};

static const char style[] =
    ".hit { stroke: #8c959f; stroke-width: 3; stroke-linecap: round; fill: none }\n"
    ".met { stroke: #0969da; stroke-width: 5; stroke-linecap: round; fill: none }\n"
    ".segment { stroke: #0969da; stroke-width: 10; stroke-opacity: .22; stroke-linecap: round }\n"
    ".fit { stroke: #0969da; stroke-width: 1.2; stroke-dasharray: 5 4; stroke-opacity: .6 }\n"
    ".mark { fill: #bc4c00 }\n"
    ".number { fill: #ffffff; font-size: 11px; font-weight: 600 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    ".hit { stroke: #6e7681 }\n"
    ".met, .segment, .fit { stroke: #58a6ff }\n"
    ".segment { stroke-opacity: .35 }\n"
    ".mark { fill: #f0883e }\n"
    ".number { fill: #0d1117 }\n"
    "}\n";

/* Where things lie. */
struct video_plot {
    const struct video_chart *chart;
    const struct doppel_segment *main; /* the longest; NULL: nothing is shared */
    double from[2], to[2];             /* seconds of each video that are drawn */
    bool cut[2];                       /* not all of it is */
};

/* ---- moments ---- */

static struct video_shot shot_at(const struct doppel_segment *segment, double share)
{
    return (struct video_shot){
        .seconds = {segment->a_start + share * (segment->a_end - segment->a_start),
                    segment->b_start + share * (segment->b_end - segment->b_start)}};
}

static int longest_hit_first(const void *left, const void *right)
{
    const struct doppel_segment *const *a = left, *const *b = right;
    double x = (*a)->a_end - (*a)->a_start, y = (*b)->a_end - (*b)->a_start;
    return (x < y) - (x > y);
}

static int by_time(const void *left, const void *right)
{
    const struct video_shot *a = left, *b = right;
    return (a->seconds[0] > b->seconds[0]) - (a->seconds[0] < b->seconds[0]);
}

size_t video_shots_choose(const struct doppel_match *match, struct video_shot out[VIDEO_SHOTS])
{
    size_t count = match->segment_count, used = 0;
    if (count == 1) {
        static const double shares[] = {.1, .37, .63, .9};
        for (; used < VIDEO_SHOTS; used++)
            out[used] = shot_at(match->segments, shares[used]);
        return used;
    }
    const struct doppel_segment **order = calloc(count + 1, sizeof(const struct doppel_segment *));
    if (!order)
        return 0;
    for (size_t i = 0; i < count; i++)
        order[i] = &match->segments[i];
    qsort(order, count, sizeof *order, longest_hit_first);
    for (; used < count && used < VIDEO_SHOTS; used++)
        out[used] = shot_at(order[used], .5);
    free(order);
    qsort(out, used, sizeof *out, by_time);
    return used;
}

/* ---- where things lie ---- */

/* Of a video of which little is shared only that, and some of what is around it. */
static void choose_range(struct video_plot *plot, int side)
{
    const struct doppel_match *match = plot->chart->match;
    double length = fmax(1, (double)plot->chart->tracks[side].duration_ms / 1000);
    double first = length, last = 0;
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        first = fmin(first, side == 0 ? segment->a_start : segment->b_start);
        last = fmax(last, side == 0 ? segment->a_end : segment->b_end);
    }
    plot->from[side] = 0;
    plot->to[side] = fmax(length, last);
    plot->cut[side] = match->segment_count && last - first < length / 6 && length > 30;
    if (plot->cut[side]) {
        double margin = fmax(4, (last - first) / 2);
        plot->from[side] = fmax(0, first - margin);
        plot->to[side] = fmin(length, last + margin);
    }
}

static double plot_place(const struct video_plot *plot, int side, double seconds)
{
    double share = (seconds - plot->from[side]) / (plot->to[side] - plot->from[side]);
    return side == 0 ? LEFT + share * PLOT_WIDTH : TOP + (1 - share) * PLOT_HEIGHT;
}

static bool video_plot_has(const struct video_plot *plot, int side, double seconds)
{
    return seconds >= plot->from[side] && seconds <= plot->to[side];
}

/* ---- axes ---- */

static void draw_marks(FILE *stream, const struct video_plot *plot, int side)
{
    char text[32];
    double step = svg_clock_step(plot->to[side] - plot->from[side], MOST_MARKS);
    double first = ceil(plot->from[side] / step), last = floor(plot->to[side] / step);
    for (int i = 0; i <= last - first; i++) {
        double at = (first + i) * step;
        double x = plot_place(plot, side, at);
        human_clock(at, step < 1 ? 1 : 0, text, sizeof text);
        if (side == 0)
            fprintf(stream,
                    "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                    x, TOP, x, TOP + PLOT_HEIGHT + 5, x, TOP + PLOT_HEIGHT + 20, text);
        else
            fprintf(stream,
                    "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
                    "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                    LEFT - 5, x, LEFT + PLOT_WIDTH, x, LEFT - 9, x + 4, text);
    }
}

static void draw_axis_name(FILE *stream, const struct video_plot *plot, int side)
{
    if (side == 0)
        fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT + 44);
    else
        fprintf(stream,
                "<text class=\"title\" transform=\"translate(24 %d) rotate(-90)\" "
                "text-anchor=\"middle\">",
                TOP + PLOT_HEIGHT / 2);
    svg_print_name(stream, plot->chart->names[side], MOST_NAME_BYTES);
    fprintf(stream, "<tspan class=\"small\" dx=\"8\" font-weight=\"400\">%s</tspan></text>\n",
            plot->cut[side] ? "a part of it, minutes:seconds" : "minutes:seconds");
}

/* ---- what is shared ---- */

/* All dots of a kind are one path: a dot is a line without length. */
static void draw_hits(FILE *stream, const struct video_plot *plot,
                      const struct frame_candidate *hits, size_t count, bool met)
{
    fprintf(stream, "<path class=\"%s\" d=\"", met ? "met" : "hit");
    for (size_t i = 0; i < count; i++)
        if (hits[i].met == met && video_plot_has(plot, 0, hits[i].seconds[0]) &&
            video_plot_has(plot, 1, hits[i].seconds[1]))
            fprintf(stream, "M%.1f %.1fh0", plot_place(plot, 0, hits[i].seconds[0]),
                    plot_place(plot, 1, hits[i].seconds[1]));
    fputs("\"/>\n", stream);
}

static void draw_line(FILE *stream, const struct video_plot *plot, const char *class, double a_from,
                      double a_to, const struct doppel_segment *segment)
{
    double length = segment->a_end - segment->a_start;
    double slope = length > 0 ? (segment->b_end - segment->b_start) / length : 1;
    double b_from = segment->b_start + (a_from - segment->a_start) * slope;
    double b_to = segment->b_start + (a_to - segment->a_start) * slope;
    fprintf(stream,
            "<line class=\"%s\" clip-path=\"url(#plot)\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
            "y2=\"%.1f\"/>\n",
            class, plot_place(plot, 0, a_from), plot_place(plot, 1, b_from),
            plot_place(plot, 0, a_to), plot_place(plot, 1, b_to));
}

static void draw_segments(FILE *stream, const struct video_plot *plot)
{
    const struct doppel_match *match = plot->chart->match;
    for (size_t i = 0; i < match->segment_count; i++) {
        const struct doppel_segment *segment = &match->segments[i];
        if (!match->time_uncertain)
            draw_line(stream, plot, "fit", plot->from[0], plot->to[0], segment);
        draw_line(stream, plot, "segment", segment->a_start, segment->a_end, segment);
    }
}

/* ---- frames ---- */

static void draw_mark(FILE *stream, double x, double y, size_t number)
{
    fprintf(stream,
            "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/><text class=\"number\" "
            "x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%zu</text>\n",
            x, y, x, y + 4, number);
}

static void draw_image(FILE *stream, const char *png, double x, double y, double seconds)
{
    char text[32];
    human_clock(seconds, 1, text, sizeof text);
    if (png)
        fprintf(stream,
                "<image x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" "
                "href=\"data:image/jpeg;base64,%s\"/>\n",
                x, y, SHOT_WIDTH, SHOT_HEIGHT, png);
    else
        fprintf(stream,
                "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\"/>\n", x, y,
                SHOT_WIDTH, SHOT_HEIGHT);
    fprintf(stream,
            "<text class=\"small\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n",
            x + SHOT_WIDTH / 2.0, y + SHOT_HEIGHT + 14, text);
}

static void draw_shots(FILE *stream, const struct video_plot *plot)
{
    const struct video_chart *chart = plot->chart;
    if (!chart->shot_count)
        return;
    for (int side = 0; side < 2; side++) {
        fprintf(stream, "<text class=\"small\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                SHOTS_LEFT + SHOT_WIDTH / 2 + side * (SHOT_WIDTH + 8), TOP - 10);
        svg_print_name(stream, chart->names[side], SHOT_NAME_BYTES);
        fputs("</text>\n", stream);
    }
    for (size_t i = 0; i < chart->shot_count; i++) {
        const struct video_shot *shot = &chart->shots[i];
        double y = TOP + (double)(i * SHOT_STEP);
        draw_mark(stream, plot_place(plot, 0, shot->seconds[0]),
                  plot_place(plot, 1, shot->seconds[1]), i + 1);
        draw_mark(stream, SHOTS_LEFT - 20, y + SHOT_HEIGHT / 2.0, i + 1);
        draw_image(stream, shot->images[0], SHOTS_LEFT, y, shot->seconds[0]);
        draw_image(stream, shot->images[1], SHOTS_LEFT + SHOT_WIDTH + 8, y, shot->seconds[1]);
    }
}

/* ---- in words ---- */

static void print_longest(FILE *stream, const struct video_plot *plot)
{
    const struct doppel_segment *main = plot->main;
    const struct doppel_match *match = plot->chart->match;
    char clock[4][32];
    fprintf(stream, "<text x=\"%d\" y=\"54\">", LEFT);
    if (!main) {
        fputs("nothing is shared</text>\n", stream);
        return;
    }
    human_clock(main->a_start, 1, clock[0], sizeof clock[0]);
    human_clock(main->a_end, 1, clock[1], sizeof clock[1]);
    human_clock(main->b_start, 1, clock[2], sizeof clock[2]);
    human_clock(main->b_end, 1, clock[3], sizeof clock[3]);
    fprintf(stream, "%s to %s across is %s to %s up", clock[0], clock[1], clock[2], clock[3]);
    if (main->speed > 0 && fabs(main->speed - 1) >= 5e-3)
        fprintf(stream, ", at speed %.2f", main->speed);
    fputs(match->transform.mirrored ? ", mirrored" : "", stream);
    fputs(match->transform.cropped ? ", cropped" : "", stream);
    fputs(match->time_uncertain ? "; a still scene: when is uncertain" : "", stream);
    if (match->segment_count > 1)
        fprintf(stream, "; %zu segments in all", match->segment_count);
    fputs("</text>\n", stream);
}

static void draw_video_key(FILE *stream)
{
    int y = HEIGHT - 16;
    fprintf(
        stream,
        "<path class=\"hit\" d=\"M%d %dh0\"/><text class=\"small\" x=\"%d\" y=\"%d\">frames "
        "that look alike</text>\n"
        "<path class=\"met\" d=\"M%d %dh0\"/><text class=\"small\" x=\"%d\" y=\"%d\">the same, "
        "on a line</text>\n"
        "<line class=\"segment\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/><text class=\"small\" "
        "x=\"%d\" y=\"%d\">what is shared</text>\n"
        "<line class=\"fit\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/><text class=\"small\" "
        "x=\"%d\" y=\"%d\">the fitted line</text>\n",
        LEFT + 4, y - 4, LEFT + 14, y, LEFT + 164, y - 4, LEFT + 174, y, LEFT + 306, y - 4,
        LEFT + 334, y - 4, LEFT + 348, y, LEFT + 464, y - 4, LEFT + 500, y - 4, LEFT + 508, y);
}

static bool draw_videos(void *context, FILE *stream)
{
    const struct video_chart *chart = context;
    struct video_plot plot = {.chart = chart, .main = longest_segment(chart->match)};
    struct frame_candidate *hits;
    size_t count = find_frame_candidates(&chart->tracks[0], &chart->tracks[1], chart->match, &hits);
    choose_range(&plot, 0);
    choose_range(&plot, 1);
    fprintf(stream,
            "<clipPath id=\"plot\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
            "</clipPath>\n",
            LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT);
    fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"30\">What two videos share</text>\n", LEFT);
    print_longest(stream, &plot);
    for (int side = 0; side < 2; side++) {
        draw_marks(stream, &plot, side);
        draw_axis_name(stream, &plot, side);
    }
    draw_segments(stream, &plot);
    draw_hits(stream, &plot, hits, count, false);
    draw_hits(stream, &plot, hits, count, true);
    fprintf(stream, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT,
            TOP, PLOT_WIDTH, PLOT_HEIGHT);
    draw_shots(stream, &plot);
    draw_video_key(stream);
    free(hits);
    return true;
}

enum doppel_status video_chart_write(const char *path, struct video_chart *chart,
                                     struct doppel_error *error)
{
    const struct svg svg = {chart->shot_count ? WIDTH_WITH_SHOTS : WIDTH, HEIGHT, style,
                            draw_videos, chart};
    return svg_write(path, &svg, error);
}
