/* doppel check FILE...|-: the decision of ingest, without adding. */
#include "tools/args/commands.h"
#include "tools/verbs/decide.h"

int cmd_check(const struct settings *settings, struct report *report)
{
    return decide_verb(settings, report, true);
}
