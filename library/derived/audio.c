/* Recordings of a library, and of its videos: the index of the postings of their strong peaks. */
#include "library/derived/derived.h"

#include <stdlib.h>

enum {
    /* Postings that wait in the log: half an hour. More would make opens slow, since their keys are
     * derived again; fewer make many small segments. */
    HEAD_POSTINGS = 1 << 19,
};

/* ---- peaks ---- */

enum doppel_status peaks_strip(const uint8_t *data, size_t size, uint8_t **out, size_t *out_size,
                               struct doppel_error *error)
{
    struct doppel_audio_track track;
    enum doppel_status status = doppel_audio_track_read(data, size, &track, error);
    if (status)
        return status;
    size_t stripped_size = doppel_audio_track_size(&track, true);
    uint8_t *stripped = malloc(stripped_size);
    if (stripped)
        doppel_audio_track_write(&track, true, stripped);
    doppel_audio_track_free(&track);
    if (!stripped)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the peaks of a recording");
    *out = stripped;
    *out_size = stripped_size;
    return DOPPEL_OK;
}

enum doppel_status audio_strip(const struct track_bytes *track, struct track_bytes *out,
                               struct doppel_error *error)
{
    out->scheme = track->scheme;
    return peaks_strip(track->data, track->size, &out->data, &out->size, error);
}

/* ---- postings ---- */

static enum doppel_status postings_of_peaks(const uint8_t *data, size_t size,
                                            struct doppel_index_item *item,
                                            struct doppel_index_posting **out,
                                            struct doppel_error *error)
{
    struct doppel_audio_track track;
    size_t count = 0;
    enum doppel_status status = doppel_audio_track_read(data, size, &track, error);
    if (status)
        return status;
    const struct doppel_recording recording = {track.peaks, track.count,
                                               (double)track.duration_ms / 1e3};
    item->length = doppel_recording_hops(&recording);
    status = doppel_recording_postings(&recording, out, &count, error);
    item->count = (uint32_t)count;
    doppel_audio_track_free(&track);
    return status;
}

/* DOPPEL_E_NOT_FOUND: a video without audio. */
static enum doppel_status postings_of(const struct track_bytes *track,
                                      struct doppel_index_item *item,
                                      struct doppel_index_posting **out, struct doppel_error *error)
{
    struct doppel_video_track video;
    if (track->scheme == DOPPEL_SCHEME_PEAKS32)
        return postings_of_peaks(track->data, track->size, item, out, error);
    enum doppel_status status =
        doppel_video_track_read(track->data, track->size, DOPPEL_VIDEO_CODES, &video, error);
    if (status)
        return status;
    status = video.audio ? postings_of_peaks(video.audio, video.audio_size, item, out, error)
                         : doppel_fail(error, DOPPEL_E_NOT_FOUND, "the video has no audio");
    doppel_video_track_free(&video);
    return status;
}

/* The store's question what an item's postings are. */
static enum doppel_status give_postings(void *store, uint64_t id, struct doppel_index_item *out,
                                        struct doppel_index_posting **out_postings,
                                        struct doppel_error *error)
{
    struct track_bytes track;
    enum doppel_status status = track_fetch(store, id, &track, error);
    if (status)
        return status;
    status = postings_of(&track, out, out_postings, error);
    free(track.data);
    return status;
}

static enum doppel_status put_recording(struct doppel_store_index *index, uint64_t id,
                                        const struct track_bytes *track, struct doppel_error *error)
{
    struct doppel_index_item item = {.payload = id};
    struct doppel_index_posting *postings;
    enum doppel_status status = postings_of(track, &item, &postings, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    item.postings = postings;
    status = doppel_store_index_insert_item(index, &item, error);
    free(postings);
    return status;
}

enum doppel_status take_out_postings(struct doppel_store_index *index, uint64_t id,
                                             struct doppel_store *store, struct doppel_error *error)
{
    (void)store;
    return doppel_store_index_remove(index, &id, 1, error);
}

/* ---- what is in ---- */

static enum doppel_status entries_of_recording(uint64_t id, const struct track_bytes *track,
                                               uint64_t *out, struct doppel_error *error)
{
    (void)id;
    struct doppel_index_item item = {0};
    struct doppel_index_posting *postings;
    enum doppel_status status = postings_of(track, &item, &postings, error);
    if (status && status != DOPPEL_E_NOT_FOUND)
        return status;
    if (!status)
        free(postings);
    *out = !status && item.count > 0;
    return DOPPEL_OK;
}

enum doppel_status each_held_postings(const struct doppel_index *index,
                                              held_visitor *visitor, void *context,
                                              struct doppel_error *error)
{
    struct doppel_index_axis *axis;
    enum doppel_status status = doppel_index_axis_take(index, &axis, error);
    if (status)
        return status;
    const uint64_t length = doppel_index_axis_length(axis);
    for (uint64_t at = 0; at < length;) {
        struct doppel_index_place place = doppel_index_item_at(axis, at);
        if (!place.removed)
            visitor(context, place.payload, 1);
        uint64_t next = place.start + place.length;
        at = next > at ? next : at + 1;
    }
    doppel_index_axis_free(axis);
    return DOPPEL_OK;
}

/* ---- the set ---- */

/* Of a video its audio: in place of all of it. */
static enum doppel_status load_recording(struct track_bytes *track, struct doppel_error *error)
{
    struct doppel_video_track video;
    if (track->scheme == DOPPEL_SCHEME_PEAKS32)
        return DOPPEL_OK;
    enum doppel_status status =
        doppel_video_track_read(track->data, track->size, DOPPEL_VIDEO_CODES, &video, error);
    if (status)
        return status;
    free(track->data);
    *track = (struct track_bytes){DOPPEL_SCHEME_PEAKS32, video.audio, video.audio_size};
    video.audio = NULL;
    doppel_video_track_free(&video);
    return DOPPEL_OK;
}

static bool give_peaks(void *reader, uint64_t id, uint32_t from, uint32_t to,
                       struct doppel_audio_track *out)
{
    const struct track_bytes *peaks = derived_take(reader, id);
    bool done = peaks && peaks->data &&
                !doppel_audio_track_read_range(peaks->data, peaks->size, from, to, out, NULL);
    if (peaks && !done)
        derived_note_unreadable(reader, id);
    derived_return(reader);
    return done;
}

static enum doppel_status recordings_over_index(const struct doppel_index *index,
                                                struct derived_reader *reader,
                                                union derived_set *out, struct doppel_error *error)
{
    return doppel_recordings_over(index, give_peaks, reader, &out->recordings, error);
}

static void free_recordings(union derived_set *set)
{
    doppel_recordings_free(set->recordings);
}

const struct derivation audio_derivation = {
    .name = "sounds",
    .schemes = 1u << DOPPEL_SCHEME_PEAKS32 | 1u << DOPPEL_SCHEME_FRAMES64,
    .head = HEAD_POSTINGS,
    .leave = HEAD_POSTINGS / 8,
    .options = doppel_recordings_index_options,
    .source = give_postings,
    .put = put_recording,
    .remove = take_out_postings,
    .load = load_recording,
    .set_over = recordings_over_index,
    .set_free = free_recordings,
    .entries = entries_of_recording,
    .each_held = each_held_postings,
};

enum doppel_status doppel_library_recordings(struct doppel_library *library,
                                             const struct doppel_recordings **out,
                                             struct doppel_error *error)
{
    union derived_set set;
    enum doppel_status status = derived_set(library, DERIVED_AUDIO, &set, error);
    if (!status)
        *out = set.recordings;
    return status;
}
