/* Verbs that are still being written. */
#include <doppel/match.h>

#include "tools/commands.h"
#include "tools/report.h"

static int to_come(struct report *report)
{
    return report_fatal(report, "to come");
}

#define STUB(name)                                                                                 \
    int cmd_##name(const struct settings *settings, struct report *report)                         \
    {                                                                                              \
        (void)settings;                                                                            \
        return to_come(report);                                                                    \
    }

STUB(hash)
STUB(compare)
