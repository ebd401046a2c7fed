/* Stretches that say of one moment of a video that it is two moments of the other. Where these look
 * the same, the weaker one is a repeat; else the two contradict each other, and one is dropped. A
 * camera that does not move makes such: everything it shows is somewhat alike. */
#include <math.h>

#include "match/video/search.h"

enum {
    MOMENTS = 16,     /* that are looked at */
    MOST_REPEAT = 32, /* bits of 256 between two showings of one thing in a video, their median */
    CLEARLY = 10      /* bits by which medians differ that tell which one is right */
};

/* The share of the shorter stretch, in one of the videos, that the other one has too, from which on
 * they may contradict each other; and seconds by which their times differ then, at least. */
static const double SHARED = .5, DIFFER = .3;

/* The share of the better one's score from which on the weaker one may be right as well. */
static const double AS_LIKELY = .7;

/* The share of the other one's length from which on two can be compared by their distances. */
static const double AS_LONG = .6;

/* Seconds about a moment in which a frame of it is looked for: about a sample. */
static const double NEAR = .3;

static double shared_span(double start, double end, double other_start, double other_end)
{
    return fmin(end, other_end) - fmax(start, other_start);
}

/* The least distance of frames of a video about two moments. 256: there are none */
static uint32_t moments_apart(const struct doppel_video_track *track, double one, double other)
{
    uint32_t least = 256;
    for (uint32_t i = video_run_at(track, one - NEAR);
         i < track->count && video_shown_from(track, i) <= one + NEAR; i++)
        for (uint32_t j = video_run_at(track, other - NEAR);
             j < track->count && video_shown_from(track, j) <= other + NEAR; j++) {
            uint32_t distance =
                doppel_code_distance(&track->frames[i].code, &track->frames[j].code, 256);
            least = distance < least ? distance : least;
        }
    return least;
}

/* When a stretch puts a moment of the query in the item, or, `back`, of the item in the query. */
static double time_in_other(const struct doppel_segment *segment, double time, bool back)
{
    return back ? segment->a_start + (time - segment->b_start) / segment->speed
                : segment->b_start + (time - segment->a_start) * segment->speed;
}

/* Whether two stretches, over what they share of one video, show different things of the other. */
static bool differ_in_other(const struct doppel_segment *one, const struct doppel_segment *better,
                            const struct doppel_video_track *other, bool back)
{
    double start = back ? fmax(one->b_start, better->b_start) : fmax(one->a_start, better->a_start);
    double end = back ? fmin(one->b_end, better->b_end) : fmin(one->a_end, better->a_end);
    unsigned differ = 0;
    for (unsigned i = 0; i < MOMENTS; i++) {
        double time = start + (end - start) * (i + .5) / MOMENTS;
        double x = time_in_other(one, time, back), y = time_in_other(better, time, back);
        if (fabs(x - y) > DIFFER)
            differ += moments_apart(other, x, y) > MOST_REPEAT;
    }
    return differ * 2 > MOMENTS;
}

static bool share_query(const struct doppel_segment *x, const struct doppel_segment *y)
{
    return shared_span(x->a_start, x->a_end, y->a_start, y->a_end) >=
           SHARED * fmin(x->a_end - x->a_start, y->a_end - y->a_start);
}

static bool share_item(const struct doppel_segment *x, const struct doppel_segment *y)
{
    return shared_span(x->b_start, x->b_end, y->b_start, y->b_end) >=
           SHARED * fmin(x->b_end - x->b_start, y->b_end - y->b_start);
}

static bool contradicts(const struct doppel_segment *one, const struct doppel_segment *better,
                        const struct doppel_video_track *query,
                        const struct doppel_video_track *item)
{
    return (share_query(one, better) && differ_in_other(one, better, item, false)) ||
           (share_item(one, better) && differ_in_other(one, better, query, true));
}

static double query_length(const struct video_stretch *stretch)
{
    return stretch->segment.a_end - stretch->segment.a_start;
}

/* Whether what is about as long is clearly nearer: how much it tells says less then, since that
 * depends on what happens to move. */
static bool is_clearly_nearer(const struct video_stretch *one, const struct video_stretch *other)
{
    return one->distance + CLEARLY <= other->distance &&
           query_length(one) >= AS_LONG * query_length(other);
}

static bool is_likelier(const struct video_stretch *one, const struct video_stretch *other)
{
    if (is_clearly_nearer(one, other))
        return true;
    return !is_clearly_nearer(other, one) && one->score > other->score;
}

static bool may_be_either(const struct video_stretch *weaker, const struct video_stretch *better)
{
    return !is_clearly_nearer(better, weaker) &&
           (weaker->ambiguous || weaker->score >= AS_LIKELY * better->score);
}

/* What shares a moment with a better one, and does not contradict it, shows the same again. */
static void mark_repeats(video_stretches *stretches)
{
    for (size_t i = 0; i < stretches->count; i++) {
        struct doppel_segment *one = &stretches->items[i].segment;
        one->repeat = false;
        for (size_t j = 0; j < stretches->count && !one->repeat; j++) {
            const struct doppel_segment *other = &stretches->items[j].segment;
            double lead = stretches->items[j].score - stretches->items[i].score;
            bool better = lead > 0 || (lead == 0 && j < i);
            one->repeat = better && (share_query(one, other) || share_item(one, other));
        }
    }
}

void video_stretches_reconcile(video_stretches *stretches, const struct doppel_video_track *query,
                               const struct doppel_video_track *item)
{
    for (size_t i = stretches->count; i-- > 0;) {
        const struct video_stretch *one = &stretches->items[i];
        struct video_stretch *better = NULL;
        for (size_t j = 0; j < stretches->count && !better; j++)
            if (j != i && is_likelier(&stretches->items[j], one) &&
                contradicts(&one->segment, &stretches->items[j].segment, query, item))
                better = &stretches->items[j];
        if (!better)
            continue;
        better->ambiguous |= may_be_either(one, better);
        stretches->items[i] = stretches->items[--stretches->count];
    }
    mark_repeats(stretches);
}
