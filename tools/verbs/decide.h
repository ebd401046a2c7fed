/* What ingest and check have in common. */
#ifndef DOPPEL_TOOLS_VERBS_DECIDE_H
#define DOPPEL_TOOLS_VERBS_DECIDE_H

#include "tools/args/options.h"
#include "tools/output/messages.h"

/* Decide of the operands, of a stream, or of records. @param only_asked nothing is remembered.
 * @return as a verb does */
int decide_verb(const struct settings *settings, struct report *report, bool only_asked);

#endif
