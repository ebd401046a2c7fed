/* Groups as they are told: who is kept, what the others are to it. */
#include "group/grouping_internal.h"

#include <stdlib.h>
#include <string.h>

#include "tools/output/item_name.h"
#include "tools/memory.h"
#include "tools/output/output.h"

/* The telling of one grouping's groups. */
struct telling {
    struct grouping *grouping;
    const struct group_sink *sink;
    uint32_t *number; /* of the last group told, of all groupings */
};

/* Item numbers sorted so that the members of a group stand together. */
static int by_leader(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->leader != b->leader)
        return a->leader < b->leader ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

static int compare_twins(const void *left, const void *right)
{
    const struct twin *a = left, *b = right;
    return (a->item > b->item) - (a->item < b->item);
}

static const struct twin *twin_of(const struct grouping *grouping, uint32_t number)
{
    const struct twin wanted = {.item = number};
    return grouping->twins.count ? bsearch(&wanted, grouping->twins.items, grouping->twins.count,
                                           sizeof wanted, compare_twins)
                                 : NULL;
}

uint32_t grouping_first_of(const struct grouping *grouping, uint32_t number)
{
    const struct twin *twin = twin_of(grouping, number);
    return twin ? twin->first : number;
}

static bool same_bytes(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    const struct twin *twin_a = twin_of(grouping, a), *twin_b = twin_of(grouping, b);
    if (grouping->options->kind == DOPPEL_KIND_IMAGE) /* their digests may be forgotten */
        return (twin_a ? twin_a->same_bytes : a) == (twin_b ? twin_b->same_bytes : b);
    return memcmp(item_store_digest(&grouping->items, a), item_store_digest(&grouping->items, b),
                  sizeof(struct doppel_digest)) == 0;
}

static bool is_timed(const struct grouping *grouping)
{
    return grouping->options->kind == DOPPEL_KIND_AUDIO ||
           grouping->options->kind == DOPPEL_KIND_VIDEO;
}

/* Encoders pad: by less a recording is not longer than another. */
static bool is_longer(uint32_t a_ms, uint32_t b_ms)
{
    return a_ms > b_ms && a_ms - b_ms > 1000 && a_ms - b_ms > b_ms / 50;
}

/* Whether `a` is rather kept than `b`: a reference, else a file, else what was chosen or is whole,
 * else the better by policy. */
static bool is_better_kept(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    struct grouping_item x = item_store_get(&grouping->items, a);
    struct grouping_item y = item_store_get(&grouping->items, b);
    if (x.reference != y.reference)
        return x.reference;
    if (x.no_file != y.no_file)
        return y.no_file;
    if (x.chosen != y.chosen)
        return x.chosen;
    if (x.cut != y.cut)
        return y.cut;
    if (grouping->options->kind == DOPPEL_KIND_AUDIO) {
        uint32_t x_ms = timed_duration(grouping, grouping_first_of(grouping, a));
        uint32_t y_ms = timed_duration(grouping, grouping_first_of(grouping, b));
        if (is_longer(x_ms, y_ms) || is_longer(y_ms, x_ms))
            return x_ms > y_ms;
    }
    if (grouping->options->kind == DOPPEL_KIND_VIDEO) {
        bool x_whole = videos_is_whole(grouping, grouping_first_of(grouping, a));
        if (x_whole != videos_is_whole(grouping, grouping_first_of(grouping, b)))
            return x_whole;
    }
    char *x_path = item_store_path(&grouping->items, a);
    char *y_path = item_store_path(&grouping->items, b);
    const struct doppel_candidate left = {.authority = x.authority,
                                          .width = x.width,
                                          .height = x.height,
                                          .size = x.size,
                                          .mtime_ns = x.mtime_ns,
                                          .path = x_path};
    const struct doppel_candidate right = {.authority = y.authority,
                                           .width = y.width,
                                           .height = y.height,
                                           .size = y.size,
                                           .mtime_ns = y.mtime_ns,
                                           .path = y_path};
    bool better = doppel_keep_compare(&grouping->options->policy, &left, &right, NULL) < 0;
    free(x_path);
    free(y_path);
    return better;
}

/* The member that stays. */
static uint32_t choose_kept(const struct grouping *grouping, const struct member *members,
                            size_t count)
{
    uint32_t kept = members[0].item;
    for (size_t i = 1; i < count; i++)
        if (is_better_kept(grouping, members[i].item, kept))
            kept = members[i].item;
    return kept;
}

/* References alone are no news, nor is a group around something benign; with --cross-folder neither
 * is a group within one PATH. */
static bool is_shown(const struct grouping *grouping, const struct member *members, size_t count)
{
    struct grouping_item first = item_store_get(&grouping->items, members[0].item);
    bool all_references = true, one_source = true, benign = false;
    for (size_t i = 0; i < count; i++) {
        struct grouping_item item = item_store_get(&grouping->items, members[i].item);
        all_references &= item.reference;
        one_source &= item.source == first.source;
        benign |= item.benign;
    }
    return count > 1 && !all_references && !benign && !(grouping->options->across && one_source);
}

/* What a member is to the kept one. */
static void put_reason(const struct grouping *grouping, json_t *row, uint32_t kept, uint32_t item)
{
    uint32_t a = grouping_first_of(grouping, kept), b = grouping_first_of(grouping, item);
    if (item == kept) {
        put_text(row, "reason", "kept");
        return;
    }
    bool identical = same_bytes(grouping, item, kept);
    if (a == b || identical) {
        put_text(row, "reason", identical ? "identical" : "same-content");
        put_integer(row, "distance", 0);
        put_number(row, "similarity", 1, 4);
        return;
    }
    struct doppel_match match = {0};
    bool known = true;
    if (grouping->options->kind == DOPPEL_KIND_TEXT)
        known = texts_compare(grouping, b, a, &match);
    else if (grouping->options->kind == DOPPEL_KIND_AUDIO)
        known = audio_compare(grouping, b, a, &match);
    else if (grouping->options->kind == DOPPEL_KIND_VIDEO)
        known = videos_compare(grouping, b, a, &match);
    else
        match = images_match(grouping, b, a);
    bool part = match.relation == DOPPEL_RELATION_CONTAINED;
    bool said = grouping->by_word[a] || grouping->by_word[b];
    put_text(row, "reason", said ? "marked" : part ? "part" : "near");
    if (known && !said)
        put_match(row, &match);
    if (is_timed(grouping))
        free((void *)match.segments);
}

static json_t *describe_member(const struct grouping *grouping, uint32_t kept, uint32_t number,
                               const struct grouping_item *item)
{
    json_t *row = json_object();
    if (item->id)
        put_integer(row, "id", item->id);
    put_item_name(row, !item->no_file, item->path);
    if (!item->no_file) {
        put_integer(row, "size", (uint64_t)item->size);
        put_number(row, "mtime", (double)item->mtime_ns / 1e9, 3);
    }
    if (is_timed(grouping))
        put_number(row, "duration",
                   timed_duration(grouping, grouping_first_of(grouping, number)) / 1000.0, 3);
    if (item->width) {
        put_integer(row, "width", item->width);
        put_integer(row, "height", item->height);
    }
    if (item->reference)
        put_bool(row, "reference", true);
    put_reason(grouping, row, kept, number);
    return row;
}

static void free_members(struct grouping_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((void *)items[i].path);
    free(items);
}

size_t group_first_with_bytes_of(const struct grouping_item *members, size_t number)
{
    const struct grouping_item *item = &members[number];
    for (size_t i = 0; i < number; i++)
        if (members[i].size == item->size &&
            memcmp(&members[i].digest, &item->digest, sizeof item->digest) == 0)
            return i;
    return number;
}

/* What is less than identical to the kept one may have the bytes of another member. */
static void put_identical_to(json_t *row, const struct grouping_item *items, size_t number)
{
    size_t first = group_first_with_bytes_of(items, number);
    const char *reason = json_string_value(json_object_get(row, "reason"));
    if (first != number && strcmp(reason, "identical") != 0)
        put_path(row, "identical_to", items[first].path);
}

/* What all but the kept one and references take. */
static uint64_t savable_bytes(const struct grouping_item *items, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 1; i < count; i++)
        bytes += items[i].reference ? 0 : (uint64_t)items[i].size;
    return bytes;
}

/* The kept one first. */
static enum doppel_status tell_group(struct telling *telling, const struct member *members,
                                     size_t count, struct doppel_error *error)
{
    struct grouping *grouping = telling->grouping;
    uint32_t kept = choose_kept(grouping, members, count);
    struct grouping_item *items = must_allocate(count * sizeof *items);
    json_t *row = json_object(), *list = json_array();
    size_t used = 0;
    for (size_t i = 0; i <= count; i++) {
        uint32_t number = i ? members[i - 1].item : kept;
        if (i && number == kept)
            continue;
        items[used] = item_store_get(&grouping->items, number);
        items[used].path = item_store_path(&grouping->items, number);
        json_t *member = describe_member(grouping, kept, number, &items[used]);
        put_identical_to(member, items, used++);
        json_array_append_new(list, member);
    }
    put_integer(row, "group", ++*telling->number);
    put_text(row, "kind", doppel_kind_name(grouping->options->kind));
    put_path(row, "keep", items[0].path);
    put_integer(row, "savable", savable_bytes(items, used));
    put_value(row, "members", list);
    struct told_group group = {row, grouping->options->kind, items, used, NULL, NULL};
    enum doppel_status status = telling->sink->take(telling->sink->context, &group, error);
    json_decref(row);
    free_members(items, used);
    return status;
}

static struct member *find_members(struct grouping *grouping)
{
    uint32_t count = item_store_count(&grouping->items);
    uint32_t *leader = must_allocate(count * sizeof *leader);
    struct member *members = must_allocate(count * sizeof *members);
    grouping->joined_by = must_allocate(count * sizeof *grouping->joined_by);
    if (!is_timed(grouping))
        doppel_group_by_leader(count, grouping->edges.items, grouping->edges.count, leader,
                               grouping->joined_by);
    else
        for (uint32_t i = 0; i < count; i++)
            leader[i] = timed_leader(grouping, i);
    grouping_lead_all(grouping, leader);
    for (uint32_t i = 0; i < count; i++)
        members[i] = (struct member){leader[i], i};
    qsort(members, count, sizeof *members, by_leader);
    free(leader);
    return members;
}

static enum doppel_status find_pairs(struct grouping *grouping, struct doppel_error *error)
{
    if (grouping->options->kind == DOPPEL_KIND_IMAGE)
        return images_find_pairs(grouping, error);
    if (grouping->options->kind == DOPPEL_KIND_AUDIO)
        return audio_find_leaders(grouping, error);
    if (grouping->options->kind == DOPPEL_KIND_VIDEO)
        return videos_find_leaders(grouping, error);
    return DOPPEL_OK;
}

static enum doppel_status tell_groups(struct telling *telling, struct doppel_error *error)
{
    struct grouping *grouping = telling->grouping;
    size_t count = item_store_count(&grouping->items);
    enum doppel_status status = find_pairs(grouping, error);
    if (status)
        return status;
    struct member *members = find_members(grouping);
    for (size_t begin = 0, end;
         begin < count && !status && !doppel_run_cancelled(grouping->options->run); begin = end) {
        for (end = begin + 1; end < count && members[end].leader == members[begin].leader; end++)
            ;
        size_t files = grouping_merge_links(grouping, members + begin, end - begin);
        if (is_shown(grouping, members + begin, files))
            status = tell_group(telling, members + begin, files, error);
    }
    free(members);
    return status;
}

enum doppel_status groupings_tell(const struct all_groups *all, const struct group_sink *sink,
                                  struct doppel_error *error)
{
    uint32_t number = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < all->count && !status; i++) {
        struct grouping *grouping = all->groupings[i];
        struct telling telling = {grouping, sink, &number};
        if (grouping && item_store_count(&grouping->items))
            status = tell_groups(&telling, error);
    }
    if (!status && all->known && !doppel_run_cancelled(all->run))
        status = all->known->tell(all->known->context, &number, sink, error);
    return status;
}

uint32_t grouping_count(const struct grouping *grouping)
{
    return item_store_count(&grouping->items);
}
