/* Groups to output: who is kept, what the others are to it. */
#include "tools/grouping_room.h"

#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/output.h"
#include "tools/signals.h"

/* Item numbers sorted so that the members of a group stand together. */
struct member {
    uint32_t leader, item;
};

/* The printing of one grouping's groups. */
struct printing {
    struct grouping *grouping;
    struct output *output;
    uint32_t *number; /* of the last group printed, of all groupings */
    uint32_t groups, doubles;
    int64_t double_bytes;
};

static const struct column columns[] = {
    {"group", "group", CELL_NUMBER},           {"kind", NULL, CELL_TEXT},
    {"members.reason", "reason", CELL_TEXT},   {"members.similarity", "similarity", CELL_NUMBER},
    {"members.distance", NULL, CELL_NUMBER},   {"members.width", "width", CELL_NUMBER},
    {"members.height", "height", CELL_NUMBER}, {"members.duration", "duration", CELL_SECONDS},
    {"members.size", "size", CELL_SIZE},       {"members.mtime", NULL, CELL_TIME},
    {"members.path", "path", CELL_PATH},
};

/* -0 is there to be piped into what deletes: it never names what is kept. */
static bool is_not_kept(const json_t *member)
{
    const char *reason = json_string_value(json_object_get(member, "reason"));
    return strcmp(reason, "kept") != 0 && !json_is_true(json_object_get(member, "reference"));
}

static const struct layout layout = {columns, sizeof columns / sizeof *columns, "members",
                                     "members.path", is_not_kept};

/* ---- groups ---- */

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

/* The first item with the bytes of `number`, which may be itself. */
static uint32_t first_of(const struct grouping *grouping, uint32_t number)
{
    const struct twin *twin = NULL, wanted = {.item = number};
    if (grouping->twins.count)
        twin = bsearch(&wanted, grouping->twins.items, grouping->twins.count, sizeof wanted,
                       compare_twins);
    return twin ? twin->first : number;
}

static bool is_timed(const struct grouping *grouping)
{
    return grouping->options->kind == DOPPEL_KIND_AUDIO ||
           grouping->options->kind == DOPPEL_KIND_VIDEO;
}

/* Encoders pad: by less a sound is not longer than another. */
static bool is_longer(uint32_t a_ms, uint32_t b_ms)
{
    return a_ms > b_ms && a_ms - b_ms > 1000 && a_ms - b_ms > b_ms / 50;
}

/* Whether `a` is rather kept than `b`: a reference, else the better by policy. */
static bool is_better_kept(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    struct grouping_item x = item_store_get(&grouping->items, a);
    struct grouping_item y = item_store_get(&grouping->items, b);
    if (x.reference != y.reference)
        return x.reference;
    if (grouping->options->kind == DOPPEL_KIND_AUDIO) {
        uint32_t x_ms = timed_duration(grouping, first_of(grouping, a));
        uint32_t y_ms = timed_duration(grouping, first_of(grouping, b));
        if (is_longer(x_ms, y_ms) || is_longer(y_ms, x_ms))
            return x_ms > y_ms;
    }
    if (grouping->options->kind == DOPPEL_KIND_VIDEO) {
        bool x_whole = films_is_whole(grouping, first_of(grouping, a));
        if (x_whole != films_is_whole(grouping, first_of(grouping, b)))
            return x_whole;
    }
    char *x_path = item_store_path(&grouping->items, a);
    char *y_path = item_store_path(&grouping->items, b);
    const struct doppel_keep_policy policy = doppel_keep_policy_default();
    const struct doppel_candidate left = {.width = x.width,
                                          .height = x.height,
                                          .size = x.size,
                                          .mtime_ns = x.mtime_ns,
                                          .path = x_path};
    const struct doppel_candidate right = {.width = y.width,
                                           .height = y.height,
                                           .size = y.size,
                                           .mtime_ns = y.mtime_ns,
                                           .path = y_path};
    bool better = doppel_keep_compare(&policy, &left, &right, NULL) < 0;
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

/* References alone are no news; with --across neither is a group within one PATH. */
static bool is_shown(const struct grouping *grouping, const struct member *members, size_t count)
{
    struct grouping_item first = item_store_get(&grouping->items, members[0].item);
    bool all_references = true, one_source = true;
    for (size_t i = 0; i < count; i++) {
        struct grouping_item item = item_store_get(&grouping->items, members[i].item);
        all_references &= item.reference;
        one_source &= item.source == first.source;
    }
    return count > 1 && !all_references && !(grouping->options->across && one_source);
}

/* What a member is to the kept one. */
static bool same_bytes(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    return memcmp(item_store_digest(&grouping->items, a), item_store_digest(&grouping->items, b),
                  sizeof(struct doppel_digest)) == 0;
}

static void put_reason(const struct grouping *grouping, json_t *row, uint32_t kept, uint32_t item)
{
    uint32_t a = first_of(grouping, kept), b = first_of(grouping, item);
    if (item == kept) {
        put_text(row, "reason", "kept");
        return;
    }
    if (a == b) {
        bool contents = grouping->options->kind != DOPPEL_KIND_IMAGE;
        put_text(row, "reason",
                 contents && !same_bytes(grouping, item, kept) ? "same-content" : "identical");
        put_integer(row, "distance", 0);
        put_number(row, "similarity", 1, 4);
        return;
    }
    struct doppel_match match = {0};
    bool known = true;
    if (grouping->options->kind == DOPPEL_KIND_TEXT)
        known = texts_compare(grouping, b, a, &match);
    else if (grouping->options->kind == DOPPEL_KIND_AUDIO)
        known = sounds_compare(grouping, b, a, &match);
    else if (grouping->options->kind == DOPPEL_KIND_VIDEO)
        known = films_compare(grouping, b, a, &match);
    else
        match = pictures_match(grouping, b, a);
    bool part = match.relation == DOPPEL_RELATION_CONTAINED;
    put_text(row, "reason", part ? "part" : "near");
    if (known)
        put_match(row, &match);
    if (is_timed(grouping))
        free((void *)match.segments);
}

static json_t *describe_member(const struct grouping *grouping, uint32_t kept, uint32_t number)
{
    struct grouping_item item = item_store_get(&grouping->items, number);
    char *path = item_store_path(&grouping->items, number);
    json_t *row = json_object();
    if (item.id)
        put_integer(row, "id", item.id);
    put_path(row, "path", path);
    put_integer(row, "size", (uint64_t)item.size);
    put_number(row, "mtime", (double)item.mtime_ns / 1e9, 3);
    if (is_timed(grouping))
        put_number(row, "duration", timed_duration(grouping, first_of(grouping, number)) / 1000.0,
                   3);
    if (item.width) {
        put_integer(row, "width", item.width);
        put_integer(row, "height", item.height);
    }
    if (item.reference)
        put_bool(row, "reference", true);
    put_reason(grouping, row, kept, number);
    free(path);
    return row;
}

static void print_group(struct printing *printing, const struct member *members, size_t count)
{
    struct grouping *grouping = printing->grouping;
    uint32_t kept = choose_kept(grouping, members, count);
    char *kept_path = item_store_path(&grouping->items, kept);
    json_t *row = json_object(), *list = json_array();
    put_integer(row, "group", ++*printing->number);
    put_text(row, "kind", doppel_kind_name(grouping->options->kind));
    put_path(row, "keep", kept_path);
    free(kept_path);
    json_array_append_new(list, describe_member(grouping, kept, kept));
    for (size_t i = 0; i < count; i++) {
        if (members[i].item == kept)
            continue;
        json_array_append_new(list, describe_member(grouping, kept, members[i].item));
        printing->doubles++;
        printing->double_bytes += item_store_get(&grouping->items, members[i].item).size;
    }
    put_value(row, "members", list);
    output_row(printing->output, row);
    printing->groups++;
}

/* For a person at a terminal: what it all comes to. */
static void say_summary(const struct printing *printing)
{
    struct report *report = printing->grouping->options->report;
    uint32_t count = item_store_count(&printing->grouping->items);
    enum doppel_kind kind = printing->grouping->options->kind;
    const char *one = kind == DOPPEL_KIND_TEXT    ? "text"
                      : kind == DOPPEL_KIND_AUDIO ? "sound"
                      : kind == DOPPEL_KIND_VIDEO ? "film"
                                                  : "picture";
    char size[32];
    if (!report->terminal || printing->grouping->options->settings->format != FORMAT_TABLE)
        return;
    human_size((double)printing->double_bytes, size, sizeof size);
    if (printing->groups == 0)
        report_notice(report, "no doubles among %u %s%s", count, one, count == 1 ? "" : "s");
    else
        report_notice(report, "%u double%s (%s) in %u group%s among %u %s%s", printing->doubles,
                      printing->doubles == 1 ? "" : "s", size, printing->groups,
                      printing->groups == 1 ? "" : "s", count, one, count == 1 ? "" : "s");
}

/* Twins follow the first of their bytes to its leader. */
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
    for (uint32_t i = 0; i < count; i++)
        members[i] = (struct member){leader[first_of(grouping, i)], i};
    qsort(members, count, sizeof *members, by_leader);
    free(leader);
    return members;
}

static enum doppel_status print_groups(struct printing *printing, struct doppel_error *error)
{
    struct grouping *grouping = printing->grouping;
    size_t count = item_store_count(&grouping->items);
    enum doppel_status status = DOPPEL_OK;
    if (count == 0)
        return DOPPEL_OK;
    if (grouping->options->kind == DOPPEL_KIND_IMAGE)
        status = pictures_find_pairs(grouping, error);
    else if (grouping->options->kind == DOPPEL_KIND_AUDIO)
        status = sounds_find_leaders(grouping, error);
    else if (grouping->options->kind == DOPPEL_KIND_VIDEO)
        status = films_find_leaders(grouping, error);
    if (status)
        return status;
    struct member *members = find_members(grouping);
    for (size_t begin = 0, end; begin < count && !signals_stopped(); begin = end) {
        for (end = begin + 1; end < count && members[end].leader == members[begin].leader; end++)
            ;
        if (is_shown(grouping, members + begin, end - begin))
            print_group(printing, members + begin, end - begin);
    }
    free(members);
    return DOPPEL_OK;
}

enum doppel_status groupings_print(struct grouping *const *groupings, size_t count,
                                   struct doppel_error *error)
{
    struct printing printings[DOPPEL_KIND_VIDEO + 1];
    struct output *output = NULL;
    uint32_t number = 0;
    size_t used = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count && !status; i++) {
        if (!groupings[i] || !item_store_count(&groupings[i]->items))
            continue;
        const struct grouping_options *options = groupings[i]->options;
        output = output ? output : output_new(options->settings, &layout, options->report);
        printings[used] = (struct printing){groupings[i], output, &number, 0, 0, 0};
        status = print_groups(&printings[used++], error);
    }
    if (output && !output_finish(output) && !status)
        status = signals_stopped() ? DOPPEL_E_CANCELLED
                                   : doppel_fail(error, DOPPEL_E_IO, "not all groups are printed");
    for (size_t i = 0; i < used && !status; i++)
        say_summary(&printings[i]);
    return status;
}
