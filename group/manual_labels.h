/* The manual labels of pairs of contents, for those that group files. */
#ifndef DOPPEL_GROUP_MANUAL_LABELS_H
#define DOPPEL_GROUP_MANUAL_LABELS_H

#include <doppel/library.h>

#include "core/array.h"

struct manual_label {
    struct doppel_digest a, b; /* a before b, by order of bytes */
    enum doppel_manual_label label;
};

/* In order of a, then b. Zero-initialised there are none. */
struct manual_labels {
    ARRAY(struct manual_label) items;
};

/* Those of a library. */
enum doppel_status manual_labels_load(struct manual_labels *labels, struct doppel_library *library,
                                      struct doppel_error *error);

/* Those of the library in a folder, if there is one. */
enum doppel_status manual_labels_load_from(struct manual_labels *labels, const char *directory,
                                           struct doppel_error *error);
void manual_labels_free(struct manual_labels *labels);

/* Add one, in no order. @return DOPPEL_OK; DOPPEL_E_MEMORY */
enum doppel_status manual_labels_add(struct manual_labels *labels, const struct doppel_digest *a,
                                     const struct doppel_digest *b, enum doppel_manual_label label,
                                     struct doppel_error *error);

/* Add others, which outrank those that are there; then all are in order. Likewise. */
enum doppel_status manual_labels_merge(struct manual_labels *labels,
                                       const struct manual_labels *others,
                                       struct doppel_error *error);

/* In either order. */
enum doppel_manual_label manual_label_between(const struct manual_labels *labels,
                                              const struct doppel_digest *a,
                                              const struct doppel_digest *b);

#endif
