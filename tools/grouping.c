/* Items to groups of doubles, and groups to output. */
#include "tools/grouping.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "tools/digest_map.h"
#include "tools/memory.h"
#include "tools/output.h"
#include "tools/signals.h"

/* An item, and the first one with the same bytes. */
struct twin {
    uint32_t item, first;
};

struct grouping {
    const struct grouping_options *options;
    struct doppel_match_options match;
    struct doppel_matcher *matcher; /* of the first item of each digest, by item number */
    struct digest_map first;        /* of a digest */
    struct output *output;
    struct item_store items;
    ARRAY(struct twin) twins;             /* by item */
    ARRAY(struct doppel_edge) edges;      /* `match`: 0, or 1 + number of a pixel match */
    ARRAY(struct doppel_match) by_pixels; /* what the pixels said of an edge's pair */
    uint32_t *joined_by;                  /* of each item, as doppel_group_by_leader says */
    uint32_t groups, doubles;
    int64_t double_bytes;
};

/* Item numbers sorted so that the members of a group stand together. */
struct member {
    uint32_t leader, item;
};

static const struct column columns[] = {
    {"group", "group", CELL_NUMBER},           {"kind", NULL, CELL_TEXT},
    {"members.reason", "reason", CELL_TEXT},   {"members.similarity", "similarity", CELL_NUMBER},
    {"members.distance", NULL, CELL_NUMBER},   {"members.width", "width", CELL_NUMBER},
    {"members.height", "height", CELL_NUMBER}, {"members.size", "size", CELL_SIZE},
    {"members.mtime", NULL, CELL_TIME},        {"members.path", "path", CELL_PATH},
};

/* -0 is there to be piped into what deletes: it never names what is kept. */
static bool is_not_kept(const json_t *member)
{
    const char *reason = json_string_value(json_object_get(member, "reason"));
    return strcmp(reason, "kept") != 0 && !json_is_true(json_object_get(member, "reference"));
}

static const struct layout layout = {columns, sizeof columns / sizeof *columns, "members",
                                     "members.path", is_not_kept};

struct doppel_match_options match_options_from(const struct settings *settings)
{
    struct doppel_match_options options = doppel_match_options_default();
    options.image.views = (enum doppel_image_views)settings->views;
    options.image.orientations = settings->orientations;
    options.max_distance = settings->max_distance;
    options.min_similarity = settings->min_similarity;
    options.check_pixels = settings->check == CHECK_PIXELS;
    return options;
}

struct doppel_image_verdict verdict_of(const struct doppel_match *match)
{
    return (struct doppel_image_verdict){.distance64 = match->distance,
                                         .false_positive_rate = match->false_positive_rate,
                                         .similarity = match->similarity};
}

/* The matcher's threads: --jobs, else one a processor. */
static uint32_t thread_count(const struct settings *settings)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return settings->jobs ? settings->jobs : processors > 0 ? (uint32_t)processors : 1;
}

enum doppel_status grouping_new(const struct grouping_options *options, struct grouping **out,
                                struct doppel_error *error)
{
    struct grouping *grouping = must_allocate(sizeof *grouping);
    grouping->options = options;
    grouping->match = match_options_from(options->settings);
    enum doppel_status status =
        doppel_matcher_new(options->settings->scheme->id, &grouping->match,
                           thread_count(options->settings), &grouping->matcher, error);
    if (status) {
        free(grouping);
        return status;
    }
    *out = grouping;
    return DOPPEL_OK;
}

void grouping_free(struct grouping *grouping)
{
    if (!grouping)
        return;
    item_store_free(&grouping->items);
    array_free(&grouping->twins);
    array_free(&grouping->edges);
    array_free(&grouping->by_pixels);
    free(grouping->joined_by);
    digest_map_free(&grouping->first);
    doppel_matcher_free(grouping->matcher);
    free(grouping);
}

static const struct doppel_digest *digest_at(const void *context, uint32_t number)
{
    const struct grouping *grouping = context;
    return item_store_digest(&grouping->items, number);
}

enum doppel_status grouping_add(struct grouping *grouping, const struct grouping_item *item,
                                const struct doppel_fingerprint *fingerprint,
                                struct doppel_error *error)
{
    uint32_t number = item_store_count(&grouping->items);
    if (!array_reserve(&grouping->twins))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %u files", number);
    enum doppel_status status = item_store_add(&grouping->items, item, error);
    if (status)
        return status;
    uint32_t first = digest_map_put(&grouping->first, number, digest_at, grouping);
    if (first != number) {
        (void)array_push(&grouping->twins, ((struct twin){number, first}));
        return DOPPEL_OK;
    }
    struct doppel_match_item match_item = {fingerprint, item->quality};
    return doppel_matcher_add(grouping->matcher, number, &match_item, error);
}

/* ---- pairs ---- */

/* What the cache keeps of a pair was found with all views in all orientations. */
static bool is_default(const struct doppel_image_judge_options *options)
{
    struct doppel_image_judge_options usual = doppel_image_judge_options_default();
    return options->views == usual.views && options->orientations == usual.orientations;
}

/* Look at the pixels of a borderline pair, or recall what they said. */
static bool pixels_agree(struct grouping *grouping, const struct doppel_found *found,
                         struct doppel_match *match)
{
    const struct grouping_options *options = grouping->options;
    struct grouping_item query = item_store_get(&grouping->items, (uint32_t)found->query);
    struct grouping_item item = item_store_get(&grouping->items, (uint32_t)found->id);
    struct doppel_image_verdict verdict = verdict_of(match);
    struct doppel_cache *cache = is_default(&grouping->match.image) ? options->cache : NULL;
    bool same;
    if (!cache || doppel_cache_pair(cache, &query.digest, &item.digest, &same, &verdict)) {
        struct doppel_image_features a = {0}, b = {0};
        bool loaded = options->features(options->context, &query, &a) &&
                      options->features(options->context, &item, &b);
        same = loaded && doppel_image_check_pixels(&a, &b, &grouping->match.image, &verdict);
        doppel_fingerprint_free(&a.fingerprint);
        doppel_fingerprint_free(&b.fingerprint);
        if (!loaded)
            return false;
        if (cache)
            (void)doppel_cache_put_pair(cache, &query.digest, &item.digest, same, &verdict, NULL);
    }
    doppel_match_from_pixels(&verdict, same, match);
    return same;
}

static bool is_reference(const struct grouping *grouping, uint32_t number)
{
    return item_store_get(&grouping->items, number).reference;
}

static bool take_pair(void *context, const struct doppel_found *found, bool *out_follows)
{
    struct grouping *grouping = context;
    uint32_t a = (uint32_t)found->query, b = (uint32_t)found->id;
    struct doppel_match match = found->match;
    progress_update(&grouping->options->report->progress, b, 0);
    if (is_reference(grouping, a) && is_reference(grouping, b))
        return !signals_stopped();
    if (found->borderline && !pixels_agree(grouping, found, &match))
        return !signals_stopped();
    if (found->borderline && !array_push(&grouping->by_pixels, match))
        return false;
    uint32_t by_pixels = found->borderline ? (uint32_t)grouping->by_pixels.count : 0;
    struct doppel_edge edge = {a, b, match.similarity, by_pixels};
    *out_follows = true;
    return array_push(&grouping->edges, edge) && !signals_stopped();
}

static enum doppel_status find_pairs(struct grouping *grouping, struct doppel_error *error)
{
    struct report *report = grouping->options->report;
    /* Comparing takes the most memory: what it does not need goes first. */
    digest_map_free(&grouping->first);
    if (!grouping->match.check_pixels)
        item_store_forget_digests(&grouping->items);
    progress_begin(&report->progress, "pictures compared", item_store_count(&grouping->items));
    enum doppel_status status = doppel_matcher_lead(grouping->matcher, take_pair, grouping, error);
    progress_clear(&report->progress);
    if (status == DOPPEL_E_CANCELLED && !signals_stopped())
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pairs");
    return status;
}

/* ---- groups ---- */

static int by_leader(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->leader != b->leader)
        return a->leader < b->leader ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

/* Whether `a` is rather kept than `b`: a reference, else the better by policy. */
static bool is_better_kept(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    struct grouping_item x = item_store_get(&grouping->items, a);
    struct grouping_item y = item_store_get(&grouping->items, b);
    if (x.reference != y.reference)
        return x.reference;
    char *x_path = item_store_path(&grouping->items, a);
    char *y_path = item_store_path(&grouping->items, b);
    struct doppel_candidate left = {x.width, x.height, x.size, x.mtime_ns, x_path};
    struct doppel_candidate right = {y.width, y.height, y.size, y.mtime_ns, y_path};
    bool better = doppel_canonical_compare(&left, &right) < 0;
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

static enum doppel_relation turned(enum doppel_relation relation)
{
    return relation == DOPPEL_RELATION_CONTAINS    ? DOPPEL_RELATION_CONTAINED
           : relation == DOPPEL_RELATION_CONTAINED ? DOPPEL_RELATION_CONTAINS
                                                   : relation;
}

/* The pixels' word, when it was by them that `item` joined `leader`; else NULL. */
static const struct doppel_match *pixel_match(const struct grouping *grouping, uint32_t leader,
                                              uint32_t item)
{
    uint32_t number = grouping->joined_by[item];
    const struct doppel_edge *edge = number == UINT32_MAX ? NULL : &grouping->edges.items[number];
    bool by_pixels = edge && edge->match && edge->a == leader;
    return by_pixels ? &grouping->by_pixels.items[edge->match - 1] : NULL;
}

/* What `query` is to `item`. */
static struct doppel_match match_of(const struct grouping *grouping, uint32_t query, uint32_t item)
{
    const struct doppel_match *by_pixels = pixel_match(grouping, query, item);
    struct doppel_match match;
    if (by_pixels)
        return *by_pixels;
    by_pixels = pixel_match(grouping, item, query);
    if (by_pixels) {
        match = *by_pixels;
        match.relation = turned(match.relation);
        return match;
    }
    (void)doppel_matcher_compare(grouping->matcher, query, item, &match);
    return match;
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

/* What a member is to the kept one. */
static void put_reason(const struct grouping *grouping, json_t *row, uint32_t kept, uint32_t item)
{
    uint32_t a = first_of(grouping, kept), b = first_of(grouping, item);
    if (item == kept) {
        put_text(row, "reason", "kept");
        return;
    }
    if (a == b) {
        put_text(row, "reason", "identical");
        put_integer(row, "distance", 0);
        put_number(row, "similarity", 1, 4);
        return;
    }
    struct doppel_match match = match_of(grouping, b, a);
    bool part = match.relation == DOPPEL_RELATION_CONTAINED;
    put_text(row, "reason", part ? "part" : "near");
    put_match(row, &match);
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

static void print_group(struct grouping *grouping, const struct member *members, size_t count)
{
    uint32_t kept = choose_kept(grouping, members, count);
    char *kept_path = item_store_path(&grouping->items, kept);
    json_t *row = json_object(), *list = json_array();
    put_integer(row, "group", ++grouping->groups);
    put_text(row, "kind", "image");
    put_path(row, "keep", kept_path);
    free(kept_path);
    json_array_append_new(list, describe_member(grouping, kept, kept));
    for (size_t i = 0; i < count; i++) {
        if (members[i].item == kept)
            continue;
        json_array_append_new(list, describe_member(grouping, kept, members[i].item));
        grouping->doubles++;
        grouping->double_bytes += item_store_get(&grouping->items, members[i].item).size;
    }
    put_value(row, "members", list);
    output_row(grouping->output, row);
}

/* For a person at a terminal: what it all comes to. */
static void say_summary(const struct grouping *grouping)
{
    struct report *report = grouping->options->report;
    uint32_t pictures = item_store_count(&grouping->items);
    char size[32];
    if (!report->terminal || grouping->options->settings->format != FORMAT_TABLE)
        return;
    human_size((double)grouping->double_bytes, size, sizeof size);
    if (grouping->groups == 0)
        report_notice(report, "no doubles among %u picture%s", pictures, pictures == 1 ? "" : "s");
    else
        report_notice(report, "%u double%s (%s) in %u group%s among %u pictures", grouping->doubles,
                      grouping->doubles == 1 ? "" : "s", size, grouping->groups,
                      grouping->groups == 1 ? "" : "s", pictures);
}

/* Twins follow the first of their bytes to its leader. */
static struct member *find_members(struct grouping *grouping)
{
    uint32_t count = item_store_count(&grouping->items);
    uint32_t *leader = must_allocate(count * sizeof *leader);
    struct member *members = must_allocate(count * sizeof *members);
    grouping->joined_by = must_allocate(count * sizeof *grouping->joined_by);
    doppel_group_by_leader(count, grouping->edges.items, grouping->edges.count, leader,
                           grouping->joined_by);
    for (uint32_t i = 0; i < count; i++)
        members[i] = (struct member){leader[first_of(grouping, i)], i};
    qsort(members, count, sizeof *members, by_leader);
    free(leader);
    return members;
}

enum doppel_status grouping_print(struct grouping *grouping, struct doppel_error *error)
{
    size_t count = item_store_count(&grouping->items);
    if (count == 0)
        return DOPPEL_OK;
    enum doppel_status status = find_pairs(grouping, error);
    if (status)
        return status;
    struct member *members = find_members(grouping);
    grouping->output = output_new(grouping->options->settings, &layout, grouping->options->report);
    for (size_t begin = 0, end; begin < count && !signals_stopped(); begin = end) {
        for (end = begin + 1; end < count && members[end].leader == members[begin].leader; end++)
            ;
        if (is_shown(grouping, members + begin, end - begin))
            print_group(grouping, members + begin, end - begin);
    }
    free(members);
    if (!output_finish(grouping->output))
        return signals_stopped() ? DOPPEL_E_CANCELLED
                                 : doppel_fail(error, DOPPEL_E_IO, "not all groups are printed");
    say_summary(grouping);
    return DOPPEL_OK;
}
