/* Where two recordings that are alike begin and cease to be, to the peak; and lines through what is
 * met. */
#include <math.h>

#include "match/audio/follow.h"

/* ---- lines ---- */

/* Steps by which what is really met is off the line, about; and how far speed and pitch of a line
 * are believed to be off, before anything is met. */
static const double TIME_OFF = 5, FREQUENCY_OFF = 20, SLOPE_OFF = 0.003;

static double fit_within(struct line *line, const struct look *views, size_t count, double within)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, ff = 0, fg = 0;
    for (size_t i = 0; i < count; i++) {
        const struct look *look = &views[i];
        double time = look->time - line->time, late = look->place - line_at(line, look->time);
        double high = look->found - look->frequency / line->pitch;
        if (!look->met || fabs(late) > within * MEET_TIME || fabs(high) > within * MEET_FREQUENCY)
            continue;
        n++;
        x += time;
        y += late;
        xx += time * time;
        xy += time * late;
        ff += (double)look->frequency * look->frequency;
        fg += look->frequency * high;
    }
    if (n < 4)
        return SLOPE_OFF;
    double spread = xx - x * x / n, prior = TIME_OFF * TIME_OFF / (SLOPE_OFF * SLOPE_OFF);
    double slope = (xy - x * y / n) / (spread + prior);
    line->place += (y - slope * x) / n;
    line->speed += slope;
    double pitch_prior = FREQUENCY_OFF * FREQUENCY_OFF / (SLOPE_OFF * SLOPE_OFF);
    line->pitch = 1 / (1 / line->pitch + fg / (ff + pitch_prior));
    return TIME_OFF / sqrt(spread + prior);
}

double line_fit(struct line *line, const struct look *views, size_t count)
{
    if (!count)
        return SLOPE_OFF;
    double time = views[count - 1].time;
    *line = (struct line){time, line_at(line, time), line->speed, line->pitch};
    fit_within(line, views, count, 1);
    return fit_within(line, views, count, 0.6);
}

/* ---- ends ---- */

enum {
    LEVEL_STEPS = 2756, /* four seconds, of which the level is taken */
    DOUBT_STEPS = 1033  /* the end is sought a second and a half before and behind */
};

/* What looks inside are like. */
struct likeness {
    struct level level;
    double time_off, frequency_off; /* steps, about */
};

static struct likeness likeness_of(const struct look *views, size_t count)
{
    struct likeness like = {
        .level = follow_levels[0], .time_off = MEET_TIME, .frequency_off = MEET_FREQUENCY};
    double best = -INFINITY, met = 0, late = 0, high = 0;
    for (int k = 0; k < LEVELS; k++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += view_evidence(&views[i], look_share(&views[i], &follow_levels[k]));
        if (sum > best)
            like.level = follow_levels[k];
        best = fmax(best, sum);
    }
    for (size_t i = 0; i < count; i++) {
        if (!views[i].met)
            continue;
        met++;
        late += fabs(views[i].late);
        high += fabs(views[i].high);
    }
    if (met < 8)
        return like;
    /* of a normal law the mean is .8 standard deviations away */
    like.time_off = fmax(late / met * 1.25, 1.5);
    like.frequency_off = fmax(high / met * 1.25, 3);
    return like;
}

/* How much denser what is really met lies at this distance than what is met by chance, which lies
 * anywhere within the limit. */
static double denser(double away, double off, double limit)
{
    double normal = exp(-away * away / (2 * off * off)) / (off * 2.5066);
    return 0.02 + 0.98 * normal * 2 * limit;
}

/* Near an end even of a clean copy windows hold both recordings, and peaks of neither. */
static const double MOST_SHARE = 0.5;

static double evidence_of_view(const struct look *look, const struct likeness *like)
{
    double share = fmin(look_share(look, &like->level), MOST_SHARE);
    if (!look->met)
        return log1p(-share);
    double real = denser(look->late, like->time_off, MEET_TIME) *
                  denser(look->high, like->frequency_off, MEET_FREQUENCY);
    return log(share * (1 - look->chance) / look->chance * real + 1);
}

size_t end_of_views(const struct look *views, size_t count, size_t coarse)
{
    if (!coarse)
        return 0;
    double end = views[coarse - 1].time;
    size_t first = coarse, doubt = coarse, last = coarse;
    while (first && fabs(views[first - 1].time - end) <= LEVEL_STEPS)
        first--;
    while (doubt && fabs(views[doubt - 1].time - end) <= DOUBT_STEPS)
        doubt--;
    while (last < count && fabs(views[last].time - end) <= DOUBT_STEPS)
        last++;
    struct likeness like = likeness_of(views + first, coarse - first);
    double sum = 0, best = -INFINITY;
    size_t found = 0;
    for (size_t i = doubt; i < last; i++) {
        sum += evidence_of_view(&views[i], &like);
        if (!views[i].met || sum <= best)
            continue;
        best = sum;
        found = i + 1;
    }
    return found ? found : coarse;
}

/* ---- seconds ---- */

/* Steps: so near to an end of a recording it may be reached without a peak. */
static const double REACH = 138;
/* Steps: beyond a last peak farther ones tell nothing about where the end is. */
static const double PAST_MOST = 138;

static double steps_of(double seconds)
{
    double zero = doppel_audio_seconds(0), one = doppel_audio_seconds(1);
    return (seconds - zero) / (one - zero);
}

size_t query_peak_at(const struct doppel_recording *query, double time)
{
    size_t low = 0, high = query->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (query->peaks[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether strong peaks of the query lie in [from, to). */
static bool query_audio(const struct doppel_recording *query, double from, double to)
{
    for (size_t i = query_peak_at(query, from); i < query->count && query->peaks[i].time < to; i++)
        if (query->peaks[i].strong)
            return true;
    return false;
}

static bool item_audio_pursuit(const struct pursuit *pursuit, uint64_t id, double from, double to)
{
    enum { PIECE = 13781 }; /* steps: twenty seconds */
    struct item_view *view = pursuit->view;
    while (from < to) {
        double end = fmin(from + PIECE, to);
        enum doppel_status status;
        if (!view_cover(view, id, from, end, &status))
            return true;
        for (size_t i = 0; i < view->count; i++)
            if (view->peaks[i].time >= from && view->peaks[i].time < end)
                return true;
        from = end;
    }
    return false;
}

/* Whether nothing recordings from a time of the query on up to a later one, or in the item there.
 */
static bool is_silent(const struct pursuit *pursuit, const struct run *run, const struct line *line,
                      double from, double to)
{
    return !query_audio(pursuit->query, from, to) &&
           !item_audio_pursuit(pursuit, run->id, line_at(line, from), line_at(line, to));
}

/* Steps from a peak of the query to the next one, later or earlier, PAST_MOST at most. */
static double query_gap(const struct doppel_recording *query, double time, bool back)
{
    double gap = PAST_MOST;
    double from = back ? time - PAST_MOST : time + 1, to = back ? time : time + PAST_MOST;
    for (size_t i = query_peak_at(query, from); i < query->count && query->peaks[i].time < to; i++)
        gap = fmin(gap, fabs(query->peaks[i].time - time));
    return gap;
}

/* Likewise of the item, but for the peak that is met itself. */
static double item_gap(const struct item_view *view, double place, bool back)
{
    enum { ITSELF = 3 };
    double gap = PAST_MOST;
    for (size_t i = 0; i < view->count; i++) {
        double away = (view->peaks[i].time - place) * (back ? -1 : 1);
        if (away > ITSELF)
            gap = fmin(gap, away);
    }
    return gap;
}

/*
 * How far beyond the last peak that is met the two recordings are alike, in steps: part of the way
 * to the next peaks, which are not met any more. Measured on music that was pasted into other music
 * (docs/methods.md).
 */
static double past(const struct pursuit *pursuit, const struct run *run, bool back)
{
    const struct line *line = back ? &run->first : &run->last;
    enum doppel_status status;
    double item = 0;
    if (view_cover(pursuit->view, run->id, line->place - PAST_MOST, line->place + PAST_MOST,
                   &status))
        item = item_gap(pursuit->view, line->place, back);
    return 14 + 0.5 * query_gap(pursuit->query, line->time, back) + 0.4 * item;
}

static void place_end(const struct pursuit *pursuit, struct run *run)
{
    const struct line *line = &run->last;
    double end = steps_of(pursuit->query->duration), item_end = pursuit->view->duration;
    if (item_end > 0)
        end = fmin(end, line->time + (steps_of(item_end) - line->place) / line->speed);
    end = fmax(end, line->time);
    if (!is_silent(pursuit, run, line, line->time + REACH, end))
        end = fmin(end, line->time + past(pursuit, run, false));
    run->a_end = fmin(doppel_audio_seconds(end), pursuit->query->duration);
    run->b_end = doppel_audio_seconds(line_at(line, end));
    if (item_end > 0)
        run->b_end = fmin(run->b_end, item_end);
}

static void place_start(const struct pursuit *pursuit, struct run *run)
{
    const struct line *line = &run->first;
    double start = fmax(steps_of(0), line->time + (steps_of(0) - line->place) / line->speed);
    start = fmin(start, line->time);
    if (!is_silent(pursuit, run, line, start, line->time - REACH))
        start = fmax(start, line->time - past(pursuit, run, true));
    run->a_start = fmax(doppel_audio_seconds(start), 0);
    run->b_start = fmax(doppel_audio_seconds(line_at(line, start)), 0);
}

void run_place_ends(const struct pursuit *pursuit, struct run *run)
{
    place_end(pursuit, run);
    place_start(pursuit, run);
    run->a_start = fmin(run->a_start, run->a_end);
    run->b_start = fmin(run->b_start, run->b_end);
}
