/* What the files of the matcher of videos share: how a query may be looked at (views.c),
 * what a frame that is met tells (score.c), and lines of time. */
#ifndef DOPPEL_MATCH_VIDEO_VIDEO_INTERNAL_H
#define DOPPEL_MATCH_VIDEO_VIDEO_INTERNAL_H

#include <doppel/match.h>

static inline double video_seconds(uint64_t ms)
{
    return (double)ms / 1000;
}

/* Where a query lies in an item: item's seconds = offset + speed × query's seconds. */
struct video_line {
    double offset, speed;
    bool open; /* at speed 1, and the speed that the lengths of both tell may be right as well */
};

static inline double video_line_at(const struct video_line *line, double query_seconds)
{
    return line->offset + line->speed * query_seconds;
}

static inline double video_line_back(const struct video_line *line, double item_seconds)
{
    return (item_seconds - line->offset) / line->speed;
}

/* ---- parts of an item's frame ---- */

/* What of an item's frame has a code. */
enum video_part {
    VIDEO_PART_IMAGE,  /* without its bars */
    VIDEO_PART_MIDDLE, /* the upright middle of that: of one run a second */
    VIDEO_PART_WHOLE,  /* with its bars */
    VIDEO_PARTS
};

/* The bits of a payload that say of which part a code is. Above them nothing else is: the time is
 * less. */
#define VIDEO_PART_SHIFT 30
#define VIDEO_TIME_MASK ((UINT32_C(1) << VIDEO_PART_SHIFT) - 1)

/* The code of a part. NULL: it has none */
const struct doppel_code *video_part_code(const struct doppel_video_frame *frame,
                                          enum video_part part);

/* The part that a view met. */
static inline enum video_part video_met_part(const struct doppel_video_view *view)
{
    if (view->item_middle)
        return VIDEO_PART_MIDDLE;
    return view->item_whole ? VIDEO_PART_WHOLE : VIDEO_PART_IMAGE;
}

/* How far a code is from a part of an item's frame. 256: that has no code */
static inline uint32_t video_code_distance(const struct doppel_code *code,
                                           const struct doppel_video_frame *frame,
                                           enum video_part part)
{
    const struct doppel_code *other = video_part_code(frame, part);
    return other ? doppel_code_distance(code, other, 256) : 256;
}

/* ---- views: videos_views.c ---- */

/* Views of which chance has the choice of as many, and whose frames weigh alike. */
enum video_class {
    VIDEO_CLASS_PLAIN, /* the frame as it is, or mirrored */
    VIDEO_CLASS_WARPED,
    VIDEO_CLASS_RECTANGLE,
    VIDEO_CLASSES
};

/* A way to look at a query. */
struct video_view {
    struct doppel_video_view view;
    enum video_class class;
    unsigned stage; /* 0: always looked up; 1: where stage 0 leaves the query unanswered; 2:
                       likewise of stage 1 … */
};

enum { VIDEO_VIEWS_MAX = 512, VIDEO_STAGE_IMPROVED = 100 /* of what video_view_improve made */ };

/* The views in which a query is looked up, by stage; the plain one first. Views that take cells
 * only where the query has them. @return how many, at least 1 */
size_t video_views(const struct doppel_video_track *query,
                   const struct doppel_video_search *options,
                   struct video_view out[VIDEO_VIEWS_MAX]);

/* The cells of a run in the frame, 0, or a rectangle, its number + 1. NULL: there are none */
const uint8_t *video_view_cells(const struct doppel_video_track *query, size_t run,
                                unsigned rectangle);

/* The code of a run of the query in a view. @return false when it has none there: flat */
bool video_view_code(const struct doppel_video_track *query, size_t run,
                     const struct doppel_video_view *view, struct doppel_code *out);

/* A run of the query, and runs of the item that a line puts at the same time. */
struct video_pair {
    uint32_t run;          /* of the query */
    uint32_t first, count; /* of the item: the nearest of them is its counterpart */
};

/* Look for a view near `view` in which the pairs are nearer: of other boxes, angles. Not called for
 * plain views of a query without cells. @param view in and out. @return whether it is another one
 * now: then the line is fitted and judged again, with the view's new class */
bool video_view_improve(const struct doppel_video_track *query,
                        const struct doppel_video_track *item, const struct video_pair *pairs,
                        size_t count, const struct doppel_video_search *options,
                        struct video_view *view);

/* How far they are from each other in a view, in the mean of those that are looked at. */
double video_view_distance(const struct doppel_video_track *query,
                           const struct doppel_video_track *item, const struct video_pair *pairs,
                           size_t count, const struct doppel_video_view *view);

/* A view of the item as the query. */
struct doppel_video_view video_turned_view(const struct doppel_video_view *view);

/* ---- scores: videos_score.c ---- */

/* What a frame tells that is met at a distance of 256 bits: log10 of how much likelier that is of
 * the same frame than of an unrelated item. Negative: it speaks against. */
double video_score_frame(uint32_t distance);

/* How much of it counts, 0 to 1, of a frame which differs by `moved` of 256 bits from the last that
 * counted: the least of by how much it does in the query and in the item. */
double video_score_novelty(uint32_t moved);

/* What a single frame tells, of a scene in which nothing moves or of a picture: -log10 of the share
 * of frames of unrelated items that are as near, or nearer. */
double video_score_still(uint32_t distance);

/* How much of it counts, 0 to 1, of a code that so many items of the set have. */
double video_score_rarity(uint32_t items);

/* How much structure cells have, 0 to 1. */
float video_score_structure(const uint8_t *cells);

/* How much counts of what a frame tells that has so much structure. */
double video_score_weight(const struct video_view *view, float structure);

/* log10 of how many lines chance has the choice of, with `frames` runs in the library, for a line
 * found in a view of this stage; with same_speed also of how many still scenes. E is 10 to the
 * power of this, less the score. */
double video_score_choices(uint64_t frames, const struct doppel_video_search *options,
                           const struct video_view *view);

#endif
