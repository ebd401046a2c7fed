/* The set of videos: the 64-bit codes of their frames and where these are had from. */
#include <stdlib.h>
#include <string.h>

#include "match/id_map.h"
#include "match/video/search.h"

struct doppel_videos {
    struct doppel_index *own; /* of a set in memory; else NULL */
    const struct doppel_index *index;
    doppel_video_source *source; /* of a set over an index */
    void *context;
    struct id_map map; /* to kept tracks */
    ARRAY(uint64_t) ids;
    ARRAY(struct doppel_video_track) kept; /* frames only */
    uint64_t frames;                       /* codes of kept tracks */
};

struct doppel_video_search doppel_video_search_default(void)
{
    return (struct doppel_video_search){.max_expected = 1e-3};
}

struct doppel_index_options doppel_videos_index_options(void)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.design_radius = VIDEO_RADIUS;
    return options;
}

/* ---- life ---- */

enum doppel_status doppel_videos_new(struct doppel_videos **out, struct doppel_error *error)
{
    struct doppel_index_options options = doppel_videos_index_options();
    struct doppel_videos *videos = calloc(1, sizeof *videos);
    if (!videos)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of videos");
    enum doppel_status status = doppel_index_new(&options, &videos->own, error);
    videos->index = videos->own;
    if (status)
        free(videos);
    else
        *out = videos;
    return status;
}

enum doppel_status doppel_videos_over(const struct doppel_index *index, doppel_video_source *source,
                                      void *context, struct doppel_videos **out,
                                      struct doppel_error *error)
{
    struct doppel_videos *videos = calloc(1, sizeof *videos);
    if (!videos)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of videos");
    videos->index = index;
    videos->source = source;
    videos->context = context;
    *out = videos;
    return DOPPEL_OK;
}

void doppel_videos_free(struct doppel_videos *videos)
{
    if (!videos)
        return;
    for (size_t i = 0; i < videos->kept.count; i++)
        free(videos->kept.items[i].frames);
    array_free(&videos->kept);
    array_free(&videos->ids);
    id_map_free(&videos->map);
    doppel_index_free(videos->own);
    free(videos);
}

/* ---- codes ---- */

bool video_track_is_in_order(const struct doppel_video_track *track)
{
    if (track->count > UINT32_MAX)
        return false;
    for (size_t i = 0; i < track->count; i++) {
        const struct doppel_video_frame *frame = &track->frames[i];
        if (frame->end_ms < frame->start_ms || (i && frame->start_ms < frame[-1].end_ms))
            return false;
    }
    return true;
}

static void add_code(struct doppel_video_code_list *list, const struct doppel_code *code,
                     uint64_t payload)
{
    list->codes[list->count] = code->word[0];
    list->payloads[list->count++] = payload;
}

const struct doppel_code *video_part_code(const struct doppel_video_frame *frame,
                                          enum video_part part)
{
    if (part == VIDEO_PART_IMAGE)
        return &frame->code;
    const struct doppel_code *code = part == VIDEO_PART_MIDDLE ? &frame->middle : &frame->whole;
    return code->word[0] | code->word[1] | code->word[2] | code->word[3] ? code : NULL;
}

/* The next run, from one on, whose middle is kept: one a second. @param next_ms 0 at first; in and
 * out. @return the number of runs when there is none */
static size_t next_middle(const struct doppel_video_track *track, size_t run, uint64_t *next_ms)
{
    while (run < track->count && track->frames[run].start_ms < *next_ms)
        run++;
    if (run < track->count)
        *next_ms = (uint64_t)track->frames[run].start_ms + DOPPEL_VIDEO_MIDDLE_MS;
    return run;
}

static void add_part(struct doppel_video_code_list *list, uint64_t id,
                     const struct doppel_video_frame *frame, enum video_part part)
{
    static const uint64_t bits[VIDEO_PARTS] = {
        [VIDEO_PART_MIDDLE] = UINT64_C(2) << VIDEO_PART_SHIFT,
        [VIDEO_PART_WHOLE] = UINT64_C(1) << VIDEO_PART_SHIFT};
    const struct doppel_code *code = video_part_code(frame, part);
    if (frame->start_ms <= VIDEO_TIME_MASK && code)
        add_code(list, code, id << 32 | bits[part] | frame->start_ms);
}

static void add_middles(struct doppel_video_code_list *list, uint64_t id,
                        const struct doppel_video_track *track)
{
    uint64_t next_ms = 0;
    for (size_t i = next_middle(track, 0, &next_ms); i < track->count;
         i = next_middle(track, i + 1, &next_ms))
        add_part(list, id, &track->frames[i], VIDEO_PART_MIDDLE);
}

/* What a library has of a video, a set in memory has, too. */
static void thin_middles(struct doppel_video_track *track)
{
    uint64_t next_ms = 0;
    size_t kept = next_middle(track, 0, &next_ms);
    for (size_t i = 0; i < track->count; i++) {
        if (i == kept)
            kept = next_middle(track, i + 1, &next_ms);
        else
            track->frames[i].middle = (struct doppel_code){{0}};
    }
}

enum doppel_status doppel_video_codes(uint64_t id, const struct doppel_video_track *track,
                                      struct doppel_video_code_list *out,
                                      struct doppel_error *error)
{
    if (id > UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "the id %llu of a video is over 2^32 - 1",
                           (unsigned long long)id);
    size_t most = VIDEO_PARTS * track->count + 1;
    struct doppel_video_code_list list = {.codes = malloc(most * sizeof *list.codes),
                                          .payloads = malloc(most * sizeof *list.payloads)};
    if (!list.codes || !list.payloads) {
        free(list.codes);
        free(list.payloads);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu frames", track->count);
    }
    for (size_t i = 0; i < track->count; i++)
        add_part(&list, id, &track->frames[i], VIDEO_PART_IMAGE);
    if (track->has_middle)
        add_middles(&list, id, track);
    for (size_t i = 0; track->has_whole && i < track->count; i++)
        add_part(&list, id, &track->frames[i], VIDEO_PART_WHOLE);
    *out = list;
    return DOPPEL_OK;
}

/* ---- a set in memory ---- */

static bool keep_video_track(const struct doppel_video_track *track, struct doppel_video_track *out)
{
    *out = (struct doppel_video_track){.count = track->count,
                                       .box = track->box,
                                       .has_middle = track->has_middle,
                                       .has_whole = track->has_whole,
                                       .width = track->width,
                                       .height = track->height,
                                       .sampled = track->sampled,
                                       .duration_ms = track->duration_ms,
                                       .keyframes_only = track->keyframes_only};
    out->frames = malloc((track->count + 1) * sizeof *out->frames);
    if (out->frames && track->count)
        memcpy(out->frames, track->frames, track->count * sizeof *out->frames);
    if (out->frames && track->has_middle)
        thin_middles(out);
    return out->frames;
}

/* Room for one more in all that knows of the ids. */
static bool reserve_videos(struct doppel_videos *videos)
{
    bool done = array_reserve(&videos->ids) && array_reserve(&videos->kept);
    videos->map.ids = videos->ids.items; /* may have moved */
    return done && id_map_reserve(&videos->map);
}

static enum doppel_status insert_frame_codes(struct doppel_videos *videos, uint64_t id,
                                             const struct doppel_video_track *track,
                                             struct doppel_error *error)
{
    struct doppel_video_code_list list = {0};
    enum doppel_status status = doppel_video_codes(id, track, &list, error);
    if (!status)
        status = doppel_index_insert(videos->own, list.codes, list.payloads, list.count, error);
    if (!status)
        videos->frames += list.count;
    free(list.codes);
    free(list.payloads);
    return status;
}

enum doppel_status doppel_videos_add(struct doppel_videos *videos, uint64_t id,
                                     const struct doppel_video_track *track,
                                     struct doppel_error *error)
{
    struct doppel_video_track kept = {0};
    if (!videos->own)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a set over an index takes no videos itself");
    if (id_map_find(&videos->map, id) != ID_MAP_NONE)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "there is a video %llu already",
                           (unsigned long long)id);
    if (!video_track_is_in_order(track))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the frames of a video are not by time");
    if (!reserve_videos(videos) || !keep_video_track(track, &kept))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu frames", track->count);
    enum doppel_status status = insert_frame_codes(videos, id, track, error);
    if (status) {
        free(kept.frames);
        return status;
    }
    videos->ids.items[videos->ids.count++] = id;
    videos->kept.items[videos->kept.count++] = kept;
    id_map_put(&videos->map, (uint32_t)(videos->ids.count - 1));
    return DOPPEL_OK;
}

static enum doppel_status forget_index(struct doppel_videos *videos, uint64_t id,
                                       const struct doppel_video_track *track,
                                       struct doppel_error *error)
{
    struct doppel_video_code_list list = {0};
    enum doppel_status status = doppel_video_codes(id, track, &list, error);
    if (!status)
        status = doppel_index_remove(videos->own, list.payloads, list.count, error);
    if (!status)
        videos->frames -= list.count;
    free(list.codes);
    free(list.payloads);
    return status;
}

enum doppel_status doppel_videos_remove(struct doppel_videos *videos, uint64_t id,
                                        struct doppel_error *error)
{
    if (!videos->own)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a set over an index loses no videos itself");
    uint32_t slot = id_map_find(&videos->map, id);
    if (slot == ID_MAP_NONE)
        return DOPPEL_OK;
    enum doppel_status status = forget_index(videos, id, &videos->kept.items[slot], error);
    if (status)
        return status;
    uint32_t last = (uint32_t)--videos->ids.count;
    free(videos->kept.items[slot].frames);
    id_map_remove(&videos->map, slot);
    if (slot != last) { /* the last one takes its slot */
        id_map_remove(&videos->map, last);
        videos->ids.items[slot] = videos->ids.items[last];
        videos->kept.items[slot] = videos->kept.items[last];
        id_map_put(&videos->map, slot);
    }
    videos->kept.count--;
    return DOPPEL_OK;
}

/* ---- what is known of the items ---- */

const struct doppel_index *videos_index(const struct doppel_videos *videos)
{
    return videos->index;
}

uint64_t doppel_videos_frames(const struct doppel_videos *videos)
{
    if (videos->own)
        return videos->frames;
    return videos->index ? doppel_index_count(videos->index) : 0;
}

bool videos_item(const struct doppel_videos *videos, uint64_t id, struct video_item *out)
{
    struct video_item item = {.borrowed = videos->own};
    if (videos->own) {
        uint32_t slot = id_map_find(&videos->map, id);
        if (slot == ID_MAP_NONE)
            return false;
        item.track = videos->kept.items[slot];
    } else if (!videos->source || !videos->source(videos->context, id, &item.track)) {
        return false;
    } else if (!video_track_is_in_order(&item.track)) {
        doppel_video_track_free(&item.track);
        return false;
    }
    *out = item;
    return true;
}

void videos_item_free(struct video_item *item)
{
    if (!item->borrowed)
        doppel_video_track_free(&item->track);
}
