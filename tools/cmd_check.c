/* doppel check FILE...|-: the decision of ingest, without adding. */
#include "tools/commands.h"
#include "tools/decide_verb.h"

int cmd_check(const struct settings *settings, struct report *report)
{
    return decide_verb(settings, report, true);
}
