/* All views of a picture: which parts of it are hashed, and what is kept beside the codes. */
#include <doppel/image.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/digest.h"
#include "image/phash.h"
#include "image/plane.h"
#include "image/quality.h"
#include "image/trim.h"

_Static_assert((int)QUALITY_SIDE == (int)DOPPEL_IMAGE_THUMB_SIDE, "one reduction serves both");

struct views {
    struct share_box boxes[DOPPEL_VIEW_COUNT];
    uint32_t positions[DOPPEL_VIEW_COUNT];
    uint32_t count;
    uint32_t core;  /**< number of the frame with the least around the picture */
    uint8_t detail; /**< of it */
    uint8_t even;   /**< how much of it is, in percent */
};

static void add_view(struct views *views, uint32_t view, struct share_box box)
{
    views->boxes[views->count] = box;
    views->positions[views->count++] = view;
}

/* Boxes whose edges are all within 0.6 % of the frame. */
static bool same_box(struct share_box a, struct share_box b)
{
    const int tolerance = SHARE_ONE * 6 / 1000;
    return abs(a.left - b.left) < tolerance && abs(a.top - b.top) < tolerance &&
           abs(a.right - b.right) < tolerance && abs(a.bottom - b.bottom) < tolerance;
}

/* A part of a box; shares of the box × 65535. */
static struct share_box inside(struct share_box outer, struct share_box inner)
{
    uint32_t width = outer.right - outer.left, height = outer.bottom - outer.top;
    return (struct share_box){
        .left = (uint16_t)(outer.left + (width * inner.left + SHARE_ONE / 2) / SHARE_ONE),
        .top = (uint16_t)(outer.top + (height * inner.top + SHARE_ONE / 2) / SHARE_ONE),
        .right = (uint16_t)(outer.left + (width * inner.right + SHARE_ONE / 2) / SHARE_ONE),
        .bottom = (uint16_t)(outer.top + (height * inner.bottom + SHARE_ONE / 2) / SHARE_ONE)};
}

/* A share of the frame, pushed to the left or top (0), the middle (1), the right or bottom (2). A
 * crop by a fifth lies within a few percent of one of the nine; with the corners and the centre
 * alone every other one is lost. */
static const struct crop {
    enum doppel_image_view view;
    uint32_t percent;
    uint32_t across, down;
} crops[] = {
    {DOPPEL_VIEW_CENTRE, 87, 1, 1},     {DOPPEL_VIEW_CORNER, 82, 0, 0},
    {DOPPEL_VIEW_CORNER + 1, 82, 2, 0}, {DOPPEL_VIEW_CORNER + 2, 82, 0, 2},
    {DOPPEL_VIEW_CORNER + 3, 82, 2, 2}, {DOPPEL_VIEW_EDGE, 85, 1, 0},
    {DOPPEL_VIEW_EDGE + 1, 85, 0, 1},   {DOPPEL_VIEW_EDGE + 2, 85, 2, 1},
    {DOPPEL_VIEW_EDGE + 3, 85, 1, 2},
};

static struct share_box crop_box(const struct crop *crop)
{
    uint32_t rest = SHARE_ONE * (100 - crop->percent) / 200 * 2; /* even: mirrors exactly */
    uint32_t side = SHARE_ONE - rest;
    uint32_t left = rest * crop->across / 2, top = rest * crop->down / 2;
    return (struct share_box){(uint16_t)left, (uint16_t)top, (uint16_t)(left + side),
                              (uint16_t)(top + side)};
}

/* A part of the picture as its quality is measured from. */
struct view_sums {
    uint16_t cells[QUALITY_SIDE * QUALITY_SIDE];
    uint32_t side;
};

static void measure_view(const struct plane_sums *sums, struct share_box box, struct view_sums *out)
{
    out->side = quality_side(sums->plane.width, sums->plane.height);
    plane_sums_average(sums, box, out->side, 1, out->cells);
}

/* A part without detail matches anything: only the full frame stays whatever it shows. */
static void add_if_distinctive(struct views *views, uint32_t view, struct share_box box,
                               uint8_t detail)
{
    if (detail < MIN_DETAIL)
        return;
    add_view(views, view, box);
    if (view >= DOPPEL_VIEW_CENTRE)
        return;
    views->core = views->count - 1;
    views->detail = detail;
}

static struct views choose_views(const struct plane_sums *sums, const struct view_sums *whole)
{
    struct trimmed_boxes trim = trim_boxes(&sums->plane);
    struct view_sums trimmed, interface;
    const struct view_sums *frame = whole;
    struct views views = {.detail = detail_of_cells(whole->cells, whole->side)};
    add_view(&views, DOPPEL_VIEW_FULL, share_box_full);
    if (!same_box(trim.trimmed, share_box_full)) {
        measure_view(sums, trim.trimmed, &trimmed);
        frame = &trimmed;
        add_if_distinctive(&views, DOPPEL_VIEW_TRIMMED, trim.trimmed,
                           detail_of_cells(trimmed.cells, trimmed.side));
    }
    if (!same_box(trim.interface, trim.trimmed) && !same_box(trim.interface, share_box_full)) {
        measure_view(sums, trim.interface, &interface);
        add_if_distinctive(&views, DOPPEL_VIEW_INTERFACE, trim.interface,
                           detail_of_cells(interface.cells, interface.side));
    }
    for (unsigned i = 0; i < sizeof crops / sizeof *crops; i++) {
        struct share_box crop = crop_box(&crops[i]);
        add_if_distinctive(&views, crops[i].view, inside(trim.trimmed, crop),
                           detail_of_part(frame->cells, frame->side, crop));
    }
    const uint32_t core = views.positions[views.core];
    frame = core == DOPPEL_VIEW_INTERFACE ? &interface
            : core == DOPPEL_VIEW_TRIMMED ? &trimmed
                                          : whole;
    views.even = even_of_cells(frame->cells, frame->side);
    return views;
}

static uint8_t lower_quality(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

static void hash_views_plane_sums(const struct plane_sums *sums, const struct views *views,
                                  struct doppel_fingerprint *out, uint8_t *out_quality)
{
    for (uint32_t i = 0; i < views->count; i++) {
        uint16_t cells[DCT_SIDE * DCT_SIDE];
        double coefficients[DCT_KEPT][DCT_KEPT];
        plane_sums_average(sums, views->boxes[i], DCT_SIDE, PHASH_CELL_SCALE, cells);
        dct_lowest(cells, coefficients);
        out->codes[i] = phash_bits_of(coefficients);
        out->positions[i] = views->positions[i];
        if (i == views->core)
            *out_quality = lower_quality(quality_of(views->detail, coefficients),
                                         quality_of_even(views->even));
    }
}

static void fill_thumb(const struct plane_sums *sums, const struct view_sums *whole, uint8_t *out)
{
    uint16_t enlarged[DOPPEL_IMAGE_THUMB_BYTES];
    const uint16_t *cells = whole->cells;
    if (whole->side != DOPPEL_IMAGE_THUMB_SIDE) {
        plane_sums_average(sums, share_box_full, DOPPEL_IMAGE_THUMB_SIDE, 1, enlarged);
        cells = enlarged;
    }
    for (unsigned i = 0; i < DOPPEL_IMAGE_THUMB_BYTES; i++)
        out[i] = (uint8_t)cells[i];
}

enum doppel_status doppel_image_features(const struct doppel_plane *plane,
                                         struct doppel_image_features *out,
                                         struct doppel_error *error)
{
    if (!plane->data || plane->width == 0 || plane->height == 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a picture of %ux%u samples has no features",
                           plane->width, plane->height);
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    struct doppel_image_features features = {0};
    struct plane_sums sums;
    enum doppel_status status = plane_sums_make(plane, &sums, error);
    if (status)
        return status;
    struct view_sums whole;
    measure_view(&sums, share_box_full, &whole);
    struct views views = choose_views(&sums, &whole);
    status = doppel_fingerprint_make(scheme, PHASH_BITS, views.count, &features.fingerprint, error);
    if (status)
        goto done;
    hash_views_plane_sums(&sums, &views, &features.fingerprint, &features.quality);
    if (sums.shrunk)
        features.fingerprint.codes[0] = doppel_image_phash(plane);
    for (uint32_t i = 0; i < views.count; i++)
        memcpy(features.boxes[i], &views.boxes[i], sizeof features.boxes[i]);
    fill_thumb(&sums, &whole, features.thumb);
    *out = features;
done:
    plane_sums_free(&sums);
    return status;
}

/* ---- the attachment ---- */

enum { ORIGIN_BYTES_WITHOUT_PLACE = 48 };

/* The last byte of the camera is always zero. */
static void write_image_origin(const struct doppel_image_origin *origin,
                               uint8_t out[DOPPEL_IMAGE_ORIGIN_BYTES])
{
    memcpy(out, origin->spectrum, sizeof origin->spectrum);
    out[7] = origin->jpeg_quality;
    out[8] = origin->earlier_quality;
    put_u64(out + 9, (uint64_t)origin->taken_s);
    memcpy(out + 17, origin->camera, sizeof origin->camera - 1);
    put_u16(out + 48, origin->taken_fraction);
    put_u32(out + 50, (uint32_t)origin->latitude_e7);
    put_u32(out + 54, (uint32_t)origin->longitude_e7);
}

static void read_image_origin(const uint8_t *data, size_t size, struct doppel_image_origin *out)
{
    memcpy(out->spectrum, data, sizeof out->spectrum);
    out->jpeg_quality = data[7];
    out->earlier_quality = data[8];
    out->taken_s = (int64_t)get_u64(data + 9);
    for (size_t i = 0; i + 1 < sizeof out->camera && data[17 + i] >= ' ' && data[17 + i] < 127; i++)
        out->camera[i] = (char)data[17 + i];
    if (size < DOPPEL_IMAGE_ORIGIN_BYTES)
        return;
    out->taken_fraction = get_u16(data + 48);
    out->latitude_e7 = (int32_t)get_u32(data + 50);
    out->longitude_e7 = (int32_t)get_u32(data + 54);
}

size_t doppel_image_attachment_write(const struct doppel_image_features *features,
                                     uint8_t out[DOPPEL_IMAGE_ATTACHMENT_MOST])
{
    size_t digest = digest_is_none(&features->pixels) ? 0 : sizeof features->pixels;
    memcpy(out, &features->pixels, digest);
    out += digest;
    memcpy(out, features->thumb, DOPPEL_IMAGE_THUMB_BYTES);
    out += DOPPEL_IMAGE_THUMB_BYTES;
    for (unsigned i = 0; i < DOPPEL_VIEW_COUNT * 4; i++, out += 2)
        put_u16(out, features->boxes[i / 4][i % 4]);
    write_image_origin(&features->origin, out);
    return DOPPEL_IMAGE_ATTACHMENT_BYTES + DOPPEL_IMAGE_ORIGIN_BYTES + digest;
}

/* How many bytes of origin an attachment has: earlier versions had none, or no place.
 * @return false: no attachment is as large */
static bool find_origin_size(size_t size, size_t *out_origin, bool *out_digest)
{
    static const size_t origins[] = {0, ORIGIN_BYTES_WITHOUT_PLACE, DOPPEL_IMAGE_ORIGIN_BYTES};
    for (size_t i = 0; i < 2 * sizeof origins / sizeof *origins; i++) {
        *out_origin = origins[i / 2];
        *out_digest = i % 2;
        if (size == DOPPEL_IMAGE_ATTACHMENT_BYTES + *out_origin +
                        (*out_digest ? sizeof(struct doppel_digest) : 0))
            return true;
    }
    return false;
}

struct doppel_digest doppel_image_attachment_pixels(const uint8_t *data, size_t size)
{
    struct doppel_digest pixels = {0};
    size_t origin;
    bool digest;
    if (find_origin_size(size, &origin, &digest) && digest)
        memcpy(&pixels, data, sizeof pixels);
    return pixels;
}

enum doppel_status doppel_image_attachment_read(const uint8_t *data, size_t size,
                                                struct doppel_image_features *features)
{
    size_t origin;
    bool digest;
    if (!find_origin_size(size, &origin, &digest))
        return DOPPEL_E_CORRUPT;
    features->pixels = doppel_image_attachment_pixels(data, size);
    data += digest ? sizeof features->pixels : 0;
    memcpy(features->thumb, data, DOPPEL_IMAGE_THUMB_BYTES);
    data += DOPPEL_IMAGE_THUMB_BYTES;
    for (unsigned i = 0; i < DOPPEL_VIEW_COUNT * 4; i++, data += 2)
        features->boxes[i / 4][i % 4] = get_u16(data);
    features->origin = (struct doppel_image_origin){0};
    if (origin)
        read_image_origin(data, origin, &features->origin);
    return DOPPEL_OK;
}

double doppel_image_view_share(const struct doppel_image_features *features,
                               enum doppel_image_view view)
{
    const struct doppel_fingerprint *fingerprint = &features->fingerprint;
    for (uint32_t i = 0; i < fingerprint->count && i < DOPPEL_VIEW_COUNT; i++) {
        const uint16_t *box = features->boxes[i];
        if (fingerprint->positions[i] == view && box[2] > box[0] && box[3] > box[1])
            return (double)(box[2] - box[0]) * (box[3] - box[1]) / (65535. * 65535.);
    }
    return 1;
}
