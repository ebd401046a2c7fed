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

/** The 256 bits of the full frame, as it is. @return 1; 0: it has only 64 */
size_t lookups_of_full(const struct doppel_fingerprint *fingerprint, uint64_t out[4]);

/** Whether items are looked up by what they ask, too: crops are made of items only, and one way
 * round does not find what the other does. */
bool lookups_go_both_ways(const struct doppel_scheme *scheme,
                          const struct doppel_match_options *options);

/** Whether the look-ups of a picture meet another's: what makes it a candidate. */
bool lookups_meet(const struct doppel_match_item *query, const struct doppel_match_item *item,
                  const struct doppel_match_options *options);

/** The radius within which the two make a candidate. */
uint32_t lookup_radius(const struct doppel_scheme *scheme,
                       const struct doppel_match_options *options);

/** The radius within which the 256 bits of two full frames, as they are, make a candidate too; 0
 * when they are not looked up. */
uint32_t lookup_full_radius(const struct doppel_scheme *scheme,
                            const struct doppel_match_options *options);

#endif
