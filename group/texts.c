/* Pairs of texts: the same words by their digest, near ones by their shingles. Each text is
 * compared with the representatives before it, as it comes. */
#include "group/grouping_internal.h"

#include <stdlib.h>
#include <string.h>

/* A text on its way in. */
struct arrival {
    struct grouping *grouping;
    uint32_t number;
    bool follows, no_memory;
};

static bool load_view(void *context, uint64_t id, struct text_view *out)
{
    const struct grouping *grouping = context;
    struct grouping_item item = item_store_get(&grouping->items, (uint32_t)id);
    return grouping->options->text(grouping->options->context, &item, out);
}

enum doppel_status texts_begin(struct grouping *grouping, struct doppel_error *error)
{
    return text_set_new(&grouping->options->group->compare, load_view, grouping, &grouping->texts,
                        error);
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
    struct doppel_edge edge = {leader, arrival->number, match->similarity, 0, false};
    if (match->relation == DOPPEL_RELATION_CONTAINS)
        return take_part_of_text(arrival, id);
    if (match->relation != DOPPEL_RELATION_SAME && match->relation != DOPPEL_RELATION_CONTAINED)
        return true;
    if (grouping_is_reference(grouping, leader) && grouping_is_reference(grouping, arrival->number))
        return true;
    if (grouping_are_distinct(grouping, leader, arrival->number))
        return true;
    arrival->no_memory = !array_push(&grouping->edges, edge);
    arrival->follows = true;
    return !arrival->no_memory;
}

static enum doppel_status find_text_leaders(struct grouping *grouping, uint32_t number,
                                            const struct text_view *view,
                                            struct doppel_error *error)
{
    struct arrival arrival = {.grouping = grouping, .number = number};
    enum doppel_status status =
        text_set_find(grouping->texts, view, take_text_leader, &arrival, error);
    if (!status && !arrival.follows)
        status = text_set_find_parts(grouping->texts, view, take_part_of_text, &arrival, error);
    if (arrival.no_memory)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pairs");
    if (status || arrival.follows)
        return status;
    return text_set_add(grouping->texts, number, view, error);
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
    return !grouping_are_distinct(grouping, leader, member) &&
           !(grouping_is_reference(grouping, leader) && grouping_is_reference(grouping, member)) &&
           texts_compare(grouping, member, leader, &match) &&
           (match.relation == DOPPEL_RELATION_SAME || match.relation == DOPPEL_RELATION_CONTAINED);
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
    bool loaded = load_view((void *)grouping, query, &a) && load_view((void *)grouping, item, &b);
    if (loaded)
        (void)texts_match(&grouping->options->group->compare, &a, &b, out);
    text_view_free(&a);
    text_view_free(&b);
    return loaded;
}
