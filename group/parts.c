/* Pairs of pictures and videos that share a part, by their keypoints. */
#include "group/grouping_internal.h"

#include <stdlib.h>

#include "compare/parts.h"
#include "compare/video.h"

bool groups_videos_by_parts(const struct doppel_group_options *options)
{
    const struct doppel_scheme *videos =
        doppel_compare_scheme(&options->compare, DOPPEL_KIND_VIDEO);
    return videos && (options->parts || videos->id == DOPPEL_SCHEME_FRAMES128);
}

/* ---- pairs ---- */

/* A picture that is compared with those that were added. */
struct parts_placing {
    struct grouping *grouping;
    uint32_t number;
    bool no_memory;
};

static struct picture_size size_of_item(const struct grouping *grouping, uint32_t number)
{
    const struct grouping_item item = item_store_get(&grouping->items, number);
    return (struct picture_size){item.width, item.height};
}

static bool add_part_edge(struct grouping *grouping, uint32_t a, uint32_t b,
                          const struct doppel_match *match)
{
    const struct doppel_edge edge = {a, b, match->similarity, (uint32_t)grouping->checked.count + 1,
                                     false};
    if (array_push(&grouping->checked, *match))
        return array_push(&grouping->part_edges, edge);
    free((void *)match->segments);
    return false;
}

void parts_free_matches(struct grouping *grouping)
{
    for (size_t i = 0; i < grouping->checked.count; i++)
        free((void *)grouping->checked.items[i].segments);
}

/* The match of an edge is of its first picture. */
static bool take_part_pair(void *context, uint64_t id, bool is_match,
                           const struct doppel_local_verdict *verdict)
{
    struct parts_placing *placing = context;
    struct grouping *grouping = placing->grouping;
    const uint32_t other = (uint32_t)id, number = placing->number;
    struct doppel_match match;
    if (!is_match || other == number || grouping_are_distinct(grouping, other, number) ||
        (grouping_is_reference(grouping, other) && grouping_is_reference(grouping, number)) ||
        bursts_separate(grouping, other, number))
        return !doppel_run_cancelled(grouping->options->run);
    describe_parts(verdict, size_of_item(grouping, number), size_of_item(grouping, other), &match);
    placing->no_memory = !describe_part_times(verdict, parts_duration(grouping, number),
                                              parts_duration(grouping, other), &match);
    if (placing->no_memory)
        return false;
    if (match.similarity < grouping->options->group->compare.min_similarity) {
        free((void *)match.segments);
        return !doppel_run_cancelled(grouping->options->run);
    }
    if (other < number)
        turn_match(&match);
    placing->no_memory = !add_part_edge(grouping, other < number ? other : number,
                                        other < number ? number : other, &match);
    return !placing->no_memory && !doppel_run_cancelled(grouping->options->run);
}

/* The item with the bytes of a record, if it is the first with its content; UINT32_MAX: it has
 * changed meanwhile, or is the same as another one. */
static uint32_t item_of_record(const struct grouping *grouping, const struct doppel_record *record)
{
    const uint32_t number = digest_map_find(&grouping->first, &record->digest, digest_at, grouping);
    const bool first = number != UINT32_MAX && grouping_first_of(grouping, number) == number;
    return first ? number : UINT32_MAX;
}

/* Of files with the same bytes the first one's keypoints count. */
enum parts_taken { PARTS_ADDED = 1, PARTS_ASKED = 2 };

static enum doppel_status reserve_parts_item(struct grouping *grouping, uint32_t number,
                                             struct doppel_error *error)
{
    while (grouping->parts_items.count <= number)
        if (!array_push(&grouping->parts_items, (struct parts_item){0}))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %u pictures",
                               number);
    return DOPPEL_OK;
}

static enum doppel_status take_parts_once(struct grouping *grouping, uint32_t number,
                                          enum parts_taken what, bool *out_first,
                                          struct doppel_error *error)
{
    enum doppel_status status = reserve_parts_item(grouping, number, error);
    if (status)
        return status;
    uint8_t *taken = &grouping->parts_items.items[number].taken;
    *out_first = !(*taken & what);
    *taken = (uint8_t)(*taken | what);
    return DOPPEL_OK;
}

uint32_t parts_duration(const struct grouping *grouping, uint32_t number)
{
    const uint64_t duration_ms =
        number < grouping->parts_items.count ? grouping->parts_items.items[number].duration_ms : 0;
    return duration_ms < UINT32_MAX ? (uint32_t)duration_ms : UINT32_MAX;
}

uint32_t parts_count_videos(const struct grouping *grouping)
{
    uint32_t count = 0;
    for (size_t i = 0; i < grouping->parts_items.count; i++)
        count += grouping->parts_items.items[i].duration_ms > 0;
    for (size_t i = 0; i < grouping->exact_duplicates.count; i++) {
        const struct exact_duplicate *copy = &grouping->exact_duplicates.items[i];
        count += parts_duration(grouping, copy->first) && !parts_duration(grouping, copy->item);
    }
    return count;
}

enum doppel_status parts_set_duration(struct grouping *grouping, uint32_t number,
                                      uint64_t duration_ms, struct doppel_error *error)
{
    enum doppel_status status = reserve_parts_item(grouping, number, error);
    if (!status)
        grouping->parts_items.items[number].duration_ms = duration_ms;
    return status;
}

enum doppel_status grouping_add_parts(struct grouping *grouping, const struct doppel_record *record,
                                      struct doppel_error *error)
{
    const uint32_t number = item_of_record(grouping, record);
    struct doppel_local_video points;
    bool first;
    if (number == UINT32_MAX)
        return DOPPEL_OK;
    enum doppel_status status = take_parts_once(grouping, number, PARTS_ADDED, &first, error);
    if (status || !first)
        return status;
    if (!parts_read(record, &points))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of it is damaged");
    status = parts_set_duration(grouping, number, points.duration_ms, error);
    if (!status)
        status = doppel_local_set_add_video(grouping->parts, number, &points, error);
    doppel_local_video_free(&points);
    return status;
}

enum doppel_status grouping_find_parts(struct grouping *grouping,
                                       const struct doppel_record *record,
                                       struct doppel_error *error)
{
    const struct doppel_local_options options =
        parts_options_from(&grouping->options->group->compare);
    struct parts_placing placing = {grouping, item_of_record(grouping, record), false};
    struct doppel_local_video points;
    bool first;
    if (placing.number == UINT32_MAX)
        return DOPPEL_OK;
    enum doppel_status status =
        take_parts_once(grouping, placing.number, PARTS_ASKED, &first, error);
    if (status || !first)
        return status;
    if (!parts_read(record, &points))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of it is damaged");
    status = parts_set_duration(grouping, placing.number, points.duration_ms, error);
    if (!status)
        status = doppel_local_find_video(grouping->parts, &points, &options, take_part_pair,
                                         &placing, error);
    doppel_local_video_free(&points);
    return placing.no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pairs")
                             : status;
}

/* ---- who leads ---- */

static const struct doppel_match *match_of(const struct grouping *grouping,
                                           const struct doppel_edge *edge)
{
    return &grouping->checked.items[edge->match - 1];
}

/* What is shown by the other one, or by more of the other one, comes second. */
static void turn_to_container(struct grouping *grouping, struct doppel_edge *edge)
{
    struct doppel_match *match = &grouping->checked.items[edge->match - 1];
    const uint32_t first = edge->a;
    if (match->relation != DOPPEL_RELATION_CONTAINED)
        return;
    turn_match(match);
    edge->a = edge->b;
    edge->b = first;
}

struct ranked_edge {
    uint32_t led; /* how many its first shares a part with */
    struct doppel_edge edge;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked_edge *a = left, *b = right;
    if (a->led != b->led)
        return a->led > b->led ? -1 : 1;
    if (a->edge.a != b->edge.a)
        return a->edge.a < b->edge.a ? -1 : 1;
    return (a->edge.b > b->edge.b) - (a->edge.b < b->edge.b);
}

/* The edges, those of collages of most pictures first. @param out as many as there are */
static void rank_edges(struct grouping *grouping, uint32_t *counts, struct ranked_edge *out)
{
    const size_t count = grouping->part_edges.count;
    for (size_t i = 0; i < count; i++) {
        turn_to_container(grouping, &grouping->part_edges.items[i]);
        counts[grouping->part_edges.items[i].a]++;
    }
    for (size_t i = 0; i < count; i++) {
        const struct doppel_edge *edge = &grouping->part_edges.items[i];
        out[i] = (struct ranked_edge){counts[edge->a], *edge};
    }
    qsort(out, count, sizeof *out, compare_ranked);
}

struct parts_leading {
    struct grouping *grouping;
    uint32_t *leaders, *followers; /* who leads each item, and how many it leads */
};

/* Let one that leads nobody follow another representative, by an edge that begins there. @return
 * false without memory */
static bool follow_by_part(struct parts_leading *leading, const struct doppel_edge *edge)
{
    struct grouping *grouping = leading->grouping;
    if (!array_push(&grouping->edges, *edge))
        return false;
    leading->leaders[edge->b] = edge->a;
    leading->followers[edge->a]++;
    grouping->joined_by[edge->b] = (uint32_t)grouping->edges.count - 1;
    return true;
}

/* The one that shows less follows, or, where others follow it, the other one. Where others follow
 * both, nothing is to be said by one group. @return false without memory */
static bool lead_by_part(struct parts_leading *leading, const struct doppel_edge *given)
{
    struct doppel_edge edge = *given;
    if (leading->leaders[edge.a] != edge.a || leading->leaders[edge.b] != edge.b)
        return true;
    if (!leading->followers[edge.b])
        return follow_by_part(leading, &edge);
    if (leading->followers[edge.a])
        return true;
    edge.a = given->b;
    edge.b = given->a;
    turn_match(&leading->grouping->checked.items[edge.match - 1]);
    return follow_by_part(leading, &edge);
}

enum doppel_status images_join_parts(struct grouping *grouping, uint32_t *leaders,
                                     struct doppel_error *error)
{
    const size_t edges = grouping->part_edges.count;
    const uint32_t count = item_store_count(&grouping->items);
    if (!edges)
        return DOPPEL_OK;
    uint32_t *counts = calloc(count, sizeof *counts);
    struct ranked_edge *ranked = calloc(edges, sizeof *ranked);
    struct parts_leading leading = {grouping, leaders, calloc(count, sizeof *leaders)};
    bool room = counts && ranked && leading.followers;
    for (uint32_t i = 0; i < count && room; i++)
        leading.followers[leaders[i]] += leaders[i] != i;
    if (room)
        rank_edges(grouping, counts, ranked);
    for (size_t i = 0; i < edges && room; i++)
        room = lead_by_part(&leading, &ranked[i].edge);
    free(counts);
    free(ranked);
    free(leading.followers);
    return room
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the groups of %u files", count);
}

/* ---- matches ---- */

bool parts_lead(const struct grouping *grouping, uint32_t number)
{
    const uint32_t edge = grouping->joined_by[number];
    if (edge == UINT32_MAX || !grouping->edges.items[edge].match)
        return false;
    const enum doppel_scheme_id scheme = match_of(grouping, &grouping->edges.items[edge])->scheme;
    return scheme == DOPPEL_SCHEME_LOCAL || scheme == DOPPEL_SCHEME_FRAMES128;
}

int images_prefer(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    const int by_parts = parts_lead(grouping, b) - parts_lead(grouping, a);
    return by_parts ? by_parts : videos_prefer(grouping, a, b);
}
