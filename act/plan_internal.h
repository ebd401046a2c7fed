/* What a plan holds. */
#ifndef DOPPEL_ACT_PLAN_INTERNAL_H
#define DOPPEL_ACT_PLAN_INTERNAL_H

#include <doppel/act.h>

#include "core/array.h"

struct doppel_plan {
    struct doppel_act_policy policy; /* with strings, `read` and `compare` of its own */
    struct doppel_read_options read;
    struct doppel_compare_options compare;
    ARRAY(struct doppel_plan_file) files;
};

#endif
