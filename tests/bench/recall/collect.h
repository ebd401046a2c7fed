/* Originals and their edits, as fingerprints. */
#ifndef BENCH_RECALL_COLLECT_H
#define BENCH_RECALL_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/image.h>

#include "image.h"

struct subject {
    char *path;
    const char *name;                      /**< within `path` */
    struct doppel_image_features original; /**< what the index holds */
    struct doppel_image_features *edits;   /**< edit_count of them */
    struct doppel_image_features *alike;   /**< alike_count of them */
    bool readable;
    bool gated; /**< quality under DOPPEL_IMAGE_MIN_QUALITY: matches nothing by hash */
    bool held;  /**< in the half that is reported on; the other half calibrates */
};

struct collection {
    struct subject *subjects; /**< by path */
    size_t count;
};

struct collect_options {
    uint64_t seed;
    unsigned jobs;
    const char *samples; /**< folder for the first original's edits as PNG, or NULL */
    bool originals_only; /**< make no edits */
    size_t limit;        /**< at most this many originals, chosen by a hash of the name; 0 = all */
};

/** Sides of pictures that are edited are at most this long, and at least that. */
enum { COLLECT_MAX_SIDE = 1024, COLLECT_MIN_SIDE = 64 };

/** The features of an edited picture, as a file of it would be read. False if it cannot be. */
bool features_of_image(const struct image *image, const struct encoding *encoding,
                       struct doppel_image_features *out);

/** Find, read and edit every picture under the folders. */
struct collection collect(char *const *folders, const struct collect_options *options);
void collection_free(struct collection *collection);

#endif
