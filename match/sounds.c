/* The set of sounds: postings of their keys and where their peaks are had from. */
#include "match/sounds_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "match/id_map.h"

static const uint32_t MOST_HOPS = UINT32_MAX / DOPPEL_AUDIO_TIME_STEPS + 1; /* times are 32 bits */

/* A sound of a set in memory. */
struct kept_sound {
    struct doppel_audio_peak *peaks; /* strong ones */
    size_t count;
    uint32_t hops;
    uint64_t duration_ms;
};

struct doppel_sounds {
    struct doppel_index *own; /* of a set in memory; else NULL */
    const struct doppel_index *index;
    doppel_sound_source *source; /* of a set over an index */
    void *context;
    struct id_map map; /* to kept sounds */
    ARRAY(uint64_t) ids;
    ARRAY(struct kept_sound) kept;
    uint64_t hops; /* of kept sounds */
};

struct doppel_sound_options doppel_sound_options_default(void)
{
    return (struct doppel_sound_options){.max_false_positives = 1e-3};
}

struct doppel_index_options doppel_sounds_index_options(void)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.table = DOPPEL_INDEX_POSTINGS;
    options.key_bits = DOPPEL_AUDIO_KEY_BITS;
    return options;
}

/* ---- life ---- */

enum doppel_status doppel_sounds_new(struct doppel_sounds **out, struct doppel_error *error)
{
    struct doppel_index_options options = doppel_sounds_index_options();
    struct doppel_sounds *sounds = calloc(1, sizeof *sounds);
    if (!sounds)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of sounds");
    enum doppel_status status = doppel_index_new(&options, &sounds->own, error);
    sounds->index = sounds->own;
    if (status)
        free(sounds);
    else
        *out = sounds;
    return status;
}

enum doppel_status doppel_sounds_over(const struct doppel_index *index, doppel_sound_source *source,
                                      void *context, struct doppel_sounds **out,
                                      struct doppel_error *error)
{
    struct doppel_sounds *sounds = calloc(1, sizeof *sounds);
    if (!sounds)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of sounds");
    sounds->index = index;
    sounds->source = source;
    sounds->context = context;
    *out = sounds;
    return DOPPEL_OK;
}

void doppel_sounds_free(struct doppel_sounds *sounds)
{
    if (!sounds)
        return;
    for (size_t i = 0; i < sounds->kept.count; i++)
        free(sounds->kept.items[i].peaks);
    array_free(&sounds->kept);
    array_free(&sounds->ids);
    id_map_free(&sounds->map);
    doppel_index_free(sounds->own);
    free(sounds);
}

/* ---- postings ---- */

uint32_t doppel_sound_hops(const struct doppel_sound *sound)
{
    double hops = ceil(sound->duration * DOPPEL_AUDIO_RATE / DOPPEL_AUDIO_HOP);
    uint32_t last = sound->count ? sound->peaks[sound->count - 1].time : 0;
    uint32_t least = last / DOPPEL_AUDIO_TIME_STEPS + 2; /* a hop is rounded */
    if (!(hops > least))
        return least;
    return hops < MOST_HOPS ? (uint32_t)hops : MOST_HOPS;
}

enum doppel_status doppel_sound_postings(const struct doppel_sound *sound,
                                         struct doppel_index_posting **out, size_t *out_count,
                                         struct doppel_error *error)
{
    struct doppel_audio_zone zone = doppel_audio_item_zone();
    size_t capacity = sound->count * zone.fan_out;
    struct doppel_audio_key *keys = malloc((capacity + 1) * sizeof *keys);
    if (!keys)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the keys of %zu peaks",
                           sound->count);
    size_t count = doppel_audio_keys(sound->peaks, sound->count, &zone, keys, capacity);
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

static enum doppel_status insert(struct doppel_index *index, uint64_t id,
                                 const struct doppel_sound *sound, struct doppel_error *error)
{
    struct doppel_index_posting *postings = NULL;
    size_t count = 0;
    enum doppel_status status = doppel_sound_postings(sound, &postings, &count, error);
    if (!status && count > UINT32_MAX)
        status = doppel_fail(error, DOPPEL_E_LIMIT, "a sound of %zu keys is too long", count);
    struct doppel_index_item item = {.payload = id,
                                     .length = doppel_sound_hops(sound),
                                     .count = (uint32_t)count,
                                     .postings = postings};
    if (!status)
        status = doppel_index_insert_item(index, &item, error);
    free(postings);
    return status;
}

/* ---- a set in memory ---- */

static bool keep(const struct doppel_sound *sound, struct kept_sound *out)
{
    size_t strong = 0;
    for (size_t i = 0; i < sound->count; i++)
        strong += sound->peaks[i].strong;
    *out = (struct kept_sound){.peaks = malloc((strong + 1) * sizeof *out->peaks),
                               .hops = doppel_sound_hops(sound),
                               .duration_ms = (uint64_t)llround(sound_duration(sound) * 1000)};
    for (size_t i = 0; out->peaks && i < sound->count; i++)
        if (sound->peaks[i].strong)
            out->peaks[out->count++] = sound->peaks[i];
    return out->peaks;
}

/* Room for one more in all that knows of the ids. */
static bool reserve(struct doppel_sounds *sounds)
{
    bool done = array_reserve(&sounds->ids) && array_reserve(&sounds->kept);
    sounds->map.ids = sounds->ids.items; /* may have moved */
    return done && id_map_reserve(&sounds->map);
}

enum doppel_status doppel_sounds_add(struct doppel_sounds *sounds, uint64_t id,
                                     const struct doppel_sound *sound, struct doppel_error *error)
{
    struct kept_sound kept = {0};
    if (!sounds->own)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a set over an index takes no sounds itself");
    if (id_map_find(&sounds->map, id) != ID_MAP_NONE)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "there is a sound %llu already",
                           (unsigned long long)id);
    if (!reserve(sounds) || !keep(sound, &kept))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu peaks", sound->count);
    enum doppel_status status = insert(sounds->own, id, sound, error);
    if (status) {
        free(kept.peaks);
        return status;
    }
    sounds->ids.items[sounds->ids.count++] = id;
    sounds->kept.items[sounds->kept.count++] = kept;
    sounds->hops += kept.hops;
    id_map_put(&sounds->map, (uint32_t)(sounds->ids.count - 1));
    return DOPPEL_OK;
}

enum doppel_status doppel_sounds_remove(struct doppel_sounds *sounds, uint64_t id,
                                        struct doppel_error *error)
{
    if (!sounds->own)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a set over an index loses no sounds itself");
    uint32_t slot = id_map_find(&sounds->map, id);
    if (slot == ID_MAP_NONE)
        return DOPPEL_OK;
    enum doppel_status status = doppel_index_remove(sounds->own, &id, 1, error);
    if (status)
        return status;
    uint32_t last = (uint32_t)--sounds->ids.count;
    sounds->hops -= sounds->kept.items[slot].hops;
    free(sounds->kept.items[slot].peaks);
    id_map_remove(&sounds->map, slot);
    if (slot != last) { /* the last one takes its slot */
        id_map_remove(&sounds->map, last);
        sounds->ids.items[slot] = sounds->ids.items[last];
        sounds->kept.items[slot] = sounds->kept.items[last];
        id_map_put(&sounds->map, slot);
    }
    sounds->kept.count--;
    return DOPPEL_OK;
}

/* ---- what is known of the items ---- */

double sound_duration(const struct doppel_sound *sound)
{
    double least = sound->count ? doppel_audio_seconds(sound->peaks[sound->count - 1].time) : 0;
    double most = doppel_audio_seconds((double)UINT32_MAX + DOPPEL_AUDIO_TIME_STEPS);
    return sound->duration > least ? fmin(sound->duration, most) : least;
}

const struct doppel_index *sounds_index(const struct doppel_sounds *sounds)
{
    return sounds->index;
}

uint64_t sounds_hops(const struct doppel_sounds *sounds)
{
    struct doppel_index_axis *axis;
    if (sounds->own)
        return sounds->hops;
    if (doppel_index_axis_take(sounds->index, &axis, NULL))
        return 0;
    uint64_t hops = doppel_index_axis_length(axis);
    doppel_index_axis_free(axis);
    return hops;
}

double doppel_sounds_seconds(const struct doppel_sounds *sounds)
{
    return (double)sounds_hops(sounds) * DOPPEL_AUDIO_HOP / DOPPEL_AUDIO_RATE;
}

/* The first peak at `time` or later. */
static size_t peak_at(const struct kept_sound *sound, uint32_t time)
{
    size_t low = 0, high = sound->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sound->peaks[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool sounds_peaks(const struct doppel_sounds *sounds, uint64_t id, uint32_t from, uint32_t to,
                  struct doppel_audio_track *out)
{
    if (!sounds->own)
        return sounds->source && sounds->source(sounds->context, id, from, to, out);
    uint32_t slot = id_map_find(&sounds->map, id);
    if (slot == ID_MAP_NONE)
        return false;
    const struct kept_sound *kept = &sounds->kept.items[slot];
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
