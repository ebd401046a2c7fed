/* The ends of a segment, to the frame: where the frames of two videos begin or cease to be the
 * same.
 */
#include <math.h>
#include <stdlib.h>

#include "core/order.h"
#include "match/video/video_internal.h"

enum {
    MOST_FRAMES = 600,  /* of the query, that are looked at */
    STEPS_A_SIDE = 15,  /* of the search for the item's time */
    MOST_DISTANCE = 90, /* bits of 256, in the median, within the segment */
    STRANGERS = 128
};

/* Seconds: a step of that search; how far within the segment its frames are surely the same; how
 * far from the end is looked; how near to it a video's last frame is one that ends the video. */
static const double STEP = .02, WITHIN = .15, REACH = 3, VIDEO_ENDS = .45;

/* Bits in the mean by which moments are distinguished. */
static const double TELLS = .5;

/* Frames of the query, and how the item's lie to them. */
struct strip {
    const struct doppel_video_track *item;
    struct doppel_code codes[MOST_FRAMES]; /* as the item shows them */
    double times[MOST_FRAMES];
    size_t count;
    struct video_line line;
    bool last;
    double end; /* seconds of the query: the end that is refined */
};

static void take_frames_video_end(const struct doppel_video_end *end, struct strip *strip)
{
    for (size_t i = 0; i < end->query->count && strip->count < MOST_FRAMES; i++) {
        double time = video_seconds(end->query->frames[i].start_ms);
        struct doppel_video_view view = *end->view;
        view.rectangle = 0; /* the frames are of it, or of the middle */
        view.middle = false;
        if (fabs(time - strip->end) > REACH ||
            !video_view_code(end->query, i, &view, &strip->codes[strip->count]))
            continue;
        strip->times[strip->count++] = time;
    }
}

/* The number of the item's frame that is shown at a time. */
static size_t frame_at(const struct doppel_video_track *item, double time)
{
    size_t low = 0, high = item->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (video_seconds(item->frames[middle].start_ms) <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whether the item has frames at a time. */
static bool has_frames_at(const struct doppel_video_track *item, double time)
{
    return time >= video_seconds(item->frames[0].start_ms) - 2 * STEP &&
           time <= video_seconds(item->frames[item->count - 1].end_ms) + 2 * STEP;
}

/* How far a frame is from the item's at its time, and from as many beside. @return false when the
 * item has none there */
static bool distance_at(const struct strip *strip, size_t i, double shift, size_t beside,
                        uint32_t *out)
{
    double time = video_line_at(&strip->line, strip->times[i]) + shift;
    if (!has_frames_at(strip->item, time))
        return false;
    size_t middle = frame_at(strip->item, time);
    size_t first = middle > beside ? middle - beside : 0;
    *out = UINT32_MAX;
    for (size_t j = first; j <= middle + beside && j < strip->item->count; j++) {
        uint32_t distance =
            doppel_code_distance(&strip->codes[i], &strip->item->frames[j].code, 256);
        *out = distance < *out ? distance : *out;
    }
    return true;
}

static bool is_inside(const struct strip *strip, double time)
{
    return strip->last ? time <= strip->end - WITHIN : time >= strip->end + WITHIN;
}

/* ---- the item's time ---- */

/* Bits in the mean by which the frames within the segment differ. */
static double misfit(const struct strip *strip, double shift)
{
    double sum = 0, count = 0;
    uint32_t distance;
    for (size_t i = 0; i < strip->count; i++) {
        if (!is_inside(strip, strip->times[i]) || !distance_at(strip, i, shift, 0, &distance))
            continue;
        sum += distance;
        count++;
    }
    return count > 0 ? sum / count : HUGE_VAL;
}

/* Move the line to the middle of where the frames within the segment differ least. */
static void fit_time(struct strip *strip)
{
    double misfits[2 * STEPS_A_SIDE + 1], least = HUGE_VAL, sum = 0, count = 0;
    for (int i = 0; i <= 2 * STEPS_A_SIDE; i++) {
        misfits[i] = misfit(strip, (i - STEPS_A_SIDE) * STEP);
        least = fmin(least, misfits[i]);
    }
    if (least == HUGE_VAL || misfits[STEPS_A_SIDE] <= least + TELLS)
        return;
    for (int i = 0; i <= 2 * STEPS_A_SIDE; i++) {
        if (misfits[i] > least + TELLS)
            continue;
        sum += (i - STEPS_A_SIDE) * STEP;
        count++;
    }
    strip->line.offset += sum / count;
}

/* ---- the end ---- */

/* How frames of the segment differ, in the median. @return false when there are none, or when they
 * are not the same */
static bool usual_distance(const struct strip *strip, double *out)
{
    uint32_t distances[MOST_FRAMES];
    size_t count = 0;
    for (size_t i = 0; i < strip->count; i++)
        if (is_inside(strip, strip->times[i]))
            count += distance_at(strip, i, 0, 1, &distances[count]);
    if (!count)
        return false;
    qsort(distances, count, sizeof *distances, compare_u32);
    size_t middle = count / 2;
    *out = distances[middle];
    return *out <= MOST_DISTANCE;
}

/* The frame, of those that have counterparts, before which the frames change from one side to the
 * other with the greatest sum of evidence. @param out_first,out_end those that have counterparts */
static size_t change_of(const struct strip *strip, double usual, size_t *out_first, size_t *out_end)
{
    double limit = (usual + STRANGERS) / 2, sum = 0, best = 0;
    size_t change = SIZE_MAX;
    *out_first = *out_end = 0;
    for (size_t i = 0; i < strip->count; i++) {
        uint32_t distance;
        if (!distance_at(strip, i, 0, 1, &distance))
            continue;
        if (change == SIZE_MAX)
            *out_first = change = i;
        double same = limit - distance;
        sum += strip->last ? same : -same;
        *out_end = i + 1;
        if (sum <= best)
            continue;
        best = sum;
        change = i + 1;
    }
    return change;
}

/* From one frame to the next. */
static double interval_of(const struct strip *strip)
{
    double length = strip->times[strip->count - 1] - strip->times[0];
    return strip->count > 1 ? length / (double)(strip->count - 1) : 0;
}

/* When the frames change; where all are the same, when the first or last of a video is shown.
 * @return false when it is not known */
static bool end_of_strip(const struct strip *strip, double *out)
{
    double usual;
    size_t first, end;
    if (!usual_distance(strip, &usual))
        return false;
    size_t change = change_of(strip, usual, &first, &end);
    if (change == SIZE_MAX || change == (strip->last ? first : end))
        return false;
    *out = change < strip->count ? strip->times[change]
                                 : strip->times[strip->count - 1] + interval_of(strip);
    if (change > first && change < end)
        return true;
    return strip->last ? *out < strip->end + VIDEO_ENDS : *out > strip->end - VIDEO_ENDS;
}

void doppel_match_video_refine(const struct doppel_video_end *end, struct doppel_segment *segment)
{
    double a = end->last ? segment->a_end : segment->a_start;
    double b = end->last ? segment->b_end : segment->b_start;
    double speed = segment->speed > 0 ? segment->speed : 1;
    struct strip *strip = malloc(sizeof *strip);
    if (!strip)
        return;
    *strip = (struct strip){
        .item = end->item, .line = {b - speed * a, speed}, .last = end->last, .end = a};
    take_frames_video_end(end, strip);
    if (strip->count && strip->item->count) {
        fit_time(strip);
        bool known = end_of_strip(strip, &a);
        b = fmax(video_line_at(&strip->line, a), 0);
        if (known && end->last && a > segment->a_start && b > segment->b_start) {
            segment->a_end = a;
            segment->b_end = b;
        } else if (known && !end->last && a < segment->a_end && b < segment->b_end) {
            segment->a_start = a;
            segment->b_start = b;
        }
    }
    free(strip);
}
