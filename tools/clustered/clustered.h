/* The verbs of a library in a cluster: -L redis://… Each returns as its verb does. */
#ifndef DOPPEL_TOOLS_CLUSTERED_CLUSTERED_H
#define DOPPEL_TOOLS_CLUSTERED_CLUSTERED_H

#include "tools/args/options.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"

int clustered_add(const struct settings *settings, struct report *report);

/* Files, or --code. */
int clustered_find(const struct settings *settings, struct report *report);

/* @param only_asked nothing is remembered */
int clustered_decide(const struct settings *settings, struct report *report, bool only_asked);

/* Print all items. @param output taken */
int clustered_list(const struct settings *settings, struct report *report, struct output *output);

/* Print the items that the operands name. @param print given the row of each, an object that was
 * begun in `output`; it ends it. @param output taken */
typedef void clustered_item_printer(void *context, struct doppel_json *row);
int clustered_show(const struct settings *settings, struct report *report,
                   clustered_item_printer *print, void *context, struct output *output);

int clustered_remove(const struct settings *settings, struct report *report);

/* @param output of lines `what`, `name`, `count`; taken */
int clustered_stats(const struct settings *settings, struct report *report, struct output *output);

#endif
