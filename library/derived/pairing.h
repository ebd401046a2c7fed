/* What the files share that find which pictures of a library may match. */
#ifndef DOPPEL_LIBRARY_DERIVED_PAIRING_H
#define DOPPEL_LIBRARY_DERIVED_PAIRING_H

#include "library/derived/pairs.h"

struct image_pairing {
    struct doppel_library *library;
    const struct doppel_pairs_request *request;
    struct met_key key;
    struct met_images met;
    uint8_t *kept; /* bits, by number of met's images: they are there as they were */
    uint64_t kept_count;
    uint64_t at;             /* of met's images, while rows are surveyed */
    met_image_array fresh;   /* to be compared, in order of id */
    ARRAY(uint64_t) damaged; /* those of them that cannot be */
    ARRAY(uint64_t) sources; /* of fingerprints that others borrow */
    ARRAY(int64_t) visits;   /* ids of items that may be in a group, or are damaged */
    image_pair_array found;  /* of the fresh ones */
    uint64_t compared;       /* images that are wanted */
    uint64_t versions;
    struct doppel_error not_kept;
    struct doppel_error *error;
    enum doppel_status status;
};

enum doppel_status pairing_without_memory(const struct image_pairing *pairing);
bool pairing_is_cancelled(const struct image_pairing *pairing);

/** Whether an image is to be compared: it is wanted, and on no disabled list. */
bool pairing_wants(const struct image_pairing *pairing, uint64_t id);

/** Fill `kept`, `fresh`, `visits` and the counts by the rows of the library. */
enum doppel_status pairing_survey(struct image_pairing *pairing);
bool pairing_is_fresh(const struct image_pairing *pairing, uint64_t id);
bool pairing_is_damaged(const struct image_pairing *pairing, uint64_t id);

/** Whether the kept file is of an id, by the last survey. */
bool pairing_keeps(const struct image_pairing *pairing, uint64_t id);

/** Survey the library, and compare what is new, until all is in `met`. The view that is open then
 * is as of the last survey. DOPPEL_E_LIMIT: too many may match */
enum doppel_status pairing_compare(struct image_pairing *pairing);

/** What is read meanwhile is as of one commit, or, within a change that has begun, as of that. */
enum doppel_status pairing_begin_view(struct image_pairing *pairing);
void pairing_end_view(struct image_pairing *pairing);

#endif
