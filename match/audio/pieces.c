/*
 * A query looked for piece by piece. One of up to ten seconds is one piece; a longer one is looked
 * for in windows of five, every two and a half, so that a jingle of two seconds lies whole in one
 * of them. What a piece leads to is followed beyond it, and then explains the pieces that come
 * after it.
 */
#include <math.h>
#include <stdlib.h>

#include "core/try.h"
#include "match/audio/segments.h"

enum {
    STEPS_A_SECOND = 689, /* about */
    WINDOW_STEPS = WINDOW_SECONDS * STEPS_A_SECOND,
    WHOLE_STEPS = 10 * STEPS_A_SECOND,
    WINDOW_PEAKS = 4096, /* of a piece; more are of no real audio */
    CROWD = 12,          /* alignments of a window within the limit, of ALIGNMENTS_MAX */
    ROUNDS = 256,        /* in which a query looks for more of them */
    LEAST_PEAKS = 4,
    LINE_APART = 8 * DOPPEL_AUDIO_TIME_STEPS,
    SCALED_FIRST = 3, /* of windows in a row that nothing was found for, these are tried scaled */
    SCALED_EVERY = 8  /* ... and then each eighth */
};

/* Alignments that are rarer by chance than this are followed. */
static const double SEED_RATE = 0.25;

/* Of the evidence of an alignment, that of a run that makes it needless. */
static const double NEARLY = 0.5;

/* What may be followed: so many times the query, and so many seconds. */
static const double WALK_TIMES = 40, WALK_SECONDS = 3600;

/* Of the strong peaks of a run, met but for chance: from where on no other speed is tried, and
 * below which a run is no match. */
static const double FOUND_SHARE = 0.35, FOUND_SHARE_FITTED = 0.65, LEAST_SHARE = 0.02,
                    LEAST_SHARE_SCALED = 0.2;
static const double LEAST_SECONDS_SCALED = 1;
static const double SCALED_FROM = 0.005, SAME_SPEED_WITHIN = 0.01; /* speed or pitch off 1 */
static const double SCALE_APART = 0.01;

struct piece_search {
    const struct hunt *hunt;
    struct doppel_recording query; /* without its faint peaks: they only help to find pieces */
    struct item_view view;
    struct pursuit pursuit;
    run_array *runs;
    double windows; /* tried */
    int rounds;     /* more of a window that was found at many places */
};

/* Peaks [first, end) of the query. */
struct piece_window {
    size_t first, end;
};

static bool source_of(void *context, uint64_t id, uint32_t from, uint32_t to,
                      struct doppel_audio_track *out)
{
    return audio_peaks(context, id, from, to, out);
}

/* ---- windows ---- */

static struct piece_window cut_recording(const struct doppel_recording *query, double from,
                                         double to)
{
    struct piece_window window = {query_peak_at(query, from), query_peak_at(query, to)};
    if (window.end - window.first > WINDOW_PEAKS)
        window.end = window.first + WINDOW_PEAKS;
    return window;
}

/* The window after one that began at `*start`: half a window on, the last one at the end. False:
 * there is none. */
static bool next_window(const struct doppel_recording *query, double *start,
                        struct piece_window *out)
{
    double last = query->peaks[query->count - 1].time + 1.0;
    if (*start + WINDOW_STEPS >= last)
        return false;
    double next = fmin(*start + WINDOW_STEPS / 2.0, last - WINDOW_STEPS);
    double recordings = query->peaks[query_peak_at(query, next)].time; /* silence is passed over */
    *start = fmin(fmax(next, recordings), last - WINDOW_STEPS);
    *out = cut_recording(query, *start, *start + WINDOW_STEPS);
    return true;
}

static bool first_window(const struct doppel_recording *query, double *start,
                         struct piece_window *out)
{
    if (!query->count)
        return false;
    *start = query->peaks[0].time;
    double span = query->peaks[query->count - 1].time - *start;
    if (span <= WHOLE_STEPS)
        *out = cut_recording(query, *start, *start + WHOLE_STEPS + 1);
    else
        *out = cut_recording(query, *start, *start + WINDOW_STEPS);
    if (span <= WHOLE_STEPS)
        *start += WHOLE_STEPS;
    return true;
}

/* ---- runs that there are ---- */

double run_place_near(const struct run *run, double time, double *out_time)
{
    double t = fmin(fmax(time, run->first.time), run->last.time);
    double span = run->last.time - run->first.time;
    double part = span > 0 ? (t - run->first.time) / span : 0;
    *out_time = t;
    return run->first.place + part * (run->last.place - run->first.place);
}

static bool overlaps(const struct run *run, double from, double to)
{
    return run->first.time < to && run->last.time > from;
}

/* At another speed or pitch it is another line, though they cross. */
static bool lies_on(const struct run *run, const struct alignment *alignment, double middle)
{
    double time, place = run_place_near(run, middle, &time);
    bool alike = fabs(run->speed - alignment->speed) <= SCALE_APART &&
                 fabs(run->pitch - alignment->pitch) <= SCALE_APART;
    return alike && fabs(place - (alignment->offset + alignment->speed * time)) <= LINE_APART;
}

/* Whether a run goes through the item at the same place and another one through the query, so that
 * the item's own repetitions are all that the alignment tells. */
static bool is_implied_search(const struct piece_search *search, const struct alignment *alignment,
                              double middle)
{
    double place = alignment->offset + alignment->speed * middle;
    bool query = false, item = false;
    for (size_t i = 0; i < search->runs->count; i++) {
        const struct run *run = &search->runs->items[i];
        if (run->id != alignment->id)
            continue;
        query |= overlaps(run, middle, middle);
        item |= run->first.place < place && run->last.place > place;
    }
    return query && item;
}

/* Whether a run tells where the piece is next, nearly as well as the alignment does. */
static bool is_nearer(const struct run *run, const struct alignment *alignment, double from,
                      double to)
{
    double middle = (from + to) / 2, time, place = run_place_near(run, middle, &time);
    double share = (to - from) / fmax(run->last.time - run->first.time, to - from);
    return time == middle && place - LINE_APART <= alignment->offset + alignment->speed * middle &&
           run->evidence * share >= NEARLY * alignment->score;
}

/* Whether the alignment of a piece need not be followed. */
static bool is_known_search(const struct piece_search *search, const struct alignment *alignment,
                            double from, double to)
{
    double middle = (from + to) / 2;
    for (size_t i = 0; i < search->runs->count; i++) {
        struct run *run = &search->runs->items[i];
        if (run->id != alignment->id || !overlaps(run, from, to))
            continue;
        if (search->hunt->next_only && is_nearer(run, alignment, from, to))
            return true;
        if (lies_on(run, alignment, middle) && run->evidence >= NEARLY * alignment->score) {
            run->seed_rate = fmin(run->seed_rate, alignment->rate);
            return true;
        }
    }
    return !search->hunt->next_only && is_implied_search(search, alignment, middle);
}

/* ---- the search ---- */

static enum doppel_status follow_all(struct piece_search *search, struct piece_window window,
                                     const struct alignment *found, size_t count,
                                     struct doppel_error *error)
{
    const struct doppel_recording *query = &search->query;
    double from = query->peaks[window.first].time, to = query->peaks[window.end - 1].time;
    double budget = WALK_TIMES * query->duration + WALK_SECONDS;
    for (size_t i = 0; i < count && search->pursuit.walked < budget; i++) {
        struct run run;
        if (found[i].rate > SEED_RATE || is_known_search(search, &found[i], from, to))
            continue;
        enum doppel_status status =
            follow(&search->pursuit, &found[i], window.first, window.end, &run);
        if (status == DOPPEL_E_NOT_FOUND)
            continue;
        run.seed_rate = found[i].rate;
        if (status || !array_push(search->runs, run))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to follow a recording");
    }
    return DOPPEL_OK;
}

static int by_offset(const void *a, const void *b)
{
    const struct alignment *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* What was found of a window, to be passed over when it is looked for once more. */
struct found_before {
    struct alignment_skip *items;
    size_t count;
};

static bool add_found(struct found_before *before, const struct alignment *found, size_t count,
                      double middle, const struct alignment_skip *last)
{
    size_t all = before->count + count;
    struct alignment_skip *items = realloc(before->items, (all + 1) * sizeof *items);
    if (!items)
        return false;
    for (size_t i = 0; i < count; i++)
        items[before->count + i] =
            (struct alignment_skip){.id = found[i].id,
                                    .offset = found[i].offset + (found[i].speed - 1) * middle,
                                    .within = LINE_APART};
    for (size_t i = 0; i < all; i++)
        items[i].next = i + 1 < all ? &items[i + 1] : last;
    *before = (struct found_before){items, all};
    return true;
}

/* So many of the alignments are within the limit that there may be more than a search tells. */
static bool is_crowded(const struct hunt *hunt, const struct alignment *found, size_t count)
{
    size_t within = 0;
    for (size_t i = 0; i < count; i++)
        within += found[i].rate <= hunt->options->max_false_positives;
    return within >= CROWD && !hunt->next_only;
}

static enum doppel_status try_window(struct piece_search *search, struct piece_window window,
                                     bool same_speed, struct doppel_error *error)
{
    const struct hunt *hunt = search->hunt;
    const struct doppel_audio_peak *peaks = search->query.peaks + window.first;
    struct doppel_audio_options options = *hunt->options;
    struct found_before before = {0};
    struct alignment found[ALIGNMENTS_MAX];
    enum doppel_status status = DOPPEL_OK;
    size_t count = window.end - window.first, found_count = 0;
    if (count < LEAST_PEAKS)
        return DOPPEL_OK;
    options.same_speed |= same_speed;
    search->windows++;
    double from = peaks[0].time, to = peaks[count - 1].time;
    struct piece_window all = cut_recording(hunt->query, from, to + 1);
    for (bool more = true; more;) {
        size_t runs = search->runs->count;
        TRY(window_find(hunt->recordings, hunt->query->peaks + all.first, all.end - all.first,
                        &options, before.count ? before.items : hunt->skip, found, &found_count,
                        error));
        if (hunt->next_only && found_count)
            qsort(found, found_count, sizeof *found, by_offset);
        TRY(follow_all(search, window, found, found_count, error));
        more = is_crowded(hunt, found, found_count) && search->runs->count > runs &&
               search->rounds++ < ROUNDS;
        if (more && !add_found(&before, found, found_count, (from + to) / 2, hunt->skip))
            TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to look for a recording"));
        options.same_speed |= found_count && found[0].speed == 1 && found[0].pitch == 1;
    }
done:
    free(before.items);
    return status;
}

/* Of the query's strong peaks along a run, the share that is met, but for chance. */
static double share_met(const struct run *run)
{
    return run->met < run->strong ? (run->met - run->by_chance) / (run->strong - run->by_chance)
                                  : run->strong > 0;
}

static bool is_found(const struct piece_search *search, double time)
{
    for (size_t i = 0; i < search->runs->count; i++) {
        const struct run *run = &search->runs->items[i];
        bool plain = fabs(run->speed - 1) <= SCALED_FROM && fabs(run->pitch - 1) <= SCALED_FROM;
        if (overlaps(run, time, time) &&
            share_met(run) >= (plain ? FOUND_SHARE : FOUND_SHARE_FITTED) &&
            run->seed_rate <= search->hunt->options->max_false_positives)
            return true;
    }
    return false;
}

/* Try some of the windows again, in which nothing was found, at other speeds. */
static enum doppel_status try_scaled(struct piece_search *search, struct doppel_error *error)
{
    const struct doppel_recording *query = &search->query;
    enum doppel_status status = DOPPEL_OK;
    struct piece_window window;
    double start;
    if (!first_window(query, &start, &window))
        return DOPPEL_OK;
    unsigned missed = 0;
    do {
        if (is_found(search, start + WINDOW_STEPS / 2.0))
            missed = 0;
        else if (++missed <= SCALED_FIRST || missed % SCALED_EVERY == 0)
            status = try_window(search, window, false, error);
    } while (!status && next_window(query, &start, &window));
    return status;
}

static enum doppel_status try_all(struct piece_search *search, struct doppel_error *error)
{
    const struct doppel_recording *query = &search->query;
    struct piece_window window;
    double start;
    if (!first_window(query, &start, &window))
        return DOPPEL_OK;
    double first = start;
    bool more;
    enum doppel_status status;
    do {
        struct piece_window next;
        more = next_window(query, &start, &next);
        status = try_window(search, window, more || start > first, error);
        window = next;
    } while (!status && more);
    if (!status && start > first && !search->hunt->options->same_speed)
        status = try_scaled(search, error);
    return status;
}

/* What other speeds explain of the peaks must be more, and longer: the same words by another voice
 * are met so for a moment, or a little throughout. */
static bool is_uncertain(const struct run *run, bool same_speed)
{
    double off = fabs(run->speed - 1);
    bool scaled = off > 3 * run->speed_error + SCALED_FROM || fabs(run->pitch - 1) > SCALED_FROM;
    if (same_speed && off > 3 * run->speed_error + SAME_SPEED_WITHIN)
        return true;
    return share_met(run) < (scaled ? LEAST_SHARE_SCALED : LEAST_SHARE) ||
           (scaled && run->a_end - run->a_start < LEAST_SECONDS_SCALED);
}

/*
 * Two chances that are independent, of the piece and of what is beyond it: as small a product x of
 * two such has the chance x (1 - ln x). Then, of all windows that were tried. Source: Fisher,
 * "Statistical Methods for Research Workers" (1932), on combining tests.
 */
static double rate_of(const struct run *run, double windows, bool same_speed)
{
    if (is_uncertain(run, same_speed))
        return 1;
    double product = run->seed_rate * exp(-run->beyond);
    if (product < 1e-300)
        return 1e-300;
    double rate = windows * fmin(run->seed_rate, product * (1 - log(product)));
    return fmin(rate, 1);
}

/* The query without its faint peaks. @param out_peaks those that are left, given (free); NULL: all.
 * False without memory */
static bool leave_faint_out(const struct doppel_recording *query, struct doppel_recording *out,
                            struct doppel_audio_peak **out_peaks)
{
    size_t kept = 0;
    *out = *query;
    *out_peaks = NULL;
    for (size_t i = 0; i < query->count; i++)
        kept += !query->peaks[i].faint;
    if (kept == query->count)
        return true;
    struct doppel_audio_peak *peaks = *out_peaks = malloc((kept + 1) * sizeof *peaks);
    if (!peaks)
        return false;
    out->peaks = peaks;
    out->count = 0;
    for (size_t i = 0; i < query->count; i++)
        if (!query->peaks[i].faint)
            peaks[out->count++] = query->peaks[i];
    return true;
}

enum doppel_status runs_find(const struct hunt *hunt, run_array *out, struct doppel_error *error)
{
    struct piece_search search = {
        .hunt = hunt,
        .view = {.source = source_of, .context = (void *)(uintptr_t)hunt->recordings},
        .runs = out};
    struct doppel_audio_peak *peaks;
    if (!leave_faint_out(hunt->query, &search.query, &peaks))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to look for a recording");
    search.pursuit = (struct pursuit){.query = &search.query, .view = &search.view};
    enum doppel_status status = try_all(&search, error);
    free(peaks);
    for (size_t i = 0; i < out->count; i++)
        out->items[i].rate = rate_of(&out->items[i], search.windows, hunt->options->same_speed);
    view_free(&search.view);
    return status;
}
