/* Pictures and videos of a library by their parts: the index of the postings of keypoints, of
 * pictures and of frames. */
#include "library/derived/derived.h"

#include <stdlib.h>

#include <doppel/local.h>

#include "core/try.h"

enum {
    /* Postings that wait in the log: of some 300 pictures, whose keys an open makes again. */
    HEAD_POINTS = 1 << 15,
};

/* ---- points ---- */

enum doppel_status parts_strip(const struct track_bytes *track, struct track_bytes *out,
                               struct doppel_error *error)
{
    struct doppel_local_video video;
    struct track_bytes stripped = {.scheme = track->scheme};
    enum doppel_status status =
        doppel_local_read(track->scheme, track->data, track->size, &video, error);
    if (status)
        return status;
    status = doppel_local_video_write(&video, true, &stripped.data, &stripped.size, error);
    doppel_local_video_free(&video);
    if (!status)
        *out = stripped;
    return status;
}

/* ---- postings ---- */

/* @param out_postings given (free); the item has them, too */
static enum doppel_status postings_of_points(const struct track_bytes *track,
                                             struct doppel_index_item *item,
                                             struct doppel_index_posting **out_postings,
                                             struct doppel_error *error)
{
    struct doppel_local_video video = {0};
    size_t count;
    enum doppel_status status;
    TRY(doppel_local_read(track->scheme, track->data, track->size, &video, error));
    TRY(doppel_local_video_postings(&video, out_postings, &count, error));
    item->length = video.count * DOPPEL_LOCAL_ITEM_LENGTH;
    item->count = (uint32_t)count;
    item->postings = *out_postings;
done:
    doppel_local_video_free(&video);
    return status;
}

/* The store's question what an item's postings are. */
static enum doppel_status give_points_postings(void *store, uint64_t id,
                                               struct doppel_index_item *out,
                                               struct doppel_index_posting **out_postings,
                                               struct doppel_error *error)
{
    struct track_bytes track;
    enum doppel_status status = track_fetch(store, id, &track, error);
    if (status)
        return status;
    status = postings_of_points(&track, out, out_postings, error);
    free(track.data);
    return status;
}

static enum doppel_status put_points(struct doppel_store_index *index, uint64_t id,
                                     const struct track_bytes *track, struct doppel_error *error)
{
    struct doppel_index_item item = {.payload = id};
    struct doppel_index_posting *postings;
    enum doppel_status status = postings_of_points(track, &item, &postings, error);
    if (status)
        return status;
    if (item.count)
        status = doppel_store_index_insert_item(index, &item, error);
    free(postings);
    return status;
}

static enum doppel_status entries_of_points(uint64_t id, const struct track_bytes *track,
                                            uint64_t *out, struct doppel_error *error)
{
    (void)id;
    struct doppel_index_item item = {0};
    struct doppel_index_posting *postings;
    enum doppel_status status = postings_of_points(track, &item, &postings, error);
    if (status)
        return status;
    free(postings);
    *out = item.count > 0;
    return DOPPEL_OK;
}

/* ---- the set ---- */

static enum doppel_status load_points(struct track_bytes *track, struct doppel_error *error)
{
    (void)track; /* as they are */
    (void)error;
    return DOPPEL_OK;
}

/* A picture of an earlier version has all of a fingerprint. */
static enum doppel_status read_frame_points(const struct track_bytes *track, uint32_t frame,
                                            struct doppel_local_frame *out)
{
    if (track->scheme == DOPPEL_SCHEME_FRAMES128)
        return doppel_local_video_frame(track->data, track->size, frame, out, NULL);
    struct doppel_local_video video;
    enum doppel_status status =
        doppel_local_read(track->scheme, track->data, track->size, &video, NULL);
    if (status)
        return status;
    if (frame >= video.count)
        status = DOPPEL_E_CORRUPT;
    else
        *out = video.frames[--video.count];
    doppel_local_video_free(&video);
    return status;
}

static bool give_points(void *reader, uint64_t id, uint32_t frame, struct doppel_local_frame *out)
{
    const struct track_bytes *points = derived_take(reader, id);
    bool done = points && !read_frame_points(points, frame, out);
    if (points && !done)
        derived_note_unreadable(reader, id);
    derived_return(reader);
    return done;
}

static enum doppel_status parts_over_index(const struct doppel_index *index,
                                           struct derived_reader *reader, union derived_set *out,
                                           struct doppel_error *error)
{
    return doppel_local_set_over(index, give_points, reader, &out->parts, error);
}

static void free_parts(union derived_set *set)
{
    doppel_local_set_free(set->parts);
}

const struct derivation parts_derivation = {
    .name = "parts",
    .schemes = 1u << DOPPEL_SCHEME_LOCAL | 1u << DOPPEL_SCHEME_FRAMES128,
    .head = HEAD_POINTS,
    .leave = HEAD_POINTS / 8,
    .options = doppel_local_index_options,
    .source = give_points_postings,
    .put = put_points,
    .remove = take_out_postings,
    .load = load_points,
    .set_over = parts_over_index,
    .set_free = free_parts,
    .entries = entries_of_points,
    .each_held = each_held_postings,
};

enum doppel_status doppel_library_parts(struct doppel_library *library,
                                        const struct doppel_local_set **out,
                                        struct doppel_error *error)
{
    union derived_set set;
    enum doppel_status status = derived_set(library, DERIVED_PARTS, &set, error);
    if (!status)
        *out = set.parts;
    return status;
}
