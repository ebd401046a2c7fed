/* Which look-ups find a picture, and under which codes it is found. */
#include <doppel/image.h>

#include <stdbool.h>

#include "image/orient.h"

/* Bits 0 and 1 of a code: the lowest coefficients, (0, 1) and (1, 0), whose signs tell a picture
 * from its mirror images. A code is upright when both are set; only such codes are indexed. */
enum { SIGN_DOWN = 1 << 0, SIGN_ACROSS = 1 << 1, SIGNS = SIGN_DOWN | SIGN_ACROSS };

static bool is_wanted_query(uint32_t view, enum doppel_image_views views, bool query)
{
    switch (view) {
    case DOPPEL_VIEW_FULL:
        return true;
    case DOPPEL_VIEW_TRIMMED:
        return views != DOPPEL_VIEWS_FULL;
    case DOPPEL_VIEW_INTERFACE:
        return query && views != DOPPEL_VIEWS_FULL;
    default:
        return !query && views == DOPPEL_VIEWS_ALL && view < DOPPEL_VIEW_COUNT;
    }
}

/* A sign that all views share is far from zero, and a copy will have it too: of 1 469 edited and
 * turned copies, 95.3 % are within the radius of an upright code then, against 95.5 % in all eight
 * orientations, with 4.4 look-ups a view instead of 8. Without crops to compare, no sign is sure,
 * nor is one that a picture has not.
 */
static unsigned sure_signs(const struct doppel_fingerprint *fingerprint)
{
    enum { FEWEST_VIEWS = 6 };
    unsigned sure = fingerprint->count >= FEWEST_VIEWS ? SIGNS : 0;
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        unsigned absent = orient_absent(&fingerprint->codes[i]);
        sure &= (unsigned)~(fingerprint->codes[i].word[0] ^ fingerprint->codes[0].word[0]);
        sure &= ~((absent & 1u << 2 ? SIGN_DOWN : 0u) | (absent & 1u << 1 ? SIGN_ACROSS : 0u));
    }
    return sure;
}

/* The same signs once the axes are exchanged. */
static unsigned exchange_queries(unsigned signs)
{
    return (signs & SIGN_DOWN) << 1 | (signs & SIGN_ACROSS) >> 1;
}

size_t doppel_image_queries(const struct doppel_fingerprint *fingerprint,
                            const struct doppel_image_verify_options *options,
                            struct doppel_image_query out[DOPPEL_IMAGE_MAX_QUERIES])
{
    const unsigned sure = options->orientations ? sure_signs(fingerprint) : 0;
    const unsigned orientations = options->orientations ? DOPPEL_IMAGE_ORIENTATIONS : 1;
    size_t count = 0;
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        uint32_t view = fingerprint->positions[i];
        if (!is_wanted_query(view, options->views, true))
            continue;
        for (unsigned o = 0; o < orientations && count < DOPPEL_IMAGE_MAX_QUERIES; o++) {
            uint64_t code = doppel_image_orient(&fingerprint->codes[i], o).word[0];
            if (~code & (o & 4 ? exchange_queries(sure) : sure))
                continue;
            out[count++] = (struct doppel_image_query){code, (uint8_t)view, (uint8_t)o};
        }
    }
    return count;
}

static uint64_t upright(const struct doppel_code *code)
{
    unsigned mirrored = code->word[0] & SIGN_ACROSS ? 0 : 1;
    unsigned flipped = code->word[0] & SIGN_DOWN ? 0 : 2;
    return doppel_image_orient(code, mirrored | flipped).word[0];
}

size_t doppel_image_index_codes(const struct doppel_fingerprint *fingerprint,
                                const struct doppel_image_verify_options *options,
                                uint64_t out[DOPPEL_VIEW_COUNT])
{
    size_t count = 0;
    for (uint32_t i = 0; i < fingerprint->count && count < DOPPEL_VIEW_COUNT; i++)
        if (is_wanted_query(fingerprint->positions[i], options->views, false))
            out[count++] = options->orientations ? upright(&fingerprint->codes[i])
                                                 : fingerprint->codes[i].word[0];
    return count;
}
