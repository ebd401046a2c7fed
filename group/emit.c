/* Groups as they are given to a visitor: which member to keep, what the others are to it. */
#include "group/grouping_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files/file_set.h"
#include "core/files/path_is_gone.h"
#include "core/try.h"
#include "group/companions.h"
#include "group/marks.h"
#include "group/member_rules.h"
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

static int compare_duplicates(const void *left, const void *right)
{
    const struct exact_duplicate *a = left, *b = right;
    return (a->item > b->item) - (a->item < b->item);
}

static const struct exact_duplicate *duplicate_of(const struct grouping *grouping, uint32_t number)
{
    const struct exact_duplicate wanted = {.item = number};
    return grouping->exact_duplicates.count
               ? bsearch(&wanted, grouping->exact_duplicates.items,
                         grouping->exact_duplicates.count, sizeof wanted, compare_duplicates)
               : NULL;
}

uint32_t grouping_first_of(const struct grouping *grouping, uint32_t number)
{
    const struct exact_duplicate *duplicate = duplicate_of(grouping, number);
    return duplicate ? duplicate->first : number;
}

static bool has_same_bytes(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    const struct exact_duplicate *duplicate_a = duplicate_of(grouping, a),
                                 *duplicate_b = duplicate_of(grouping, b);
    if (grouping->options->kind == DOPPEL_KIND_IMAGE) /* their digests may be forgotten */
        return (duplicate_a ? duplicate_a->same_bytes : a) ==
               (duplicate_b ? duplicate_b->same_bytes : b);
    return memcmp(item_store_digest(&grouping->items, a), item_store_digest(&grouping->items, b),
                  sizeof(struct doppel_digest)) == 0;
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

/* A group on its way out: members by number, with the match of each. */
struct group_members {
    struct doppel_group_member *items;
    struct doppel_match *matches;
    struct doppel_image_origin *origins; /* of images */
    uint32_t *numbers;                   /* in the grouping */
    size_t count;
};

static void group_members_free(struct group_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        free((void *)members->items[i].path);
        free((void *)members->items[i].names);
        free((void *)members->matches[i].segments);
    }
    free(members->items);
    free(members->matches);
    free(members->origins);
    free(members->numbers);
}

static bool group_members_reserve(struct group_members *members, size_t count)
{
    members->items = calloc(count, sizeof *members->items);
    members->matches = calloc(count, sizeof *members->matches);
    members->origins = calloc(count, sizeof *members->origins);
    members->numbers = calloc(count, sizeof *members->numbers);
    return members->items && members->matches && members->origins && members->numbers;
}

/* Whether one of two shows no more than a part of the other one. Videos that are the same are so by
 * their frames, and their audio. */
static bool is_there_by_part(const struct grouping *grouping, uint32_t a, uint32_t b,
                             const struct doppel_match *match)
{
    if (match->scheme == DOPPEL_SCHEME_FRAMES64 && match->has_places)
        return true;
    if (!grouping->parts || !(parts_lead(grouping, a) || parts_lead(grouping, b)))
        return false;
    const bool videos =
        grouping->waiting.count && timed_duration(grouping, a) && timed_duration(grouping, b);
    return videos || match->relation != DOPPEL_RELATION_SAME;
}

/* What a member is to the one to keep. */
static void find_reason(const struct grouping *grouping, struct group_members *members,
                        size_t number)
{
    struct doppel_group_member *member = &members->items[number];
    struct doppel_match *match = &members->matches[number];
    uint32_t item = members->numbers[number], kept = members->numbers[0];
    uint32_t a = grouping_first_of(grouping, kept), b = grouping_first_of(grouping, item);
    member->reason = DOPPEL_REASON_KEPT;
    if (item == kept)
        return;
    member->reason = DOPPEL_REASON_IDENTICAL;
    if (has_same_bytes(grouping, item, kept))
        return;
    member->reason = DOPPEL_REASON_SAME_CONTENT;
    if (a == b)
        return;
    bool labelled = grouping->by_label[a] || grouping->by_label[b];
    bool compared = grouping->kind->compare && grouping->kind->compare(grouping, b, a, match);
    bool by_part = is_there_by_part(grouping, a, b, match);
    member->reason = labelled ? DOPPEL_REASON_MARKED
                     : by_part || match->relation == DOPPEL_RELATION_CONTAINED
                         ? DOPPEL_REASON_CONTAINED
                         : DOPPEL_REASON_NEAR;
    if (compared && !labelled)
        member->match = match;
}

/* What the file of a member says of when, where and with what it was taken. */
static void find_origin(const struct grouping *grouping, struct group_members *members,
                        size_t number)
{
    struct doppel_image_origin *origin = &members->origins[number];
    struct doppel_group_member *member = &members->items[number];
    size_t same = member->same_bytes;
    if (same < number && members->items[same].origin)
        *origin = members->origins[same];
    else if (same < number || !grouping_load_origin(grouping, members->numbers[number], origin))
        return;
    member->origin = origin;
}

/* Whether it is another shot than the one to keep, or a copy of one, and no copy of that. */
static void find_burst(const struct grouping *grouping, struct group_members *members,
                       size_t number)
{
    struct doppel_group_member *member = &members->items[number];
    const struct doppel_group_member *kept = &members->items[0];
    const bool same_size = kept->width == member->width && kept->height == member->height;
    if (member->reason != DOPPEL_REASON_NEAR && member->reason != DOPPEL_REASON_CONTAINED)
        return;
    member->burst = bursts_joined(grouping, members->numbers[0], members->numbers[number]) ||
                    (kept->origin && member->origin &&
                     are_other_shots(kept->origin, member->origin, same_size));
    if (!member->burst)
        return;
    member->reason = DOPPEL_REASON_NEAR;
    members->matches[number].relation = DOPPEL_RELATION_BURST;
}

/* The first member with the bytes of the one at `number`. */
static size_t first_with_bytes(const struct grouping *grouping, const struct group_members *members,
                               size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (members->items[i].size_bytes == members->items[number].size_bytes &&
            has_same_bytes(grouping, members->numbers[i], members->numbers[number]))
            return i;
    return number;
}

/* What is decided about a path of an item. */
static enum doppel_file_mark mark_of_path(const struct grouping *grouping, uint32_t number,
                                          const char *path)
{
    const struct doppel_marks *marks = grouping->options->group->marks;
    if (is_protected(&grouping->options->group->protect, path))
        return DOPPEL_FILE_KEEP;
    return marks ? marks_find(marks, item_store_digest(&grouping->items, number), path)
                 : DOPPEL_FILE_UNMARKED;
}

/* What is decided about an item: of its names the one that loses less. @return false without
 * memory */
static bool find_file_mark(const struct grouping *grouping, uint32_t number,
                           enum doppel_file_mark *out)
{
    const struct doppel_group_options *options = grouping->options->group;
    struct file_names *names = grouping->options->names;
    struct other_names others = {0};
    if (!options->marks && !options->protect.count)
        return true;
    char *path = item_store_path(&grouping->items, number);
    bool found = path && (!names->items.count || file_names_find(names, path, &others));
    if (found)
        *out = mark_of_path(grouping, number, path);
    for (size_t i = 0; i < others.count; i++) {
        enum doppel_file_mark mark = mark_of_path(grouping, number, others.paths[i]);
        *out = mark > *out ? mark : *out;
    }
    free((void *)others.paths);
    free(path);
    return found;
}

/* The other names of a member, and what is freed when it goes with them. @return false without
 * memory */
static bool find_names(const struct grouping *grouping, struct doppel_group_member *member)
{
    struct other_names others = {0};
    if (member->is_file && !file_names_find(grouping->options->names, member->path, &others))
        return false;
    member->links = others.links;
    member->names = others.paths;
    member->name_count = others.count;
    member->gone = member->is_file && member->id && path_is_gone(member->path);
    bool stays = member->gone || others.links > others.count + 1 ||
                 (member->is_file && path_lies_in_archive(member->path));
    member->freed_bytes = stays ? 0 : (uint64_t)member->size_bytes;
    return true;
}

static bool add_member(const struct grouping *grouping, uint32_t number,
                       struct group_members *members)
{
    struct grouping_item item = item_store_get(&grouping->items, number);
    struct doppel_group_member *member = &members->items[members->count];
    *member = (struct doppel_group_member){
        .is_file = !item.no_file,
        .reference = item.reference,
        .reading = item.reading,
        .id = item.id,
        .path = item_store_path(&grouping->items, number),
        .digest = item.digest,
        .size_bytes = item.size,
        .mtime_ns = item.mtime_ns,
        .device = item.device,
        .inode = item.inode,
        .width = item.width,
        .height = item.height,
    };
    members->numbers[members->count++] = number;
    if (grouping->kind->is_timed)
        member->duration_ms = timed_duration(grouping, grouping_first_of(grouping, number));
    else if (grouping->parts)
        member->duration_ms = parts_duration(grouping, grouping_first_of(grouping, number));
    member->tags = audio_tags_of(grouping, number);
    find_reason(grouping, members, members->count - 1);
    member->same_bytes = first_with_bytes(grouping, members, members->count - 1);
    if (grouping->options->kind == DOPPEL_KIND_IMAGE) {
        find_origin(grouping, members, members->count - 1);
        find_burst(grouping, members, members->count - 1);
    }
    return member->path && find_names(grouping, member) &&
           find_file_mark(grouping, number, &member->mark);
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
                                 size_t count, uint32_t *out, const char **out_reason)
{
    struct led_item *best = calloc(count, sizeof *best);
    enum doppel_file_mark most = DOPPEL_FILE_REMOVE, mark;
    size_t best_count = 0;
    bool done = best != NULL;
    for (size_t i = 0; i < count && done; i++) {
        mark = DOPPEL_FILE_UNMARKED;
        done = find_file_mark(grouping, members[i].item, &mark);
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
    done = done && best_count && grouping_choose_kept(grouping, best, best_count, out, out_reason);
    if (best_count < shots)
        *out_reason = "sharpest";
    if (placed < count)
        *out_reason = placed < unmarked ? "folder" : "mark";
    free(best);
    return done;
}

/* @return false without memory */
static bool add_other_member(const struct grouping *grouping, uint32_t number,
                             struct group_members *members)
{
    if (!add_member(grouping, number, members))
        return false;
    if (!grouping->options->group->not_within ||
        !last_shares_folder(members->items, members->count))
        return true;
    members->count--;
    free((void *)members->items[members->count].path);
    free((void *)members->items[members->count].names);
    free((void *)members->matches[members->count].segments);
    members->matches[members->count] = (struct doppel_match){0};
    return true;
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

/* @return false without memory */
static bool fill_members(const struct grouping *grouping, const struct led_item *members,
                         size_t count, uint32_t kept, struct group_members *out)
{
    bool room = group_members_reserve(out, count) && add_member(grouping, kept, out);
    for (size_t i = 0; i < count && room; i++)
        room = members[i].item == kept || add_other_member(grouping, members[i].item, out);
    return room;
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
 * there is none, or the other was asked for */
static bool find_whole_text(const struct grouping *grouping, const struct group_members *members,
                            const char *reason, uint32_t *out)
{
    static const char *const asked[] = {"mark", "folder", "reference", "chosen"};
    double least = 2;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (reason && strcmp(reason, asked[i]) == 0)
            return false;
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
    uint32_t kept;
    const char *reason = NULL;
    bool room = choose_kept_by_marks(grouping, members, count, &kept, &reason) &&
                fill_members(grouping, members, count, kept, &out);
    for (size_t turns = 0;
         turns < MOST_TURNS && room && find_whole_text(grouping, &out, reason, &kept); turns++) {
        group_members_free(&out);
        out = (struct group_members){0};
        reason = "whole";
        room = fill_members(grouping, members, count, kept, &out);
    }
    emission->kept = kept;
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
                                           .keep_reason = reason,
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
