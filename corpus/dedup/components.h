/* Records that can have to do with each other, so that threads share out the others. */
#ifndef DOPPEL_CORPUS_DEDUP_COMPONENTS_H
#define DOPPEL_CORPUS_DEDUP_COMPONENTS_H

#include "corpus/dedup/dedup_internal.h"

struct components {
    uint32_t *records;      /* component by component, ascending within each */
    ARRAY(uint32_t) starts; /* of each in `records`, and the end */
};

/** Components by their first records. Uses facts->parent. */
enum doppel_status components_find(const struct dedup *dedup, struct components *out,
                                   struct doppel_error *error);
void components_free(struct components *components);

#endif
