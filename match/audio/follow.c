/*
 * An alignment followed as far as it goes. The query's peaks are looked up in the item block by
 * block, on a line that is fitted again as it goes, so that a recording that drifts stays one. What
 * each look is worth depends on how often the same peak is met at shifted alignments of the same
 * item, where only chance, rhythm and held notes meet it. A walk ends where the sum has fallen too
 * far, or for too long, below its highest.
 *
 * Source of the ending: Altschul and others, "Basic Local Alignment Search Tool" (1990).
 */
#include "match/audio/follow.h"

#include <math.h>

#include "core/try.h"

enum {
    STEPS = DOPPEL_AUDIO_TIME_STEPS,
    BLOCK = 344,      /* steps: half a second */
    BLOCK_MOST = 256, /* peaks of a block: more are of no real audio */
    SHIFTS = 24,
    FIT_STEPS = 20 * BLOCK, /* the line is fitted to as much */
    GAP_BLOCKS = 10,        /* with audio, that may pass without a new highest sum */
    SILENT_BLOCKS = 120,    /* with and without audio */
    PIECE_BLOCKS = 64       /* of the piece a walk begins with, at most */
};

/* Nats a walk may lose. */
static const double MOST_LOSS = 20;

/* Shares above chance: of a recording in noise both its strong peaks and its weaker ones are found
 * among those of an item, which are strong; of a clean one just the strong ones. */
const struct level follow_levels[LEVELS] = {
    {0.08, 0.05}, {0.2, 0.12}, {0.4, 0.2}, {0.7, 0.2}, {0.95, 0.1}};

/* What music may have in common that is not the same, above what is met at any other place. */
static const struct level alike = {0.15, 0.08};

/* Of a block, that its level is the last one's. */
static const double STAY = 0.9;

/* Hops; primes, so that no rhythm agrees with many of them. */
static const int8_t shifts[SHIFTS] = {-97, -83, -71, -61, -53, -47, -41, -37, -29, -23, -17, -11,
                                      11,  17,  23,  29,  37,  41,  47,  53,  61,  71,  83,  97};

struct follow_walk {
    struct pursuit *pursuit;
    uint64_t id;
    struct line line;
    bool back;
    look_array views;
    double item_end;           /* steps */
    double tried, met_shifted; /* looks at shifted alignments */
    double weights[LEVELS];    /* ln of each level's share in the sum */
    double sum;
};

/* ---- looking ---- */

/* Steps of a time in seconds, also below 0. */
static double steps_at(double seconds)
{
    double zero = doppel_audio_seconds(0), one = doppel_audio_seconds(1);
    return (seconds - zero) / (one - zero);
}

static float chance_of(struct follow_walk *walk, double place, double frequency)
{
    uint32_t tried = 0, met = 0;
    for (int i = 0; i < SHIFTS; i++) {
        double shifted = place + shifts[i] * STEPS;
        if (shifted < 0 || shifted > walk->item_end)
            continue;
        tried++;
        met += view_near(walk->pursuit->view, shifted, frequency) != NULL;
    }
    double usual = (walk->met_shifted + 1) / (walk->tried + 20);
    walk->tried += tried;
    walk->met_shifted += met;
    double chance = (met + 2 * usual) / (tried + 2);
    return (float)fmin(fmax(chance, 0.005), 0.999);
}

static bool look_up_walk(struct follow_walk *walk, const struct doppel_audio_peak *peak)
{
    double place = line_at(&walk->line, peak->time);
    double frequency = peak->frequency / walk->line.pitch;
    const struct doppel_audio_peak *near = view_near(walk->pursuit->view, place, frequency);
    struct look look = {.time = peak->time,
                        .frequency = peak->frequency,
                        .chance = chance_of(walk, place, frequency),
                        .met = near,
                        .strong = peak->strong};
    if (near) {
        look.place = near->time;
        look.late = (float)(near->time - place);
        look.found = near->frequency;
        look.high = (float)(near->frequency - frequency);
    }
    return array_push(&walk->views, look);
}

/* Have the item at hand where the query's [from, to) lies on the line. */
static enum doppel_status cover(struct follow_walk *walk, double from, double to)
{
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    double margin = (shifts[SHIFTS - 1] + 2) * STEPS;
    struct item_view *view = walk->pursuit->view;
    bool done = view_cover(view, walk->id, line_at(&walk->line, from) - margin,
                           line_at(&walk->line, to) + margin, &status);
    if (!done)
        return status;
    walk->item_end = view->duration > 0 ? steps_at(view->duration) : view->to;
    return DOPPEL_OK;
}

/* Look up the peaks [first, end) in the direction of the walk, BLOCK_MOST of them at most. */
static bool look_up_block(struct follow_walk *walk, size_t first, size_t end)
{
    const struct doppel_audio_peak *peaks = walk->pursuit->query->peaks;
    size_t count = end - first < BLOCK_MOST ? end - first : BLOCK_MOST;
    for (size_t i = 0; i < count; i++)
        if (!look_up_walk(walk, &peaks[walk->back ? end - 1 - i : first + i]))
            return false;
    return true;
}

/* ---- judging ---- */

double view_evidence(const struct look *look, double share)
{
    if (!look->met)
        return log1p(-share);
    return log1p(share * (1 - look->chance) / look->chance);
}

static double log_sum(const double terms[LEVELS])
{
    double most = terms[0], sum = 0;
    for (int i = 1; i < LEVELS; i++)
        most = fmax(most, terms[i]);
    for (int i = 0; i < LEVELS; i++)
        sum += exp(terms[i] - most);
    return most + log(sum);
}

static void forget_level(struct follow_walk *walk)
{
    for (int i = 0; i < LEVELS; i++)
        walk->weights[i] = -log(LEVELS);
    walk->sum = 0;
}

/* Add the looks since `from` to the sum: of all ways in which the level may have changed. */
static void score_walk(struct follow_walk *walk, size_t from)
{
    double all = log_sum(walk->weights), next[LEVELS];
    for (int i = 0; i < LEVELS; i++) {
        double own = exp(walk->weights[i] - all);
        next[i] = all + log(STAY * own + (1 - STAY) / (LEVELS - 1) * (1 - own));
        for (size_t k = from; k < walk->views.count; k++) {
            const struct look *look = &walk->views.items[k];
            next[i] += view_evidence(look, look_share(look, &follow_levels[i]));
        }
    }
    for (int i = 0; i < LEVELS; i++)
        walk->weights[i] = next[i];
    walk->sum = log_sum(next);
}

/* ---- walking ---- */

/* How far a walk came, at its highest sum. */
struct walk_reach {
    double sum; /* nats */
    size_t views;
    struct line line;
};

/* The looks about the last one, as many as a line is fitted to. */
static void fit_walk(struct follow_walk *walk)
{
    const look_array *views = &walk->views;
    size_t first = views->count;
    double last = views->count ? views->items[views->count - 1].time : 0;
    while (first && fabs(views->items[first - 1].time - last) <= FIT_STEPS)
        first--;
    line_fit(&walk->line, views->items + first, views->count - first);
}

/* A step of a walk: the query's times [from, to), the peaks [first, end) of them. */
struct audio_block {
    double from, to;
    size_t first, end;
};

static struct audio_block next_block(const struct follow_walk *walk, const struct audio_block *last)
{
    const struct doppel_recording *query = walk->pursuit->query;
    struct audio_block next;
    if (walk->back) {
        next = (struct audio_block){last->from - BLOCK, last->from, last->first, last->first};
        while (next.first && query->peaks[next.first - 1].time >= next.from)
            next.first--;
    } else {
        next = (struct audio_block){last->to, last->to + BLOCK, last->end, last->end};
        while (next.end < query->count && query->peaks[next.end].time < next.to)
            next.end++;
    }
    return next;
}

static bool at_end(const struct follow_walk *walk, const struct audio_block *last)
{
    double place = line_at(&walk->line, walk->back ? last->from : last->to);
    if (walk->back)
        return !last->first || place < -MEET_TIME;
    return last->end == walk->pursuit->query->count || place > walk->item_end + MEET_TIME;
}

static bool item_audio_walk(const struct follow_walk *walk, const struct audio_block *block)
{
    const struct item_view *view = walk->pursuit->view;
    double from = fmax(line_at(&walk->line, block->from), view->from);
    double to = fmin(line_at(&walk->line, block->to), view->to - 1);
    if (!(from < to))
        return false;
    return view->starts[(size_t)((from - view->from) / STEPS)] <
           view->starts[(size_t)((to - view->from) / STEPS)];
}

/* Walk on from a block that was looked at. */
static enum doppel_status walk_on(struct follow_walk *walk, struct audio_block block,
                                  struct walk_reach *out)
{
    struct walk_reach best = {.line = walk->line};
    for (int gap = 0, silent = 0; gap <= GAP_BLOCKS && silent <= SILENT_BLOCKS;) {
        if (at_end(walk, &block))
            break;
        block = next_block(walk, &block);
        enum doppel_status status = cover(walk, block.from, block.to);
        if (status)
            return status;
        size_t before = walk->views.count;
        if (!look_up_block(walk, block.first, block.end))
            return DOPPEL_E_MEMORY;
        walk->pursuit->walked += 0.5;
        score_walk(walk, before);
        gap += walk->views.count > before || item_audio_walk(walk, &block);
        silent++;
        if (walk->views.count > before && walk->sum > best.sum) {
            fit_walk(walk);
            best = (struct walk_reach){walk->sum, walk->views.count, walk->line};
            gap = silent = 0;
        }
        if (walk->sum < best.sum - MOST_LOSS)
            break;
    }
    *out = best;
    return DOPPEL_OK;
}

/* ---- the whole ---- */

/* Where in the piece the alignment is at its best: its first block, before it; and fit the line to
 * it. */
static enum doppel_status locate_walk(struct follow_walk *walk, size_t first, size_t end,
                                      struct audio_block *out)
{
    double time = walk->pursuit->query->peaks[first].time, sum = 0, best = -INFINITY;
    struct audio_block block = {time, time, first, first}, start = block;
    size_t start_look = 0, best_first = 0, best_end = 0;
    *out = block;
    for (int i = 0; i < PIECE_BLOCKS && block.end < end; i++) {
        size_t before = walk->views.count;
        if (sum <= 0) {
            start = (struct audio_block){block.to, block.to, block.end, block.end};
            start_look = before;
            sum = 0;
        }
        block = next_block(walk, &block);
        enum doppel_status status = cover(walk, block.from, block.to);
        if (status)
            return status;
        if (!look_up_block(walk, block.first, block.end))
            return DOPPEL_E_MEMORY;
        forget_level(walk);
        score_walk(walk, before);
        sum += walk->sum;
        if (sum <= best)
            continue;
        best = sum;
        best_first = start_look;
        best_end = walk->views.count;
        *out = start;
    }
    line_fit(&walk->line, walk->views.items + best_first, best_end - best_first);
    walk->views.count = 0;
    return DOPPEL_OK;
}

/* Walk one way, and put the looks where they are wanted. */
static enum doppel_status go(struct follow_walk *walk, bool back, struct audio_block start,
                             struct walk_reach *out, look_array *out_looks)
{
    struct line line = walk->line;
    walk->back = back;
    forget_level(walk);
    enum doppel_status status = walk_on(walk, start, out);
    *out_looks = walk->views;
    walk->views = (look_array){0};
    walk->line = line;
    return status;
}

static void reverse(look_array *views)
{
    for (size_t i = 0, j = views->count; i + 1 < j; i++) {
        struct look last = views->items[--j];
        views->items[j] = views->items[i];
        views->items[i] = last;
    }
}

static bool append_looks(look_array *views, const look_array *more)
{
    for (size_t i = 0; i < more->count; i++)
        if (!array_push(views, more->items[i]))
            return false;
    return true;
}

/* What the looks of a run say together. */
static void sum_up(const look_array *views, size_t first, size_t end, struct run *run)
{
    for (size_t i = first; i < end; i++) {
        const struct look *look = &views->items[i];
        if (!look->strong)
            continue;
        run->strong++;
        run->met += look->met;
        run->by_chance += look->chance;
    }
    struct line line = run->first; /* and from there to the last: in between it may have bent */
    double span = run->last.time - run->first.time;
    if (span > 0)
        line.speed = (run->last.place - run->first.place) / span;
    run->speed_error = line_fit(&line, views->items + first, end - first);
    run->speed = line.speed;
    run->pitch = line.pitch;
}

/* Evidence against music that is alike by its beat and key, of the looks outside of the piece. */
static double evidence_beyond(const struct look *views, size_t count, const double piece[2])
{
    double best = 0;
    for (int k = 0; k < LEVELS; k++) {
        if (follow_levels[k].strong <= alike.strong)
            continue;
        double sum = -log(LEVELS);
        for (size_t i = 0; i < count; i++)
            if (views[i].time < piece[0] || views[i].time >= piece[1])
                sum += view_evidence(&views[i], look_share(&views[i], &follow_levels[k])) -
                       view_evidence(&views[i], look_share(&views[i], &alike));
        best = fmax(best, sum);
    }
    return best;
}

/* Looks in order of time, of which [first, end) are about the run: make it exact. */
static void cut_ends(look_array *views, size_t first, size_t end, const double piece[2],
                     struct run *run)
{
    const struct look *at = views->items;
    end = first + end_of_views(at + first, views->count - first, end - first);
    reverse(views);
    size_t left = views->count - end;
    first = end_of_views(at + left, views->count - left, end - first);
    reverse(views);
    first = end - first;
    run->last.place = line_at(&run->last, at[end - 1].time);
    run->last.time = at[end - 1].time;
    run->first.place = line_at(&run->first, at[first].time);
    run->first.time = at[first].time;
    sum_up(views, first, end, run);
    run->beyond = evidence_beyond(at + first, end - first, piece);
}

static enum doppel_status walk_both_ways(struct follow_walk *walk, size_t first, size_t end,
                                         look_array *views, struct run *run)
{
    look_array ahead = {0};
    struct walk_reach reach[2];
    struct audio_block start;
    const struct doppel_audio_peak *peaks = walk->pursuit->query->peaks;
    double piece[2] = {peaks[first].time, peaks[end - 1].time + 1.0};
    enum doppel_status status;
    TRY(locate_walk(walk, first, end, &start));
    TRY(go(walk, true, start, &reach[0], views));
    TRY(go(walk, false, start, &reach[1], &ahead));
    size_t before = views->count;
    reverse(views);
    if (!append_looks(views, &ahead))
        TRY(DOPPEL_E_MEMORY);
    if (!(reach[0].views + reach[1].views))
        TRY(DOPPEL_E_NOT_FOUND);
    *run = (struct run){.id = walk->id, .first = reach[0].line, .last = reach[1].line};
    run->evidence = reach[0].sum + reach[1].sum;
    cut_ends(views, before - reach[0].views, before + reach[1].views, piece, run);
done:
    array_free(&ahead);
    return status;
}

enum doppel_status follow(struct pursuit *pursuit, const struct alignment *alignment, size_t first,
                          size_t end, struct run *out)
{
    struct follow_walk walk = {.pursuit = pursuit,
                               .id = alignment->id,
                               .line = {0, alignment->offset, alignment->speed, alignment->pitch}};
    look_array views = {0};
    struct run run;
    enum doppel_status status = walk_both_ways(&walk, first, end, &views, &run);
    array_free(&walk.views);
    array_free(&views);
    if (status)
        return status;
    run.item_duration = pursuit->view->duration;
    run_place_ends(pursuit, &run);
    *out = run;
    return DOPPEL_OK;
}
