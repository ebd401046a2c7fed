/* find --repeats FILE...: the passages that recur within a sound. */
#ifndef DOPPEL_TOOLS_FIND_REPEATS_H
#define DOPPEL_TOOLS_FIND_REPEATS_H

#include "tools/options.h"
#include "tools/report.h"

/* @return the exit code */
int find_repeats(const struct settings *settings, struct report *report);

#endif
