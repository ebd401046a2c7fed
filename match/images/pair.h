/* What judging a pair shares with searching for pairs. */
#ifndef DOPPEL_MATCH_IMAGES_PAIR_H
#define DOPPEL_MATCH_IMAGES_PAIR_H

#include <doppel/match.h>

/** Whether a picture has the structure to be recognised by its codes, be it as a whole alone. */
bool is_distinctive(const struct doppel_match_item *item);

/** Whether it has enough of it to be looked up in an index that is kept. */
bool is_looked_up(const struct doppel_match_item *item);

/** Of 64-bit codes alone: 56 pairs of views and orientations of unrelated pictures come this near
 * once in 10⁷ (uniform codes: 56 × 2.8e-10). */
enum { BARE_MAX_DISTANCE = 8 };

/** Whether borderline pairs have their pixels looked at: a limit of similarity is about codes. */
bool wants_pixels(const struct doppel_match_options *options);

/** The gate that pairs of phash64 with 256 bits have to pass to match, or to be borderline where
 * that is wanted. @return false: all may match */
bool gate_of_options(const struct doppel_match_options *options, struct doppel_image_gate *out);

/** In how many orientations the first codes of a scheme without views are compared: 8 or 1. */
unsigned plain_orientations(enum doppel_scheme_id scheme,
                            const struct doppel_match_options *options);

/** As doppel_match_pair of two pictures of a scheme without views whose codes, the query's turned
 * by the orientation in which it is nearest, are known to be this far apart. */
bool match_at_distance(const struct doppel_scheme *scheme, uint32_t distance, unsigned orientation,
                       const struct doppel_match_options *options, struct doppel_match *out);

/** The largest distance whose similarity, for a scheme without views, is at least this. */
uint32_t similarity_radius(double min_similarity, uint32_t bits);

#endif
