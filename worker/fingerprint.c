/* A file and a scheme to an outcome: where media meets the fingerprint rooms. */
#include "worker/fingerprint.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/image.h>
#include <doppel/local.h>

#include "core/files/read_at.h"

enum {
    PROBE_BYTES = 4096,
    /* Points are looked for at 640 samples of the longer side: of a photo this many of the shorter
     * one. */
    LOCAL_LEAST_SIDE = 480,
};

static_assert((int)DOPPEL_FORMAT_LAST <= DOPPEL_SWITCH_KINDS,
              "bits of kinds follow those of formats");

enum doppel_kind probe_file(int fd, enum doppel_format *out_format)
{
    uint8_t head[PROBE_BYTES];
    *out_format = DOPPEL_FORMAT_UNKNOWN;
    ssize_t size = read_at(fd, head, sizeof head, 0);
    return size > 0 ? doppel_media_probe_file(fd, head, (size_t)size, out_format)
                    : DOPPEL_KIND_UNKNOWN;
}

/* By what its bytes say, and what it is ordered as: containers tell their kind late. */
static enum doppel_status refuse_switched_off(int fd, const struct doppel_order *order,
                                              struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(order->scheme);
    enum doppel_format format;
    enum doppel_kind kinds[] = {order->switched_off ? probe_file(fd, &format) : DOPPEL_KIND_UNKNOWN,
                                scheme ? scheme->kind : DOPPEL_KIND_UNKNOWN};
    if (!order->switched_off)
        return DOPPEL_OK;
    if (format && order->switched_off >> format & 1)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "%s is switched off on this machine",
                           doppel_format_name(format));
    for (size_t i = 0; i < 2; i++)
        if (kinds[i] && order->switched_off >> (DOPPEL_SWITCH_KINDS + kinds[i]) & 1)
            return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "%s is switched off on this machine",
                               doppel_kind_name(kinds[i]));
    return DOPPEL_OK;
}

static bool is_own_scheme(enum doppel_scheme_id scheme)
{
    return scheme == DOPPEL_SCHEME_PHASH64 || scheme == DOPPEL_SCHEME_PHASH256;
}

struct doppel_media_limits media_limits(const struct worker_limits *limits)
{
    struct doppel_media_limits media = doppel_media_limits_default();
    media.max_bytes = limits->max_bytes ? limits->max_bytes : UINT64_MAX;
    if (limits->max_pixels)
        media.max_pixels = limits->max_pixels;
    if (limits->max_memory >= WORKER_LEAST_BYTES)
        media.max_memory = limits->max_memory - WORKER_UNCOUNTED_BYTES - WORKER_OWN_BYTES;
    return media;
}

struct doppel_media_limits image_limits(const struct worker_limits *limits)
{
    struct doppel_media_limits media = media_limits(limits);
    if (!limits->max_bytes)
        media.max_bytes = doppel_media_limits_default().max_bytes;
    return media;
}

static struct doppel_luma_options luma_options(enum doppel_scheme_id scheme,
                                               const struct worker_limits *limits)
{
    struct doppel_luma_options options = doppel_luma_options_default();
    options.limits = image_limits(limits);
    if (scheme == DOPPEL_SCHEME_LOCAL)
        options.min_side = LOCAL_LEAST_SIDE;
    else if (!is_own_scheme(scheme)) {
        options.min_side = 0;
        options.from_rgb = true;
    }
    return options;
}

/* All views, and beside them what the pixel check needs. */
static enum doppel_status hash_views_luma(const struct doppel_luma *luma,
                                          const struct doppel_scheme *scheme,
                                          struct doppel_outcome *out)
{
    struct doppel_image_features features;
    enum doppel_status status = doppel_image_features(&luma->plane, &features, &out->error);
    if (status)
        return status;
    out->fingerprint = features.fingerprint;
    out->fingerprint.scheme = scheme->id;
    out->fingerprint.version = scheme->version;
    out->quality = features.quality;
    features.pixels = luma->digest;
    features.origin = luma->origin;
    out->attachment = malloc(DOPPEL_IMAGE_ATTACHMENT_MOST);
    if (!out->attachment)
        return doppel_fail(&out->error, DOPPEL_E_MEMORY, "no memory for a thumbnail");
    out->attachment_size = doppel_image_attachment_write(&features, out->attachment);
    return DOPPEL_OK;
}

/* Keypoints, packed. */
static enum doppel_status find_keypoints(const struct doppel_plane *plane,
                                         const struct doppel_scheme *scheme,
                                         struct doppel_outcome *out)
{
    struct doppel_fingerprint points;
    enum doppel_status status = doppel_local_features(plane, &points, &out->error);
    if (status)
        return status;
    out->quality = doppel_image_quality(plane);
    out->attachment_size = doppel_fingerprint_size(&points);
    out->attachment = malloc(out->attachment_size);
    if (out->attachment)
        doppel_fingerprint_write(&points, out->attachment);
    doppel_fingerprint_free(&points);
    if (!out->attachment)
        return doppel_fail(&out->error, DOPPEL_E_MEMORY, "no memory for the points of a picture");
    return doppel_fingerprint_make(scheme, scheme->code_bits, 0, &out->fingerprint, &out->error);
}

/* One code of the whole picture: phash256 and other people's hashes. */
static enum doppel_status hash_whole(const struct doppel_plane *plane,
                                     const struct doppel_scheme *scheme, struct doppel_outcome *out)
{
    struct doppel_code code;
    enum doppel_status status = DOPPEL_OK;
    uint8_t quality = doppel_image_quality(plane);
    if (scheme->id == DOPPEL_SCHEME_PDQ)
        status = doppel_image_pdq(plane, &code, &quality, &out->error);
    else if (scheme->id == DOPPEL_SCHEME_IMAGEHASH)
        status = doppel_image_imagehash(plane, &code, &out->error);
    else
        code = doppel_image_phash(plane);
    if (!status)
        status =
            doppel_fingerprint_make(scheme, scheme->code_bits, 1, &out->fingerprint, &out->error);
    if (status)
        return status;
    out->fingerprint.codes[0] = code;
    out->quality = quality;
    return DOPPEL_OK;
}

/* What is cut short or damaged is a picture all the same: that is remarked, and no failure. */
static void remark_damage(const struct doppel_luma *luma, struct doppel_error *remark)
{
    const char *format = doppel_format_name(luma->format);
    bool lower = luma->there_height < luma->height; /* as it is shown */
    if (lower || luma->there_width < luma->width)
        doppel_fail(remark, DOPPEL_OK, "the %s is cut short after %u of %u %s, which are used",
                    format, lower ? luma->there_height : luma->there_width,
                    lower ? luma->height : luma->width, lower ? "rows" : "columns");
    else if (luma->coarse)
        doppel_fail(remark, DOPPEL_OK,
                    "the %s is cut short: its finer details are missing; the rest is used", format);
    else if (luma->damaged)
        doppel_fail(
            remark, DOPPEL_OK,
            "the %s is damaged inside: parts of the picture may be wrong; it is used as it is",
            format);
}

static enum doppel_status hash_image(int fd, const struct doppel_scheme *scheme,
                                     const struct worker_limits *limits, struct doppel_outcome *out)
{
    struct doppel_luma_options options = luma_options(scheme->id, limits);
    struct doppel_luma luma;
    enum doppel_status status = doppel_media_read_luma(fd, &options, &luma, &out->error);
    if (status)
        return status;
    out->kind = DOPPEL_KIND_IMAGE;
    out->width = luma.there_width; /* what is missing makes no picture better than others */
    out->height = luma.there_height;
    status = scheme->id == DOPPEL_SCHEME_PHASH64 ? hash_views_luma(&luma, scheme, out)
             : scheme->id == DOPPEL_SCHEME_LOCAL ? find_keypoints(&luma.plane, scheme, out)
                                                 : hash_whole(&luma.plane, scheme, out);
    if (!status)
        remark_damage(&luma, &out->error);
    doppel_luma_free(&luma);
    return status;
}

static enum doppel_status hash_file(struct workshop *workshop, int fd,
                                    const struct doppel_order *order, struct doppel_outcome *out)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(order->scheme);
    enum doppel_status status = refuse_switched_off(fd, order, &out->error);
    if (status)
        return status;
    if (order->look)
        return make_preview(workshop, fd, order, out);
    if (scheme && scheme->kind == DOPPEL_KIND_TEXT)
        return fingerprint_text(workshop, fd, order, out);
    bool known = scheme && scheme->version == order->version;
    if (known && scheme->kind == DOPPEL_KIND_IMAGE)
        return hash_image(fd, scheme, &workshop->limits, out);
    switch (known ? (int)scheme->id : 0) {
    case DOPPEL_SCHEME_PEAKS32:
        return fingerprint_audio(workshop, fd, order, out);
    case DOPPEL_SCHEME_CHROMAPRINT:
        return fingerprint_chromaprint(workshop, fd, out);
    case DOPPEL_SCHEME_FRAMES64:
        return fingerprint_video(workshop, fd, order, out);
    case DOPPEL_SCHEME_FRAMES128:
        return fingerprint_parts(workshop, fd, order, out);
    case DOPPEL_SCHEME_VPDQ:
        return fingerprint_vpdq(workshop, fd, order, out);
    default:
        break;
    }
    return doppel_fail(&out->error, DOPPEL_E_ARGUMENT, "no such scheme: %u, version %u",
                       (unsigned)order->scheme, order->version);
}

/* Decoders do not know who set their bounds. */
static void name_limits(const struct worker_limits *limits, struct doppel_error *error)
{
    size_t used = strlen(error->message);
    if (error->status == DOPPEL_E_LIMIT && limits->max_ms && strstr(error->message, ", the limit"))
        doppel_fail(error, DOPPEL_E_LIMIT, "lasts longer than %g s (--max-seconds)",
                    (double)(limits->max_ms - 1) / 1000);
    if (error->status == DOPPEL_E_MEMORY && limits->max_memory &&
        !strstr(error->message, "--max-memory"))
        snprintf(error->message + used, sizeof error->message - used,
                 " within the %llu MiB of a worker (--max-memory)",
                 (unsigned long long)(limits->max_memory >> 20));
}

void workshop_close(struct workshop *workshop)
{
    doppel_text_free(workshop->text);
    workshop->text = NULL;
    doppel_audio_free(workshop->audio);
    workshop->audio = NULL;
}

void fingerprint_file(struct workshop *workshop, int fd, const struct doppel_order *order,
                      struct doppel_outcome *out)
{
    struct doppel_outcome outcome = {0};
    enum doppel_format format;
    progress_begin_file(workshop->progress);
    if (hash_file(workshop, fd, order, &outcome)) {
        if (outcome.kind == DOPPEL_KIND_UNKNOWN)
            outcome.kind = probe_file(fd, &format);
        name_limits(&workshop->limits, &outcome.error);
        doppel_fingerprint_free(&outcome.fingerprint);
        free(outcome.attachment);
        outcome.attachment = NULL;
        outcome.attachment_size = 0;
    }
    *out = outcome;
}
