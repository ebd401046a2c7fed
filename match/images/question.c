/* What is asked of a node that keeps tables of pictures: a fingerprint and how near is near, as
 * bytes. */
#include <math.h>
#include <string.h>

#include "core/bytes.h"
#include "core/positions.h"
#include "match/images/kept_search.h"

/* From byte 0 on: the form's version, flags, views, the rate of a pair as how often 1 is halved;
 * the distance; the similarity, 64-bit floating point; the fingerprint in its
 * portable form. */
enum { QUESTION_VERSION = 2, ORIENTATIONS_FLAG = 1, PIXELS_FLAG = 2, QUESTION_HEAD_BYTES = 16 };

enum { QUESTION_DISTANCE_MOST = 256, HALVINGS_LEAST = 6, HALVINGS_MOST = 100 };
static const double question_similarity_most = 2; /* no pair has more than 1 */

/* As makes a picture: each view once, in order. */
static bool is_question_print(const struct doppel_fingerprint *fingerprint)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    if (fingerprint->scheme != scheme->id || fingerprint->version != scheme->version ||
        (fingerprint->code_bits != 64 && fingerprint->code_bits != 256) || !fingerprint->count ||
        fingerprint->count > DOPPEL_VIEW_COUNT)
        return false;
    return positions_ascend(fingerprint, DOPPEL_VIEW_COUNT);
}

/* Rounded to a higher rate: who asks judges again. The highest is that of borderline pairs. */
static uint8_t halvings_of(double rate)
{
    int exponent; /* rate = fraction × 2^exponent, the fraction from .5 up to 1 */
    const int halvings = (frexp(rate, &exponent) > .5 ? 0 : 1) - exponent;
    return halvings > HALVINGS_MOST ? HALVINGS_MOST : (uint8_t)halvings;
}

static void put_options(const struct doppel_match_options *options, uint8_t *out)
{
    int32_t distance = options->max_distance < 0 ? -1 : options->max_distance;
    double similarity = options->min_similarity >= 0 ? options->min_similarity : -1;
    uint64_t bits;
    distance = distance > QUESTION_DISTANCE_MOST ? QUESTION_DISTANCE_MOST : distance;
    similarity = similarity > question_similarity_most ? question_similarity_most : similarity;
    memcpy(&bits, &similarity, sizeof bits);
    out[0] = QUESTION_VERSION;
    out[1] = (uint8_t)((options->image.orientations ? ORIENTATIONS_FLAG : 0) |
                       (options->check_pixels ? PIXELS_FLAG : 0));
    out[2] = (uint8_t)options->image.views;
    out[3] = halvings_of(doppel_match_pair_rate(options));
    put_u32(out + 4, (uint32_t)distance);
    put_u64(out + 8, bits);
}

/* @return false: nobody writes such bytes */
static bool get_options(const uint8_t *bytes, struct doppel_match_options *out)
{
    const uint64_t bits = get_u64(bytes + 8);
    const int32_t distance = (int32_t)get_u32(bytes + 4);
    double similarity;
    memcpy(&similarity, &bits, sizeof similarity);
    if (bytes[0] != QUESTION_VERSION || bytes[1] > (ORIENTATIONS_FLAG | PIXELS_FLAG) ||
        bytes[2] > DOPPEL_VIEWS_ALL || bytes[3] < HALVINGS_LEAST || bytes[3] > HALVINGS_MOST ||
        distance < -1 || distance > QUESTION_DISTANCE_MOST)
        return false;
    if (!(similarity >= 0 && similarity <= question_similarity_most) && similarity != -1)
        return false;
    *out = doppel_match_options_default();
    out->image.views = (enum doppel_image_views)bytes[2];
    out->image.orientations = bytes[1] & ORIENTATIONS_FLAG;
    out->check_pixels = bytes[1] & PIXELS_FLAG;
    out->max_rate = ldexp((double)doppel_image_compared(0), -bytes[3]);
    out->max_distance = distance;
    out->min_similarity = similarity;
    return true;
}

size_t doppel_image_question_pack(const struct doppel_fingerprint *fingerprint,
                                  const struct doppel_match_options *options,
                                  uint8_t out[DOPPEL_IMAGE_QUESTION_BYTES])
{
    if (!is_question_print(fingerprint))
        return 0;
    put_options(options, out);
    doppel_fingerprint_write(fingerprint, out + QUESTION_HEAD_BYTES);
    return QUESTION_HEAD_BYTES + doppel_fingerprint_size(fingerprint);
}

enum doppel_status doppel_image_question_unpack(const uint8_t *bytes, size_t size,
                                                struct doppel_fingerprint *out,
                                                struct doppel_match_options *out_options,
                                                struct doppel_error *error)
{
    struct doppel_fingerprint fingerprint;
    struct doppel_match_options options;
    if (size < QUESTION_HEAD_BYTES || size > DOPPEL_IMAGE_QUESTION_BYTES ||
        !get_options(bytes, &options))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%zu bytes are no question of a picture", size);
    const enum doppel_status status = doppel_fingerprint_read(
        bytes + QUESTION_HEAD_BYTES, size - QUESTION_HEAD_BYTES, &fingerprint, error);
    if (status)
        return status;
    if (!is_question_print(&fingerprint)) {
        doppel_fingerprint_free(&fingerprint);
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "the fingerprint of a question is none of phash64");
    }
    *out = fingerprint;
    *out_options = options;
    return DOPPEL_OK;
}
