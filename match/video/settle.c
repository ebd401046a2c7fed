/* What was found of an item in several views and rounds, made one answer: pieces of one line are
 * joined, and what a video has in common with itself is dropped. */
#include <math.h>

#include "match/video/search.h"

/* Pieces lie on one line when, in the middle of each, both lines say the same, in seconds; and they
 * are one when no more than so many seconds lie between them. */
static const double SAME_LINE = .3, SAME_SPEED = .05, GAP = 1;

/* The share of a stretch, in either video, from which on a better one accounts for it. */
static const double ACCOUNTED = .8;

static double item_time(const struct doppel_segment *segment, double query_time)
{
    return segment->b_start + (query_time - segment->a_start) * segment->speed;
}

static double middle(const struct doppel_segment *segment)
{
    return (segment->a_start + segment->a_end) / 2;
}

static bool agree_at(const struct doppel_segment *a, const struct doppel_segment *b, double time)
{
    return fabs(item_time(a, time) - item_time(b, time)) <= SAME_LINE;
}

static bool is_one_video_stretch(const struct video_stretch *a, const struct video_stretch *b)
{
    const struct doppel_segment *x = &a->segment, *y = &b->segment;
    return !a->uncertain && !b->uncertain && a->view.mirrored == b->view.mirrored &&
           fabs(x->speed - y->speed) <= SAME_SPEED && agree_at(x, y, middle(x)) &&
           agree_at(x, y, middle(y)) && x->a_start - y->a_end <= GAP &&
           y->a_start - x->a_end <= GAP;
}

/* The better one's view and score stand for both. */
static void join_video_stretch(struct video_stretch *into, const struct video_stretch *other)
{
    struct video_stretch both = into->score >= other->score ? *into : *other;
    const struct doppel_segment *x = &into->segment, *y = &other->segment;
    both.ambiguous = into->ambiguous || other->ambiguous;
    both.segment.a_start = fmin(x->a_start, y->a_start);
    both.segment.b_start = fmin(x->b_start, y->b_start);
    both.segment.a_end = fmax(x->a_end, y->a_end);
    both.segment.b_end = fmax(x->b_end, y->b_end);
    *into = both;
}

/* Each pair until none is left to be joined. */
static void join_all(video_stretches *stretches)
{
    for (size_t i = 0; i < stretches->count; i++)
        for (size_t j = i + 1; j < stretches->count; j++) {
            if (!is_one_video_stretch(&stretches->items[i], &stretches->items[j]))
                continue;
            join_video_stretch(&stretches->items[i], &stretches->items[j]);
            stretches->items[j] = stretches->items[--stretches->count];
            j = i; /* the joined one may touch others now */
        }
}

static double shared(double start, double end, double other_start, double other_end)
{
    return fmin(end, other_end) - fmax(start, other_start);
}

/* Whether another stretch, of better score, has both its place in the query and its place in the
 * item: then videos that repeat themselves met. */
static bool is_accounted(const video_stretches *stretches, size_t one)
{
    const struct video_stretch *stretch = &stretches->items[one];
    const struct doppel_segment *x = &stretch->segment;
    for (size_t i = 0; i < stretches->count; i++) {
        const struct doppel_segment *y = &stretches->items[i].segment;
        if (i == one || stretches->items[i].score <= stretch->score)
            continue;
        if (shared(x->a_start, x->a_end, y->a_start, y->a_end) >=
                ACCOUNTED * (x->a_end - x->a_start) &&
            shared(x->b_start, x->b_end, y->b_start, y->b_end) >=
                ACCOUNTED * (x->b_end - x->b_start))
            return true;
    }
    return false;
}

/* Still scenes give way to anything that moves where they are. */
static bool is_still_part(const video_stretches *stretches, size_t one)
{
    const struct video_stretch *still = &stretches->items[one];
    const struct doppel_segment *x = &still->segment;
    for (size_t i = 0; still->uncertain && i < stretches->count; i++) {
        const struct doppel_segment *y = &stretches->items[i].segment;
        if (!stretches->items[i].uncertain &&
            (shared(x->a_start, x->a_end, y->a_start, y->a_end) > 0 ||
             shared(x->b_start, x->b_end, y->b_start, y->b_end) > 0))
            return true;
    }
    return false;
}

void video_stretches_settle(video_stretches *stretches)
{
    join_all(stretches);
    for (size_t i = stretches->count; i-- > 0;)
        if (is_accounted(stretches, i) || is_still_part(stretches, i))
            stretches->items[i] = stretches->items[--stretches->count];
}
