/* A window of a query among many recordings: votes, verification, and other speeds where that
 * fails. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "match/audio/search.h"

enum {
    STEPS = DOPPEL_AUDIO_TIME_STEPS,
    MOST_KEYS = 1 << VOTER_BITS,
    CANDIDATES = 16,      /* that are verified ... */
    FAINT_CANDIDATES = 8, /* ... of those by faint peaks, of which VOTES_BEST are looked at */
    MOST_CANDIDATES = 64,
    SCALES = 6,               /* steps of 1 % up and down */
    SCALED_POSTINGS = 100000, /* of a scaled hypothesis, at most */
    SCALED_PART = 4,          /* of those of a query, to one of its scaled hypotheses */
    SAME_WITHIN = 43 * STEPS, /* 1 s */
    FAINT_HOPS = 100000 /* 39 minutes: in smaller sets, and of pairs, chance would be more likely
                           than rates say */
};

/* Of the window's peaks met, but for chance, at speed 1 and at one that was fitted from there. */
static const double CLEAR_SHARE = 0.2, CLEAR_SHARE_FITTED = 0.65;

struct window_search {
    const struct doppel_recordings *recordings;
    const struct doppel_audio_options *options;
    struct window window;
    struct ballot ballot; /* of peaks that are not faint */
    struct audio_size size;
    uint64_t max_postings;
    struct alignment *found; /* ALIGNMENTS_MAX, best first */
    size_t count;
};

/* ---- the window ---- */

/* @param with_faint faint peaks are looked at */
static bool window_init(struct window *window, const struct doppel_audio_peak *peaks, size_t count,
                        bool with_faint)
{
    const struct doppel_audio_zone zone = doppel_audio_clip_zone();
    size_t most = MOST_KEYS / doppel_audio_zone_pairs(&zone);
    count = count < most ? count : most;
    window->all = malloc((count + 1) * sizeof *peaks);
    window->peaks = malloc((count + 1) * sizeof *peaks);
    if (!window->all || !window->peaks)
        return false;
    window->origin = peaks[0].time;
    window->last = peaks[count - 1].time - window->origin;
    for (size_t i = 0; i < count; i++) {
        struct doppel_audio_peak peak = peaks[i];
        peak.time -= window->origin;
        if (!peak.faint)
            window->peaks[window->count++] = peak;
        if (!peak.faint || with_faint)
            window->all[window->all_count++] = peak;
    }
    return true;
}

static void window_free(struct window *window)
{
    free(window->all);
    free(window->peaks);
}

/* As a multiple of ten hours, at least 1. */
static double relative_size(uint64_t hops)
{
    return fmax(1, (double)hops * DOPPEL_AUDIO_HOP / DOPPEL_AUDIO_RATE / 36000);
}

/* 100 000 at ten hours, 1 M at a thousand. */
static uint64_t usual_postings(uint64_t hops)
{
    return (uint64_t)(1e5 * sqrt(relative_size(hops)));
}

/* 16 at ten hours, 64 at 640 and more: chance has more of what looks like a candidate there. */
static size_t usual_candidates(uint64_t hops)
{
    return (size_t)fmin(CANDIDATES * cbrt(relative_size(hops)), MOST_CANDIDATES);
}

/* ---- from candidates to alignments ---- */

static double middle_of(const struct window *window, double speed, double offset)
{
    return speed * window->last / 2 + offset;
}

/* The same place of the same item, found again by another hypothesis. */
static bool is_same(const struct window *window, const struct candidate *a,
                    const struct candidate *b)
{
    return a->id == b->id && fabs(middle_of(window, a->speed, a->offset) -
                                  middle_of(window, b->speed, b->offset)) <= SAME_WITHIN;
}

static struct alignment describe_search(const struct window_search *search,
                                        const struct candidate *candidate,
                                        const struct verdict *verdict)
{
    const struct window *window = &search->window;
    bool scaled = candidate->speed != 1 || candidate->pitch != 1;
    double score = audio_score(verdict->evidence, candidate->votes);
    return (struct alignment){.id = candidate->id,
                              .offset = candidate->offset - candidate->speed * window->origin,
                              .speed = candidate->speed,
                              .pitch = candidate->pitch,
                              .score = score,
                              .rate = audio_rate(score, &search->size, scaled),
                              .votes = candidate->votes,
                              .met = verdict->met,
                              .peaks = verdict->peaks,
                              .met_by_chance = verdict->met_by_chance};
}

static bool is_same_place(const struct window *window, const struct alignment *a,
                          const struct alignment *b)
{
    double middle = window->origin + window->last / 2.0;
    double apart = (a->speed - b->speed) * middle + a->offset - b->offset;
    bool alike = a->speed == b->speed && a->pitch == b->pitch;
    return a->id == b->id && fabs(apart) <= (alike ? VOTES_APART * STEPS : SAME_WITHIN);
}

/* Best first, each place once. */
static void insert_search(struct window_search *search, const struct alignment *alignment)
{
    size_t kept = 0;
    for (size_t i = 0; i < search->count; i++) {
        bool same = is_same_place(&search->window, &search->found[i], alignment);
        if (same && search->found[i].rate <= alignment->rate)
            return;
        if (!same)
            search->found[kept++] = search->found[i];
    }
    search->count = kept;
    size_t at = search->count;
    if (search->count < ALIGNMENTS_MAX)
        search->count++;
    else if (search->found[--at].rate <= alignment->rate)
        return;
    for (; at && search->found[at - 1].rate > alignment->rate; at--)
        search->found[at] = search->found[at - 1];
    search->found[at] = *alignment;
}

/* The item's peaks along a candidate, and `margin` steps to either side. @param out given; false:
 * they cannot be had */
static bool peaks_along(const struct window_search *search, const struct candidate *candidate,
                        double margin, struct doppel_audio_track *out)
{
    double from = candidate->offset - margin;
    double to = candidate->offset + candidate->speed * search->window.last + margin;
    return to > 0 && audio_peaks(search->recordings, candidate->id, from > 0 ? (uint32_t)from : 0,
                                 to < UINT32_MAX ? (uint32_t)to : UINT32_MAX, out);
}

/* False without memory. */
static bool verify_window_candidates(struct window_search *search, struct candidate *candidate)
{
    const struct window *window = &search->window;
    struct doppel_audio_track item = {0};
    struct verdict verdict;
    if (!peaks_along(search, candidate, VERIFY_MARGIN, &item))
        return true;
    bool done = candidate_check(window, &item, search->options->same_speed, candidate, &verdict);
    doppel_audio_track_free(&item);
    if (!done)
        return false;
    struct alignment alignment = describe_search(search, candidate, &verdict);
    insert_search(search, &alignment);
    return true;
}

static enum doppel_status verify_all_search(struct window_search *search,
                                            struct candidate *candidates, size_t count,
                                            struct doppel_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!verify_window_candidates(search, &candidates[i]))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to verify a recording");
    return DOPPEL_OK;
}

struct screened {
    double worth;
    struct candidate candidate;
};

static int most_worth_first(const void *a, const void *b)
{
    const struct screened *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    return (x->candidate.votes < y->candidate.votes) - (x->candidate.votes > y->candidate.votes);
}

/* Leave the best `most` of them, by a look at each. False without memory */
static bool screen_candidates(const struct window_search *search, struct candidate *candidates,
                              size_t *count, size_t most)
{
    struct screened list[VOTES_BEST];
    if (*count <= most)
        return true;
    struct screen *screen = screen_new(&search->window);
    if (!screen)
        return false;
    for (size_t i = 0; i < *count; i++) {
        struct doppel_audio_track item = {0};
        list[i] = (struct screened){-INFINITY, candidates[i]};
        if (peaks_along(search, &candidates[i], 0, &item))
            list[i].worth = screen_candidate(screen, &item, &candidates[i]);
        doppel_audio_track_free(&item);
    }
    free(screen);
    qsort(list, *count, sizeof *list, most_worth_first);
    *count = most;
    for (size_t i = 0; i < most; i++)
        candidates[i] = list[i].candidate;
    return true;
}

/* At speed 1. @param ballot with room for the keys of the zone. @param wanted candidates, of which
 * the best are verified */
static enum doppel_status find_plain(struct window_search *search, struct ballot *ballot,
                                     struct doppel_audio_zone zone, size_t wanted,
                                     struct doppel_error *error)
{
    bool faint = zone.faint_fan_out[0] > 0;
    size_t verified = faint ? FAINT_CANDIDATES : CANDIDATES;
    struct hypothesis hypothesis = {1,      1,        zone, search->max_postings / (faint ? 2 : 1),
                                    wanted, -INFINITY};
    struct candidate candidates[VOTES_BEST];
    size_t count = 0;
    enum doppel_status status =
        ballot_count(ballot, &search->window, &hypothesis, candidates, &count, error);
    if (!status && !screen_candidates(search, candidates, &count, verified))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to look at candidates");
    return status ? status : verify_all_search(search, candidates, count, error);
}

/* With the keys of faint peaks as well. */
static enum doppel_status find_faint(struct window_search *search, struct doppel_error *error)
{
    const struct doppel_audio_zone zone = doppel_audio_clip_zone();
    struct ballot ballot = {
        .axis = search->ballot.axis, .hops = search->ballot.hops, .skip = search->ballot.skip};
    enum doppel_status status;
    search->window.faint_voted = true;
    if (ballot_init(&ballot, search->window.all_count * doppel_audio_zone_pairs(&zone)))
        status = find_plain(search, &ballot, zone, VOTES_BEST, error);
    else
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the keys of a clip");
    search->window.faint_voted = false;
    ballot_free(&ballot);
    return status;
}

/* ---- scaled hypotheses ---- */

/* The best of several hypotheses, best first. */
struct shortlist {
    struct candidate items[CANDIDATES];
    size_t count;
};

static void enter_shortlist(struct shortlist *list, const struct window *window,
                            const struct candidate *candidate)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (is_same(window, &list->items[i], candidate) && list->items[i].votes >= candidate->votes)
            return;
    for (size_t i = 0; i < list->count; i++)
        if (!is_same(window, &list->items[i], candidate))
            list->items[kept++] = list->items[i];
    list->count = kept;
    size_t at = list->count;
    if (list->count < CANDIDATES)
        list->count++;
    else if (list->items[--at].votes >= candidate->votes)
        return;
    for (; at && list->items[at - 1].votes < candidate->votes; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = *candidate;
}

/* kind 0: played faster, time and frequency together; 1: time alone; 2: frequency alone */
static struct hypothesis scaled_search(const struct window_search *search, int kind, double scale)
{
    uint64_t most = search->max_postings / SCALED_PART;
    struct hypothesis hypothesis = {.speed = kind < 2 ? scale : 1,
                                    .pitch = kind != 1 ? scale : 1,
                                    .zone = doppel_audio_query_zone(),
                                    .max_postings = most < SCALED_POSTINGS ? most : SCALED_POSTINGS,
                                    .candidates = CANDIDATES,
                                    .least_votes = -INFINITY};
    hypothesis.zone.time_scale = (float)hypothesis.speed;
    hypothesis.zone.frequency_scale = (float)(1 / hypothesis.pitch);
    return hypothesis;
}

static enum doppel_status try_scaled_search(struct window_search *search, int kind, double scale,
                                            struct shortlist *list, struct doppel_error *error)
{
    struct hypothesis hypothesis = scaled_search(search, kind, scale);
    struct candidate candidates[VOTES_BEST];
    size_t count = 0;
    if (list->count == CANDIDATES)
        hypothesis.least_votes = list->items[CANDIDATES - 1].votes;
    enum doppel_status status =
        ballot_count(&search->ballot, &search->window, &hypothesis, candidates, &count, error);
    for (size_t i = 0; i < count; i++)
        enter_shortlist(list, &search->window, &candidates[i]);
    return status;
}

/* Those of one pitch after the other: they ask the same keys, but for a few. */
static enum doppel_status find_scaled(struct window_search *search, struct doppel_error *error)
{
    struct shortlist list = {.count = 0};
    enum doppel_status status = DOPPEL_OK;
    for (int step = -SCALES; step <= SCALES && !status; step++)
        if (step)
            status = try_scaled_search(search, 1, 1 + step / 100.0, &list, error);
    for (int step = -SCALES; step <= SCALES && !status; step++)
        for (int kind = 0; kind < 3 && step && !status; kind += 2)
            status = try_scaled_search(search, kind, 1 + step / 100.0, &list, error);
    return status ? status : verify_all_search(search, list.items, list.count, error);
}

/* The best alignment has a neighbour so near that a change of tempo would explain both. */
static bool is_torn(const struct window_search *search)
{
    const struct alignment *best = &search->found[0];
    for (size_t i = 1; i < search->count; i++) {
        const struct alignment *other = &search->found[i];
        if (other->id == best->id && other->rate <= search->options->max_false_positives &&
            fabs(other->offset - best->offset) <= SCALES / 100.0 * search->window.last)
            return true;
    }
    return false;
}

/* A recording at another tempo matches itself at the same one, too, here and there and a little:
 * what is found so is no reason to look no further. */
static bool is_clear(const struct window_search *search)
{
    const struct alignment *best = &search->found[0];
    double share = best->peaks ? (double)best->met / best->peaks : 0;
    bool plain = best->speed == 1 && best->pitch == 1;
    share = (share - best->met_by_chance) / (1 - best->met_by_chance);
    return plain ? share >= CLEAR_SHARE && !is_torn(search) : share >= CLEAR_SHARE_FITTED;
}

static bool is_found_search(const struct window_search *search)
{
    return search->count && search->found[0].rate <= search->options->max_false_positives;
}

static enum doppel_status find_search(struct window_search *search, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(find_plain(search, &search->ballot, doppel_audio_query_zone(),
                   usual_candidates(search->size.hops), error));
    if (!is_found_search(search) && search->window.all_count > search->window.count)
        TRY(find_faint(search, error));
    if (!(is_found_search(search) && is_clear(search)) && !search->options->same_speed)
        TRY(find_scaled(search, error));
done:
    return status;
}

enum doppel_status window_find(const struct doppel_recordings *recordings,
                               const struct doppel_audio_peak *peaks, size_t count,
                               const struct doppel_audio_options *options,
                               const struct alignment_skip *skip,
                               struct alignment out[ALIGNMENTS_MAX], size_t *out_count,
                               struct doppel_error *error)
{
    struct window_search search = {.recordings = recordings, .options = options, .found = out};
    struct doppel_index_axis *axis = NULL;
    *out_count = 0;
    if (!count)
        return DOPPEL_OK;
    enum doppel_status status = doppel_index_axis_take(audio_index(recordings), &axis, error);
    if (status)
        return status;
    search.size = (struct audio_size){doppel_index_axis_length(axis), audio_items(recordings)};
    search.max_postings =
        options->max_postings ? options->max_postings : usual_postings(search.size.hops);
    search.ballot.axis = axis;
    search.ballot.hops = search.size.hops;
    search.ballot.skip = skip;
    search.ballot.shared = true;
    if (window_init(&search.window, peaks, count, search.size.hops >= FAINT_HOPS) &&
        ballot_init(&search.ballot, search.window.count * doppel_audio_query_zone().fan_out))
        status = find_search(&search, error);
    else
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a window of %zu peaks", count);
    if (!status)
        *out_count = search.count;
    ballot_free(&search.ballot);
    window_free(&search.window);
    doppel_index_axis_free(axis);
    return status;
}
