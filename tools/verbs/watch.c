/* doppel watch DIR...: decide what files are to a library as they come, and remember them there. */
#include "tools/args/commands.h"
#include "tools/verbs/decide.h"

int cmd_watch(const struct settings *settings, struct report *report)
{
    return decide_verb(settings, report, false);
}
