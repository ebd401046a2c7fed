/* What a plan holds. */
#ifndef DOPPEL_ACT_PLAN_INTERNAL_H
#define DOPPEL_ACT_PLAN_INTERNAL_H

#include <doppel/act.h>

#include "core/array.h"

struct doppel_plan {
    struct doppel_act_policy policy; /* with strings of its own */
    ARRAY(struct doppel_plan_file) files;
};

#endif
