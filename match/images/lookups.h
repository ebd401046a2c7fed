/* Which codes of a picture meet in the index, and how near. */
#ifndef DOPPEL_MATCH_IMAGES_LOOKUPS_H
#define DOPPEL_MATCH_IMAGES_LOOKUPS_H

#include <doppel/match.h>

enum { MAX_LOOKUPS = DOPPEL_IMAGE_MAX_QUERIES, MAX_LOOKUP_WORDS = MAX_LOOKUPS * 4 };

/** The codes by which a picture asks, back to back into `out`. @return how many. */
size_t lookups_of_query(const struct doppel_fingerprint *fingerprint,
                        const struct doppel_match_options *options, uint64_t out[MAX_LOOKUP_WORDS]);

/** The codes under which a picture is found, likewise. */
size_t lookups_of_item(const struct doppel_fingerprint *fingerprint,
                       const struct doppel_match_options *options, uint64_t out[MAX_LOOKUP_WORDS]);

/** The radius within which the two make a candidate. */
uint32_t lookup_radius(const struct doppel_scheme *scheme,
                       const struct doppel_match_options *options);

/** The radius within which the 256 bits of two full frames, as they are, make a candidate too; 0
 * when they are not looked up. */
uint32_t lookup_full_radius(const struct doppel_scheme *scheme,
                            const struct doppel_match_options *options);

#endif
