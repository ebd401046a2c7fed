/* doppel ingest PATH...|-: decide what files and texts are to a library, and remember them there.
 */
#include "tools/args/commands.h"
#include "tools/verbs/decide.h"

int cmd_ingest(const struct settings *settings, struct report *report)
{
    return decide_verb(settings, report, false);
}
