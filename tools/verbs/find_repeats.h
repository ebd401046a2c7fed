/* find --repeats FILE...: the passages that recur within a recording. */
#ifndef DOPPEL_TOOLS_VERBS_FIND_REPEATS_H
#define DOPPEL_TOOLS_VERBS_FIND_REPEATS_H

#include "tools/args/options.h"
#include "tools/output/messages.h"

/* @return the exit code */
int find_repeats(const struct settings *settings, struct report *report);

#endif
