/* Frames of two videos that are alike, for the eye. */
#include "compare/video_candidates.h"

#include <math.h>
#include <stdlib.h>

#include <doppel/image.h>

#include "core/array.h"

/* Unrelated frames differ in half of 256 bits; on a line, where a match was found, more may differ.
 * A scene has so many frames alike that the nearest few are enough. */
enum { MOST_BITS = 60, MOST_BITS_ON_LINE = 92, MOST_A_FRAME = 6 };

/* Pairs of frames that are compared: of longer videos, not every frame of the query. */
static const double MOST_PAIRS = 4e8;

/* Sampled four times a second in both videos: so far from its line a frame may be. */
static const double NEAR_SECONDS = .4, STEP_SECONDS = DOPPEL_VIDEO_STEP_MS / 1000.0;

/* A frame of the query as it looks in the item. */
static struct doppel_code seen(const struct doppel_video_track *query, size_t number,
                               const struct doppel_video_view *view)
{
    const uint8_t *cells = query->cells;
    struct doppel_code code =
        view->middle ? query->frames[number].middle : query->frames[number].code;
    if (view->rectangle && view->rectangle <= query->rectangle_count)
        cells = query->rectangle_cells[view->rectangle - 1];
    if (cells && !view->middle && view->warp.scale_x > 0 && view->warp.scale_y > 0)
        code = doppel_video_warped_code(cells + number * DOPPEL_VIDEO_CELL_BYTES, &view->warp);
    return view->mirrored ? doppel_image_orient(&code, 1) : code;
}

/* The segment on whose line two runs meet, from the time `*a` of the query on. @param a in and out:
 * the first such time of a sampled frame. NULL: none */
static const struct doppel_segment *line_of(const struct doppel_match *match,
                                            const struct doppel_video_frame *query,
                                            const struct doppel_video_frame *item, double *a)
{
    double from = item->start_ms / 1000.0 - NEAR_SECONDS, to = item->end_ms / 1000.0 + NEAR_SECONDS;
    for (; *a <= query->end_ms / 1000.0 + 1e-6; *a += STEP_SECONDS)
        for (size_t i = 0; i < match->segment_count; i++) {
            const struct doppel_segment *segment = &match->segments[i];
            double line = segment->b_start + (*a - segment->a_start) * segment->speed;
            if (*a >= segment->a_start - NEAR_SECONDS && *a <= segment->a_end + NEAR_SECONDS &&
                line >= from && line <= to)
                return segment;
        }
    return NULL;
}

/* The nearest of a frame, the nearest first. */
struct nearest {
    size_t numbers[MOST_A_FRAME];
    uint32_t bits[MOST_A_FRAME];
    size_t count;
};

static void put_nearest(struct nearest *nearest, size_t number, uint32_t bits)
{
    size_t at = nearest->count;
    if (at == MOST_A_FRAME && nearest->bits[at - 1] <= bits)
        return;
    at = at < MOST_A_FRAME ? nearest->count++ : at - 1;
    for (; at > 0 && nearest->bits[at - 1] > bits; at--) {
        nearest->bits[at] = nearest->bits[at - 1];
        nearest->numbers[at] = nearest->numbers[at - 1];
    }
    nearest->bits[at] = bits;
    nearest->numbers[at] = number;
}

struct frame_candidates {
    ARRAY(struct frame_candidate) items;
};

/* Of two runs that are alike every sampled frame that lies on a line. @return whether any does */
static bool put_met(struct frame_candidates *candidates, const struct doppel_match *match,
                    const struct doppel_video_frame *query, const struct doppel_video_frame *item)
{
    double a = query->start_ms / 1000.0;
    bool any = false;
    for (const struct doppel_segment *line; (line = line_of(match, query, item, &a));
         a += STEP_SECONDS, any = true) {
        double b = line->b_start + (a - line->a_start) * line->speed;
        struct frame_candidate candidate = {
            {a, fmin(fmax(b, item->start_ms / 1000.0), item->end_ms / 1000.0)}, true};
        (void)array_push(&candidates->items, candidate); /* without memory: fewer dots */
    }
    return any;
}

/* The code of the item's frame that the match is of. */
static const struct doppel_code *code_met(const struct doppel_video_frame *frame,
                                          const struct doppel_video_view *view)
{
    if (view->item_middle)
        return &frame->middle;
    return view->item_whole ? &frame->whole : &frame->code;
}

static void put_frame(struct frame_candidates *candidates, const struct doppel_match *match,
                      const struct doppel_video_frame *frame, const struct doppel_code *code,
                      const struct doppel_video_track *item)
{
    struct nearest nearest = {.count = 0};
    for (size_t j = 0; j < item->count; j++) {
        const struct doppel_video_frame *other = &item->frames[j];
        uint32_t bits = doppel_code_distance(code, code_met(other, &match->view), 256);
        if (bits > MOST_BITS_ON_LINE || put_met(candidates, match, frame, &item->frames[j]))
            continue;
        if (bits <= MOST_BITS)
            put_nearest(&nearest, j, bits);
    }
    for (size_t k = 0; k < nearest.count; k++) {
        struct frame_candidate candidate = {
            {frame->start_ms / 1000.0, item->frames[nearest.numbers[k]].start_ms / 1000.0}, false};
        (void)array_push(&candidates->items, candidate);
    }
}

size_t find_frame_candidates(const struct doppel_video_track *query,
                             const struct doppel_video_track *item,
                             const struct doppel_match *match, struct frame_candidate **out)
{
    struct frame_candidates candidates = {0};
    size_t step = 1 + (size_t)((double)query->count * (double)item->count / MOST_PAIRS);
    for (size_t i = 0; i < query->count; i += step) {
        struct doppel_code code = seen(query, i, &match->view);
        put_frame(&candidates, match, &query->frames[i], &code, item);
    }
    *out = candidates.items.items;
    return candidates.items.count;
}
