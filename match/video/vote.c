/* Votes of hits for lines: of an item, an offset and a speed. */
#include <math.h>
#include <stdlib.h>

#include "core/order.h"
#include "match/video/search.h"
#include "match/votes.h"

enum {
    SPEEDS_A_SIDE = 9, /* .70 to 1.42 */
    STEP_MS = 500,     /* of the histogram; VOTES_WIDTH of them count together */
    PEAKS = 16,        /* of a group: an item may be in the query, or the query in it, often */
    FITS = 3,
    FULL_WEIGHT = 4 /* bits of 64 up to which a hit weighs as much as one can */
};

static const double SPEED_STEP = 1.04;

/* Seconds that two lines of a group are apart, at least. */
static const double APART = 2;

/* Seconds from a line within which hits are its own, fit by fit. */
static const double WITHIN[FITS] = {1.25, .8, .6};

/* Makes all diagonals positive: the largest time at the largest speed, in ms. */
static const double BIAS_MS = 2.0 * UINT32_MAX;

struct vote_group {
    const struct video_task *task;
    const struct video_hit *hits;
    size_t count;
};

struct video_ballot {
    uint64_t *votes, *scratch;
    uint32_t *weights, *seen; /* by voter */
};

/* A run of the query; of queries of days, one of a few. */
static uint32_t voter_of(const struct video_hit *hit)
{
    return hit->run & ((1u << VOTER_BITS) - 1);
}

static double seconds_of(const struct vote_group *group, const struct video_hit *hit)
{
    return video_seconds(group->task->query->frames[hit->run].start_ms);
}

static double weight_of_group(const struct vote_group *group, const struct video_hit *hit)
{
    double far = hit->distance > FULL_WEIGHT ? hit->distance - FULL_WEIGHT : 0;
    return fmax(1.6 - .12 * far, .3) * group->task->rarity[hit->run];
}

/* A voter weighs what the nearest of its hits does. @return how many there are, 2 at most */
static size_t set_weights(const struct vote_group *group, struct video_ballot *ballot)
{
    size_t voters = 1;
    for (size_t i = 0; i < group->count; i++) {
        ballot->weights[voter_of(&group->hits[i])] = 0;
        voters += group->hits[i].run != group->hits[0].run && voters < 2;
    }
    for (size_t i = 0; i < group->count; i++) {
        uint32_t weight = (uint32_t)(1000 * weight_of_group(group, &group->hits[i])) + 1;
        uint32_t *known = &ballot->weights[voter_of(&group->hits[i])];
        *known = weight > *known ? weight : *known;
    }
    return voters;
}

/* ---- peaks ---- */

struct peaks {
    struct video_candidate items[PEAKS];
    size_t count;
    double middle, item_middle; /* of the hits: where lines are compared */
};

/* Lines of one showing at two speeds meet in the middle of the shorter of both videos. */
static bool are_near(const struct peaks *peaks, const struct video_line *a,
                     const struct video_line *b)
{
    double in_item = video_line_at(a, peaks->middle) - video_line_at(b, peaks->middle);
    double in_query =
        video_line_back(a, peaks->item_middle) - video_line_back(b, peaks->item_middle);
    return fabs(in_item) < APART || fabs(in_query) < APART;
}

/* Keep the best PEAKS that are not near better ones, best first. */
static void keep_peak(struct peaks *peaks, const struct video_candidate *peak)
{
    size_t kept = 0;
    for (size_t i = 0; i < peaks->count; i++)
        if (peaks->items[i].weight >= peak->weight &&
            are_near(peaks, &peaks->items[i].line, &peak->line))
            return;
    for (size_t i = 0; i < peaks->count; i++)
        if (!are_near(peaks, &peaks->items[i].line, &peak->line))
            peaks->items[kept++] = peaks->items[i];
    peaks->count = kept;
    if (kept == PEAKS && peaks->items[PEAKS - 1].weight >= peak->weight)
        return;
    size_t place = kept < PEAKS ? peaks->count++ : PEAKS - 1;
    for (; place && peaks->items[place - 1].weight < peak->weight; place--)
        peaks->items[place] = peaks->items[place - 1];
    peaks->items[place] = *peak;
}

static void vote_at_speed(const struct vote_group *group, struct video_ballot *ballot, double speed,
                          struct peaks *peaks)
{
    struct votes_peak found[VOTES_BEST];
    uint64_t *votes = ballot->votes;
    for (size_t i = 0; i < group->count; i++) {
        const struct video_hit *hit = &group->hits[i];
        double offset_ms = hit->start_ms - speed * 1000 * seconds_of(group, hit);
        votes[i] = vote_hit((uint64_t)((offset_ms + BIAS_MS) / STEP_MS), voter_of(hit));
    }
    if (group->count < 32)
        insertion_sort_u64(votes, group->count);
    else
        votes = radix_sort(votes, ballot->scratch, group->count, VOTER_BITS, VOTER_BITS + 33);
    struct votes counted = {votes, group->count, ballot->weights, ballot->seen, PEAKS};
    size_t count = votes_count(&counted, NULL, NULL, found);
    for (size_t i = 0; i < count; i++) {
        double offset = (((double)found[i].middle + .5) * STEP_MS - BIAS_MS) / 1000;
        struct video_candidate peak = {.id = group->hits[0].id,
                                       .line = {offset, speed},
                                       .weight = (double)found[i].weight / 1000};
        keep_peak(peaks, &peak);
    }
}

/* ---- fits ---- */

/* Weighted sums for a least squares line. */
struct vote_sums {
    double weight, x, y, xx, xy;
};

static void add_near(const struct vote_group *group, const struct video_line *line, double within,
                     struct vote_sums *sums)
{
    for (size_t i = 0; i < group->count; i++) {
        double x = seconds_of(group, &group->hits[i]), y = video_seconds(group->hits[i].start_ms);
        if (fabs(y - video_line_at(line, x)) > within)
            continue;
        double weight = weight_of_group(group, &group->hits[i]);
        sums->weight += weight;
        sums->x += weight * x;
        sums->y += weight * y;
        sums->xx += weight * x * x;
        sums->xy += weight * x * y;
    }
}

/* Trimmed least squares. Where the hits lie too close in time, they tell the offset only. */
static void fit_group(const struct vote_group *group, struct video_line *line)
{
    for (int i = 0; i < FITS; i++) {
        struct vote_sums sums = {0};
        add_near(group, line, WITHIN[i], &sums);
        if (!(sums.weight > 0))
            return;
        double spread = sums.xx - sums.x * sums.x / sums.weight;
        double speed = (sums.xy - sums.x * sums.y / sums.weight) / spread;
        if (!group->task->options->same_speed && spread / sums.weight > 4)
            line->speed = fmin(fmax(speed, VIDEO_SPEED_LEAST), VIDEO_SPEED_MOST);
        line->offset = (sums.y - line->speed * sums.x) / sums.weight;
    }
}

/* The view that has most of the hits of a line. */
static uint32_t view_of_group(const struct vote_group *group, const struct video_line *line)
{
    double weights[VIDEO_VIEWS_MAX] = {0};
    uint32_t best = group->hits[0].view;
    for (size_t i = 0; i < group->count; i++) {
        const struct video_hit *hit = &group->hits[i];
        if (fabs(video_seconds(hit->start_ms) - video_line_at(line, seconds_of(group, hit))) >
            WITHIN[0])
            continue;
        weights[hit->view] += weight_of_group(group, hit);
        if (weights[hit->view] > weights[best])
            best = hit->view;
    }
    return best;
}

/* ---- all ---- */

static bool vote_group(const struct vote_group *group, struct video_ballot *ballot,
                       video_candidates *out)
{
    struct peaks peaks = {.middle = 0};
    for (size_t i = 0; i < group->count; i++) {
        peaks.middle += seconds_of(group, &group->hits[i]) / (double)group->count;
        peaks.item_middle += video_seconds(group->hits[i].start_ms) / (double)group->count;
    }
    int speeds = set_weights(group, ballot) > 1 && !group->task->options->same_speed;
    vote_at_speed(group, ballot, 1, &peaks);
    for (int i = 1; speeds && i <= SPEEDS_A_SIDE; i++) {
        vote_at_speed(group, ballot, pow(SPEED_STEP, i), &peaks);
        vote_at_speed(group, ballot, pow(SPEED_STEP, -i), &peaks);
    }
    for (size_t i = 0; i < peaks.count; i++) {
        struct video_candidate *peak = &peaks.items[i];
        fit_group(group, &peak->line);
        peak->view = view_of_group(group, &peak->line);
        peak->part = group->hits[0].part;
        if (!array_push(out, *peak))
            return false;
    }
    return true;
}

static int compare_vote_items(const void *a, const void *b)
{
    const struct video_candidate *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->line.offset != y->line.offset)
        return x->line.offset < y->line.offset ? -1 : 1;
    return (x->view > y->view) - (x->view < y->view);
}

static bool init_ballot(struct video_ballot *ballot, size_t hits, size_t runs)
{
    size_t voters = runs < 1u << VOTER_BITS ? runs : 1u << VOTER_BITS;
    *ballot = (struct video_ballot){.votes = malloc((hits + 1) * sizeof *ballot->votes),
                                    .scratch = malloc((hits + 1) * sizeof *ballot->scratch),
                                    .weights = calloc(voters + 1, sizeof *ballot->weights),
                                    .seen = calloc(voters + 1, sizeof *ballot->seen)};
    return ballot->votes && ballot->scratch && ballot->weights && ballot->seen;
}

bool videos_vote(const struct video_task *task, const struct video_hits *hits,
                 video_candidates *out)
{
    struct video_ballot ballot;
    bool done = init_ballot(&ballot, hits->count, task->query->count);
    for (size_t first = 0, end; done && first < hits->count; first = end) {
        uint64_t number = video_hit_group(task, &hits->items[first]);
        for (end = first + 1; end < hits->count; end++)
            if (video_hit_group(task, &hits->items[end]) != number)
                break;
        struct vote_group group = {task, hits->items + first, end - first};
        done = vote_group(&group, &ballot, out);
    }
    if (done && out->count)
        qsort(out->items, out->count, sizeof *out->items, compare_vote_items);
    free(ballot.votes);
    free(ballot.scratch);
    free(ballot.weights);
    free(ballot.seen);
    return done;
}
