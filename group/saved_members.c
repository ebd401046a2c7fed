/* The members of a saved group as they are by now: what changed, what is decided, which is kept. */
#include "group/saved_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "group/companions.h"
#include "group/marks.h"
#include "group/member_rules.h"

static bool has_saved_stamp(const struct doppel_group_member *member, const struct stat *now)
{
    struct doppel_file_stamp stamp = doppel_file_stamp_of(now);
    return S_ISREG(now->st_mode) && stamp.inode == member->inode &&
           stamp.size == member->size_bytes && stamp.mtime_ns == member->mtime_ns;
}

bool member_is_as_saved(const struct doppel_group_member *member)
{
    struct stat now;
    return stat(member->path, &now) == 0 && has_saved_stamp(member, &now);
}

/* A link to another member, as an action makes them: to the file that it was. */
static bool leads_to_member(const struct doppel_group *group, const struct stat *now)
{
    for (size_t i = 0; i < group->count; i++)
        if (has_saved_stamp(&group->members[i], now) && member_is_as_saved(&group->members[i]))
            return true;
    return false;
}

/* Whether it is as it was; if not, that is counted, or told. */
static bool look_at_member(struct saved_scan *scan, const struct doppel_group *group,
                           struct doppel_group_member *member)
{
    struct stat now;
    if (stat(member->path, &now)) {
        bool gone = errno == ENOENT || errno == ENOTDIR;
        scan->gone += gone;
        if (!gone)
            doppel_run_fail_input(scan->run, member->path, strerror(errno));
        return false;
    }
    if (has_saved_stamp(member, &now)) {
        member->device = now.st_dev; /* it may be mounted elsewhere by now */
        return true;
    }
    if (leads_to_member(group, &now))
        scan->gone++;
    else
        doppel_run_fail_input(scan->run, member->path,
                              "has changed since the scan was saved: it is left out; scan again");
    return false;
}

static void swap_members(struct doppel_group_member *a, struct doppel_group_member *b)
{
    struct doppel_group_member kept = *a;
    *a = *b;
    *b = kept;
}

/* Those that are as they were come first, in their order. @return how many */
static size_t sort_out_changed(struct saved_scan *scan, struct doppel_group *group)
{
    struct doppel_group_member *members = (struct doppel_group_member *)group->members;
    size_t used = 0;
    for (size_t i = 0; i < group->count; i++)
        if (look_at_member(scan, group, &members[i]))
            swap_members(&members[used++], &members[i]);
    return used;
}

/* The names that a member still has. */
static enum doppel_status find_names_again(struct saved_scan *scan,
                                           struct doppel_group_member *member,
                                           struct doppel_error *error)
{
    struct other_names others;
    struct stat now;
    bool room = true;
    file_names_clear(&scan->names);
    for (size_t i = 0; i < member->name_count && room; i++)
        if (lstat(member->names[i], &now) == 0)
            room = file_names_add(&scan->names, &now, member->names[i]);
    if (!room || !file_names_find(&scan->names, member->path, &others))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the names of files");
    const char **names = (const char **)member->names;
    for (size_t i = 0; i < member->name_count; i++) {
        char *copy = i < others.count ? strdup(others.paths[i]) : NULL;
        room &= i >= others.count || copy;
        free((char *)names[i]);
        names[i] = copy;
    }
    member->name_count = others.count;
    member->links = others.links;
    member->freed_bytes = others.links > others.count + 1 ? 0 : (uint64_t)member->size_bytes;
    free((void *)others.paths);
    return room ? DOPPEL_OK
                : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the names of files");
}

/* ---- what is decided about them ---- */

static enum doppel_file_mark decided_mark(const struct saved_scan *scan,
                                          const struct doppel_group_member *member,
                                          const char *path)
{
    if (is_protected(&scan->options->protect, path))
        return DOPPEL_FILE_KEEP;
    return scan->options->marks ? marks_find(scan->options->marks, &member->digest, path)
                                : DOPPEL_FILE_UNMARKED;
}

static void mark_member(const struct saved_scan *scan, struct doppel_group_member *member)
{
    enum doppel_file_mark mark = decided_mark(scan, member, member->path);
    for (size_t i = 0; i < member->name_count; i++) {
        enum doppel_file_mark by_name = decided_mark(scan, member, member->names[i]);
        mark = by_name > mark ? by_name : mark;
    }
    if (mark != DOPPEL_FILE_UNMARKED)
        member->mark = mark;
}

/* How a member is rather kept. */
static int keeping_rank(const struct doppel_group_member *member)
{
    return member->mark == DOPPEL_FILE_KEEP ? 2 : member->mark == DOPPEL_FILE_REMOVE ? 0 : 1;
}

static void drop_match(struct doppel_group_member *member)
{
    if (member->match)
        free((void *)member->match->segments);
    free((void *)member->match);
    member->match = NULL;
}

/* What two members are to each other at worst, by what each is to a third. One that is a part of
 * that is no whole for others. */
static enum doppel_reason reason_by_both(enum doppel_reason of, enum doppel_reason kept)
{
    kept = kept == DOPPEL_REASON_CONTAINED ? DOPPEL_REASON_NEAR : kept;
    if (of == DOPPEL_REASON_CONTAINED && kept == DOPPEL_REASON_NEAR)
        return DOPPEL_REASON_NEAR;
    return of > kept ? of : kept;
}

/* Another one is kept than when it was saved. What the others are to that one was not measured. */
static void keep_member(struct doppel_group *group, size_t number)
{
    struct doppel_group_member *members = (struct doppel_group_member *)group->members;
    struct doppel_group_member kept = members[number];
    memmove(members + 1, members, number * sizeof *members);
    for (size_t i = 1; i < group->count; i++) {
        bool same = members_have_same_bytes(&members[i], &kept);
        members[i].reason =
            same ? DOPPEL_REASON_IDENTICAL : reason_by_both(members[i].reason, kept.reason);
        members[i].burst = !same && (members[i].burst || kept.burst);
        drop_match(&members[i]);
    }
    kept.reason = DOPPEL_REASON_KEPT;
    kept.burst = false;
    members[0] = kept;
    drop_match(&members[0]);
}

static void choose_kept_again(struct doppel_group *group)
{
    size_t best = 0;
    for (size_t i = 1; i < group->count; i++)
        if (keeping_rank(&group->members[i]) > keeping_rank(&group->members[best]))
            best = i;
    if (group->members[best].reason == DOPPEL_REASON_KEPT)
        return;
    keep_member(group, best);
    free((char *)group->keep_reason);
    group->keep_reason = group->members[0].mark == DOPPEL_FILE_KEEP ? strdup("mark") : NULL;
}

enum doppel_status saved_group_update(struct saved_scan *scan, struct doppel_group *group,
                                      size_t *out_count, struct doppel_error *error)
{
    struct doppel_group_member *members = (struct doppel_group_member *)group->members;
    size_t all = group->count;
    enum doppel_status status = DOPPEL_OK;
    group->count = sort_out_changed(scan, group);
    for (size_t i = 0; i < group->count && !status; i++) {
        status = find_names_again(scan, &members[i], error);
        mark_member(scan, &members[i]);
    }
    if (!status && group->count > 1) {
        group_leave_alone(members, group->count);
        choose_kept_again(group);
        if (scan->options->companions == DOPPEL_COMPANIONS_JOIN &&
            !mark_companions(members, group->count))
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group of %zu",
                                 group->count);
        group->keep = members[0].path;
        group_count_bytes(group, members);
    }
    *out_count = group->count;
    group->count = all;
    return status;
}
