/* Which codes of a picture meet in the index, and how near. */
#include "match/images/lookups.h"

#include <string.h>

#include "match/images/pair.h"

/* The first code of a scheme without views, in the orientations in which it is compared. */
static size_t lookups_of_code(const struct doppel_fingerprint *fingerprint, unsigned orientations,
                              uint64_t *out)
{
    size_t words = doppel_scheme_by_id(fingerprint->scheme)->code_bits / 64u;
    for (unsigned orientation = 0; orientation < orientations; orientation++) {
        struct doppel_code code = fingerprint->codes[0];
        if (orientation)
            code = doppel_image_orient(&code, orientation);
        memcpy(out + orientation * words, code.word, words * sizeof *out);
    }
    return orientations;
}

size_t lookups_of_query(const struct doppel_fingerprint *fingerprint,
                        const struct doppel_match_options *options, uint64_t out[MAX_LOOKUP_WORDS])
{
    if (fingerprint->scheme != DOPPEL_SCHEME_PHASH64)
        return lookups_of_code(fingerprint, plain_orientations(fingerprint->scheme, options), out);
    struct doppel_image_query queries[DOPPEL_IMAGE_MAX_QUERIES];
    size_t count = doppel_image_queries(fingerprint, &options->image, queries);
    for (size_t i = 0; i < count; i++)
        out[i] = queries[i].code;
    return count;
}

size_t lookups_of_item(const struct doppel_fingerprint *fingerprint,
                       const struct doppel_match_options *options, uint64_t out[MAX_LOOKUP_WORDS])
{
    if (fingerprint->scheme != DOPPEL_SCHEME_PHASH64)
        return lookups_of_code(fingerprint, 1, out);
    return doppel_image_index_codes(fingerprint, &options->image, out);
}

/* Up to such a rate of a pair, full frames and the nearest crop of both add up to 170 or so; the
 * crop has most of the difference less. At higher ones they may be farther apart: then every
 * fortieth picture that is like nothing is a candidate, which a small library can afford alone. So
 * it is with views that are far apart. */
static const double near_rate = 2e-7;
enum { NEAR_FULL_RADIUS = 96 };

static bool looks_farther(const struct doppel_match_options *options)
{
    const double rate =
        wants_pixels(options) ? doppel_match_check_rate(options) : doppel_match_pair_rate(options);
    return options->min_similarity >= 0 || rate > near_rate;
}

uint32_t lookup_radius(const struct doppel_scheme *scheme,
                       const struct doppel_match_options *options)
{
    const uint32_t distance = options->max_distance < 0 ? 0 : (uint32_t)options->max_distance;
    const uint32_t least =
        looks_farther(options) ? DOPPEL_IMAGE_CANDIDATE_RADIUS : DOPPEL_IMAGE_NEAR_RADIUS;
    if (scheme->id == DOPPEL_SCHEME_PHASH64) /* of 64 bits alone, a distance may be farther */
        return distance > least ? distance : least;
    if (options->max_distance >= 0)
        return distance;
    if (options->min_similarity >= 0)
        return similarity_radius(options->min_similarity, scheme->code_bits);
    return scheme->max_distance;
}

uint32_t lookup_full_radius(const struct doppel_scheme *scheme,
                            const struct doppel_match_options *options)
{
    if (scheme->id != DOPPEL_SCHEME_PHASH64)
        return 0;
    return looks_farther(options) ? DOPPEL_IMAGE_FULL_RADIUS : NEAR_FULL_RADIUS;
}

size_t lookups_of_full(const struct doppel_fingerprint *fingerprint, uint64_t out[4])
{
    if (fingerprint->code_bits != 256)
        return 0;
    memcpy(out, fingerprint->codes[0].word, sizeof fingerprint->codes[0].word);
    return 1;
}

bool lookups_go_both_ways(const struct doppel_scheme *scheme,
                          const struct doppel_match_options *options)
{
    return scheme->id == DOPPEL_SCHEME_PHASH64 && options->image.views != DOPPEL_VIEWS_FULL;
}

static bool any_within(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                       size_t words, uint32_t radius)
{
    for (size_t i = 0; i < a_count; i++)
        for (size_t j = 0; j < b_count; j++) {
            uint32_t distance = 0;
            for (size_t word = 0; word < words; word++)
                distance +=
                    (uint32_t)__builtin_popcountll(a[i * words + word] ^ b[j * words + word]);
            if (distance <= radius)
                return true;
        }
    return false;
}

static bool asks_meet(const struct doppel_fingerprint *query, const struct doppel_fingerprint *item,
                      const struct doppel_match_options *options, size_t words, uint32_t radius)
{
    uint64_t asked[MAX_LOOKUP_WORDS], found[MAX_LOOKUP_WORDS];
    size_t asked_count = lookups_of_query(query, options, asked);
    size_t found_count = lookups_of_item(item, options, found);
    return any_within(asked, asked_count, found, found_count, words, radius);
}

bool lookups_meet(const struct doppel_match_item *query, const struct doppel_match_item *item,
                  const struct doppel_match_options *options)
{
    const struct doppel_fingerprint *a = query->fingerprint, *b = item->fingerprint;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(a->scheme);
    const size_t words = scheme->code_bits / 64u;
    const uint32_t radius = lookup_radius(scheme, options);
    const uint32_t full_radius = lookup_full_radius(scheme, options);
    uint64_t full_a[4], full_b[4];
    if (b->scheme != a->scheme || b->version != a->version)
        return false;
    if (asks_meet(a, b, options, words, radius))
        return true;
    if (lookups_go_both_ways(scheme, options) && asks_meet(b, a, options, words, radius))
        return true;
    return full_radius && lookups_of_full(a, full_a) && lookups_of_full(b, full_b) &&
           any_within(full_a, 1, full_b, 1, 4, full_radius);
}

/* ---- by others, in tables elsewhere ---- */

size_t doppel_image_lookups(const struct doppel_match_item *query,
                            const struct doppel_match_options *options,
                            uint64_t out[DOPPEL_IMAGE_TABLE_WORDS], uint32_t *out_radius)
{
    const struct doppel_fingerprint *fingerprint = query->fingerprint;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(fingerprint->scheme);
    if (!scheme || scheme->kind != DOPPEL_KIND_IMAGE || scheme->id == DOPPEL_SCHEME_PHASH64 ||
        !fingerprint->count || !is_looked_up(query))
        return 0;
    *out_radius = lookup_radius(scheme, options);
    return lookups_of_query(fingerprint, options, out);
}

size_t doppel_image_full_lookup(const struct doppel_match_item *query,
                                const struct doppel_match_options *options, uint64_t out[4],
                                uint32_t *out_radius)
{
    const struct doppel_fingerprint *fingerprint = query->fingerprint;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(fingerprint->scheme);
    if (!scheme || !fingerprint->count || !is_distinctive(query))
        return 0;
    const uint32_t radius = lookup_full_radius(scheme, options);
    if (!radius || !lookups_of_full(fingerprint, out))
        return 0;
    *out_radius = is_looked_up(query) ? radius : DOPPEL_IMAGE_STRICT_RADIUS;
    return 1;
}
