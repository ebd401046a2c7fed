/* From groups to what is to be done about their members. */
#include "act/plan.h"

#include <stdlib.h>
#include <string.h>

void act_plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->files.count; i++)
        free(plan->files.items[i].path);
    array_free(&plan->files);
}

enum doppel_status act_plan_add(void *context, const struct doppel_group *group,
                                struct doppel_error *error)
{
    struct plan *plan = context;
    uint32_t kept = (uint32_t)plan->files.count;
    for (size_t i = 0; i < group->count; i++) {
        const struct doppel_group_member *member = &group->members[i];
        struct planned file = {
            .group = (uint32_t)group->number,
            .kept = kept,
            .first = kept + (uint32_t)member->same_bytes,
            .reason = member->reason,
            .reference = member->reference,
            .path = strdup(member->path),
            .stamp = {member->device, member->inode, member->size_bytes, member->mtime_ns},
        };
        if (!file.path || !array_push(&plan->files, file)) {
            free(file.path);
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for so many duplicates");
        }
    }
    return DOPPEL_OK;
}

/* Whether the reason is one of those that are acted on. */
static bool is_named(enum doppel_reason reason, const struct settings *settings)
{
    return settings->reasons & 1u << reason;
}

static bool only_links(const struct settings *settings)
{
    return settings->action != ACTION_TRASH && settings->action != ACTION_MOVE_TO;
}

/* Whether it is acted on for what it is to the kept one. */
static bool is_wanted(const struct planned *file, const struct settings *settings)
{
    return is_named(file->reason, settings) &&
           (!only_links(settings) || file->reason == DOPPEL_REASON_IDENTICAL);
}

struct verdict act_plan_verdict(const struct plan *plan, size_t number,
                                const struct settings *settings)
{
    const struct planned *file = &plan->files.items[number];
    const struct planned *kept = &plan->files.items[file->kept];
    const struct planned *first = &plan->files.items[file->first];
    if (file == kept || file->reference)
        return (struct verdict){0};
    if (is_wanted(file, settings))
        return (struct verdict){kept, file->reason == DOPPEL_REASON_IDENTICAL, NULL, false};
    /* The first of several that are less than identical to the kept one stays, for the others. */
    if (file != first && is_named(DOPPEL_REASON_IDENTICAL, settings) &&
        (first->reference || !is_wanted(first, settings)))
        return (struct verdict){first, true, NULL, false};
    if (is_named(file->reason, settings))
        return (struct verdict){
            kept, false, "is not identical to the kept file: a link would lose what differs", true};
    return (struct verdict){kept, false, "is none of what '--reason' names", false};
}
