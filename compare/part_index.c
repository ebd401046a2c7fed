/* Which sets are parts of others: two lists of their lowest shingles, in sorted runs. */
#include "compare/part_index.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/text.h>

#include "core/array.h"
#include "core/held_set.h"
#include "core/order.h"

enum { PENDING = 128, MOST_OF_KEY = 1024 };

struct part_run {
    uint64_t
        *items; /* ascending; a shingle in the high half, the number of its set in the low one */
    size_t count;
};

/* Runs, each at least twice as long as the next; the pending ones are in no order. */
struct part_list {
    ARRAY(struct part_run) runs;
    uint64_t pending[PENDING];
    size_t pending_count;
};

struct part_index {
    struct part_list wholes;     /* all that is held of a set */
    struct part_list parts;      /* the keys of a set as a part */
    ARRAY(struct held_set) sets; /* by number; the values are ours */
};

/* ---- life ---- */

struct part_index *part_index_new(void)
{
    return calloc(1, sizeof(struct part_index));
}

static void free_part_list(struct part_list *list)
{
    for (size_t i = 0; i < list->runs.count; i++)
        free(list->runs.items[i].items);
    array_free(&list->runs);
}

void part_index_free(struct part_index *index)
{
    if (!index)
        return;
    free_part_list(&index->wholes);
    free_part_list(&index->parts);
    for (size_t i = 0; i < index->sets.count; i++)
        free((uint32_t *)(uintptr_t)index->sets.items[i].values);
    array_free(&index->sets);
    free(index);
}

/* ---- adding ---- */

static bool merge_last_runs(struct part_list *list)
{
    struct part_run *a = &list->runs.items[list->runs.count - 2], *b = a + 1;
    struct part_run merged = {malloc((a->count + b->count) * sizeof *merged.items), 0};
    if (!merged.items)
        return false;
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        bool first = j == b->count || (i < a->count && a->items[i] < b->items[j]);
        merged.items[merged.count++] = first ? a->items[i++] : b->items[j++];
    }
    free(a->items);
    free(b->items);
    *a = merged;
    list->runs.count--;
    return true;
}

static bool end_pending(struct part_list *list)
{
    struct part_run run = {malloc(sizeof list->pending), list->pending_count};
    if (!run.items || !array_push(&list->runs, run)) {
        free(run.items);
        return false;
    }
    qsort(list->pending, list->pending_count, sizeof *list->pending, compare_u64);
    memcpy(run.items, list->pending, sizeof list->pending);
    list->pending_count = 0;
    while (list->runs.count > 1 && list->runs.items[list->runs.count - 2].count <
                                       2 * list->runs.items[list->runs.count - 1].count)
        if (!merge_last_runs(list))
            return false;
    return true;
}

static bool add_part_entries(struct part_list *list, uint32_t number, const uint32_t *keys,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list->pending_count == PENDING && !end_pending(list))
            return false;
        list->pending[list->pending_count++] = (uint64_t)keys[i] << 32 | number;
    }
    return true;
}

static bool keep_held_set(struct part_index *index, uint32_t number, struct held_set held)
{
    const struct held_set none = {0};
    while (index->sets.count <= number)
        if (!array_push(&index->sets, none))
            return false;
    uint32_t *values = malloc((held.count + 1) * sizeof *values);
    if (!values)
        return false;
    if (held.count)
        memcpy(values, held.values, held.count * sizeof *values);
    held.values = values;
    index->sets.items[number] = held;
    return true;
}

bool part_index_add(struct part_index *index, uint32_t number, const uint32_t *shingles,
                    size_t count)
{
    const struct held_set held = held_set_of(shingles, count, DOPPEL_TEXT_HELD_BELOW);
    return keep_held_set(index, number, held) &&
           add_part_entries(&index->wholes, number, shingles, held.count) &&
           add_part_entries(&index->parts, number, shingles, part_key_count(&held));
}

/* ---- finding ---- */

/* Which sets share keys, and how many: up to 255. */
struct part_hits {
    size_t sets;     /* there are */
    uint8_t *counts; /* by number; made with the first hit, of which there is mostly none */
    ARRAY(uint32_t) numbers;
};

static bool add_part_hit(struct part_hits *hits, uint32_t number)
{
    if (!hits->counts && !(hits->counts = calloc(hits->sets, 1)))
        return false;
    if (!hits->counts[number] && !array_push(&hits->numbers, number))
        return false;
    if (hits->counts[number] < UINT8_MAX)
        hits->counts[number]++;
    return true;
}

static size_t first_of_key(const struct part_run *run, uint32_t key)
{
    size_t low = 0, high = run->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->items[middle] >> 32 < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool find_part_key(const struct part_list *list, uint32_t key, struct part_hits *hits)
{
    size_t left = MOST_OF_KEY;
    for (size_t i = 0; i < list->runs.count; i++) {
        const struct part_run *run = &list->runs.items[i];
        for (size_t at = first_of_key(run, key);
             at < run->count && run->items[at] >> 32 == key && left; at++, left--)
            if (!add_part_hit(hits, (uint32_t)run->items[at]))
                return false;
    }
    for (size_t i = 0; i < list->pending_count; i++)
        if (list->pending[i] >> 32 == key && left && left-- &&
            !add_part_hit(hits, (uint32_t)list->pending[i]))
            return false;
    return true;
}

/* A set that is looked for, and what it is wanted as. */
struct part_query {
    struct held_set held;
    double containment;
    bool is_part;
};

static bool is_part_candidate(const struct part_index *index, const struct part_query *query,
                              uint32_t number, size_t hits)
{
    const struct held_set *other = &index->sets.items[number];
    const struct held_set *part = query->is_part ? &query->held : other;
    const struct held_set *whole = query->is_part ? other : &query->held;
    return (double)hits >= part_least_shared(query->containment, (double)part_key_count(part)) &&
           may_hold(whole, part, query->containment);
}

/* Of the sets that were hit those that are candidates, by number. */
static void keep_candidates(const struct part_index *index, const struct part_query *query,
                            struct part_hits *hits)
{
    size_t kept = 0;
    uint32_t *numbers = hits->numbers.items;
    for (size_t i = 0; i < hits->numbers.count; i++)
        if (is_part_candidate(index, query, numbers[i], hits->counts[numbers[i]]))
            numbers[kept++] = numbers[i];
    hits->numbers.count = kept;
    if (kept)
        qsort(numbers, kept, sizeof *numbers, compare_u32);
}

bool part_index_find(const struct part_index *index, const struct part_wish *wish,
                     struct part_candidates *out)
{
    const struct part_query query = {
        held_set_of(wish->shingles, wish->count, DOPPEL_TEXT_HELD_BELOW), wish->containment,
        !wish->parts};
    const struct part_list *list = wish->parts ? &index->parts : &index->wholes;
    size_t keys = wish->parts ? query.held.count : part_key_count(&query.held);
    struct part_hits hits = {.sets = index->sets.count};
    bool done = true;
    for (size_t i = 0; i < keys && done; i++)
        done = find_part_key(list, wish->shingles[i], &hits);
    if (done) {
        keep_candidates(index, &query, &hits);
        *out = (struct part_candidates){hits.numbers.items, hits.numbers.count};
    } else {
        array_free(&hits.numbers);
    }
    free(hits.counts);
    return done;
}
