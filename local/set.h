/* The set of pictures and videos, for those who search it. */
#ifndef DOPPEL_LOCAL_SET_H
#define DOPPEL_LOCAL_SET_H

#include "core/array.h"
#include "core/number_map.h"
#include "local/local_internal.h"

struct doppel_local_set {
    struct doppel_index *own; /* of a set in memory; else NULL */
    const struct doppel_index *index;
    doppel_local_source *source; /* of a set over an index */
    void *context;
    struct number_map numbers;             /* from ids: 1 + number in `kept` */
    ARRAY(struct doppel_local_video) kept; /* without frames: removed, or never had any */
    uint64_t count;                        /* of frames with points */
};

/** DOPPEL_OK, or DOPPEL_E_ARGUMENT: it is of another scheme or version. */
enum doppel_status local_check(const struct doppel_fingerprint *fingerprint,
                               struct doppel_error *error);

#endif
