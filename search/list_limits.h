/* How near what matches items of lists must be, where lists have limits of their own. */
#ifndef DOPPEL_SEARCH_LIST_LIMITS_H
#define DOPPEL_SEARCH_LIST_LIMITS_H

#include <doppel/match.h>
#include <doppel/search.h>

struct list_limits {
    struct doppel_library *library;
    bool any; /* else all that is found is as near as it must be */
    int64_t distance;
    double similarity; /* the widest of all lists; -1: none */
};

/** What a library has, unless the options have a limit, which outranks the lists'. */
enum doppel_status list_limits_load(struct list_limits *limits, struct doppel_library *library,
                                    const struct doppel_compare_options *compare,
                                    struct doppel_error *error);

/** How far images are to be looked for; -1: as the scheme has it. Codes of one view alone are
 * looked for farther than by default. */
int32_t list_limits_radius(const struct list_limits *limits, const struct doppel_scheme *scheme);

/** Whether a match is as near as the item's lists want, or else the default. */
bool list_limits_allow(const struct list_limits *limits, const struct doppel_found *found);

#endif
