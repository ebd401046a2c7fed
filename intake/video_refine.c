/* The ends of what two videos share, looked at frame by frame. */
#include "intake/video_refine.h"

#include <math.h>
#include <stdlib.h>

/* So many segments are refined, the first ones; an end is looked at so far on both sides: further
 * than sampled frames can be wrong. */
enum { MOST_SEGMENTS = 64 };
static const double AROUND_SECONDS = 1.5;

/* The speed is measured of segments from so many seconds on; two frames are no other speed. */
static const double LEAST_SECONDS = 4, FRAMES_SECONDS = .1, MOST_CHANGE = .05;

/* Of a segment four looks: the query and the item at its beginning, and at its end. */
enum { LOOKS = 4 };

/* The part of the frame that the match is of, in the query, side 0, or in the item. */
static struct doppel_video_box box_of(const struct doppel_video_track *video,
                                      const struct doppel_video_view *view, int side)
{
    const struct doppel_video_box full = {0, 0, 1, 1};
    struct doppel_video_box box = video->box;
    if (side ? view->item_middle : view->middle)
        (void)doppel_video_middle_box(video, &box); /* else the match would not be of it */
    else if (!side && view->rectangle && view->rectangle <= video->rectangle_count)
        box = video->rectangles[view->rectangle - 1];
    return side && view->item_whole ? full : box;
}

static void want_look(struct video_look *look, const struct video_side *side,
                      struct doppel_video_box box, double at, double around)
{
    *look = (struct video_look){
        .file = &side->file,
        .task = DOPPEL_VIDEO_CLOSE,
        .from_ms = (uint32_t)lround(fmax(0, at - around) * 1000),
        .to_ms = (uint32_t)lround((at + around) * 1000) + 1,
        .box = box,
    };
}

static void want_segment(struct video_look looks[LOOKS], const struct video_side sides[2],
                         const struct doppel_video_box boxes[2],
                         const struct doppel_segment *segment)
{
    double around = AROUND_SECONDS * (segment->speed > 0 ? segment->speed : 1);
    want_look(&looks[0], &sides[0], boxes[0], segment->a_start, AROUND_SECONDS);
    want_look(&looks[1], &sides[1], boxes[1], segment->b_start, around);
    want_look(&looks[2], &sides[0], boxes[0], segment->a_end, AROUND_SECONDS);
    want_look(&looks[3], &sides[1], boxes[1], segment->b_end, around);
}

static void refine_end(const struct video_look looks[2], const struct doppel_video_view *view,
                       bool last, struct doppel_segment *segment)
{
    struct doppel_video_track videos[2] = {0};
    struct doppel_video_end end = {&videos[0], &videos[1], view, last};
    bool good = true;
    for (int side = 0; side < 2 && good; side++)
        good = looks[side].bytes && !doppel_video_track_read(looks[side].bytes, looks[side].size,
                                                             DOPPEL_VIDEO_ALL, &videos[side], NULL);
    if (good)
        doppel_match_video_refine(&end, segment);
    doppel_video_track_free(&videos[0]);
    doppel_video_track_free(&videos[1]);
}

/* Ends that are known to a frame tell the speed better than the line did. */
static void measure_speed(struct doppel_segment *segment)
{
    double length = segment->a_end - segment->a_start;
    if (length < LEAST_SECONDS || segment->speed <= 0)
        return;
    double speed = (segment->b_end - segment->b_start) / length;
    if (fabs(speed - 1) * length < FRAMES_SECONDS)
        speed = 1;
    if (fabs(speed / segment->speed - 1) <= MOST_CHANGE) /* else it is the ends that are wrong */
        segment->speed = speed;
}

static enum doppel_status refine_all(struct video_looks *looks, const struct video_side sides[2],
                                     const struct doppel_video_box boxes[2],
                                     struct doppel_match *match, struct doppel_error *error)
{
    struct doppel_segment *segments = (struct doppel_segment *)match->segments;
    size_t count = match->segment_count < MOST_SEGMENTS ? match->segment_count : MOST_SEGMENTS;
    struct video_look *wanted = calloc(LOOKS * count + 1, sizeof *wanted);
    if (!wanted)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to refine a match");
    for (size_t i = 0; i < count; i++)
        want_segment(&wanted[LOOKS * i], sides, boxes, &segments[i]);
    enum doppel_status status = video_looks_take(looks, wanted, LOOKS * count, error);
    for (size_t i = 0; i < count && !status; i++) {
        refine_end(&wanted[LOOKS * i], &match->view, false, &segments[i]);
        refine_end(&wanted[LOOKS * i + 2], &match->view, true, &segments[i]);
        measure_speed(&segments[i]);
    }
    const struct doppel_segment *longest = longest_segment(match);
    if (longest)
        match->transform.speed = longest->speed;
    for (size_t i = 0; i < LOOKS * count; i++)
        free(wanted[i].bytes);
    free(wanted);
    return status;
}

enum doppel_status video_refine(struct video_looks *looks, const struct video_side sides[2],
                                struct doppel_match *match, struct doppel_error *error)
{
    const bool rectangle = match->view.rectangle; /* which lies beside the cells */
    struct doppel_video_box boxes[2];
    for (int side = 0; side < 2; side++) {
        const bool all = rectangle && side == 0;
        struct doppel_video_track video;
        if (!video_read(sides[side].record, all ? DOPPEL_VIDEO_ALL : DOPPEL_VIDEO_CODES, &video))
            return DOPPEL_OK;
        boxes[side] = box_of(&video, &match->view, side);
        doppel_video_track_free(&video);
    }
    return refine_all(looks, sides, boxes, match, error);
}
