/* What each threshold would catch of labelled pairs, which to recommend, and a chart of it. */
#include "report/threshold_sweep.h"

#include <stdio.h>

#include "report/svg.h"

double sweep_threshold(int step)
{
    return step / (double)(SWEEP_STEPS - 1);
}

static void count_pair(const struct scored_pair *pair, struct sweep_counts *counts)
{
    if (pair->same)
        counts->caught++;
    else
        counts->wrong++;
}

struct threshold_sweep sweep_of(const struct scored_pairs *list)
{
    struct threshold_sweep sweep = {0};
    for (size_t i = 0; i < list->count; i++) {
        const struct scored_pair *pair = &list->items[i];
        if (pair->same)
            sweep.duplicates++;
        else
            sweep.distinct++;
        if (pair->by_default)
            count_pair(pair, &sweep.by_default);
        for (int step = 0; step < SWEEP_STEPS; step++)
            if (pair->similarity >= sweep_threshold(step))
                count_pair(pair, &sweep.steps[step]);
    }
    return sweep;
}

/* Whether a is better than b. */
static bool is_better(const struct sweep_counts *a, const struct sweep_counts *b)
{
    return a->caught != b->caught ? a->caught > b->caught : a->wrong < b->wrong;
}

static bool are_equal(const struct sweep_counts *a, const struct sweep_counts *b)
{
    return a->caught == b->caught && a->wrong == b->wrong;
}

int sweep_recommend(const struct threshold_sweep *sweep, double max_false)
{
    double most = max_false * (double)sweep->distinct;
    int best = RECOMMEND_NONE, last = 0;
    for (int step = 0; step < SWEEP_STEPS; step++) {
        const struct sweep_counts *counts = &sweep->steps[step];
        if ((double)counts->wrong > most)
            continue;
        if (best < 0 || is_better(counts, &sweep->steps[best]))
            best = last = step;
        else if (are_equal(counts, &sweep->steps[best]))
            last = step;
    }
    if (sweep->by_default.caught && (double)sweep->by_default.wrong <= most &&
        (best < 0 || sweep->by_default.caught >= sweep->steps[best].caught))
        return RECOMMEND_DEFAULT;
    return best < 0 || !sweep->steps[best].caught ? RECOMMEND_NONE : best + (last - best) / 2;
}

/* ---- as a chart ---- */

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
struct sweep_panels {
    const struct sweep_panel *items;
    size_t count;
};

static double share(size_t part, size_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static double x_of(int step)
{
    return LEFT + sweep_threshold(step) * PLOT_WIDTH;
}

static double y_of(double part)
{
    return TOP + (1 - part) * PLOT_HEIGHT;
}

static void draw_sweep_axes(FILE *stream)
{
    for (int i = 0; i <= 4; i++) {
        double y = y_of(i / 4.0);
        fprintf(stream, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n",
                LEFT, y, WIDTH - RIGHT, y);
        fprintf(stream, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d %%</text>\n", LEFT - 8,
                y + 4, 25 * i);
    }
    for (int i = 0; i <= 10; i++) {
        double x = x_of(i * (SWEEP_STEPS - 1) / 10);
        fprintf(stream, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", x,
                PANEL_HEIGHT - BOTTOM, x, PANEL_HEIGHT - BOTTOM + 5);
        fprintf(stream, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.1f</text>\n", x,
                PANEL_HEIGHT - BOTTOM + 20, i / 10.0);
    }
    fprintf(stream,
            "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">limit (--min-similarity)</text>\n",
            LEFT + PLOT_WIDTH / 2.0, PANEL_HEIGHT - 14);
}

static void draw_curve(FILE *stream, const struct threshold_sweep *sweep, bool caught)
{
    fprintf(stream, "<polyline class=\"%s\" points=\"", caught ? "caught" : "wrong");
    for (int step = 0; step < SWEEP_STEPS; step++) {
        const struct sweep_counts *counts = &sweep->steps[step];
        double part = caught ? share(counts->caught, sweep->duplicates)
                             : share(counts->wrong, sweep->distinct);
        fprintf(stream, "%.1f,%.1f ", x_of(step), y_of(part));
    }
    fputs("\"/>\n", stream);
}

static void draw_curve_key(FILE *stream, double x, const char *class, const char *text)
{
    fprintf(stream, "<line class=\"%s\" x1=\"%.0f\" y1=\"48\" x2=\"%.0f\" y2=\"48\"/>\n", class, x,
            x + 32);
    fprintf(stream, "<text x=\"%.0f\" y=\"52\">%s</text>\n", x + 40, text);
}

/* "98.2 % caught, 0.4 % of the others match" */
static void print_counts(FILE *stream, const struct threshold_sweep *sweep,
                         const struct sweep_counts *counts)
{
    fprintf(stream, "%.1f %% caught, %.1f %% of the others match",
            100 * share(counts->caught, sweep->duplicates),
            100 * share(counts->wrong, sweep->distinct));
}

static void draw_recommended(FILE *stream, const struct threshold_sweep *sweep, int step)
{
    if (step >= 0)
        fprintf(stream, "<line class=\"limit\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n",
                x_of(step), TOP, x_of(step), PANEL_HEIGHT - BOTTOM);
    fprintf(stream, "<text x=\"%d\" y=\"%d\">", LEFT, TOP - 12);
    if (step == RECOMMEND_NONE)
        fputs("no threshold keeps the others out", stream);
    else if (step == RECOMMEND_DEFAULT)
        fputs("recommended: the default threshold: ", stream);
    else
        fprintf(stream, "recommended: %.2f: ", sweep_threshold(step));
    if (step != RECOMMEND_NONE)
        print_counts(stream, sweep, step < 0 ? &sweep->by_default : &sweep->steps[step]);
    fputs("</text>\n", stream);
}

/* What a viewer shows of the limit under the pointer. */
static void draw_points(FILE *stream, const struct threshold_sweep *sweep)
{
    double width = PLOT_WIDTH / (double)(SWEEP_STEPS - 1);
    for (int step = 0; step < SWEEP_STEPS; step++) {
        fprintf(stream,
                "<rect class=\"point\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\">"
                "<title>%.2f: ",
                x_of(step) - width / 2, TOP, width, PLOT_HEIGHT, sweep_threshold(step));
        print_counts(stream, sweep, &sweep->steps[step]);
        fputs("</title></rect>\n", stream);
    }
}

static void draw_sweep_panel(FILE *stream, const struct sweep_panel *panel, size_t number)
{
    fprintf(stream, "<g transform=\"translate(0 %zu)\">\n", number * PANEL_HEIGHT);
    fprintf(stream, "<text class=\"title\" x=\"%d\" y=\"26\">%s</text>\n", LEFT, panel->title);
    draw_curve_key(stream, LEFT, "caught", "duplicates caught");
    draw_curve_key(stream, LEFT + 210, "wrong", "others that match too");
    draw_sweep_axes(stream);
    draw_curve(stream, panel->sweep, true);
    draw_curve(stream, panel->sweep, false);
    draw_recommended(stream, panel->sweep, panel->recommended);
    draw_points(stream, panel->sweep);
    fputs("</g>\n", stream);
}

static bool draw_sweep_panels(void *context, FILE *stream)
{
    const struct sweep_panels *panels = context;
    for (size_t i = 0; i < panels->count; i++)
        draw_sweep_panel(stream, &panels->items[i], i);
    return true;
}

enum doppel_status sweep_chart_write(const char *path, const struct sweep_panel *panels,
                                     size_t count, struct doppel_error *error)
{
    struct sweep_panels all = {panels, count};
    const struct svg svg = {WIDTH, count * PANEL_HEIGHT, style, draw_sweep_panels, &all};
    return svg_write(path, &svg, error);
}
