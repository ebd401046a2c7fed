/* Groups as they are given to a visitor: which there are, and which member of each to keep. */
#include "group/grouping_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files/archive_path.h"
#include "core/files/file_set.h"
#include "core/try.h"
#include "group/companions.h"
#include "group/member_rules.h"
#include "group/members.h"
#include "group/timed.h"

enum { MOST_TURNS = 8 }; /* of texts, each of which holds the one before */

/* The groups of one grouping on their way to the visitor. */
struct emission {
    struct grouping *grouping;
    const struct group_receiver *receiver;
    uint64_t *number; /* of the last group, of all groupings */
    uint32_t kept;    /* of the group that was emitted last */
};

/* Item numbers sorted so that the members of a group stand together. */
static int by_leader(const void *left, const void *right)
{
    const struct led_item *a = left, *b = right;
    if (a->leader != b->leader)
        return a->leader < b->leader ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

/* References alone are no news, nor is a group around something benign; with --cross-folder neither
 * is a group within one PATH. */
static bool is_shown(const struct grouping *grouping, const struct led_item *members, size_t count)
{
    struct grouping_item first = item_store_get(&grouping->items, members[0].item);
    bool all_references = true, one_source = true, benign = false;
    for (size_t i = 0; i < count; i++) {
        struct grouping_item item = item_store_get(&grouping->items, members[i].item);
        all_references &= item.reference;
        one_source &= item.source == first.source;
        benign |= item.benign;
    }
    return count > 1 && !all_references && !benign &&
           !(grouping->options->group->cross_folder && one_source);
}

/* What lies in an archive is kept only where all do: nothing is done for its sake. They go to the
 * front. @return how many are left to choose from */
static size_t prefer_files(const struct grouping *grouping, struct led_item *members, size_t count)
{
    size_t files = 0;
    for (size_t i = 0; i < count; i++) {
        char *path = item_store_path(&grouping->items, members[i].item);
        if (!path || !path_lies_in_archive(path))
            members[files++] = members[i];
        free(path);
    }
    return files ? files : count;
}

/* The one to keep: of those that are marked to be kept; else of those that are not marked for
 * removal; else of all. @return false without memory */
static bool choose_kept_by_marks(const struct grouping *grouping, const struct led_item *members,
                                 size_t count, struct kept_choice *out)
{
    struct led_item *best = calloc(count, sizeof *best);
    enum doppel_file_mark most = DOPPEL_FILE_REMOVE, mark;
    size_t best_count = 0;
    bool done = best != NULL;
    for (size_t i = 0; i < count && done; i++) {
        mark = DOPPEL_FILE_UNMARKED;
        done = group_file_mark(grouping, members[i].item, &mark);
        if (mark == DOPPEL_FILE_LEAVE || mark == DOPPEL_FILE_UNMARKED)
            mark = DOPPEL_FILE_LEAVE;
        if (mark > most)
            best_count = 0;
        most = mark > most ? mark : most;
        if (mark == most)
            best[best_count++] = members[i];
    }
    size_t unmarked = best_count;
    if (done && best_count)
        best_count = prefer_folders(grouping, best, best_count);
    size_t placed = best_count;
    best_count = prefer_files(grouping, best, best_count);
    const size_t shots = best_count;
    best_count = bursts_prefer_sharpest(grouping, best, best_count);
    done = done && best_count && grouping_choose_kept(grouping, best, best_count, out);
    if (best_count < shots)
        out->reason = "sharpest";
    if (placed < count)
        out->reason = placed < unmarked ? "folder" : "mark";
    out->asked_for = placed < count || (out->asked_for && best_count == shots);
    free(best);
    return done;
}

/* Of images and videos: the group is of videos. */
static enum doppel_kind kind_of_group(const struct grouping *grouping,
                                      const struct group_members *members)
{
    for (size_t i = 0; grouping->parts && i < members->count; i++)
        if (members->items[i].duration_ms)
            return DOPPEL_KIND_VIDEO;
    return grouping->options->kind;
}

/* Whether it may be kept in the place of the one that is: a mark, a folder or a reference asked for
 * neither. */
static bool may_take_place(const struct grouping *grouping, const struct group_members *members,
                           size_t number)
{
    const struct doppel_group_member *member = &members->items[number], *kept = &members->items[0];
    return !member->gone && member->mark == kept->mark && member->reference == kept->reference &&
           !path_lies_in_archive(member->path) &&
           item_store_get(&grouping->items, members->numbers[number]).no_file ==
               item_store_get(&grouping->items, members->numbers[0]).no_file;
}

/* The longest text that holds the one to keep, which would go for a part of itself. @return false:
 * there is none */
static bool find_whole_text(const struct grouping *grouping, const struct group_members *members,
                            uint32_t *out)
{
    double least = 2;
    for (size_t i = 1; i < members->count; i++) {
        const struct doppel_group_member *member = &members->items[i];
        if (!doppel_group_member_holds_more(member) || member->match->query_coverage >= least ||
            !may_take_place(grouping, members, i))
            continue;
        least = member->match->query_coverage;
        *out = members->numbers[i];
    }
    return least < 2;
}

/* The one to keep first. */
static enum doppel_status emit_group(struct emission *emission, const struct led_item *members,
                                     size_t count, struct doppel_error *error)
{
    const struct grouping *grouping = emission->grouping;
    struct group_members out = {0};
    struct kept_choice kept = {0};
    bool room = choose_kept_by_marks(grouping, members, count, &kept) &&
                group_members_fill(grouping, members, count, kept.item, &out);
    for (size_t turns = 0; turns < MOST_TURNS && room && !kept.asked_for &&
                           find_whole_text(grouping, &out, &kept.item);
         turns++) {
        group_members_free(&out);
        out = (struct group_members){0};
        kept.reason = "whole";
        room = group_members_fill(grouping, members, count, kept.item, &out);
    }
    emission->kept = kept.item;
    bool joined = grouping->options->kind == DOPPEL_KIND_IMAGE &&
                  grouping->options->group->companions == DOPPEL_COMPANIONS_JOIN;
    room = room && (!joined || mark_companions(out.items, out.count));
    group_leave_alone(out.items, out.count);
    enum doppel_status status = DOPPEL_E_MEMORY;
    if (room && (out.count < 2 || is_one_shot(out.items, out.count))) {
        status = DOPPEL_OK; /* all others lie in its folder, or are its companions */
    } else if (room) {
        const struct doppel_group group = {.number = ++*emission->number,
                                           .kind = kind_of_group(grouping, &out),
                                           .keep = out.items[0].path,
                                           .keep_reason = kept.reason,
                                           .members = out.items,
                                           .count = out.count,
                                           .savable_bytes =
                                               group_savable_bytes(out.items, out.count)};
        status = emission->receiver->visit(emission->receiver->context, &group, error);
    } else {
        doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group of %zu", count);
    }
    group_members_free(&out);
    return status;
}

/* Who leads each item, by what was found. @param out `count` numbers */
static enum doppel_status find_all_leaders(struct grouping *grouping, uint32_t count, uint32_t *out)
{
    enum doppel_status status = doppel_group_by_leader(
        count, grouping->edges.items, grouping->edges.count, out, grouping->joined_by);
    for (size_t i = 0; i < grouping->leads.count && !status; i++)
        out[grouping->leads.items[i].item] = grouping->leads.items[i].leader;
    return status;
}

/* All items, those of a group together. @param out given (free) */
static enum doppel_status find_members(struct grouping *grouping, struct led_item **out,
                                       struct doppel_error *error)
{
    uint32_t count = item_store_count(&grouping->items);
    uint32_t *leaders = calloc(count, sizeof *leaders);
    struct led_item *members = calloc(count, sizeof *members);
    grouping->joined_by = calloc(count, sizeof *grouping->joined_by);
    enum doppel_status status = DOPPEL_OK;
    if (!leaders || !members || !grouping->joined_by ||
        find_all_leaders(grouping, count, leaders)) {
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the groups of %u files", count);
        goto done;
    }
    if (grouping->kind->change_leaders)
        TRY(grouping->kind->change_leaders(grouping, leaders, error));
    if (grouping->options->group->bursts && grouping->options->kind == DOPPEL_KIND_IMAGE)
        TRY(bursts_join(grouping, leaders, error));
    TRY(grouping_lead_all(grouping, leaders, error));
    near_pairs_settle(grouping, leaders);
    for (uint32_t i = 0; i < count; i++)
        members[i] = (struct led_item){leaders[i], i};
    qsort(members, count, sizeof *members, by_leader);
    *out = members;
    members = NULL;
done:
    free(leaders);
    free(members);
    return status;
}

/* ---- links ---- */

/* The type that a path has by now, 0 where it is gone. An item that was scanned need not be
 * looked at. */
static mode_t type_of_path(const struct grouping *grouping, uint32_t number, struct stat *out)
{
    struct grouping_item item = item_store_get(&grouping->items, number);
    struct stat itself;
    if (!item.id || item.no_file)
        return 0;
    char *path = item_store_path(&grouping->items, number);
    bool there = path && lstat(path, &itself) == 0 && stat(path, out) == 0;
    free(path);
    return there ? itself.st_mode & S_IFMT : 0;
}

/* Leave out those of one type that are in the set already. @return false without memory */
static bool mark_links(const struct grouping *grouping, const struct led_item *members,
                       size_t count, mode_t type, struct file_set *files, bool *linked)
{
    bool room = true;
    for (size_t i = 0; i < count && room; i++) {
        struct stat file;
        if (type_of_path(grouping, members[i].item, &file) != type || file_set_add(files, &file))
            continue;
        linked[i] = true;
        char *path = item_store_path(&grouping->items, members[i].item);
        room = path && file_names_add(grouping->options->names, &file, path);
        free(path);
    }
    return room;
}

/* Leave out the members of a group of a library that are links to another one, of whatever kind: a
 * file is one file, as 'scan' has it, whatever it was when it was added. @param count in: all; out:
 * those that stay, in their order */
static enum doppel_status merge_links(const struct grouping *grouping, struct led_item *members,
                                      size_t *count, struct doppel_error *error)
{
    struct file_set files = {0};
    size_t used = 0;
    if (*count < 2 || !item_store_get(&grouping->items, members[0].item).id)
        return DOPPEL_OK;
    bool *linked = calloc(*count, sizeof *linked);
    if (!linked)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group of %zu", *count);
    file_names_clear(grouping->options->names);
    bool room = mark_links(grouping, members, *count, S_IFREG, &files, linked) &&
                mark_links(grouping, members, *count, S_IFLNK, &files, linked);
    for (size_t i = 0; i < *count; i++)
        if (!linked[i])
            members[used++] = members[i];
    file_set_free(&files);
    free(linked);
    *count = used;
    return room ? DOPPEL_OK
                : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group of %zu", used);
}

/* ---- all groups ---- */

/* @param number of the last group before these. @param count of them, with the one that leads */
static enum doppel_status visit_lead_text(const struct emission *emission,
                                          const struct led_item *members, size_t count,
                                          uint64_t number, struct doppel_error *error)
{
    const struct grouping *grouping = emission->grouping;
    const struct doppel_group_options *options = grouping->options->group;
    const bool shown = *emission->number > number;
    if (!options->visit_text || grouping->options->kind != DOPPEL_KIND_TEXT)
        return DOPPEL_OK;
    const uint32_t item = shown ? emission->kept : members[0].leader;
    char *path = item_store_path(&grouping->items, item);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the texts of a scan");
    const struct doppel_group_text text = {path, shown ? *emission->number : 0,
                                           item_store_get(&grouping->items, item).reference,
                                           count - 1};
    enum doppel_status status = options->visit_text(options->text_context, &text, error);
    free(path);
    return status;
}

static enum doppel_status emit_groups(struct emission *emission, struct doppel_error *error)
{
    struct grouping *grouping = emission->grouping;
    size_t count = item_store_count(&grouping->items);
    struct led_item *members = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (grouping->kind->find_leaders)
        TRY(grouping->kind->find_leaders(grouping, error));
    TRY(find_members(grouping, &members, error));
    for (size_t begin = 0, end; begin < count && !doppel_run_cancelled(grouping->options->run);
         begin = end) {
        for (end = begin + 1; end < count && members[end].leader == members[begin].leader; end++)
            ;
        size_t files = end - begin;
        TRY(merge_links(grouping, members + begin, &files, error));
        const uint64_t before = *emission->number;
        if (is_shown(grouping, members + begin, files))
            TRY(emit_group(emission, members + begin, files, error));
        TRY(visit_lead_text(emission, members + begin, end - begin, before, error));
    }
done:
    free(members);
    return status;
}

enum doppel_status groupings_visit(const struct all_groups *all,
                                   const struct group_receiver *receiver,
                                   struct doppel_error *error)
{
    uint64_t number = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < all->count; i++) {
        struct grouping *grouping = all->groupings[i];
        struct emission emission = {grouping, receiver, &number, 0};
        if (grouping && item_store_count(&grouping->items))
            TRY(emit_groups(&emission, error));
    }
    if (all->linked && !doppel_run_cancelled(all->run))
        TRY(all->linked->visit(all->linked->context, &number, receiver, error));
    for (size_t i = 0; i < all->count && !doppel_run_cancelled(all->run); i++)
        if (all->groupings[i])
            TRY(near_pairs_visit(all->groupings[i], error));
    if (doppel_run_cancelled(all->run))
        return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
done:
    return status;
}

void groupings_count(const struct all_groups *all, struct doppel_group_counts *out)
{
    *out = (struct doppel_group_counts){.records = all->linked != NULL};
    for (size_t i = 0; i < all->count; i++)
        if (all->groupings[i]) {
            const uint32_t videos = parts_count_videos(all->groupings[i]);
            out->items[all->groupings[i]->options->kind] +=
                item_store_count(&all->groupings[i]->items) - videos;
            out->items[DOPPEL_KIND_VIDEO] += videos;
        }
}
