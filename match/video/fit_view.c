/* Looking for the view in which a query's frames come nearest to those of a line: from the best of
 * the usual views, by steps that are halved. */
#include <math.h>

#include "match/video/video_internal.h"

enum {
    MOST_PAIRS = 12,
    ROUNDS = 7,
    MOVES = 18,
    FARTHEST = 110 /* bits from which on a frame says nothing of the view */
};

static const float FIRST_SCALE = .08f, FIRST_SHIFT = .04f, FIRST_DEGREES = 2;

/* How far views may go from the frame as it is. */
static const float LEAST_SCALE = .94f, MOST_SCALE = 1.4f, MOST_DEGREES = 8, FREE_SHIFT = .03f,
                   MOST_STRETCH = 1.3f;

/* Mean distances before each round from which on it leads nowhere: measured on edited copies of
 * tuning videos. Of 301 fits that ended within 68 bits none came near them at any round; most of
 * the others are given up after the first or second. */
static const double HOPELESS[ROUNDS] = {104, 90, 83, 79, 77, 76, 76};

struct fit {
    const struct doppel_video_track *query, *item;
    struct video_pair pairs[MOST_PAIRS];
    size_t count;
    enum video_part part;
};

/* A view and how near the frames come in it: less is better. */
struct view_place {
    struct doppel_video_view view;
    double far;
};

static uint32_t nearest_fit(const struct fit *fit, const struct video_pair *pair,
                            const struct doppel_code *code)
{
    uint32_t best = 256;
    for (uint32_t i = pair->first; i < pair->first + pair->count; i++) {
        uint32_t distance = video_code_distance(code, &fit->item->frames[i], fit->part);
        best = distance < best ? distance : best;
    }
    return best;
}

/* @param most when it is as far already, it is not looked at to its end */
static double far_of(const struct fit *fit, const struct doppel_video_view *view, double most)
{
    double sum = 0;
    for (size_t i = 0; i < fit->count && sum < most; i++) {
        struct doppel_code code;
        uint32_t distance = FARTHEST;
        if (video_view_code(fit->query, fit->pairs[i].run, view, &code))
            distance = nearest_fit(fit, &fit->pairs[i], &code);
        sum += distance < FARTHEST ? distance : FARTHEST;
    }
    return sum;
}

static float clamp_to_view(float value, float least, float most)
{
    return fminf(fmaxf(value, least), most);
}

/* An original reaches at most to where a larger frame would. */
static void limit(struct doppel_video_warp *warp)
{
    warp->scale_x = clamp_to_view(warp->scale_x, LEAST_SCALE, MOST_SCALE);
    warp->scale_y = clamp_to_view(warp->scale_y, LEAST_SCALE, MOST_SCALE);
    warp->scale_x =
        clamp_to_view(warp->scale_x, warp->scale_y / MOST_STRETCH, warp->scale_y * MOST_STRETCH);
    warp->degrees = clamp_to_view(warp->degrees, -MOST_DEGREES, MOST_DEGREES);
    float most_x = fabsf(warp->scale_x - 1) / 2 + FREE_SHIFT;
    float most_y = fabsf(warp->scale_y - 1) / 2 + FREE_SHIFT;
    warp->shift_x = clamp_to_view(warp->shift_x, -most_x, most_x);
    warp->shift_y = clamp_to_view(warp->shift_y, -most_y, most_y);
}

/* One of MOVES small changes: of a scale, a shift or the angle, or of one edge alone. */
static struct doppel_video_warp moved_video_warp(const struct doppel_video_warp *warp, int move,
                                                 float step)
{
    struct doppel_video_warp out = *warp;
    float sign = move & 1 ? -step : step;
    switch (move / 2) {
    case 0:
        out.scale_x += sign * FIRST_SCALE;
        break;
    case 1:
        out.scale_y += sign * FIRST_SCALE;
        break;
    case 2:
        out.shift_x += sign * FIRST_SHIFT;
        break;
    case 3:
        out.shift_y += sign * FIRST_SHIFT;
        break;
    case 4:
        out.degrees += sign * FIRST_DEGREES;
        break;
    default: { /* an edge: left, right, top, bottom */
        int edge = move / 2 - 5;
        float shift = edge & 1 ? sign * FIRST_SCALE / 2 : -sign * FIRST_SCALE / 2;
        *(edge < 2 ? &out.scale_x : &out.scale_y) += sign * FIRST_SCALE;
        *(edge < 2 ? &out.shift_x : &out.shift_y) += shift;
    }
    }
    limit(&out);
    return out;
}

static bool try_move(const struct fit *fit, int move, float step, struct view_place *place)
{
    struct view_place next = *place;
    next.view.warp = moved_video_warp(&place->view.warp, move, step);
    next.far = far_of(fit, &next.view, place->far);
    if (next.far >= place->far)
        return false;
    *place = next;
    return true;
}

/* @return false: it is not worth to go on */
static bool climb(const struct fit *fit, struct view_place *place)
{
    float step = 1;
    for (int round = 0; round < ROUNDS && step > .1f; round++) {
        if (place->far > HOPELESS[round] * (double)fit->count)
            return false;
        bool is_moving = false;
        for (int move = 0; move < MOVES; move++)
            is_moving |= try_move(fit, move, step, place);
        step = is_moving ? step : step / 2;
    }
    return true;
}

/* The best of the usual views of the same picture, and of the one given. */
static struct view_place find_start(const struct fit *fit,
                                    const struct doppel_video_search *options,
                                    const struct doppel_video_view *view)
{
    struct video_view views[VIDEO_VIEWS_MAX];
    size_t count = video_views(fit->query, options, views);
    struct view_place best = {*view, far_of(fit, view, HUGE_VAL)};
    for (size_t i = 0; i < count; i++) {
        struct view_place place = {views[i].view, 0};
        if (place.view.mirrored != view->mirrored || place.view.middle ||
            (view->rectangle && place.view.rectangle))
            continue;
        place.view.rectangle = view->rectangle;
        place.view.item_middle = view->item_middle;
        place.view.item_whole = view->item_whole;
        place.view.warp.aspect = view->warp.aspect;
        place.far = far_of(fit, &place.view, best.far);
        best = place.far < best.far ? place : best;
    }
    return best;
}

static struct fit fit_of(const struct doppel_video_track *query,
                         const struct doppel_video_track *item, const struct video_pair *pairs,
                         size_t count, const struct doppel_video_view *view)
{
    struct fit fit = {.query = query, .item = item, .part = video_met_part(view)};
    fit.count = count < MOST_PAIRS ? count : MOST_PAIRS;
    for (size_t i = 0; i < fit.count; i++)
        fit.pairs[i] = pairs[i * count / fit.count];
    return fit;
}

double video_view_distance(const struct doppel_video_track *query,
                           const struct doppel_video_track *item, const struct video_pair *pairs,
                           size_t count, const struct doppel_video_view *view)
{
    const struct fit fit = fit_of(query, item, pairs, count, view);
    return fit.count ? far_of(&fit, view, HUGE_VAL) / (double)fit.count : HUGE_VAL;
}

bool video_view_improve(const struct doppel_video_track *query,
                        const struct doppel_video_track *item, const struct video_pair *pairs,
                        size_t count, const struct doppel_video_search *options,
                        struct video_view *view)
{
    const struct fit fit = fit_of(query, item, pairs, count, &view->view);
    if (!fit.count || view->view.middle || !video_view_cells(query, 0, view->view.rectangle))
        return false;
    double before = far_of(&fit, &view->view, HUGE_VAL);
    struct view_place place = find_start(&fit, options, &view->view);
    if (!climb(&fit, &place) || place.far >= before)
        return false;
    view->view = place.view;
    view->class = VIDEO_CLASS_WARPED;
    view->stage = VIDEO_STAGE_IMPROVED;
    return true;
}
