/* Stretches that contradict each other: of one moment of a video they say that it is two moments of
 * the other, and these do not look the same. A camera that does not move makes them: everything it
 * shows is somewhat alike. */
#include <math.h>

#include "match/video/search.h"

enum {
    MOMENTS = 16,     /* that are looked at */
    MOST_REPEAT = 32, /* bits of 256 between two showings of one thing in a video, their median */
    CLEARLY = 10      /* bits by which medians differ that tell which one is right */
};

/* The share of the weaker stretch, in one of the videos, that the better one has too, from which on
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

static bool contradicts(const struct doppel_segment *one, const struct doppel_segment *better,
                        const struct doppel_video_track *query,
                        const struct doppel_video_track *item)
{
    double in_query = shared_span(one->a_start, one->a_end, better->a_start, better->a_end);
    double in_item = shared_span(one->b_start, one->b_end, better->b_start, better->b_end);
    return (in_query >= SHARED * (one->a_end - one->a_start) &&
            differ_in_other(one, better, item, false)) ||
           (in_item >= SHARED * (one->b_end - one->b_start) &&
            differ_in_other(one, better, query, true));
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
}
