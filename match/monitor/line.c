/* Following a line: is the item still heard there, and since when? A hidden Markov model of two
 * states, by Viterbi's algorithm; each of the stream's peaks speaks for one of them. */
#include <math.h>

#include "match/monitor/monitor_internal.h"

enum {
    STEPS = DOPPEL_AUDIO_TIME_STEPS,
    SHIFTS = 8,
    LEAST_MET = 8, /* peaks from which the line is moved */
    SILENCE = 1 * MONITOR_STEPS_SECOND,
    SURE = 5 * MONITOR_STEPS_SECOND / 4,
    OVER = 3 * MONITOR_STEPS_SECOND, /* of silence, with nothing of the item to come: it is over */
    AHEAD = 10 * MONITOR_STEPS_SECOND
};

/* ln of the odds at which a change from heard to not heard, or back, is believed. */
static const double CHANGE = 12;
/* Of the share of peaks that are the item's: what it is taken for at least and at most, and how
 * fast it follows, by second. */
static const double LEAST_SHARE = 0.06, MOST_SHARE = 0.5, SHARE_GAIN = 0.1;
/* How fast `recent` follows, by second. */
static const double RECENT_GAIN = 0.3;
/* A loop of second order keeps to the item, by what its peaks are late: of a second's lateness, so
 * much is made up for at once, and so much by its speed. */
static const double MOVE_GAIN = 0.4, SPEED_GAIN = 0.06;
/* How often a peak is met by chance: so often, before counting, and that many peaks it counts for.
 */
static const double PRIOR_CHANCE = 0.05, PRIOR_WEIGHT = 4;

static const int shifts[SHIFTS] = {-53, -37, -23, -13, 11, 19, 31, 47}; /* hops */

static double within_share(double met, double peaks, double by_chance)
{
    double share = peaks > 0 ? (met / peaks - by_chance) / (1 - fmin(by_chance, 0.99)) : 0;
    return fmin(fmax(share, LEAST_SHARE), MOST_SHARE);
}

void line_begin(struct monitor_line *line, const struct alignment *alignment,
                const struct monitor_tail *tail, struct item_view view)
{
    *line = (struct monitor_line){
        .anchor = tail->base,
        .at = alignment->offset,
        .speed = alignment->speed,
        .pitch = alignment->pitch,
        .rate = alignment->rate,
        .share = within_share(alignment->met, alignment->peaks, alignment->met_by_chance),
        .begun = tail->base,
        .seen = tail->base,
        .last_peak = tail->base,
        .on = -CHANGE,
        .on_since = tail->base,
        .off_since = tail->base,
        .view = view};
}

void line_resume(struct monitor_line *line)
{
    double chance = line->run.peaks > 0 ? line->run.chance / line->run.peaks : 0;
    line->share = within_share(line->run.met, line->run.peaks, chance);
    line->recent = line->share;
    line->seen = line->last_peak = line->on_since = line->off_since = line->begun;
    line->on = -CHANGE;
    line->off = 0;
}

void line_end(struct monitor_line *line)
{
    view_free(&line->view);
}

bool line_is_on(const struct monitor_line *line)
{
    return line->on > line->off;
}

uint64_t line_certain(const struct monitor_line *line)
{
    return line->off_since;
}

bool line_is_sure(const struct monitor_line *line, uint64_t from)
{
    uint64_t since = line->on_since > from ? line->on_since : from;
    return line_is_on(line) && line->last_peak >= since + SURE;
}

void line_move(struct monitor_line *line, const struct alignment *alignment,
               const struct monitor_tail *tail)
{
    line->anchor = tail->base;
    line->at = alignment->offset;
    line->speed = alignment->speed;
    line->pitch = alignment->pitch;
}

double line_item_time(const struct monitor_line *line, uint64_t step)
{
    return line->at + line->speed * ((double)step - (double)line->anchor);
}

/* How often the item meets such a peak where it should not: at shifted places. */
static double chance(const struct item_view *view, double time, double frequency)
{
    double met = PRIOR_CHANCE * PRIOR_WEIGHT;
    for (int i = 0; i < SHIFTS; i++)
        met += view_near(view, time + shifts[i] * STEPS, frequency) != NULL;
    return met / (SHIFTS + PRIOR_WEIGHT);
}

/* `odds`: ln of how much likelier the item is heard than not. */
static void weigh_line(struct monitor_line *line, uint64_t step, double odds)
{
    double off = line->off, on = line->on;
    if (on - CHANGE > off) {
        line->off = on - CHANGE;
        line->off_since = line->last_peak;
    }
    if (off - CHANGE > on) {
        on = off - CHANGE;
        line->on_since = step;
        line->run.peaks = line->run.met = line->run.chance = 0;
    }
    line->on = on + odds;
    line->last_peak = step;
    double most = fmax(line->on, line->off); /* only the difference matters */
    line->on -= most;
    line->off -= most;
}

/* What a stretch says of the line's place and of its share. */
struct line_tally {
    uint32_t peaks, met;
    double late, chance;
};

/* The item's peaks in a stretch of it. */
static size_t count_peaks(const struct item_view *view, double from, double to)
{
    size_t count = 0;
    for (size_t i = 0; i < view->count; i++)
        count += view->peaks[i].time >= from && view->peaks[i].time < to;
    return count;
}

/* Where the stream was silent since its last peak, the item was not heard where it should be. */
static void miss(struct monitor_line *line, uint64_t until)
{
    const struct item_view *view = &line->view;
    uint64_t since = line->seen > line->last_peak ? line->seen : line->last_peak;
    if (until < line->last_peak + SILENCE)
        return;
    double from = line_item_time(line, since), to = line_item_time(line, until);
    bool over = until >= line->last_peak + OVER && count_peaks(view, to, to + AHEAD) == 0;
    double missed = over ? INFINITY : (double)count_peaks(view, from, to);
    uint64_t last = line->last_peak;
    if (missed > 0)
        weigh_line(line, last, fmax(missed * log(1 - line->share), -4 * CHANGE));
}

static void meet_line(struct monitor_line *line, const struct doppel_audio_peak *peak,
                      uint64_t step, struct line_tally *tally)
{
    const struct item_view *view = &line->view;
    miss(line, step);
    double time = line_item_time(line, step), frequency = peak->frequency / line->pitch;
    const struct doppel_audio_peak *other = view_near(view, time, frequency);
    double by_chance = chance(view, time, frequency);
    double heard = line->share + (1 - line->share) * by_chance;
    weigh_line(line, step, other ? log(heard / by_chance) : log((1 - heard) / (1 - by_chance)));
    line->run.peaks++;
    line->run.met += other != NULL;
    line->run.chance += by_chance;
    tally->peaks++;
    tally->chance += by_chance;
    if (other) {
        tally->met++;
        tally->late += other->time - time;
    }
}

/* Change the speed from here on. */
static void turn_line(struct monitor_line *line, double speed)
{
    line->at = line_item_time(line, line->seen);
    line->anchor = line->seen;
    line->speed += speed;
}

/* How much of the stream it is now. */
static void watch_share(struct monitor_line *line, const struct line_tally *tally)
{
    double by_chance = tally->peaks ? tally->chance / tally->peaks : 0;
    double share = tally->peaks ? (double)tally->met / tally->peaks - by_chance : 0;
    line->recent += RECENT_GAIN * (share / (1 - fmin(by_chance, 0.99)) - line->recent);
}

/* Stay on the item where clocks differ, and speeds by a little. */
static void adjust(struct monitor_line *line, const struct line_tally *tally)
{
    if (!line_is_on(line) || tally->met < LEAST_MET)
        return;
    double by_chance = tally->chance / tally->peaks;
    double share = within_share(tally->met, tally->peaks, by_chance);
    line->share += SHARE_GAIN * (share - line->share);
    double late = tally->late / tally->met;
    line->at += MOVE_GAIN * late;
    turn_line(line, SPEED_GAIN * late / MONITOR_STEPS_SECOND);
}

bool line_follow(struct monitor_line *line, uint64_t id, const struct monitor_tail *tail,
                 uint64_t until, enum doppel_status *out_status)
{
    struct line_tally tally = {0};
    double margin = 60 * STEPS;
    if (!view_cover(&line->view, id, line_item_time(line, line->seen) - margin,
                    line_item_time(line, until) + AHEAD, out_status))
        return false;
    for (size_t i = 0; i < tail->count; i++) {
        uint64_t step = tail->base + tail->peaks[i].time;
        if (step >= line->seen && step < until)
            meet_line(line, &tail->peaks[i], step, &tally);
    }
    miss(line, until);
    line->seen = until;
    watch_share(line, &tally);
    adjust(line, &tally);
    return true;
}
