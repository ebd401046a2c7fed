/* What people said of pairs of contents, for those that group files. */
#ifndef DOPPEL_GROUP_LABELS_H
#define DOPPEL_GROUP_LABELS_H

#include <doppel/library.h>

#include "core/array.h"
#include "tools/args/options.h"

struct mark {
    struct doppel_digest a, b; /* a before b, by order of bytes */
    enum doppel_manual_label word;
};

/* In order of a, then b. Zero-initialised there are none. */
struct marks {
    ARRAY(struct mark) items;
};

/* Those of a library. */
enum doppel_status marks_load(struct marks *marks, struct doppel_library *library,
                              struct doppel_error *error);

/* Those of the library that the settings name, if there is one. */
enum doppel_status marks_load_settings(struct marks *marks, const struct settings *settings,
                                       struct doppel_error *error);
void marks_free(struct marks *marks);

/* In either order. */
enum doppel_manual_label marks_between(const struct marks *marks, const struct doppel_digest *a,
                                       const struct doppel_digest *b);

#endif
