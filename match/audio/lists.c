/*
 * Lists of keys, looked up once for all hypotheses that ask them. The next peaks are a few hops
 * away, so that another tempo asks nearly the same keys; only what is new is looked up. The places
 * in the lists are kept apart from who asks them, since a diagonal depends on both.
 */
#include "match/audio/lists.h"

#include <stdlib.h>
#include <string.h>

#include "match/votes.h"

enum {
    ROOM = 2,             /* keys that are kept, as a multiple of what a hypothesis asks */
    MOST_KEPT = 2,        /* places that are kept, as a multiple of what is looked at */
    COMMON_LENGTHS = 1024 /* of lists; what is longer is the first to go */
};

bool lists_init(struct vote_lists *lists, size_t most_voters)
{
    size_t keys = ROOM * most_voters + 1;
    *lists = (struct vote_lists){.capacity = keys};
    for (lists->slot_bits = 4; (size_t)1 << lists->slot_bits < 2 * keys;)
        lists->slot_bits++;
    lists->slots = calloc((size_t)1 << lists->slot_bits, sizeof *lists->slots);
    lists->keys = malloc(keys * sizeof *lists->keys);
    lists->lengths = malloc(keys * sizeof *lists->lengths);
    lists->askers = calloc(keys, sizeof *lists->askers);
    lists->next_askers = malloc((most_voters + 1) * sizeof *lists->next_askers);
    lists->asked = malloc((most_voters + 1) * sizeof *lists->asked);
    return lists->slots && lists->keys && lists->lengths && lists->askers && lists->next_askers &&
           lists->asked;
}

void lists_free(struct vote_lists *lists)
{
    free(lists->slots);
    free(lists->keys);
    free(lists->lengths);
    free(lists->askers);
    free(lists->next_askers);
    free(lists->asked);
    array_free(&lists->places);
}

static void clear_lists(struct vote_lists *lists)
{
    memset(lists->slots, 0, ((size_t)1 << lists->slot_bits) * sizeof *lists->slots);
    lists->count = 0;
    lists->places.count = 0;
}

/* ---- who asks ---- */

/* The number of a key, new or not. */
static uint32_t number_key(struct vote_lists *lists, uint32_t key)
{
    uint32_t mask = (1u << lists->slot_bits) - 1;
    uint32_t slot = (key * 2654435769u) >> (32 - lists->slot_bits);
    for (; lists->slots[slot]; slot = (slot + 1) & mask)
        if (lists->keys[lists->slots[slot] - 1] == key)
            return lists->slots[slot] - 1;
    uint32_t number = (uint32_t)lists->count++;
    lists->slots[slot] = number + 1;
    lists->keys[number] = key;
    lists->lengths[number] = 0;
    lists->askers[number] = 0;
    return number;
}

static void enter_askers(struct vote_lists *lists, const struct lists_question *question)
{
    size_t known = lists->count, next = 0;
    memset(lists->askers, 0, known * sizeof *lists->askers);
    for (size_t voter = 0; voter < question->count; voter++) {
        uint32_t key = question->keys[voter];
        bool as_before = next < known && lists->keys[next] == key; /* most come in one order */
        uint32_t number = as_before ? (uint32_t)next : number_key(lists, key);
        next = number < known ? number + 1 : next + 1;
        lists->asked[voter] = number;
        lists->next_askers[voter] = lists->askers[number];
        lists->askers[number] = (uint32_t)voter + 1;
    }
}

/* ---- places ---- */

struct list_taking {
    struct vote_lists *lists;
    size_t first, most; /* key that `keys` begins with; places that may be kept */
};

static bool keep_list(void *context, uint32_t number, uint64_t base, const uint32_t *positions,
                      size_t count)
{
    struct list_taking *taking = context;
    struct vote_lists *lists = taking->lists;
    uint32_t key = (uint32_t)taking->first + number;
    if (count > taking->most - lists->places.count)
        return false;
    while (lists->places.capacity < lists->places.count + count)
        if (!array_grow((void **)&lists->places.items, lists->places.capacity,
                        &lists->places.capacity, sizeof *lists->places.items))
            return false;
    uint64_t *places = lists->places.items + lists->places.count;
    for (size_t i = 0; i < count; i++)
        places[i] = vote_hit(base + positions[i], key);
    lists->places.count += count;
    lists->lengths[key] += (uint32_t)count;
    return true;
}

uint64_t lists_longest(const uint64_t *lengths, size_t count, size_t most)
{
    uint64_t sums[COMMON_LENGTHS] = {0}, hits = 0, length = 0;
    for (size_t i = 0; i < count; i++)
        if (lengths[i] < COMMON_LENGTHS)
            sums[lengths[i]] += lengths[i];
    while (length + 1 < COMMON_LENGTHS && hits + sums[length + 1] <= most)
        hits += sums[++length];
    return length;
}

/* Leave out the longest lists, where hits are too many. @return hits that are left */
static size_t leave_out_longest(struct vote_lists *lists, const struct lists_question *question)
{
    size_t hits = 0, left = 0;
    for (size_t voter = 0; voter < question->count; voter++)
        hits += question->lengths[voter];
    if (hits <= question->most)
        return hits;
    uint64_t longest = lists_longest(question->lengths, question->count, question->most);
    for (size_t voter = 0; voter < question->count; voter++) {
        if (question->lengths[voter] > longest) {
            question->lengths[voter] = 0;
            lists->askers[lists->asked[voter]] = 0;
        }
        left += question->lengths[voter];
    }
    return left;
}

/* What those who ask make of the places. */
static void hits_of_lists(const struct vote_lists *lists, const struct lists_question *question)
{
    uint64_t *hit = question->hits;
    for (size_t i = 0; i < lists->places.count; i++) {
        uint64_t position = vote_diagonal(lists->places.items[i]) + question->bias;
        uint32_t asker = lists->askers[vote_voter(lists->places.items[i])];
        for (; asker; asker = lists->next_askers[asker - 1])
            *hit++ = vote_hit(position - question->hops[asker - 1], asker - 1);
    }
}

enum doppel_status lists_ask(struct vote_lists *lists, const struct doppel_index_axis *axis,
                             const struct lists_question *question, size_t *out_count,
                             struct doppel_error *error)
{
    if (lists->pitch != question->pitch || lists->count + question->count > lists->capacity ||
        lists->places.count > (MOST_KEPT - 1) * question->most_places)
        clear_lists(lists);
    lists->pitch = question->pitch;
    struct list_taking taking = {lists, lists->count, lists->places.count + question->most_places};
    enter_askers(lists, question);
    enum doppel_status status = doppel_index_lookup(
        axis, lists->keys + taking.first, lists->count - taking.first, keep_list, &taking, error);
    if (status)
        clear_lists(lists);
    if (status)
        return status == DOPPEL_E_CANCELLED ? DOPPEL_E_LIMIT : status;
    for (size_t voter = 0; voter < question->count; voter++)
        question->lengths[voter] = lists->lengths[lists->asked[voter]];
    *out_count = leave_out_longest(lists, question);
    hits_of_lists(lists, question);
    return DOPPEL_OK;
}
