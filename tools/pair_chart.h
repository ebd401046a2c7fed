/* Two files that were compared, as a picture: two sounds, or two films. */
#ifndef DOPPEL_TOOLS_PAIR_CHART_H
#define DOPPEL_TOOLS_PAIR_CHART_H

#include "tools/film_looks.h"
#include "tools/intake.h"
#include "tools/pair_judge.h"

/* Write it where the settings say. DOPPEL_E_ARGUMENT for other kinds; DOPPEL_E_IO. */
enum doppel_status pair_chart_write(const struct settings *settings,
                                    const struct intake_file files[2],
                                    const struct pair_match *pair, struct film_looks *looks,
                                    struct doppel_error *error);

#endif
