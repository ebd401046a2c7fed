/* doppel log --sink: copy the log to a database. */
#ifndef DOPPEL_TOOLS_VERBS_LOG_SINK_H
#define DOPPEL_TOOLS_VERBS_LOG_SINK_H

#include "tools/args/options.h"
#include "tools/output/messages.h"

/* @return as a verb does */
int log_to_sink(const struct settings *settings, struct report *report);

#endif
