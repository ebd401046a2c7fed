/* A decider from the inside: with all that can be said of how files are found and read. */
#ifndef DOPPEL_DECIDE_DECIDER_H
#define DOPPEL_DECIDE_DECIDER_H

#include <doppel/decide.h>

#include "intake/read_options.h"
#include "intake/walk.h"

struct decider_intake {
    bool walks; /* the files of the walk are decided about; else records, or what is pushed */
    struct doppel_read_options read;
    struct doppel_walk_options walk;
};

/* doppel_decider_new. @param intake copied */
enum doppel_status decider_open(struct doppel_run *run, struct doppel_library *library,
                                const struct doppel_decide_options *options,
                                const struct decider_intake *intake, struct doppel_decider **out,
                                struct doppel_error *error);

#endif
