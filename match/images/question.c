/* What is asked of a node that keeps tables of pictures: a fingerprint and how near is near, as
 * bytes. */
#include <string.h>

#include "core/bytes.h"
#include "core/positions.h"
#include "match/images/kept_search.h"

/* From byte 0 on: the form's version, flags, views, how often 2 is doubled to the number of
 * pictures compared, the distance; the similarity and the rate of a query, 64-bit floating point;
 * the fingerprint in its portable form. */
enum { QUESTION_VERSION = 3, ORIENTATIONS_FLAG = 1, PIXELS_FLAG = 2, QUESTION_HEAD_BYTES = 24 };

enum { QUESTION_DISTANCE_MOST = 256, DOUBLINGS_LEAST = 7, DOUBLINGS_MOST = 60 };
static const double question_similarity_most = 2; /* no pair has more than 1 */
static const double question_rate_most = 1e9;

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

static uint8_t doublings_of(uint64_t pictures)
{
    uint8_t doublings = 0;
    while (UINT64_C(1) << doublings < doppel_image_compared(pictures))
        doublings++;
    return doublings;
}

static void put_double(double value, uint8_t *out)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u64(out, bits);
}

static double get_double(const uint8_t *bytes)
{
    const uint64_t bits = get_u64(bytes);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void put_options(const struct doppel_match_options *options, uint8_t *out)
{
    int32_t distance = options->max_distance < 0 ? -1 : options->max_distance;
    double similarity = options->min_similarity >= 0 ? options->min_similarity : -1;
    const double rate = options->max_rate > 0 ? options->max_rate : DOPPEL_IMAGE_QUERY_RATE;
    distance = distance > QUESTION_DISTANCE_MOST ? QUESTION_DISTANCE_MOST : distance;
    similarity = similarity > question_similarity_most ? question_similarity_most : similarity;
    out[0] = QUESTION_VERSION;
    out[1] = (uint8_t)((options->image.orientations ? ORIENTATIONS_FLAG : 0) |
                       (options->check_pixels ? PIXELS_FLAG : 0));
    out[2] = (uint8_t)options->image.views;
    out[3] = doublings_of(options->compared);
    put_u32(out + 4, (uint32_t)distance);
    put_double(similarity, out + 8);
    put_double(rate < question_rate_most ? rate : question_rate_most, out + 16);
}

/* @return false: nobody writes such bytes */
static bool get_options(const uint8_t *bytes, struct doppel_match_options *out)
{
    const int32_t distance = (int32_t)get_u32(bytes + 4);
    const double similarity = get_double(bytes + 8), rate = get_double(bytes + 16);
    if (bytes[0] != QUESTION_VERSION || bytes[1] > (ORIENTATIONS_FLAG | PIXELS_FLAG) ||
        bytes[2] > DOPPEL_VIEWS_ALL || bytes[3] < DOUBLINGS_LEAST || bytes[3] > DOUBLINGS_MOST ||
        !(rate > 0 && rate <= question_rate_most) || distance < -1 ||
        distance > QUESTION_DISTANCE_MOST)
        return false;
    if (!(similarity >= 0 && similarity <= question_similarity_most) && similarity != -1)
        return false;
    *out = doppel_match_options_default();
    out->image.views = (enum doppel_image_views)bytes[2];
    out->image.orientations = bytes[1] & ORIENTATIONS_FLAG;
    out->check_pixels = bytes[1] & PIXELS_FLAG;
    out->compared = UINT64_C(1) << bytes[3];
    out->max_rate = rate;
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
