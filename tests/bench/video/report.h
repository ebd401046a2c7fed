/* Tables of what was found. */
#ifndef BENCH_VIDEO_REPORT_H
#define BENCH_VIDEO_REPORT_H

#include "asked.h"

struct report {
    const struct truths *truths;
    const struct clips *clips;
    const struct asked *asked; /**< one a truth */
    bool refined;
};

/** A line a query that was not found, is elsewhere, or has wrong matches. */
void report_failures(const struct report *report);

/** By edit: queries, found, wrong; still pictures apart. */
void report_recall(const struct report *report);

/** How exact the ends of segments are, of originals with two scenes or more, in trims and embeds.
 */
void report_ends(const struct report *report);

#endif
