/* Pairs of sounds: the same peaks by their digest, the others by what a sound shares with those
 * that lead. The longest come first, so that a part finds what it is a part of, in whatever order
 * the files came. */
#include "tools/grouping_room.h"

#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/signals.h"
#include "tools/sound_judge.h"

/* Other encodings, and parts, are the same all along: some pieces of a sound find what is worth a
 * comparison of the whole. */
enum { PIECES = 3, PIECE_SECONDS = 5, MOST_CANDIDATES = 16 };

/* Encodings down to 16 kbit/s share half of their peaks and more; what shares less is another take,
 * or is made of the same loops. Of a piece less is asked for. */
static const double LEAST_SIMILARITY = .5, LEAST_OF_PIECE = .3;

/* A sound that waits for its turn. */
struct waiting_sound {
    uint32_t number;      /* of the item */
    uint32_t duration_ms; /* the longest first */
    bool reference;
    uint8_t *peaks; /* packed; given */
    size_t size;
};

/* By what an item joined its leader; `segments` of the match are given. */
struct sound_lead {
    uint32_t item, leader;
    struct doppel_match match;
};

void sounds_free(struct grouping *grouping)
{
    for (size_t i = 0; i < grouping->sounds.count; i++)
        free(grouping->sounds.items[i].peaks);
    for (size_t i = 0; i < grouping->sound_leads.count; i++)
        free((void *)grouping->sound_leads.items[i].match.segments);
    free(grouping->sound_at);
    array_free(&grouping->sounds);
    array_free(&grouping->sound_leads);
}

/* ---- in ---- */

/* The strong peaks alone: they are what is searched. */
static bool keep_peaks(struct grouping *grouping, const struct waiting_sound *waiting,
                       const struct doppel_audio_track *track)
{
    struct waiting_sound kept = *waiting;
    kept.size = doppel_audio_track_size(track, true);
    kept.peaks = malloc(kept.size);
    if (!kept.peaks)
        return false;
    doppel_audio_track_write(track, true, kept.peaks);
    if (array_push(&grouping->sounds, kept))
        return true;
    free(kept.peaks);
    return false;
}

enum doppel_status grouping_add_sound(struct grouping *grouping, const struct grouping_item *item,
                                      const struct doppel_record *record,
                                      struct doppel_error *error)
{
    struct doppel_audio_track track;
    uint32_t number = item_store_count(&grouping->items);
    if (!sound_read(record, &track))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of %s is damaged", item->path);
    struct waiting_sound waiting = {
        .number = number, .duration_ms = item->width, .reference = item->reference};
    /* Without peaks there is nothing but the bytes. */
    struct doppel_digest content =
        track.count ? doppel_digest_bytes(record->attachment, record->attachment_size)
                    : item->digest;
    enum doppel_status status = DOPPEL_E_MEMORY;
    if (array_reserve(&grouping->twins) && array_push(&grouping->contents, content))
        status = item_store_add(&grouping->items, item, error);
    else
        doppel_fail(error, status, "no memory for more than %u files", number);
    uint32_t first = status ? 0 : digest_map_put(&grouping->first, number, content_at, grouping);
    if (!status && first != number)
        (void)array_push(&grouping->twins, ((struct twin){number, first}));
    else if (!status && !keep_peaks(grouping, &waiting, &track))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu peaks", track.count);
    doppel_audio_track_free(&track);
    return status;
}

/* ---- who leads ---- */

/* References lead; then the longest. */
static int by_length(const void *left, const void *right)
{
    const struct waiting_sound *a = left, *b = right;
    if (a->reference != b->reference)
        return a->reference ? -1 : 1;
    if (a->duration_ms != b->duration_ms)
        return a->duration_ms > b->duration_ms ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* What the pieces of a sound brought up. */
struct candidates {
    struct candidate {
        uint64_t id;
        int pieces; /* that found it */
    } items[MOST_CANDIDATES];
    size_t count;
    bool same_speed; /* so they were found */
};

static bool take_candidate(void *context, const struct doppel_found *found)
{
    struct candidates *candidates = context;
    if (found->match.similarity < LEAST_OF_PIECE)
        return !signals_stopped();
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].id == found->id) {
            candidates->items[i].pieces++;
            return true;
        }
    if (candidates->count < MOST_CANDIDATES)
        candidates->items[candidates->count++] = (struct candidate){found->id, 1};
    return !signals_stopped();
}

/* What most of the pieces did not find is no candidate. */
static void drop_stray(struct candidates *candidates)
{
    size_t kept = 0;
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].pieces > PIECES / 2)
            candidates->items[kept++] = candidates->items[i];
    candidates->count = kept;
}

/* Piece `number` of a sound: that part of PIECES equal ones that has the most peaks in so few
 * seconds. */
static struct doppel_sound piece_of(const struct doppel_audio_track *track, int number)
{
    double length = doppel_audio_time((double)track->duration_ms / 1000);
    double piece = doppel_audio_time(PIECE_SECONDS), best_from = number * length / PIECES;
    double last = (number + 1) * length / PIECES - piece;
    size_t best = 0;
    for (double from = best_from; from <= last; from += piece) {
        size_t count = sound_first_from(track, from + piece) - sound_first_from(track, from);
        if (count > best) {
            best = count;
            best_from = from;
        }
    }
    size_t begin = sound_first_from(track, best_from),
           end = sound_first_from(track, best_from + piece);
    return (struct doppel_sound){track->peaks + begin, end - begin, PIECE_SECONDS};
}

static enum doppel_status find_candidates(const struct grouping *grouping,
                                          const struct doppel_sounds *leaders,
                                          const struct doppel_audio_track *track,
                                          struct candidates *out, struct doppel_error *error)
{
    struct doppel_sound_options options = sound_options_from(grouping->options->settings);
    struct doppel_sound whole = sound_of(track);
    bool is_short = whole.duration <= PIECES * PIECE_SECONDS;
    bool same_speed = options.same_speed;
    enum doppel_status status = DOPPEL_OK;
    if (is_short)
        return doppel_sounds_find(leaders, &whole, &options, take_candidate, out, error);
    out->same_speed = options.same_speed = true;
    for (int i = 0; i < PIECES && !status; i++) {
        struct doppel_sound piece = piece_of(track, i);
        status = doppel_sounds_find(leaders, &piece, &options, take_candidate, out, error);
    }
    drop_stray(out);
    if (status || out->count || same_speed)
        return status;
    /* One piece at other speeds: five times the work of all that was done so far. */
    struct doppel_sound piece = piece_of(track, PIECES / 2);
    out->same_speed = options.same_speed = false;
    return doppel_sounds_find(leaders, &piece, &options, take_candidate, out, error);
}

static const struct waiting_sound *waiting_of(const struct grouping *grouping, uint32_t number)
{
    uint32_t at = grouping->sound_at[number];
    return at == UINT32_MAX ? NULL : &grouping->sounds.items[at];
}

static bool match_waiting(const struct grouping *grouping, const struct doppel_audio_track *query,
                          uint32_t item, bool same_speed, struct doppel_match *out)
{
    struct doppel_audio_track other;
    const struct waiting_sound *waiting = waiting_of(grouping, item);
    struct doppel_sound_options options = sound_options_from(grouping->options->settings);
    options.same_speed |= same_speed;
    if (!waiting || doppel_audio_track_read(waiting->peaks, waiting->size, &other, NULL))
        return false;
    struct doppel_sound a = sound_of(query), b = sound_of(&other);
    bool done = doppel_match_sounds(&a, &b, &options, out, NULL) == DOPPEL_OK;
    doppel_audio_track_free(&other);
    return done;
}

/* The best of the leaders that a sound is, or is a part of. */
static bool find_leader(struct grouping *grouping, const struct waiting_sound *waiting,
                        const struct doppel_audio_track *track, const struct candidates *candidates)
{
    struct sound_lead best = {.item = UINT32_MAX};
    double given = grouping->options->settings->min_similarity;
    double limit = given >= 0 ? given : LEAST_SIMILARITY;
    for (size_t i = 0; i < candidates->count; i++) {
        uint32_t leader = (uint32_t)candidates->items[i].id;
        struct doppel_match match = {0};
        if ((grouping_is_reference(grouping, leader) && waiting->reference) ||
            !match_waiting(grouping, track, leader, candidates->same_speed, &match))
            continue;
        bool leads =
            match.segment_count && match.similarity >= limit &&
            (match.relation == DOPPEL_RELATION_SAME || match.relation == DOPPEL_RELATION_CONTAINED);
        if (leads && (best.item == UINT32_MAX || match.score > best.match.score)) {
            free((void *)best.match.segments);
            best = (struct sound_lead){waiting->number, leader, match};
        } else {
            free((void *)match.segments);
        }
    }
    if (best.item == UINT32_MAX)
        return false;
    if (!array_push(&grouping->sound_leads, best))
        free((void *)best.match.segments);
    return true;
}

static enum doppel_status place_sound(struct grouping *grouping, struct doppel_sounds *leaders,
                                      const struct waiting_sound *waiting,
                                      struct doppel_error *error)
{
    struct doppel_audio_track track;
    struct candidates candidates = {0};
    enum doppel_status status =
        doppel_audio_track_read(waiting->peaks, waiting->size, &track, error);
    if (status)
        return status;
    if (track.count) {
        status = find_candidates(grouping, leaders, &track, &candidates, error);
        struct doppel_sound sound = sound_of(&track);
        if (!status && !find_leader(grouping, waiting, &track, &candidates))
            status = doppel_sounds_add(leaders, waiting->number, &sound, error);
    }
    doppel_audio_track_free(&track);
    return status;
}

static int by_item(const void *left, const void *right)
{
    const struct sound_lead *a = left, *b = right;
    return (a->item > b->item) - (a->item < b->item);
}

/* In their order, and where each is. */
static void order_sounds(struct grouping *grouping)
{
    size_t items = item_store_count(&grouping->items), count = grouping->sounds.count;
    grouping->sound_at = must_allocate(items * sizeof *grouping->sound_at);
    memset(grouping->sound_at, 0xff, items * sizeof *grouping->sound_at);
    if (count)
        qsort(grouping->sounds.items, count, sizeof *grouping->sounds.items, by_length);
    for (size_t i = 0; i < count; i++)
        grouping->sound_at[grouping->sounds.items[i].number] = (uint32_t)i;
}

enum doppel_status sounds_find_leaders(struct grouping *grouping, struct doppel_error *error)
{
    struct progress *progress = &grouping->options->report->progress;
    struct doppel_sounds *leaders;
    size_t count = grouping->sounds.count;
    enum doppel_status status = doppel_sounds_new(&leaders, error);
    if (status)
        return status;
    order_sounds(grouping);
    progress_begin(progress, "sounds compared", count);
    for (size_t i = 0; i < count && !status; i++) {
        if (signals_stopped())
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        else
            status = place_sound(grouping, leaders, &grouping->sounds.items[i], error);
        progress_update(progress, i + 1, 0);
    }
    progress_clear(progress);
    doppel_sounds_free(leaders);
    if (grouping->sound_leads.count)
        qsort(grouping->sound_leads.items, grouping->sound_leads.count,
              sizeof *grouping->sound_leads.items, by_item);
    return status;
}

static const struct sound_lead *lead_of(const struct grouping *grouping, uint32_t item)
{
    struct sound_lead wanted = {.item = item};
    if (!grouping->sound_leads.count)
        return NULL;
    return bsearch(&wanted, grouping->sound_leads.items, grouping->sound_leads.count, sizeof wanted,
                   by_item);
}

uint32_t sounds_leader(const struct grouping *grouping, uint32_t item)
{
    const struct sound_lead *lead = lead_of(grouping, item);
    return lead ? lead->leader : item;
}

/* ---- what one is to another ---- */

bool sounds_compare(const struct grouping *grouping, uint32_t query, uint32_t item,
                    struct doppel_match *out)
{
    const struct sound_lead *lead = lead_of(grouping, query);
    const struct waiting_sound *waiting = waiting_of(grouping, query);
    struct doppel_audio_track track;
    if (lead && lead->leader == item) {
        size_t size = lead->match.segment_count * sizeof *lead->match.segments;
        *out = lead->match;
        out->segments = memcpy(must_allocate(size), lead->match.segments, size);
        return true;
    }
    if (!waiting || doppel_audio_track_read(waiting->peaks, waiting->size, &track, NULL))
        return false;
    bool done = match_waiting(grouping, &track, item, false, out);
    doppel_audio_track_free(&track);
    return done;
}
