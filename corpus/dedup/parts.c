/* Which records are a part of an earlier, longer one. What stands for a part are its keys, the
 * lowest of its shingles; of what may hold others those shingles are listed that are somebody's
 * key. Whoever has most of a part's keys, and then most of all that is held of it, is compared. */
#include "corpus/dedup/parts.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/held_set.h"
#include "core/order.h"
#include "core/radix_sort.h"
#include "core/try.h"
#include "corpus/dedup/evidence.h"
#include "corpus/dedup/judge.h"

enum {
    MOST_OF_KEY = 1024, /* records with a key that are looked at: the first */
    MOST_HITS = PART_KEYS * MOST_OF_KEY,
    VALUE_BITS = 29,   /* of shingles that are held */
    FILTER_BITS = 16,  /* for each key, at least */
    PARTS_SHARE = 256, /* records that a thread takes at once */
    PARTS_CACHE_BYTES = 16 << 20
};

_Static_assert(DOPPEL_TEXT_HELD_BELOW <= UINT32_C(1) << VALUE_BITS, "values have so many bits");

/* Of a thread. */
struct part_seeker {
    struct evidence *evidence;
    uint32_t *hits; /* MOST_HITS */
};

struct part_search {
    struct dedup *dedup;
    struct thread_team thread_team;
    struct part_seeker *seekers; /* a thread */
    uint64_t *filter;            /* bits of values that are keys, by their low bits */
    uint64_t filter_mask;        /* of bits */
    ARRAY(uint64_t) listed;      /* a value in the high half, a record in the low one; sorted */
    size_t *starts;              /* of the values by their high bits, and the end */
    unsigned start_shift;
    atomic_uint next; /* record */
};

/* ---- what is held ---- */

/* In the arena: how many, then they. Of a row 0 is nothing, else one more than where. */
enum doppel_status dedup_keep_held(struct dedup *dedup, uint32_t number, const uint32_t *shingles,
                                   uint32_t count, struct doppel_error *error)
{
    struct arena *arena = &dedup->held_values;
    struct space *space = &dedup->space;
    uint64_t at, values_at;
    enum doppel_status status;
    TRY(arena_reserve(arena, space, (count + 1) * sizeof count, &at, error));
    TRY(arena_add(arena, space, &count, sizeof count, &at, error));
    TRY(arena_add(arena, space, shingles, count * sizeof count, &values_at, error));
    *(uint64_t *)row_at(&dedup->held, dedup_row_of(dedup, number)) = at + 1;
done:
    return status;
}

static struct held_set held_of_record(const struct dedup *dedup, uint32_t number)
{
    const uint64_t at = *(const uint64_t *)row_at(&dedup->held, dedup_row_of(dedup, number));
    struct held_set held = {NULL, 0, DOPPEL_TEXT_HELD_BELOW};
    if (at) {
        const uint32_t *stored = (const void *)arena_at(&dedup->held_values, at - 1);
        held.values = stored + 1;
        held.count = *stored;
    }
    return held;
}

/* ---- the list ---- */

static bool may_be_part(const struct dedup *dedup, uint32_t number)
{
    return dedup_verdict_of(dedup, number)->decision == DOPPEL_DECISION_NEW;
}

static bool may_hold_parts(const struct dedup *dedup, uint32_t number)
{
    return (dedup_facts_of(dedup, number)->flags & (FACT_LEADER | FACT_REPLACED)) == FACT_LEADER;
}

static bool make_key_filter(struct part_search *search)
{
    const struct dedup *dedup = search->dedup;
    uint64_t bits = 1 << 16;
    while (bits < UINT64_C(1) << VALUE_BITS &&
           bits < (uint64_t)dedup->count * PART_KEYS * FILTER_BITS)
        bits *= 2;
    search->filter_mask = bits - 1;
    search->filter = calloc(bits / 64, sizeof *search->filter);
    for (uint32_t i = dedup->first; i < dedup->count && search->filter; i++) {
        const struct held_set held = held_of_record(dedup, i);
        const size_t keys = may_be_part(dedup, i) ? part_key_count(&held) : 0;
        for (size_t k = 0; k < keys; k++) {
            const uint64_t bit = held.values[k] & search->filter_mask;
            search->filter[bit / 64] |= UINT64_C(1) << bit % 64;
        }
    }
    return search->filter;
}

static bool list_values(struct part_search *search)
{
    const struct dedup *dedup = search->dedup;
    for (uint32_t i = dedup->first; i < dedup->count; i++) {
        const struct held_set held = held_of_record(dedup, i);
        const size_t count = may_hold_parts(dedup, i) ? held.count : 0;
        for (size_t k = 0; k < count; k++) {
            const uint64_t bit = held.values[k] & search->filter_mask;
            if (search->filter[bit / 64] >> bit % 64 & 1 &&
                !array_push(&search->listed, (uint64_t)held.values[k] << 32 | i))
                return false;
        }
    }
    free(search->filter);
    search->filter = NULL;
    return true;
}

/* By value, of one value by record, as they came. */
static bool sort_list(struct part_search *search)
{
    uint64_t *items = search->listed.items, *scratch = malloc((search->listed.count + 1) * 8);
    if (!scratch)
        return false;
    if (search->listed.count)
        search->listed.items =
            radix_sort(items, scratch, search->listed.count, 32, 32 + VALUE_BITS);
    free(search->listed.items == scratch ? items : scratch);
    return true;
}

/* Lists of some eight values. */
static bool find_starts(struct part_search *search)
{
    unsigned bits = 4;
    while (bits < VALUE_BITS && search->listed.count >> bits > 8)
        bits++;
    search->start_shift = 32 + VALUE_BITS - bits;
    search->starts = calloc((UINT64_C(1) << bits) + 1, sizeof *search->starts);
    for (size_t i = 0; i < search->listed.count && search->starts; i++)
        search->starts[(search->listed.items[i] >> search->start_shift) + 1] = i + 1;
    for (size_t i = 1; i <= UINT64_C(1) << bits && search->starts; i++)
        if (search->starts[i] < search->starts[i - 1])
            search->starts[i] = search->starts[i - 1];
    return search->starts;
}

/* ---- looking up ---- */

static size_t first_listed(const struct part_search *search, uint32_t value)
{
    const uint64_t first = (uint64_t)value << 32;
    const size_t *start = &search->starts[first >> search->start_shift];
    size_t low = start[0], high = start[1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (search->listed.items[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Earlier records with a key of this one, sorted; those with several as often. */
static size_t take_part_hits(const struct part_search *search, uint32_t number,
                             const struct held_set *part, uint32_t *hits)
{
    size_t count = 0;
    for (size_t k = 0; k < part_key_count(part); k++) {
        const uint64_t end = (uint64_t)part->values[k] << 32 | number;
        size_t at = first_listed(search, part->values[k]), left = MOST_OF_KEY;
        for (; at < search->listed.count && search->listed.items[at] < end && left; at++, left--)
            hits[count++] = (uint32_t)search->listed.items[at];
    }
    if (count)
        qsort(hits, count, sizeof *hits, compare_u32);
    return count;
}

/* Shingles that are not to be had again: those that are held are a sample. */
static void sample_evidence(const struct dedup *dedup, uint32_t number,
                            struct doppel_text_evidence *evidence)
{
    const struct held_set held = held_of_record(dedup, number);
    evidence->shingles = held.values;
    evidence->shingle_count = held.count;
    evidence->shingles_kept = true;
}

/* @param out_holds whether the record is a part of the earlier one */
static enum doppel_status compare_with_holder(const struct part_search *search,
                                              struct part_seeker *seeker, const uint32_t pair[2],
                                              struct doppel_match *out, bool *out_holds,
                                              struct doppel_error *error)
{
    const struct dedup *dedup = search->dedup;
    struct doppel_text_evidence part, whole;
    enum doppel_status status = evidence_of_record(seeker->evidence, pair[0], &part, error);
    if (!status)
        status = evidence_of_leader(seeker->evidence, pair[1], &whole, error);
    if (status)
        return status;
    if (!part.shingles || !whole.shingles) {
        sample_evidence(dedup, pair[0], &part);
        sample_evidence(dedup, pair[1], &whole);
    }
    *out_holds = doppel_match_texts(&part, &whole, &dedup->options->limits, out) &&
                 out->relation == DOPPEL_RELATION_CONTAINED;
    return DOPPEL_OK;
}

static enum doppel_status seek_holder(const struct part_search *search, struct part_seeker *seeker,
                                      uint32_t number, struct doppel_error *error)
{
    struct dedup *dedup = search->dedup;
    const double containment = dedup->options->limits.min_containment;
    const struct held_set part = held_of_record(dedup, number);
    const double least = part_least_shared(containment, (double)part_key_count(&part));
    const size_t count = take_part_hits(search, number, &part, seeker->hits);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && seeker->hits[next] == seeker->hits[i];)
            next++;
        const uint32_t pair[2] = {number, seeker->hits[i]};
        const struct held_set whole = held_of_record(dedup, pair[1]);
        struct doppel_match match;
        bool holds;
        if ((double)(next - i) < least || !may_hold(&whole, &part, containment))
            continue;
        enum doppel_status status =
            compare_with_holder(search, seeker, pair, &match, &holds, error);
        if (status)
            return status;
        if (holds) {
            judge_part(dedup, number, pair[1], &match);
            break;
        }
    }
    return DOPPEL_OK;
}

static void seek_holders(void *context, uint32_t thread)
{
    struct part_search *search = context;
    const struct dedup *dedup = search->dedup;
    struct doppel_error error;
    uint32_t first;
    while ((first = atomic_fetch_add(&search->next, PARTS_SHARE)) < dedup->count &&
           !thread_team_failed(&search->thread_team)) {
        enum doppel_status status = DOPPEL_OK;
        for (uint32_t i = first; i < dedup->count && i < first + PARTS_SHARE && !status; i++)
            if (i >= dedup->first && may_be_part(dedup, i))
                status = seek_holder(search, &search->seekers[thread], i, &error);
        if (!status && !thread && !dedup->cancelled &&
            !dedup_goes_on(dedup, "parts looked for", first, dedup->count))
            status = doppel_fail(&error, DOPPEL_E_CANCELLED,
                                 "interrupted while looking for parts: none is told");
        if (status)
            thread_team_fail(&search->thread_team, &error);
    }
}

/* ---- all ---- */

static enum doppel_status begin_part_search(struct part_search *search, struct doppel_error *error)
{
    const uint32_t threads = search->dedup->threads;
    enum doppel_status status = DOPPEL_OK;
    search->seekers = calloc(threads, sizeof *search->seekers);
    bool good = search->seekers && make_key_filter(search) && list_values(search) &&
                sort_list(search) && find_starts(search);
    for (uint32_t i = 0; good && i < threads && !status; i++) {
        status =
            evidence_new(search->dedup, PARTS_CACHE_BYTES, &search->seekers[i].evidence, error);
        good = (search->seekers[i].hits = malloc(MOST_HITS * sizeof *search->seekers[i].hits));
    }
    return status || good ? status
                          : doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory to find parts");
}

static void end_part_search(struct part_search *search)
{
    for (uint32_t i = 0; search->seekers && i < search->dedup->threads; i++) {
        evidence_free(search->seekers[i].evidence);
        free(search->seekers[i].hits);
    }
    free(search->seekers);
    free(search->filter);
    free(search->starts);
    array_free(&search->listed);
    thread_team_end(&search->thread_team);
}

enum doppel_status dedup_find_parts(struct dedup *dedup, struct doppel_error *error)
{
    struct part_search search = {.dedup = dedup};
    if (!dedup->options->parts || !dedup->count)
        return DOPPEL_OK;
    chunked_free(&dedup->cells, &dedup->space); /* nobody is looked for by bands any more */
    thread_team_init(&search.thread_team, dedup->threads);
    enum doppel_status status = begin_part_search(&search, error);
    if (!status)
        status = thread_team_run(&search.thread_team, seek_holders, &search, error);
    end_part_search(&search);
    chunked_free(&dedup->held, &dedup->space);
    arena_free(&dedup->held_values, &dedup->space);
    return status;
}
