/* What two pictures show beside each other: a frame around one of them is not counted. */
#include "library/ledger/contents.h"

#include <doppel/image.h>

/* Shares that differ by less are equal: a frame is found to a row of some 192, on both sides. */
static const double SAME_SHARE = .96;

struct pictured {
    struct doppel_item item;
    struct doppel_image_features features; /* its fingerprint is the item's */
    double share;                          /* of the picture, without a frame */
};

static bool load_picture(struct doppel_library *library, uint64_t id, struct pictured *out)
{
    if (doppel_library_get(library, id, true, &out->item, NULL))
        return false;
    const struct doppel_record *record = &out->item.record;
    bool good = record->kind == DOPPEL_KIND_IMAGE && record->scheme == DOPPEL_SCHEME_PHASH64 &&
                record->fingerprint.code_bits == 256 &&
                doppel_record_image_features(record, &out->features);
    if (good)
        out->share = doppel_image_content_share(&out->features);
    return good;
}

static bool is_trimmed_view(uint8_t view)
{
    return view == DOPPEL_VIEW_TRIMMED || view == DOPPEL_VIEW_INTERFACE;
}

/* Whether what they have in common is what one of them shows without its frame. */
static bool have_frame(const struct pictured *a, const struct pictured *b)
{
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    struct doppel_image_verdict verdict =
        doppel_image_verify(&a->features.fingerprint, &b->features.fingerprint, &options);
    return is_trimmed_view(verdict.query_view) || is_trimmed_view(verdict.item_view);
}

static uint64_t shown_pixels(const struct pictured *picture)
{
    const struct doppel_record *record = &picture->item.record;
    return (uint64_t)(picture->share * (double)record->width * (double)record->height);
}

static void compare_contents(const struct pictured *a, struct doppel_candidate *candidate_a,
                             const struct pictured *b, struct doppel_candidate *candidate_b)
{
    uint64_t pixels_a = shown_pixels(a), pixels_b = shown_pixels(b);
    uint64_t most = pixels_a > pixels_b ? pixels_a : pixels_b;
    uint64_t least = pixels_a > pixels_b ? pixels_b : pixels_a;
    bool same = (double)least > SAME_SHARE * (double)most;
    candidate_a->content_pixels = same ? most : pixels_a;
    candidate_b->content_pixels = same ? most : pixels_b;
    candidate_a->framed = a->share < SAME_SHARE * b->share;
    candidate_b->framed = b->share < SAME_SHARE * a->share;
}

void candidates_compare_contents(struct doppel_library *library, uint64_t id_a,
                                 struct doppel_candidate *a, uint64_t id_b,
                                 struct doppel_candidate *b)
{
    struct pictured picture_a = {0}, picture_b = {0};
    if (a->width && b->width && load_picture(library, id_a, &picture_a) &&
        load_picture(library, id_b, &picture_b) && have_frame(&picture_a, &picture_b))
        compare_contents(&picture_a, a, &picture_b, b);
    doppel_item_free(&picture_a.item);
    doppel_item_free(&picture_b.item);
}
