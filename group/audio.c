/* Pairs of recordings: the same peaks by their digest, the others by what a recording shares with
 * those that lead. */
#include "group/timed.h"

#include <math.h>
#include <stdlib.h>

#include "compare/audio.h"
#include "core/audio_tags.h"
#include "core/try.h"

/* Other encodings, and parts, are the same all along: some pieces of a recording find what is worth
 * a comparison of the whole. */
enum { PIECES = 3, PIECE_SECONDS = 5, MOST_CANDIDATES = 16 };

/* Encodings down to 16 kbit/s share half of their peaks and more; what shares less is another take,
 * or is made of the same loops. Of a piece less is asked for. */
static const double LEAST_SIMILARITY = .5, LEAST_OF_PIECE = .3;

/* ---- in ---- */

/* Given (free); NULL without memory. */
static uint8_t *pack_peaks(const struct doppel_audio_track *track, bool strong_only,
                           size_t *out_size)
{
    *out_size = doppel_audio_track_size(track, strong_only);
    uint8_t *packed = malloc(*out_size);
    if (packed)
        doppel_audio_track_write(track, strong_only, packed);
    return packed;
}

/* What two copies share, whatever their tags say, and but for faint peaks; without peaks there is
 * nothing but the bytes. @param track without tags. @return false without memory */
static bool digest_peaks(struct doppel_audio_track *track, const struct doppel_digest *bytes,
                         struct doppel_digest *out)
{
    size_t size, kept = 0;
    for (size_t i = 0; i < track->count; i++)
        if (!track->peaks[i].faint)
            track->peaks[kept++] = track->peaks[i];
    track->count = kept;
    uint8_t *packed = track->count ? pack_peaks(track, false, &size) : NULL;
    *out = packed ? doppel_digest_bytes(packed, size) : *bytes;
    free(packed);
    return packed || !track->count;
}

/* Of the item that is added next. @return false without memory */
static bool keep_tags(struct grouping *grouping, const struct doppel_audio_tags *tags)
{
    const struct tagged_item tagged = {item_store_count(&grouping->items), *tags};
    return audio_tags_empty(tags) || array_push(&grouping->tagged, tagged);
}

static int compare_tagged(const void *left, const void *right)
{
    const struct tagged_item *a = left, *b = right;
    return (a->item > b->item) - (a->item < b->item);
}

const struct doppel_audio_tags *audio_tags_of(const struct grouping *grouping, uint32_t number)
{
    const struct tagged_item wanted = {.item = number};
    const struct tagged_item *found =
        grouping->tagged.count ? bsearch(&wanted, grouping->tagged.items, grouping->tagged.count,
                                         sizeof wanted, compare_tagged)
                               : NULL;
    return found ? &found->tags : NULL;
}

enum doppel_status grouping_add_audio(struct grouping *grouping, const struct grouping_item *item,
                                      const struct doppel_record *record,
                                      struct doppel_error *error)
{
    struct doppel_audio_track track;
    if (!audio_read(record, &track))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of %s is damaged", item->path);
    struct waiting waiting = {.duration_ms = audio_length_ms(record)};
    struct doppel_digest content;
    bool room = keep_tags(grouping, &track.tags);
    track.tags = (struct doppel_audio_tags){0};
    room = room && digest_peaks(&track, &item->digest, &content);
    if (room) /* the strong ones alone: they are what is searched */
        waiting.packed = pack_peaks(&track, true, &waiting.size);
    size_t peaks = track.count;
    doppel_audio_track_free(&track);
    if (!waiting.packed)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu peaks", peaks);
    return timed_add(grouping, item, &content, waiting, error);
}

/* ---- who leads ---- */

/* What the pieces of a recording brought up. */
struct audio_candidates {
    struct audio_candidate {
        uint64_t id;
        int pieces; /* that found it */
    } items[MOST_CANDIDATES];
    size_t count;
    bool same_speed; /* so they were found */
    const struct doppel_run *run;
};

static bool take_candidate(void *context, const struct doppel_found *found)
{
    struct audio_candidates *candidates = context;
    if (found->match.similarity < LEAST_OF_PIECE)
        return !doppel_run_cancelled(candidates->run);
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].id == found->id) {
            candidates->items[i].pieces++;
            return true;
        }
    if (candidates->count < MOST_CANDIDATES)
        candidates->items[candidates->count++] = (struct audio_candidate){found->id, 1};
    return !doppel_run_cancelled(candidates->run);
}

/* What most of the pieces did not find is no candidate. */
static void drop_stray(struct audio_candidates *candidates)
{
    size_t kept = 0;
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].pieces > PIECES / 2)
            candidates->items[kept++] = candidates->items[i];
    candidates->count = kept;
}

/* Piece `number` of a recording: that part of PIECES equal ones that has the most peaks in so few
 * seconds. */
static struct doppel_recording piece_of(const struct doppel_audio_track *track, int number)
{
    double length = doppel_audio_time((double)track->duration_ms / 1000);
    double piece = doppel_audio_time(PIECE_SECONDS), best_from = number * length / PIECES;
    double last = (number + 1) * length / PIECES - piece;
    size_t best = 0;
    double from = best_from;
    while (from <= last) {
        size_t first = audio_first_from(track, from);
        if (first == track->count) /* a track may say that it lasts for a year */
            break;
        from += piece * floor(fmax(0, track->peaks[first].time - from) / piece);
        size_t count = audio_first_from(track, from + piece) - first;
        if (count > best && from <= last) {
            best = count;
            best_from = from;
        }
        from += piece;
    }
    size_t begin = audio_first_from(track, best_from),
           end = audio_first_from(track, best_from + piece);
    return (struct doppel_recording){track->peaks + begin, end - begin, PIECE_SECONDS};
}

static enum doppel_status find_candidates(const struct grouping *grouping,
                                          const struct doppel_recordings *leaders,
                                          const struct doppel_audio_track *track,
                                          struct audio_candidates *out, struct doppel_error *error)
{
    struct doppel_audio_options options = audio_options_from(&grouping->options->group->compare);
    options.near_misses = 0;
    struct doppel_recording whole = audio_of(track);
    bool is_short = whole.duration <= PIECES * PIECE_SECONDS;
    bool same_speed = options.same_speed;
    enum doppel_status status = DOPPEL_OK;
    if (is_short)
        return doppel_recordings_find(leaders, &whole, &options, take_candidate, out, error);
    out->same_speed = options.same_speed = true;
    for (int i = 0; i < PIECES && !status; i++) {
        struct doppel_recording piece = piece_of(track, i);
        status = doppel_recordings_find(leaders, &piece, &options, take_candidate, out, error);
    }
    drop_stray(out);
    if (status || out->count || same_speed)
        return status;
    /* One piece at other speeds: five times the work of all that was done so far. */
    struct doppel_recording piece = piece_of(track, PIECES / 2);
    out->same_speed = options.same_speed = false;
    return doppel_recordings_find(leaders, &piece, &options, take_candidate, out, error);
}

static bool match_waiting(const struct grouping *grouping, const struct doppel_audio_track *query,
                          uint32_t item, bool same_speed, struct doppel_match *out)
{
    struct doppel_audio_track other;
    const struct waiting *waiting = timed_waiting(grouping, item);
    struct doppel_audio_options options = audio_options_from(&grouping->options->group->compare);
    options.same_speed |= same_speed;
    if (!waiting || doppel_audio_track_read(waiting->packed, waiting->size, &other, NULL))
        return false;
    struct doppel_recording a = audio_of(query), b = audio_of(&other);
    bool done = doppel_match_recordings(&a, &b, &options, out, NULL) == DOPPEL_OK;
    doppel_audio_track_free(&other);
    return done;
}

/* A search for representatives in progress. */
struct audio_placing {
    struct grouping *grouping;
    struct doppel_recordings *leaders;
};

/* The best of the representatives that a recording is, or is a part of. @return whether there is
 * one; its segments are given */
static bool find_leader(struct grouping *grouping, const struct waiting *waiting,
                        const struct doppel_audio_track *track,
                        const struct audio_candidates *candidates, struct group_lead *out)
{
    double given = grouping->options->group->compare.min_similarity;
    double limit = given >= 0 ? given : LEAST_SIMILARITY;
    bool found = false;
    for (size_t i = 0; i < candidates->count; i++) {
        uint32_t leader = (uint32_t)candidates->items[i].id;
        struct doppel_match match = {0};
        if ((grouping_is_reference(grouping, leader) && waiting->reference) ||
            grouping_are_distinct(grouping, leader, waiting->number) ||
            !match_waiting(grouping, track, leader, candidates->same_speed, &match))
            continue;
        bool leads =
            match.segment_count && match.similarity >= limit &&
            (match.relation == DOPPEL_RELATION_SAME || match.relation == DOPPEL_RELATION_CONTAINED);
        if (leads && (!found || match.score > out->match.score)) {
            if (found)
                free((void *)out->match.segments);
            *out = (struct group_lead){waiting->number, leader, match, false};
            found = true;
        } else {
            if (match.segment_count) /* what they share is too little */
                (void)near_pairs_add(grouping, waiting->number, leader, &match);
            free((void *)match.segments);
        }
    }
    return found;
}

static enum doppel_status place_audio(void *context, const struct waiting *waiting,
                                      struct doppel_error *error)
{
    const struct audio_placing *placing = context;
    struct grouping *grouping = placing->grouping;
    struct doppel_audio_track track;
    struct audio_candidates candidates = {.run = grouping->options->run};
    struct group_lead lead;
    enum doppel_status status =
        doppel_audio_track_read(waiting->packed, waiting->size, &track, error);
    if (status)
        return status;
    if (track.count) {
        struct doppel_recording recording = audio_of(&track);
        TRY(find_candidates(grouping, placing->leaders, &track, &candidates, error));
        if (find_leader(grouping, waiting, &track, &candidates, &lead))
            TRY(timed_add_lead(grouping, &lead, error));
        else
            TRY(doppel_recordings_add(placing->leaders, waiting->number, &recording, error));
    }
done:
    doppel_audio_track_free(&track);
    return status;
}

enum doppel_status audio_find_leaders(struct grouping *grouping, struct doppel_error *error)
{
    struct audio_placing placing = {.grouping = grouping};
    enum doppel_status status = doppel_recordings_new(&placing.leaders, error);
    if (status)
        return status;
    status = timed_order(grouping, error);
    if (!status)
        status = timed_place_all(grouping, "recordings compared", place_audio, &placing, error);
    timed_sort_leads(grouping);
    doppel_recordings_free(placing.leaders);
    return status;
}

/* ---- what one is to another ---- */

bool audio_compare(const struct grouping *grouping, uint32_t query, uint32_t item,
                   struct doppel_match *out)
{
    const struct waiting *waiting = timed_waiting(grouping, query);
    struct doppel_audio_track track;
    if (timed_joined(grouping, query, item, out))
        return true;
    if (!waiting || doppel_audio_track_read(waiting->packed, waiting->size, &track, NULL))
        return false;
    bool done = match_waiting(grouping, &track, item, false, out);
    doppel_audio_track_free(&track);
    return done;
}

/* Encoders pad: by less a recording is not longer than another. */
static bool is_longer(uint32_t a_ms, uint32_t b_ms)
{
    return a_ms > b_ms && a_ms - b_ms > 1000 && a_ms - b_ms > b_ms / 50;
}

int audio_prefer(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    uint32_t a_ms = timed_duration(grouping, a), b_ms = timed_duration(grouping, b);
    return is_longer(a_ms, b_ms) - is_longer(b_ms, a_ms);
}
