/* The curves of a ladder as SVG. */
#include "report/chart.h"

#include <stdbool.h>
#include <stdio.h>

#include "report/svg.h"

/* In pixels; a panel is PANEL_HEIGHT high, its plot has these margins. */
enum {
    WIDTH = 720,
    PANEL_HEIGHT = 380,
    LEFT = 64,
    RIGHT = 24,
    TOP = 84,
    BOTTOM = 56,
    PLOT_WIDTH = WIDTH - LEFT - RIGHT,
    PLOT_HEIGHT = PANEL_HEIGHT - TOP - BOTTOM
};

static const char style[] = ".caught, .wrong, .limit { fill: none; stroke-width: 2.5 }\n"
                            ".caught { stroke: #0969da }\n"
                            ".wrong { stroke: #bc4c00; stroke-dasharray: 7 4 }\n"
                            ".limit { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 2 3 }\n"
                            ".point { fill: #000000; fill-opacity: 0 }\n"
                            "@media (prefers-color-scheme: dark) {\n"
                            ".caught { stroke: #58a6ff }\n"
                            ".wrong { stroke: #f0883e }\n"
                            ".limit { stroke: #e6edf3 }\n"
                            "}\n";

/* What is drawn. */
struct panels {
    const struct chart_panel *items;
    size_t count;
};

static double share(size_t part, size_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static double x_of(int step)
{
    return LEFT + ladder_limit(step) * PLOT_WIDTH;
}

static double y_of(double part)
{
    return TOP + (1 - part) * PLOT_HEIGHT;
}

static void draw_axes(FILE *stream)
{
    for (int i = 0; i <= 4; i++) {
        double y = y_of(i / 4.0);
        fprintf(stream, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n",
                LEFT, y, WIDTH - RIGHT, y);
        fprintf(stream, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d %%</text>\n", LEFT - 8,
                y + 4, 25 * i);
    }
    for (int i = 0; i <= 10; i++) {
        double x = x_of(i * (LADDER_STEPS - 1) / 10);
        fprintf(stream, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", x,
                PANEL_HEIGHT - BOTTOM, x, PANEL_HEIGHT - BOTTOM + 5);
        fprintf(stream, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.1f</text>\n", x,
                PANEL_HEIGHT - BOTTOM + 20, i / 10.0);
    }
    fprintf(stream,
            "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">limit (--min-similarity)</text>\n",
            LEFT + PLOT_WIDTH / 2.0, PANEL_HEIGHT - 14);
}

static void draw_curve(FILE *stream, const struct ladder *ladder, bool caught)
{
    fprintf(stream, "<polyline class=\"%s\" points=\"", caught ? "caught" : "wrong");
    for (int step = 0; step < LADDER_STEPS; step++) {
        const struct outcome *outcome = &ladder->steps[step];
        double part = caught ? share(outcome->caught, ladder->duplicates)
                             : share(outcome->wrong, ladder->distinct);
        fprintf(stream, "%.1f,%.1f ", x_of(step), y_of(part));
    }
    fputs("\"/>\n", stream);
}

static void draw_key(FILE *stream, double x, const char *class, const char *text)
{
    fprintf(stream, "<line class=\"%s\" x1=\"%.0f\" y1=\"48\" x2=\"%.0f\" y2=\"48\"/>\n", class, x,
            x + 32);
    fprintf(stream, "<text x=\"%.0f\" y=\"52\">%s</text>\n", x + 40, text);
}

/* "98.2 % caught, 0.4 % of the others match" */
static void print_outcome(FILE *stream, const struct ladder *ladder, const struct outcome *outcome)
{
    fprintf(stream, "%.1f %% caught, %.1f %% of the others match",
            100 * share(outcome->caught, ladder->duplicates),
            100 * share(outcome->wrong, ladder->distinct));
}

static void draw_recommended(FILE *stream, const struct ladder *ladder, int step)
{
    if (step >= 0)
        fprintf(stream, "<line class=\"limit\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n",
                x_of(step), TOP, x_of(step), PANEL_HEIGHT - BOTTOM);
    fprintf(stream, "<text x=\"%d\" y=\"%d\">", LEFT, TOP - 12);
    if (step == RECOMMEND_NONE)
        fputs("no limit keeps the others out", stream);
    else if (step == RECOMMEND_USUAL)
        fputs("recommended: no limit, the usual rule: ", stream);
    else
        fprintf(stream, "recommended: %.2f: ", ladder_limit(step));
    if (step != RECOMMEND_NONE)
        print_outcome(stream, ladder, step < 0 ? &ladder->usual : &ladder->steps[step]);
    fputs("</text>\n", stream);
}

/* What a viewer shows of the limit under the pointer. */
static void draw_points(FILE *stream, const struct ladder *ladder)
{
    double width = PLOT_WIDTH / (double)(LADDER_STEPS - 1);
    for (int step = 0; step < LADDER_STEPS; step++) {
        fprintf(stream,
                "<rect class=\"point\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\">"
                "<title>%.2f: ",
                x_of(step) - width / 2, TOP, width, PLOT_HEIGHT, ladder_limit(step));
        print_outcome(stream, ladder, &ladder->steps[step]);
        fputs("</title></rect>\n", stream);
    }
}

static void draw_panel(FILE *stream, const struct chart_panel *panel, size_t number)
{
    fprintf(stream, "<g transform=\"translate(0 %zu)\">\n", number * PANEL_HEIGHT);
    fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"26\">%s</text>\n", LEFT, panel->title);
    draw_key(stream, LEFT, "caught", "duplicates caught");
    draw_key(stream, LEFT + 210, "wrong", "others that match too");
    draw_axes(stream);
    draw_curve(stream, panel->ladder, true);
    draw_curve(stream, panel->ladder, false);
    draw_recommended(stream, panel->ladder, panel->recommended);
    draw_points(stream, panel->ladder);
    fputs("</g>\n", stream);
}

static void draw(void *context, FILE *stream)
{
    const struct panels *panels = context;
    for (size_t i = 0; i < panels->count; i++)
        draw_panel(stream, &panels->items[i], i);
}

enum doppel_status chart_write(const char *path, const struct chart_panel *panels, size_t count,
                               struct doppel_error *error)
{
    struct panels all = {panels, count};
    const struct svg svg = {WIDTH, count * PANEL_HEIGHT, style, draw, &all};
    return svg_write(path, &svg, error);
}
