/* The members of a group on its way out: what each is to the one to keep, and what is said of it.
 */
#include "group/members.h"

#include <stdlib.h>
#include <string.h>

#include "core/files/archive_path.h"
#include "core/files/path_is_gone.h"
#include "group/marks.h"
#include "group/member_rules.h"
#include "group/timed.h"

/* ---- the same bytes ---- */

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

/* ---- what a member is ---- */

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

/* ---- what is decided about it ---- */

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

bool group_file_mark(const struct grouping *grouping, uint32_t number, enum doppel_file_mark *out)
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

/* ---- all of them ---- */

void group_members_free(struct group_members *members)
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
           group_file_mark(grouping, number, &member->mark);
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

bool group_members_fill(const struct grouping *grouping, const struct led_item *members,
                        size_t count, uint32_t kept, struct group_members *out)
{
    bool room = group_members_reserve(out, count) && add_member(grouping, kept, out);
    for (size_t i = 0; i < count && room; i++)
        room = members[i].item == kept || add_other_member(grouping, members[i].item, out);
    return room;
}
