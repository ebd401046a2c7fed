/* Pairs of texts: the same words by their digest, near ones by their shingles. Each text is
 * compared with the representatives before it, as it comes. One that follows by a weak link is
 * found by its copies all the same: it is a representative then, too. */
#include "group/grouping_internal.h"

#include <stdlib.h>
#include <string.h>

#include "compare/pages.h"
#include "core/try.h"

/* A text on its way in. */
struct arrival {
    struct grouping *grouping;
    uint32_t number;
    bool follows, is_copy, no_memory; /* by whatever link; by a strong one */
    ARRAY(uint32_t) copied;           /* of those that follow by weak links: its copies */
};

static bool load_view(void *context, uint64_t id, struct text_view *out)
{
    const struct grouping *grouping = context;
    struct grouping_item item = item_store_get(&grouping->items, (uint32_t)id);
    return grouping->options->text(grouping->options->context, &item, out);
}

/* A link is strong at half the distance that is allowed, or less: what is near two such texts, and
 * less far from the one, is near enough to the other. */
static double strong_similarity(const struct doppel_compare_options *compare)
{
    double least = text_limits_from(compare).min_similarity;
    if (compare->max_distance >= 0)
        least = 1 - (double)compare->max_distance / compare->text.lanes;
    return (1 + (least > 0 ? least : 0)) / 2;
}

enum doppel_status texts_begin(struct grouping *grouping, struct doppel_error *error)
{
    const struct doppel_compare_options *compare = &grouping->options->group->compare;
    enum doppel_status status = text_set_new(compare, load_view, grouping, &grouping->texts, error);
    grouping->strong = *compare;
    grouping->strong.preset = NULL;
    grouping->strong.max_distance = -1;
    grouping->strong.min_similarity = grouping->strong.text_similarity = strong_similarity(compare);
    return status
               ? status
               : text_set_new(&grouping->strong, load_view, grouping, &grouping->weakly_led, error);
}

/* Whether a link may be made between two. */
static bool may_link(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    return !(grouping_is_reference(grouping, a) && grouping_is_reference(grouping, b)) &&
           !grouping_are_distinct(grouping, a, b);
}

/* What another one holds is not less its own for the rest of that one. */
static bool is_weak_match(const struct grouping *grouping, const struct doppel_match *match)
{
    return match->relation == DOPPEL_RELATION_SAME &&
           match->similarity < grouping->strong.min_similarity;
}

static bool add_text_edge(struct grouping *grouping, uint32_t a, uint32_t b,
                          const struct doppel_match *match)
{
    const struct doppel_edge edge = {a < b ? a : b, a < b ? b : a, match->similarity, 0,
                                     is_weak_match(grouping, match)};
    return array_push(&grouping->edges, edge);
}

static bool take_part_of_text(void *context, uint64_t id)
{
    struct arrival *arrival = context;
    const struct held_text held = {(uint32_t)id, arrival->number};
    arrival->no_memory = !array_push(&arrival->grouping->held_texts, held);
    return !arrival->no_memory;
}

/* A text is led by what is as good as it, or holds it: not by a part of it, which it may lead when
 * all are there. */
static bool take_text_leader(void *context, uint64_t id, const struct doppel_match *match)
{
    struct arrival *arrival = context;
    struct grouping *grouping = arrival->grouping;
    uint32_t leader = (uint32_t)id;
    if (match->relation == DOPPEL_RELATION_CONTAINS)
        return take_part_of_text(arrival, id);
    if (match->relation != DOPPEL_RELATION_SAME && match->relation != DOPPEL_RELATION_CONTAINED)
        return true;
    if (!may_link(grouping, leader, arrival->number))
        return true;
    arrival->no_memory = !add_text_edge(grouping, leader, arrival->number, match);
    arrival->follows = true;
    arrival->is_copy |= !is_weak_match(grouping, match);
    return !arrival->no_memory;
}

/* ---- copies of texts that follow ---- */

static bool take_copied(void *context, uint64_t id, const struct doppel_match *match)
{
    struct arrival *arrival = context;
    struct grouping *grouping = arrival->grouping;
    const uint32_t copied = (uint32_t)id;
    if (match->relation != DOPPEL_RELATION_SAME || !may_link(grouping, copied, arrival->number))
        return true;
    arrival->no_memory = !array_push(&arrival->copied, copied) ||
                         !add_text_edge(grouping, copied, arrival->number, match);
    return !arrival->no_memory;
}

/* One that has a copy, and another representative: either may be the earlier one. */
static bool take_near_representative(void *context, uint64_t id, const struct doppel_match *match)
{
    struct arrival *arrival = context;
    const uint32_t other = (uint32_t)id;
    if (match->relation == DOPPEL_RELATION_SAME &&
        may_link(arrival->grouping, other, arrival->number))
        arrival->no_memory = !add_text_edge(arrival->grouping, other, arrival->number, match);
    return !arrival->no_memory;
}

/* Let one that has a copy be a representative, also to those that come. */
static enum doppel_status raise_copied(struct grouping *grouping, uint32_t number,
                                       struct doppel_error *error)
{
    struct arrival raised = {.grouping = grouping, .number = number};
    struct text_view view;
    if (!load_view(grouping, number, &view))
        return DOPPEL_OK;
    enum doppel_status status =
        text_set_find(grouping->texts, &view, take_near_representative, &raised, error);
    if (!status)
        status = text_set_add(grouping->texts, number, &view, error);
    text_view_free(&view);
    return status;
}

/* Among those that follow by weak links: of these copies are copies. */
static enum doppel_status find_copied(struct arrival *arrival, const struct text_view *view,
                                      struct doppel_error *error)
{
    enum doppel_status status =
        text_set_find(arrival->grouping->weakly_led, view, take_copied, arrival, error);
    for (size_t i = 0; i < arrival->copied.count && !status; i++)
        status = raise_copied(arrival->grouping, arrival->copied.items[i], error);
    arrival->is_copy |= arrival->copied.count > 0;
    arrival->follows |= arrival->copied.count > 0;
    return status;
}

/* Those that are near a text, which is then found by others itself, unless it is a copy. */
static enum doppel_status place_text(struct arrival *arrival, const struct text_view *view,
                                     struct doppel_error *error)
{
    struct grouping *grouping = arrival->grouping;
    enum doppel_status status;
    TRY(text_set_find(grouping->texts, view, take_text_leader, arrival, error));
    if (!arrival->is_copy)
        TRY(find_copied(arrival, view, error));
    if (!arrival->follows)
        TRY(text_set_find_parts(grouping->texts, view, take_part_of_text, arrival, error));
    if (!arrival->is_copy)
        TRY(text_set_add(arrival->follows ? grouping->weakly_led : grouping->texts, arrival->number,
                         view, error));
done:
    return status;
}

static enum doppel_status find_text_leaders(struct grouping *grouping, uint32_t number,
                                            const struct text_view *view,
                                            struct doppel_error *error)
{
    struct arrival arrival = {.grouping = grouping, .number = number};
    enum doppel_status status = place_text(&arrival, view, error);
    array_free(&arrival.copied);
    return arrival.no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pairs")
                             : status;
}

static int compare_edges(const void *left, const void *right)
{
    const struct doppel_edge *a = left, *b = right;
    if (a->b != b->b)
        return a->b < b->b ? -1 : 1;
    return (a->a > b->a) - (a->a < b->a);
}

/* Those of one that was raised came late, some of them twice. */
enum doppel_status texts_order_pairs(struct grouping *grouping, struct doppel_error *error)
{
    (void)error;
    struct doppel_edge *edges = grouping->edges.items;
    size_t count = 0;
    if (grouping->edges.count)
        qsort(edges, grouping->edges.count, sizeof *edges, compare_edges);
    for (size_t i = 0; i < grouping->edges.count; i++)
        if (!count || compare_edges(&edges[count - 1], &edges[i]))
            edges[count++] = edges[i];
    grouping->edges.count = count;
    return DOPPEL_OK;
}

enum doppel_status grouping_add_text(struct grouping *grouping, const struct grouping_item *item,
                                     const struct text_view *view, struct doppel_error *error)
{
    uint32_t number = item_store_count(&grouping->items);
    /* Without words there is nothing but the bytes. */
    struct doppel_digest content = view->extra.words ? view->extra.content : item->digest;
    if (!array_reserve(&grouping->exact_duplicates) ||
        !digest_map_reserve(&grouping->first, content_at, grouping) ||
        !array_push(&grouping->contents, content))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %u files", number);
    enum doppel_status status = item_store_add(&grouping->items, item, error);
    if (status)
        return status;
    uint32_t first = digest_map_put(&grouping->first, number, content_at, grouping);
    if (first == number || grouping_are_distinct(grouping, first, number))
        return find_text_leaders(grouping, number, view, error);
    (void)array_push(&grouping->exact_duplicates,
                     ((struct exact_duplicate){.item = number, .first = first}));
    return DOPPEL_OK;
}

/* ---- parts of later texts ---- */

/* Lists of those who follow each item. */
struct text_followers {
    uint32_t *first, *next; /* UINT32_MAX: none */
};

static bool list_followers(uint32_t count, const uint32_t *leaders, struct text_followers *out)
{
    out->first = malloc(count * sizeof *out->first);
    out->next = malloc(count * sizeof *out->next);
    if (!out->first || !out->next)
        return false;
    memset(out->first, 0xff, count * sizeof *out->first);
    for (uint32_t i = count; i-- > 0;)
        if (leaders[i] != i) {
            out->next[i] = out->first[leaders[i]];
            out->first[leaders[i]] = i;
        }
    return true;
}

static bool may_lead_text(const struct grouping *grouping, uint32_t leader, uint32_t member)
{
    struct doppel_match match;
    if (!may_link(grouping, leader, member) || !texts_compare(grouping, member, leader, &match))
        return false;
    free((void *)match.segments);
    return match.relation == DOPPEL_RELATION_SAME || match.relation == DOPPEL_RELATION_CONTAINED;
}

/* Whether a text that leads, and all that follow it, may follow another one. */
static bool may_lead_all(const struct grouping *grouping, const struct text_followers *followers,
                         const struct held_text *held)
{
    bool may = may_lead_text(grouping, held->holder, held->part);
    for (uint32_t i = followers->first[held->part]; may && i != UINT32_MAX; i = followers->next[i])
        may = may_lead_text(grouping, held->holder, i);
    return may;
}

static void follow_holder(uint32_t *leaders, struct text_followers *followers,
                          const struct held_text *held)
{
    uint32_t i = held->part, next = followers->first[held->part];
    followers->first[held->part] = UINT32_MAX;
    while (i != UINT32_MAX) {
        leaders[i] = held->holder;
        followers->next[i] = followers->first[held->holder];
        followers->first[held->holder] = i;
        i = next;
        next = i == UINT32_MAX ? UINT32_MAX : followers->next[i];
    }
}

/* The longest may come last. All of a group are near to who leads it: a part whose followers are
 * not all near to what holds it stays as it is. */
enum doppel_status texts_join_parts(struct grouping *grouping, uint32_t *leaders,
                                    struct doppel_error *error)
{
    struct text_followers followers = {0};
    uint32_t count = item_store_count(&grouping->items);
    enum doppel_status status = DOPPEL_OK;
    if (!grouping->held_texts.count)
        return DOPPEL_OK;
    if (!list_followers(count, leaders, &followers))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the groups of %u files", count);
    for (size_t i = 0; i < grouping->held_texts.count && !status; i++) {
        const struct held_text *held = &grouping->held_texts.items[i];
        if (leaders[held->part] == held->part && leaders[held->holder] == held->holder &&
            may_lead_all(grouping, &followers, held))
            follow_holder(leaders, &followers, held);
    }
    free(followers.first);
    free(followers.next);
    return status;
}

bool texts_compare(const struct grouping *grouping, uint32_t query, uint32_t item,
                   struct doppel_match *out)
{
    struct text_view a = {0}, b = {0};
    const struct doppel_compare_options *compare = &grouping->options->group->compare;
    struct doppel_comparison pages = {.match.relation = DOPPEL_RELATION_OVERLAPS};
    bool loaded = load_view((void *)grouping, query, &a) && load_view((void *)grouping, item, &b);
    if (loaded && a.extra.drawn_size && b.extra.drawn_size) {
        loaded = drawn_pages_match(compare, &a, &b, false, &pages) == DOPPEL_OK;
        *out = pages.match;
    } else if (loaded) {
        (void)texts_match(compare, &a, &b, out);
    }
    text_view_free(&a);
    text_view_free(&b);
    return loaded;
}
