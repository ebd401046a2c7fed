/* Pictures of a library by their parts: the index of the postings of their keypoints. */
#include "library/derived/derived.h"

#include <stdlib.h>

#include <doppel/local.h>

enum {
    /* Postings that wait in the log: of some 300 pictures, whose keys an open makes again. */
    HEAD_POINTS = 1 << 15,
};

/* ---- points ---- */

enum doppel_status parts_strip(const struct track_bytes *track, struct track_bytes *out,
                               struct doppel_error *error)
{
    struct doppel_fingerprint points;
    enum doppel_status status = doppel_fingerprint_read(track->data, track->size, &points, error);
    if (status)
        return status;
    doppel_local_keep(&points);
    *out = (struct track_bytes){track->scheme, NULL, doppel_fingerprint_size(&points)};
    out->data = malloc(out->size);
    if (out->data)
        doppel_fingerprint_write(&points, out->data);
    doppel_fingerprint_free(&points);
    return out->data ? DOPPEL_OK
                     : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a picture");
}

/* ---- postings ---- */

/* @param out room for DOPPEL_LOCAL_KEPT */
static enum doppel_status postings_of_points(const struct track_bytes *track,
                                             struct doppel_index_item *item,
                                             struct doppel_index_posting *out,
                                             struct doppel_error *error)
{
    struct doppel_fingerprint points;
    enum doppel_status status = doppel_fingerprint_read(track->data, track->size, &points, error);
    if (status)
        return status;
    item->length = DOPPEL_LOCAL_ITEM_LENGTH;
    item->count = (uint32_t)doppel_local_postings(&points, out);
    item->postings = out;
    doppel_fingerprint_free(&points);
    return DOPPEL_OK;
}

/* The store's question what an item's postings are. */
static enum doppel_status give_points_postings(void *store, uint64_t id,
                                               struct doppel_index_item *out,
                                               struct doppel_index_posting **out_postings,
                                               struct doppel_error *error)
{
    struct track_bytes track;
    struct doppel_index_posting *postings = malloc(DOPPEL_LOCAL_KEPT * sizeof *postings);
    if (!postings)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the points of a picture");
    enum doppel_status status = track_fetch(store, id, &track, error);
    if (!status) {
        status = postings_of_points(&track, out, postings, error);
        free(track.data);
    }
    if (status)
        free(postings);
    else
        *out_postings = postings;
    return status;
}

static enum doppel_status put_points(struct doppel_store_index *index, uint64_t id,
                                     const struct track_bytes *track, struct doppel_error *error)
{
    struct doppel_index_item item = {.payload = id};
    struct doppel_index_posting postings[DOPPEL_LOCAL_KEPT];
    enum doppel_status status = postings_of_points(track, &item, postings, error);
    return status || !item.count ? status : doppel_store_index_insert_item(index, &item, error);
}

static enum doppel_status entries_of_points(uint64_t id, const struct track_bytes *track,
                                            uint64_t *out, struct doppel_error *error)
{
    (void)id;
    struct doppel_index_item item = {0};
    struct doppel_index_posting postings[DOPPEL_LOCAL_KEPT];
    enum doppel_status status = postings_of_points(track, &item, postings, error);
    *out = item.count > 0;
    return status;
}

/* ---- the set ---- */

static enum doppel_status load_points(struct track_bytes *track, struct doppel_error *error)
{
    (void)track; /* as they are */
    (void)error;
    return DOPPEL_OK;
}

static bool give_points(void *reader, uint64_t id, struct doppel_fingerprint *out)
{
    const struct track_bytes *points = derived_take(reader, id);
    bool done = points && !doppel_fingerprint_read(points->data, points->size, out, NULL);
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
    .schemes = 1u << DOPPEL_SCHEME_LOCAL,
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
