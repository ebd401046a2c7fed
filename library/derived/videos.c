/* Videos of a library: the index of the 64-bit codes of their frames. */
#include "library/derived/derived.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"

enum {
    /* Codes that wait in the log, which has them beside the attachments: 16 bytes each, half a
     * megabyte in all, however many videos there are. */
    HEAD_CODES = 1 << 15,
};

/* ---- frames ---- */

/* The strong peaks in place of all. */
static enum doppel_status strip_audio(struct doppel_video_track *video, struct doppel_error *error)
{
    uint8_t *stripped;
    size_t size;
    if (!video->audio)
        return DOPPEL_OK;
    enum doppel_status status =
        peaks_strip(video->audio, video->audio_size, &stripped, &size, error);
    if (status)
        return status;
    free(video->audio);
    video->audio = stripped;
    video->audio_size = size;
    return DOPPEL_OK;
}

enum doppel_status videos_strip(const struct track_bytes *track, struct track_bytes *out,
                                struct doppel_error *error)
{
    struct doppel_video_track video;
    enum doppel_status status =
        doppel_video_track_read(track->data, track->size, DOPPEL_VIDEO_CODES, &video, error);
    if (status)
        return status;
    status = strip_audio(&video, error);
    if (!status)
        status =
            doppel_video_track_write(&video, DOPPEL_VIDEO_CODES, &out->data, &out->size, error);
    out->scheme = track->scheme;
    doppel_video_track_free(&video);
    return status;
}

/* ---- codes ---- */

static void free_codes(struct doppel_video_code_list *list)
{
    free(list->codes);
    free(list->payloads);
}

/* @param out given (free_codes) */
static enum doppel_status codes_of(uint64_t id, const struct track_bytes *track,
                                   struct doppel_video_code_list *out, struct doppel_error *error)
{
    struct doppel_video_track video;
    enum doppel_status status =
        doppel_video_track_read(track->data, track->size, DOPPEL_VIDEO_CODES, &video, error);
    if (status)
        return status;
    status = doppel_video_codes(id, &video, out, error);
    doppel_video_track_free(&video);
    return status;
}

static enum doppel_status put_video(struct doppel_store_index *index, uint64_t id,
                                    const struct track_bytes *track, struct doppel_error *error)
{
    struct doppel_video_code_list list;
    enum doppel_status status = codes_of(id, track, &list, error);
    if (status)
        return status;
    if (list.count)
        status = doppel_store_index_insert(index, list.codes, list.payloads, list.count, error);
    free_codes(&list);
    return status;
}

/* ---- taking out ---- */

typedef ARRAY(uint64_t) payload_array;

struct wanted {
    uint64_t id;
    payload_array payloads;
};

static bool is_of(void *context, uint64_t payload)
{
    const struct wanted *wanted = context;
    return payload >> 32 == wanted->id;
}

static bool note(void *context, const struct doppel_index_hit *hit)
{
    struct wanted *wanted = context;
    return array_push(&wanted->payloads, hit->payload);
}

/* Of a video that is damaged nothing tells the payloads but the index itself: within 64 bits of any
 * code is every code. */
static enum doppel_status take_out_unread(struct doppel_store_index *index, uint64_t id,
                                          struct doppel_error *error)
{
    const uint64_t any = 0;
    struct wanted wanted = {.id = id};
    const struct doppel_index_request request = {
        .queries = &any, .count = 1, .radius = 64, .filter = is_of, .filter_context = &wanted};
    enum doppel_status status =
        doppel_index_search(doppel_store_index_get(index), &request, note, &wanted, error);
    if (status == DOPPEL_E_CANCELLED)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the codes of a video");
    if (!status && wanted.payloads.count)
        status =
            doppel_store_index_remove(index, wanted.payloads.items, wanted.payloads.count, error);
    array_free(&wanted.payloads);
    return status;
}

static enum doppel_status take_out_video(struct doppel_store_index *index, uint64_t id,
                                         struct doppel_store *store, struct doppel_error *error)
{
    struct track_bytes track;
    struct doppel_video_code_list list;
    enum doppel_status status = track_fetch(store, id, &track, error);
    if (!status) {
        status = codes_of(id, &track, &list, error);
        free(track.data);
    }
    if (status == DOPPEL_E_CORRUPT || status == DOPPEL_E_NOT_FOUND)
        return take_out_unread(index, id, error);
    if (status)
        return status;
    if (list.count)
        status = doppel_store_index_remove(index, list.payloads, list.count, error);
    free_codes(&list);
    return status;
}

/* ---- what is in ---- */

static enum doppel_status entries_of_video(uint64_t id, const struct track_bytes *track,
                                           uint64_t *out, struct doppel_error *error)
{
    struct doppel_video_code_list list;
    enum doppel_status status = codes_of(id, track, &list, error);
    if (status)
        return status;
    *out = list.count;
    free_codes(&list);
    return DOPPEL_OK;
}

struct holding {
    held_visitor *visitor;
    void *context;
};

static bool tell_held(void *context, uint64_t payload)
{
    const struct holding *holding = context;
    holding->visitor(holding->context, payload >> 32, 1);
    return false;
}

static bool no_hit(void *context, const struct doppel_index_hit *hit)
{
    (void)context;
    (void)hit;
    return true;
}

/* Within 64 bits of any code is every code; none is kept. */
static enum doppel_status each_held_video(const struct doppel_index *index, held_visitor *visitor,
                                          void *context, struct doppel_error *error)
{
    const uint64_t any = 0;
    struct holding holding = {visitor, context};
    const struct doppel_index_request request = {
        .queries = &any, .count = 1, .radius = 64, .filter = tell_held, .filter_context = &holding};
    return doppel_index_search(index, &request, no_hit, NULL, error);
}

/* ---- the set ---- */

/* A video as it is kept at hand: the track, and behind it its frames. */
static enum doppel_status load_video(struct track_bytes *track, struct doppel_error *error)
{
    struct doppel_video_track video;
    enum doppel_status status =
        doppel_video_track_read(track->data, track->size, DOPPEL_VIDEO_CODES, &video, error);
    if (status)
        return status;
    size_t bytes = video.count * sizeof *video.frames;
    uint8_t *loaded = malloc(sizeof video + bytes);
    if (loaded) {
        memcpy(loaded, &video, sizeof video);
        if (bytes)
            memcpy(loaded + sizeof video, video.frames, bytes);
        free(track->data);
        track->data = loaded;
        track->size = sizeof video + bytes;
    }
    doppel_video_track_free(&video);
    return loaded ? DOPPEL_OK
                  : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the frames of a video");
}

static bool copy(const uint8_t *loaded, struct doppel_video_track *out)
{
    struct doppel_video_track video;
    memcpy(&video, loaded, sizeof video);
    video.frames = malloc((video.count + 1) * sizeof *video.frames);
    if (!video.frames)
        return false;
    memcpy(video.frames, loaded + sizeof video, video.count * sizeof *video.frames);
    video.audio = NULL;
    video.audio_size = 0;
    *out = video;
    return true;
}

static bool give_video(void *reader, uint64_t id, struct doppel_video_track *out)
{
    const struct track_bytes *video = derived_take(reader, id);
    bool done = video && copy(video->data, out);
    derived_return(reader);
    return done;
}

static enum doppel_status videos_over_index(const struct doppel_index *index,
                                            struct derived_reader *reader, union derived_set *out,
                                            struct doppel_error *error)
{
    return doppel_videos_over(index, give_video, reader, &out->videos, error);
}

static void free_videos(union derived_set *set)
{
    doppel_videos_free(set->videos);
}

const struct derivation videos_derivation = {
    .name = "videos",
    .schemes = 1u << DOPPEL_SCHEME_FRAMES64,
    .head = HEAD_CODES,
    .leave = HEAD_CODES / 8,
    .options = doppel_videos_index_options,
    .put = put_video,
    .remove = take_out_video,
    .load = load_video,
    .set_over = videos_over_index,
    .set_free = free_videos,
    .entries = entries_of_video,
    .each_held = each_held_video,
};

enum doppel_status doppel_library_videos(struct doppel_library *library,
                                         const struct doppel_videos **out,
                                         struct doppel_error *error)
{
    union derived_set set;
    enum doppel_status status = derived_set(library, DERIVED_VIDEOS, &set, error);
    if (!status)
        *out = set.videos;
    return status;
}
