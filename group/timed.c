/* Recordings and videos: who waits, in which order they are placed, and who leads whom. */
#include "group/timed.h"

#include <stdlib.h>
#include <string.h>

#include "compare/video.h"

void timed_free(struct grouping *grouping)
{
    for (size_t i = 0; i < grouping->waiting.count; i++)
        free(grouping->waiting.items[i].packed);
    for (size_t i = 0; i < grouping->leads.count; i++)
        free((void *)grouping->leads.items[i].match.segments);
    free(grouping->waiting_at);
    array_free(&grouping->waiting);
    array_free(&grouping->leads);
    array_free(&grouping->tagged);
}

enum doppel_status timed_add(struct grouping *grouping, const struct grouping_item *item,
                             const struct doppel_digest *content, struct waiting waiting,
                             struct doppel_error *error)
{
    uint32_t number = item_store_count(&grouping->items);
    bool room = array_reserve(&grouping->exact_duplicates) && array_reserve(&grouping->waiting) &&
                digest_map_reserve(&grouping->first, content_at, grouping) &&
                array_push(&grouping->contents, *content);
    enum doppel_status status =
        room ? item_store_add(&grouping->items, item, error)
             : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %u files", number);
    uint32_t first = status ? 0 : digest_map_put(&grouping->first, number, content_at, grouping);
    waiting.number = number;
    waiting.reference = item->reference;
    if (!status && (first == number || grouping_are_distinct(grouping, first, number))) {
        (void)array_push(&grouping->waiting, waiting);
        return DOPPEL_OK;
    }
    free(waiting.packed);
    if (!status)
        (void)array_push(&grouping->exact_duplicates,
                         ((struct exact_duplicate){.item = number, .first = first}));
    return status;
}

enum doppel_status timed_add_among_images(struct grouping *grouping,
                                          const struct grouping_item *item, struct waiting waiting,
                                          struct doppel_error *error)
{
    waiting.number = item_store_count(&grouping->items);
    waiting.reference = item->reference;
    enum doppel_status status = grouping_add(grouping, item, NULL, error);
    if (!status)
        status = parts_set_duration(grouping, waiting.number, waiting.duration_ms, error);
    if (!status && grouping_first_of(grouping, waiting.number) == waiting.number) {
        if (array_push(&grouping->waiting, waiting))
            return DOPPEL_OK;
        status =
            doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %u files", waiting.number);
    }
    free(waiting.packed);
    return status;
}

/* ---- in order ---- */

static int longest_first(const void *left, const void *right)
{
    const struct waiting *a = left, *b = right;
    if (a->reference != b->reference)
        return a->reference ? -1 : 1;
    if (a->duration_ms != b->duration_ms)
        return a->duration_ms > b->duration_ms ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int by_item(const void *left, const void *right)
{
    const struct group_lead *a = left, *b = right;
    return (a->item > b->item) - (a->item < b->item);
}

enum doppel_status timed_order(struct grouping *grouping, struct doppel_error *error)
{
    size_t items = item_store_count(&grouping->items), count = grouping->waiting.count;
    grouping->waiting_at = malloc(items * sizeof *grouping->waiting_at);
    if (!grouping->waiting_at)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to order %zu files", items);
    memset(grouping->waiting_at, 0xff, items * sizeof *grouping->waiting_at);
    if (count)
        qsort(grouping->waiting.items, count, sizeof *grouping->waiting.items, longest_first);
    for (size_t i = 0; i < count; i++)
        grouping->waiting_at[grouping->waiting.items[i].number] = (uint32_t)i;
    return DOPPEL_OK;
}

enum doppel_status timed_place_all(struct grouping *grouping, const char *words, timed_place *place,
                                   void *context, struct doppel_error *error)
{
    struct doppel_run *run = grouping->options->run;
    size_t count = grouping->waiting.count;
    enum doppel_status status = DOPPEL_OK;
    doppel_run_begin(run, words, count);
    for (size_t i = 0; i < count && !status; i++) {
        if (doppel_run_cancelled(run))
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        else
            status = place(context, &grouping->waiting.items[i], error);
        doppel_run_advance(run, i + 1);
    }
    doppel_run_end(run);
    return status;
}

void timed_sort_leads(struct grouping *grouping)
{
    if (grouping->leads.count)
        qsort(grouping->leads.items, grouping->leads.count, sizeof *grouping->leads.items, by_item);
}

const struct waiting *timed_waiting(const struct grouping *grouping, uint32_t number)
{
    uint32_t at = grouping->waiting_at[number];
    return at == UINT32_MAX ? NULL : &grouping->waiting.items[at];
}

uint32_t timed_duration(const struct grouping *grouping, uint32_t number)
{
    const struct waiting *waiting = timed_waiting(grouping, number);
    return waiting ? waiting->duration_ms : 0;
}

/* ---- leads ---- */

void timed_turn(struct group_lead *lead)
{
    turn_match(&lead->match);
    lead->turned = !lead->turned;
}

enum doppel_status timed_add_lead(struct grouping *grouping, const struct group_lead *lead,
                                  struct doppel_error *error)
{
    if (array_push(&grouping->leads, *lead))
        return DOPPEL_OK;
    free((void *)lead->match.segments);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pairs");
}

const struct group_lead *timed_lead(const struct grouping *grouping, uint32_t item)
{
    struct group_lead wanted = {.item = item};
    if (!grouping->leads.count)
        return NULL;
    return bsearch(&wanted, grouping->leads.items, grouping->leads.count, sizeof wanted, by_item);
}

bool timed_joined(const struct grouping *grouping, uint32_t query, uint32_t item,
                  struct doppel_match *out)
{
    const struct group_lead *lead = timed_lead(grouping, query), *back = timed_lead(grouping, item);
    bool forth = lead && lead->leader == item;
    if (!forth && !(back && back->leader == query))
        return false;
    *out = forth ? lead->match : back->match;
    if (!copy_segments(out))
        return false;
    if (!forth)
        turn_match(out);
    return true;
}
