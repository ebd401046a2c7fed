/* From groups to what is to be done about their members. */
#include <doppel/act.h>

#include <stdlib.h>
#include <string.h>

#include "act/plan_internal.h"
#include "act/sidecars.h"
#include "core/files/archive_path.h"
#include "core/text/text_copy.h"

struct doppel_act_policy doppel_act_policy_default(void)
{
    return (struct doppel_act_policy){.action = DOPPEL_ACTION_HARDLINK,
                                      .reasons = 1u << DOPPEL_REASON_IDENTICAL,
                                      .dry_run = true};
}

static enum doppel_status check_policy(const struct doppel_act_policy *policy,
                                       struct doppel_error *error)
{
    if ((unsigned)policy->action >= DOPPEL_ACTIONS)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no such action");
    if (policy->action == DOPPEL_ACTION_MOVE_TO && !(policy->move_to && *policy->move_to))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no folder to move files to");
    if (!policy->dry_run && !policy->journal)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no journal to write steps into");
    return DOPPEL_OK;
}

enum doppel_status doppel_plan_new(const struct doppel_act_policy *policy, struct doppel_plan **out,
                                   struct doppel_error *error)
{
    const struct doppel_act_policy defaults = doppel_act_policy_default();
    policy = policy ? policy : &defaults;
    enum doppel_status status = check_policy(policy, error);
    struct doppel_plan *plan = status ? NULL : calloc(1, sizeof *plan);
    bool no_memory = false;
    if (status)
        return status;
    if (plan) {
        plan->policy = *policy;
        plan->policy.move_to = copy_text(policy->move_to, &no_memory);
        plan->policy.trash = copy_text(policy->trash, &no_memory);
        plan->policy.journal = copy_text(policy->journal, &no_memory);
        plan->read = policy->read ? *policy->read : doppel_read_options_default();
        plan->read.alone = true;
        plan->compare = policy->compare ? *policy->compare : doppel_compare_options_default();
        plan->policy.read = &plan->read;
        plan->policy.compare = &plan->compare;
        if (!no_memory) {
            *out = plan;
            return DOPPEL_OK;
        }
    }
    doppel_plan_free(plan);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a plan");
}

void doppel_plan_free(struct doppel_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->files.count; i++)
        free((char *)plan->files.items[i].path);
    array_free(&plan->files);
    free((char *)plan->policy.move_to);
    free((char *)plan->policy.trash);
    free((char *)plan->policy.journal);
    free(plan);
}

/* Whether one of that reason and mark is to be acted on, if it can be. */
static bool wants_file(enum doppel_reason reason, enum doppel_file_mark mark,
                       const struct doppel_act_policy *policy)
{
    return mark == DOPPEL_FILE_REMOVE || policy->reasons & 1u << reason;
}

/* Whether it is acted on for what it is to the one to keep. */
static bool policy_covers(const struct doppel_plan_file *file,
                          const struct doppel_act_policy *policy)
{
    bool links = policy->action != DOPPEL_ACTION_TRASH && policy->action != DOPPEL_ACTION_MOVE_TO;
    return wants_file(file->reason, file->mark, policy) &&
           (!links || file->reason == DOPPEL_REASON_IDENTICAL);
}

/* Why a mark leaves it where it is; NULL: none does. */
static const char *left_by_mark(const struct doppel_plan_file *file)
{
    return file->mark == DOPPEL_FILE_KEEP    ? "is marked to be kept"
           : file->mark == DOPPEL_FILE_LEAVE ? "its group is marked to be left alone"
                                             : NULL;
}

/* Decide about a file that is neither kept nor a reference. @param first number of the first of its
 * group with the same bytes. */
static void decide_plan_file(const struct doppel_plan *plan, size_t first,
                             const struct doppel_group_member *member,
                             struct doppel_plan_file *file)
{
    const struct doppel_act_policy *policy = &plan->policy;
    file->duplicate_of = file->keep;
    file->left = left_by_mark(file);
    if (file->left)
        return;
    if (member->burst && file->mark != DOPPEL_FILE_REMOVE) {
        file->left = "is another shot of a burst: that takes a mark";
        return;
    }
    if (doppel_group_member_holds_more(member) && file->mark != DOPPEL_FILE_REMOVE) {
        file->left = "holds more than the kept file: that takes a mark";
        return;
    }
    if (policy_covers(file, policy)) {
        file->identical = file->reason == DOPPEL_REASON_IDENTICAL;
        return;
    }
    /* The first of several that are less than identical to the kept one stays, for the others. */
    if (first < plan->files.count && wants_file(DOPPEL_REASON_IDENTICAL, file->mark, policy)) {
        const struct doppel_plan_file *stays = &plan->files.items[first];
        if (stays->reference || left_by_mark(stays) || !policy_covers(stays, policy)) {
            file->duplicate_of = first;
            file->identical = true;
            return;
        }
    }
    file->refused = wants_file(file->reason, file->mark, policy);
    file->left = file->refused ? "is not identical to the kept file: a link would lose what differs"
                               : "is none of what '--reason' names";
}

/* A mark cannot have what stays in any case go. */
static void refuse_removal(struct doppel_plan_file *file)
{
    if (file->mark != DOPPEL_FILE_REMOVE)
        return;
    file->refused = true;
    file->left = file->reference ? "is marked for removal, but lies in a reference folder"
                                 : "is marked for removal, as all of its group are: one stays";
}

/* @param file its path is taken. @return false without memory */
static bool push_plan_file(struct doppel_plan *plan, struct doppel_plan_file file)
{
    if (file.path && array_push(&plan->files, file))
        return true;
    free((char *)file.path);
    return false;
}

/* What is done to a file is done to all its names: nothing is freed before. Its blocks are shared
 * under all of them at once. @return false without memory */
static bool add_names(struct doppel_plan *plan, size_t first,
                      const struct doppel_group_member *member)
{
    struct doppel_plan_file file = plan->files.items[first];
    bool room = true;
    if (file.left || file.duplicate_of == first || plan->policy.action == DOPPEL_ACTION_REFLINK)
        return true;
    file.freed_bytes = 0;
    for (size_t i = 0; i < member->name_count && room; i++) {
        file.path = strdup(member->names[i]);
        room = push_plan_file(plan, file);
    }
    return room;
}

/* What lies in an archive is told, and not acted on; nor is a copy of it. @return whether it, or
 * the one to keep, does */
static bool refuse_member(const struct doppel_group_member *keep,
                          const struct doppel_group_member *member,
                          const struct doppel_act_policy *policy, struct doppel_plan_file *file)
{
    bool inside = path_lies_in_archive(file->path);
    if (!inside && !(member != keep && keep->path && path_lies_in_archive(keep->path)))
        return false;
    file->duplicate_of = file->keep;
    file->left = inside ? "lies in an archive, where nothing is changed"
                        : "the copy to keep lies in an archive: this one stays as well";
    file->refused = member != keep && wants_file(file->reason, file->mark, policy);
    return true;
}

enum doppel_status doppel_plan_add(void *to, const struct doppel_group *group,
                                   struct doppel_error *error)
{
    struct doppel_plan *plan = to;
    size_t keep = plan->files.count;
    for (size_t i = 0; i < group->count; i++) {
        const struct doppel_group_member *member = &group->members[i];
        struct doppel_plan_file file = {
            .group = group->number,
            .path = strdup(member->path ? member->path : ""),
            .stamp = {member->device, member->inode, member->size_bytes, member->mtime_ns},
            .reason = member->reason,
            .mark = member->mark,
            .similarity = member->match ? member->match->similarity : 0,
            .reference = member->reference,
            .keep = keep,
            .duplicate_of = keep + i,
            .first_name = keep + i,
            .freed_bytes = member->freed_bytes,
        };
        if (refuse_member(&group->members[0], member, &plan->policy, &file))
            ;
        else if (i && !file.reference)
            decide_plan_file(plan, keep + member->same_bytes, member, &file);
        else
            refuse_removal(&file);
        if (!push_plan_file(plan, file))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for so many duplicates");
    }
    keep_shots_whole(plan, group, keep);
    for (size_t i = 1; i < group->count; i++)
        if (!add_names(plan, keep + i, &group->members[i]))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for so many names");
    if (group->kind == DOPPEL_KIND_IMAGE && !add_sidecars(plan, group, keep))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for so many sidecars");
    return DOPPEL_OK;
}

size_t doppel_plan_count(const struct doppel_plan *plan)
{
    return plan->files.count;
}

const struct doppel_plan_file *doppel_plan_get(const struct doppel_plan *plan, size_t number)
{
    return number < plan->files.count ? &plan->files.items[number] : NULL;
}
