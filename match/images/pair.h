/* What judging a pair shares with searching for pairs. */
#ifndef DOPPEL_MATCH_IMAGES_PAIR_H
#define DOPPEL_MATCH_IMAGES_PAIR_H

#include <doppel/match.h>

/** Whether a picture has the structure to be recognised by its codes. */
bool is_distinctive(const struct doppel_match_item *item);

/** In how many orientations the first codes of a scheme without views are compared: 8 or 1. */
unsigned plain_orientations(enum doppel_scheme_id scheme,
                            const struct doppel_match_options *options);

/** The largest distance whose similarity, for a scheme without views, is at least this. */
uint32_t similarity_radius(double min_similarity, uint32_t bits);

#endif
