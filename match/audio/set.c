/* The set of recordings: postings of their keys and where their peaks are had from. */
#include "match/audio/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"
#include "match/id_map.h"

static const uint32_t MOST_HOPS = UINT32_MAX / DOPPEL_AUDIO_TIME_STEPS + 1; /* times are 32 bits */

/* A recording of a set in memory. */
struct kept_audio {
    struct doppel_audio_peak *peaks; /* strong ones */
    size_t count;
    uint32_t hops;
    uint64_t duration_ms;
};

struct doppel_recordings {
    struct doppel_index *own; /* of a set in memory; else NULL */
    const struct doppel_index *index;
    doppel_recording_source *source; /* of a set over an index */
    void *context;
    struct id_map map; /* to kept recordings */
    ARRAY(uint64_t) ids;
    ARRAY(struct kept_audio) kept;
    uint64_t hops; /* of kept recordings */
};

struct doppel_audio_options doppel_audio_options_default(void)
{
    return (struct doppel_audio_options){.max_false_positives = 1e-3};
}

struct doppel_index_options doppel_recordings_index_options(void)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.table = DOPPEL_INDEX_POSTINGS;
    options.key_bits = DOPPEL_AUDIO_KEY_BITS;
    return options;
}

/* ---- life ---- */

enum doppel_status doppel_recordings_new(struct doppel_recordings **out, struct doppel_error *error)
{
    struct doppel_index_options options = doppel_recordings_index_options();
    struct doppel_recordings *recordings = calloc(1, sizeof *recordings);
    if (!recordings)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of recordings");
    enum doppel_status status = doppel_index_new(&options, &recordings->own, error);
    recordings->index = recordings->own;
    if (status)
        free(recordings);
    else
        *out = recordings;
    return status;
}

enum doppel_status doppel_recordings_over(const struct doppel_index *index,
                                          doppel_recording_source *source, void *context,
                                          struct doppel_recordings **out,
                                          struct doppel_error *error)
{
    struct doppel_recordings *recordings = calloc(1, sizeof *recordings);
    if (!recordings)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of recordings");
    recordings->index = index;
    recordings->source = source;
    recordings->context = context;
    *out = recordings;
    return DOPPEL_OK;
}

void doppel_recordings_free(struct doppel_recordings *recordings)
{
    if (!recordings)
        return;
    for (size_t i = 0; i < recordings->kept.count; i++)
        free(recordings->kept.items[i].peaks);
    array_free(&recordings->kept);
    array_free(&recordings->ids);
    id_map_free(&recordings->map);
    doppel_index_free(recordings->own);
    free(recordings);
}

/* ---- postings ---- */

uint32_t doppel_recording_hops(const struct doppel_recording *recording)
{
    double hops = ceil(recording->duration * DOPPEL_AUDIO_RATE / DOPPEL_AUDIO_HOP);
    uint32_t last = recording->count ? recording->peaks[recording->count - 1].time : 0;
    uint32_t least = last / DOPPEL_AUDIO_TIME_STEPS + 2; /* a hop is rounded */
    if (!(hops > least))
        return least;
    return hops < MOST_HOPS ? (uint32_t)hops : MOST_HOPS;
}

enum doppel_status doppel_recording_postings(const struct doppel_recording *recording,
                                             struct doppel_index_posting **out, size_t *out_count,
                                             struct doppel_error *error)
{
    struct doppel_audio_zone zone = doppel_audio_item_zone();
    size_t capacity = recording->count * zone.fan_out;
    struct doppel_audio_key *keys = malloc((capacity + 1) * sizeof *keys);
    if (!keys)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the keys of %zu peaks",
                           recording->count);
    size_t count = doppel_audio_keys(recording->peaks, recording->count, &zone, keys, capacity);
    struct doppel_index_posting *postings = malloc((count + 1) * sizeof *postings);
    for (size_t i = 0; postings && i < count; i++)
        postings[i] = (struct doppel_index_posting){keys[i].key, keys[i].hop};
    free(keys);
    if (!postings)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu postings", count);
    *out = postings;
    *out_count = count;
    return DOPPEL_OK;
}

static enum doppel_status insert_index(struct doppel_index *index, uint64_t id,
                                       const struct doppel_recording *recording,
                                       struct doppel_error *error)
{
    struct doppel_index_posting *postings = NULL;
    size_t count = 0;
    enum doppel_status status;
    TRY(doppel_recording_postings(recording, &postings, &count, error));
    if (count > UINT32_MAX)
        TRY(doppel_fail(error, DOPPEL_E_LIMIT, "a recording of %zu keys is too long", count));
    struct doppel_index_item item = {.payload = id,
                                     .length = doppel_recording_hops(recording),
                                     .count = (uint32_t)count,
                                     .postings = postings};
    TRY(doppel_index_insert_item(index, &item, error));
done:
    free(postings);
    return status;
}

/* ---- a set in memory ---- */

static bool keep_recording(const struct doppel_recording *recording, struct kept_audio *out)
{
    size_t strong = 0;
    for (size_t i = 0; i < recording->count; i++)
        strong += recording->peaks[i].strong;
    *out = (struct kept_audio){.peaks = malloc((strong + 1) * sizeof *out->peaks),
                               .hops = doppel_recording_hops(recording),
                               .duration_ms = (uint64_t)llround(audio_duration(recording) * 1000)};
    for (size_t i = 0; out->peaks && i < recording->count; i++)
        if (recording->peaks[i].strong)
            out->peaks[out->count++] = recording->peaks[i];
    return out->peaks;
}

/* Room for one more in all that knows of the ids. */
static bool reserve_recordings(struct doppel_recordings *recordings)
{
    bool done = array_reserve(&recordings->ids) && array_reserve(&recordings->kept);
    recordings->map.ids = recordings->ids.items; /* may have moved */
    return done && id_map_reserve(&recordings->map);
}

enum doppel_status doppel_recordings_add(struct doppel_recordings *recordings, uint64_t id,
                                         const struct doppel_recording *recording,
                                         struct doppel_error *error)
{
    struct kept_audio kept = {0};
    if (!recordings->own)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a set over an index takes no recordings itself");
    if (id_map_find(&recordings->map, id) != ID_MAP_NONE)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "there is a recording %llu already",
                           (unsigned long long)id);
    if (!reserve_recordings(recordings) || !keep_recording(recording, &kept))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu peaks", recording->count);
    enum doppel_status status = insert_index(recordings->own, id, recording, error);
    if (status) {
        free(kept.peaks);
        return status;
    }
    recordings->ids.items[recordings->ids.count++] = id;
    recordings->kept.items[recordings->kept.count++] = kept;
    recordings->hops += kept.hops;
    id_map_put(&recordings->map, (uint32_t)(recordings->ids.count - 1));
    return DOPPEL_OK;
}

enum doppel_status doppel_recordings_remove(struct doppel_recordings *recordings, uint64_t id,
                                            struct doppel_error *error)
{
    if (!recordings->own)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a set over an index loses no recordings itself");
    uint32_t slot = id_map_find(&recordings->map, id);
    if (slot == ID_MAP_NONE)
        return DOPPEL_OK;
    enum doppel_status status = doppel_index_remove(recordings->own, &id, 1, error);
    if (status)
        return status;
    uint32_t last = (uint32_t)--recordings->ids.count;
    recordings->hops -= recordings->kept.items[slot].hops;
    free(recordings->kept.items[slot].peaks);
    id_map_remove(&recordings->map, slot);
    if (slot != last) { /* the last one takes its slot */
        id_map_remove(&recordings->map, last);
        recordings->ids.items[slot] = recordings->ids.items[last];
        recordings->kept.items[slot] = recordings->kept.items[last];
        id_map_put(&recordings->map, slot);
    }
    recordings->kept.count--;
    return DOPPEL_OK;
}

/* ---- what is known of the items ---- */

double audio_duration(const struct doppel_recording *recording)
{
    double least =
        recording->count ? doppel_audio_seconds(recording->peaks[recording->count - 1].time) : 0;
    double most = doppel_audio_seconds((double)UINT32_MAX + DOPPEL_AUDIO_TIME_STEPS);
    return recording->duration > least ? fmin(recording->duration, most) : least;
}

const struct doppel_index *audio_index(const struct doppel_recordings *recordings)
{
    return recordings->index;
}

uint64_t audio_items(const struct doppel_recordings *recordings)
{
    return recordings->own ? recordings->kept.count : UINT64_MAX;
}

uint64_t audio_hops(const struct doppel_recordings *recordings)
{
    struct doppel_index_axis *axis;
    if (recordings->own)
        return recordings->hops;
    if (doppel_index_axis_take(recordings->index, &axis, NULL))
        return 0;
    uint64_t hops = doppel_index_axis_length(axis);
    doppel_index_axis_free(axis);
    return hops;
}

double doppel_recordings_seconds(const struct doppel_recordings *recordings)
{
    return (double)audio_hops(recordings) * DOPPEL_AUDIO_HOP / DOPPEL_AUDIO_RATE;
}

/* The first peak at `time` or later. */
static size_t peak_at(const struct kept_audio *recording, uint32_t time)
{
    size_t low = 0, high = recording->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (recording->peaks[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool audio_peaks(const struct doppel_recordings *recordings, uint64_t id, uint32_t from,
                 uint32_t to, struct doppel_audio_track *out)
{
    if (!recordings->own)
        return recordings->source && recordings->source(recordings->context, id, from, to, out);
    uint32_t slot = id_map_find(&recordings->map, id);
    if (slot == ID_MAP_NONE)
        return false;
    const struct kept_audio *kept = &recordings->kept.items[slot];
    size_t first = peak_at(kept, from), end = peak_at(kept, to);
    struct doppel_audio_track track = {.count = end > first ? end - first : 0,
                                       .duration_ms = kept->duration_ms};
    track.peaks = malloc((track.count + 1) * sizeof *track.peaks);
    if (!track.peaks)
        return false;
    memcpy(track.peaks, kept->peaks + first, track.count * sizeof *track.peaks);
    *out = track;
    return true;
}
