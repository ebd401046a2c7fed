/* Which pictures of a library may match, as doppel_matcher_meet finds them: kept beside the
 * catalogue, in a file for each set of options (docs/formats.md). It says of which pictures it is,
 * by the checksums of their rows: so whatever became of the library since, or of the file, the rest
 * of it holds, and nobody who writes items need know of it. */
#ifndef DOPPEL_LIBRARY_DERIVED_PAIRS_H
#define DOPPEL_LIBRARY_DERIVED_PAIRS_H

#include "core/array.h"
#include "library/catalogue.h"

/** A picture, and the checksum of the row of its fingerprint. */
struct met_image {
    uint64_t id, sum;
};
typedef ARRAY(struct met_image) met_image_array;
typedef ARRAY(struct doppel_image_pair) image_pair_array;

/** The bytes of such a file. Zero-initialised it is of no pictures. */
struct met_images {
    uint8_t *bytes;
    size_t size;
    bool mapped;
    uint64_t image_count, pair_count;
};

/** Of what it is. */
struct met_key {
    const struct doppel_scheme *scheme;
    uint64_t options; /**< a hash of all that pairs hang on beside the pictures */
};
struct met_key met_key_of(const struct doppel_scheme *scheme,
                          const struct doppel_match_options *options);

/** @param out given (met_images_free); empty where there is no such file, or it is not whole */
void met_images_open(const char *directory, const struct met_key *key, struct met_images *out);
void met_images_free(struct met_images *met);

/** Number `at` of them, in order of id; and of the pairs, in no order. */
struct met_image met_image_at(const struct met_images *met, uint64_t at);
struct doppel_image_pair met_pair_at(const struct met_images *met, uint64_t at);

/** Whether a picture is among them, and its bit of `kept` is set, which has one for each number. */
bool met_keeps(const struct met_images *met, const uint8_t *kept, uint64_t id);

/** What is to be in one: `kept` of `former` (bits, by number), and what came. */
struct met_content {
    const struct met_images *former;
    const uint8_t *kept;
    const met_image_array *images; /* in order of id, none of them of the former ones */
    const struct doppel_image_pair *pairs;
    size_t pair_count;
};

/** Make one in memory. @param out given. DOPPEL_E_MEMORY */
enum doppel_status met_images_make(const struct met_key *key, const struct met_content *content,
                                   struct met_images *out, struct doppel_error *error);

/** Put it beside the catalogue, and the oldest of too many away; where nothing may be written,
 * nothing is. @return DOPPEL_E_IO, _MEMORY */
enum doppel_status met_images_write(const char *directory, const struct met_key *key,
                                    const struct met_images *met, struct doppel_error *error);

/** Visit those of all schemes. @param state DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_VERSION;
 * DOPPEL_E_NOT_FOUND: unfinished. @return false: it is to be removed */
typedef bool met_images_visitor(void *context, const char *path, enum doppel_status state);
enum doppel_status met_images_each(const char *directory, met_images_visitor *visitor,
                                   void *context, struct doppel_error *error);

#endif
