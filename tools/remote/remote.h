/* The verbs as clients of a service (--server). Each returns as its verb does. */
#ifndef DOPPEL_TOOLS_REMOTE_REMOTE_H
#define DOPPEL_TOOLS_REMOTE_REMOTE_H

#include "tools/args/options.h"
#include "tools/output/messages.h"
#include "tools/output/output.h"

/* Files, or --code. */
int remote_find(const struct settings *settings, struct report *report);

/* @param only_asked nothing is remembered */
int remote_decide(const struct settings *settings, struct report *report, bool only_asked);

int remote_tag(const struct settings *settings, struct report *report);
int remote_mark(const struct settings *settings, struct report *report);

/* Print the rows of a list of the service, as `path` names it, whose key is `key`.
 * @param output taken */
int remote_list(const struct settings *settings, struct report *report, const char *path,
                const char *key, struct output *output);

/* Print the groups of the service's library, and, with --semantic, links of texts below them.
 * @param output of groups; taken */
int remote_groups(const struct settings *settings, struct report *report, struct output *output);

/* Of each operand the item. @param print given its row, an object */
typedef void remote_item_printer(void *context, struct doppel_json *row);
int remote_show(const struct settings *settings, struct report *report, remote_item_printer *print,
                void *context);

#endif
