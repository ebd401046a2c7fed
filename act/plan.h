/* What is to be done about which files of the groups: collected as the groups are told, done when
 * all are known. */
#ifndef DOPPEL_ACT_PLAN_H
#define DOPPEL_ACT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <doppel/group.h>
#include <doppel/library.h>

#include "core/array.h"
#include "tools/args/options.h"
#include "tools/output/messages.h"

/* A member of a group. */
struct planned {
    uint32_t group;
    uint32_t kept;  /* the number of the one that is kept; its own, when it is that */
    uint32_t first; /* the number of the first of the group with the same bytes, by their digest */
    enum doppel_reason reason;
    bool reference;
    char *path; /* given */
    struct doppel_file_stamp stamp;
};

struct plan {
    ARRAY(struct planned) files; /* groups together, the kept one first */
};

void act_plan_free(struct plan *plan);

/* Add the members of a group: a doppel_group_visitor. @param context struct plan */
enum doppel_status act_plan_add(void *context, const struct doppel_group *group,
                                struct doppel_error *error);

/* Do it, or with no --yes say what would be done. DOPPEL_OK also when some could not be acted on:
 * those are reported. */
enum doppel_status act_plan_run(const struct plan *plan, const struct settings *settings,
                                struct report *report, struct doppel_error *error);

/* Print a shell script that would do it. */
enum doppel_status act_plan_script(const struct plan *plan, const struct settings *settings,
                                   struct doppel_error *error);

/* What a file of a plan is to the action, before anyone looks at it. */
struct verdict {
    const struct planned *kept; /* of what it is a duplicate; NULL: it is none, nothing is said */
    bool identical;             /* they should have the same bytes */
    const char *left;           /* why it is left alone; NULL: it is not. Static storage */
    bool refused;               /* though it was asked for */
};
struct verdict act_plan_verdict(const struct plan *plan, size_t number,
                                const struct settings *settings);

#endif
