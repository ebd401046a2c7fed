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

/* Until match/ has them. */
__attribute__((weak)) const char *doppel_relation_name(enum doppel_relation relation)
{
    return relation == DOPPEL_RELATION_SAME ? "same" : "";
}

__attribute__((weak)) const char *doppel_verified_name(enum doppel_verified verified)
{
    return verified == DOPPEL_VERIFIED_CODES ? "codes" : "";
}
