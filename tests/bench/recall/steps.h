/* Edits of fixed strengths: what image_steps makes of each picture. */
#ifndef BENCH_RECALL_STEPS_H
#define BENCH_RECALL_STEPS_H

#include "image.h"

/** Make the edited picture, `amount` strong; places come from `random`. */
typedef struct image step_function(const struct image *in, double amount, struct random *random);

struct step_edit {
    const char *name;
    step_function *apply;
    double first, last, step; /**< amounts: percent, degrees, or a count */
};

extern const struct step_edit step_edits[];
extern const int step_edit_count;

#endif
