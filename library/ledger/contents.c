/* What two pictures show beside each other: a frame around one of them is not counted. */
#include "library/ledger/contents.h"

#include <doppel/image.h>

struct pictured {
    struct doppel_item item;
    struct doppel_image_features features; /* its fingerprint is the item's */
};

static bool load_picture(struct doppel_library *library, uint64_t id, struct pictured *out)
{
    if (doppel_library_get(library, id, true, &out->item, NULL))
        return false;
    const struct doppel_record *record = &out->item.record;
    return record->kind == DOPPEL_KIND_IMAGE && record->scheme == DOPPEL_SCHEME_PHASH64 &&
           record->fingerprint.code_bits == 256 &&
           doppel_record_image_features(record, &out->features);
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

void candidates_load_contents(struct doppel_library *library, const uint64_t ids[2],
                              struct doppel_candidate candidates[2])
{
    struct pictured a = {0}, b = {0};
    if (candidates[0].width && candidates[1].width && load_picture(library, ids[0], &a) &&
        load_picture(library, ids[1], &b) && have_frame(&a, &b)) {
        const double shares[] = {doppel_image_content_share(&a.features),
                                 doppel_image_content_share(&b.features)};
        doppel_candidates_compare_contents(candidates, shares, 2);
    }
    doppel_item_free(&a.item);
    doppel_item_free(&b.item);
}
