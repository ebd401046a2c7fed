/* Slots: filled, grown, searched. */
#include "index/slots.h"

#include <string.h>

enum {
    CHUNK_BITS = 13,
    LEAST_ROOM = 8192, /* codes */
    MEAN_CODES = 8,    /* a bucket, when it is full */
    BATCH = 128,       /* slots that are fetched ahead … */
    AHEAD = 8          /* … and codes whose slots are, when they are added */
};

/* Nanoseconds, as measured with AVX-512; ratios count. */
static const double ns_a_slot = 10, ns_a_candidate = 20, ns_a_scanned_word = 0.05;

/* ---- pieces of codes ---- */

/* A code as words that can be read round and round. */
struct slot_ring {
    uint64_t words[4];
    size_t count;
};

static struct slot_ring ring_of(const uint64_t *code, size_t step, uint32_t bits)
{
    struct slot_ring ring = {.count = code_words(bits)};
    for (size_t i = 0; i < ring.count; i++)
        ring.words[i] = code[i * step];
    if (bits == 32)
        ring.words[0] = (ring.words[0] & UINT32_MAX) | ring.words[0] << 32;
    return ring;
}

/* 64 bits from bit `at` on. */
static uint64_t bits_at(const struct slot_ring *ring, uint32_t at)
{
    size_t word = at / 64 % ring->count;
    uint32_t shift = at % 64;
    uint64_t low = ring->words[word] >> shift;
    return shift ? low | ring->words[(word + 1) % ring->count] << (64 - shift) : low;
}

static uint32_t bucket_of_ring(const struct slot_ring *ring, const struct slot_chunk *chunk)
{
    return (uint32_t)bits_at(ring, chunk->start) & ((1u << chunk->bits) - 1);
}

/* The width of a chunk before it was cut to the bits of its bucket. */
static uint32_t chunk_width(const struct slots *slots, uint32_t chunk)
{
    return (chunk + 1) * slots->bits / slots->chunk_count - slots->chunks[chunk].start;
}

static uint32_t remainder_of(const struct slots *slots, const struct slot_ring *ring,
                             uint32_t chunk)
{
    return (uint32_t)bits_at(ring, slots->chunks[chunk].start + chunk_width(slots, chunk));
}

/* ---- filling ---- */

static bool grow_slots(struct slots *slots)
{
    size_t wanted = (size_t)slots->count + slots->count / 2 + 64;
    struct slot *grown = aligned_alloc(sizeof *grown, wanted * sizeof *grown);
    uint32_t(*ids)[SLOT_LANES] = realloc(slots->ids, wanted * sizeof *ids);
    if (ids)
        slots->ids = ids;
    if (!grown || !ids || wanted > UINT32_MAX / 16) {
        free(grown);
        return false;
    }
    if (slots->count)
        memcpy(grown, slots->slots, slots->count * sizeof *grown);
    free(slots->slots);
    slots->slots = grown;
    slots->capacity = (uint32_t)wanted;
    return true;
}

static uint32_t log2_up(uint32_t value)
{
    return value <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(value - 1);
}

/* Empty buckets for so many codes. */
static bool begin_slots(struct slots *slots, uint32_t bits, uint32_t room)
{
    struct slots fresh = {.bits = bits, .room = room};
    uint32_t wanted = log2_up(room / MEAN_CODES), buckets = 0;
    fresh.chunk_count = (bits + CHUNK_BITS - 1) / CHUNK_BITS;
    for (uint32_t i = 0; i < fresh.chunk_count; i++) {
        struct slot_chunk *chunk = &fresh.chunks[i];
        chunk->start = i * bits / fresh.chunk_count;
        chunk->bits = chunk_width(&fresh, i) < wanted ? chunk_width(&fresh, i) : wanted;
        chunk->first = buckets;
        buckets += 1u << chunk->bits;
    }
    fresh.count = buckets;
    fresh.slots = aligned_alloc(sizeof *fresh.slots, buckets * sizeof *fresh.slots);
    /* bits > 0: there are buckets. NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI) */
    fresh.ids = malloc(buckets * sizeof *fresh.ids);
    fresh.capacity = buckets;
    if (!fresh.slots || !fresh.ids) {
        slots_free(&fresh);
        return false;
    }
    memset(fresh.slots, 0, buckets * sizeof *fresh.slots);
    slots_free(slots);
    *slots = fresh;
    return true;
}

/* A full first slot moves behind itself: there is always room in the first. */
static bool put_into_slot(struct slots *slots, uint32_t bucket, uint32_t remainder, uint32_t id)
{
    /* Not what begin_slots freed: clang 14 loses its assignment. */
    if (slots->slots[bucket].count == SLOT_LANES) { // NOLINT(clang-analyzer-unix.Malloc)
        if (slots->count == slots->capacity && !grow_slots(slots))
            return false;
        uint32_t moved = slots->count++;
        slots->slots[moved] = slots->slots[bucket];
        memcpy(slots->ids[moved], slots->ids[bucket], sizeof *slots->ids);
        slots->slots[bucket].count = 0;
        slots->slots[bucket].next = moved;
    }
    struct slot *slot = &slots->slots[bucket];
    slots->ids[bucket][slot->count] = id;
    slot->remainders[slot->count++] = remainder;
    return true;
}

static struct slot_ring ring_at(const uint64_t *groups, uint32_t code, uint32_t bits)
{
    return ring_of(groups + scan_place(code, code_words(bits)), SCAN_GROUP, bits);
}

bool slots_add(struct slots *slots, uint32_t bits, const uint64_t *groups, uint32_t end)
{
    uint32_t room = slots->room ? slots->room : LEAST_ROOM;
    if (end > SLOTS_MAX_CODES)
        end = SLOTS_MAX_CODES;
    while (room < end)
        room *= 4;
    if (room != slots->room && !begin_slots(slots, bits, room))
        return false;
    for (uint32_t ahead = slots->codes; slots->codes < end; slots->codes++) {
        for (; ahead < end && ahead < slots->codes + AHEAD; ahead++) {
            struct slot_ring ring = ring_at(groups, ahead, bits);
            for (uint32_t i = 0; i < slots->chunk_count; i++) {
                uint32_t bucket = slots->chunks[i].first + bucket_of_ring(&ring, &slots->chunks[i]);
                __builtin_prefetch(&slots->slots[bucket], 1);
                __builtin_prefetch(&slots->ids[bucket], 1);
            }
        }
        struct slot_ring ring = ring_at(groups, slots->codes, bits);
        for (uint32_t i = 0; i < slots->chunk_count; i++)
            if (!put_into_slot(slots,
                               slots->chunks[i].first + bucket_of_ring(&ring, &slots->chunks[i]),
                               remainder_of(slots, &ring, i), slots->codes))
                return false; /* what is there of this code twice is found once */
    }
    return true;
}

void slots_free(struct slots *slots)
{
    free(slots->slots);
    free(slots->ids);
    *slots = (struct slots){0};
}

uint64_t slots_bytes(const struct slots *slots)
{
    return slots->capacity * (sizeof *slots->slots + sizeof *slots->ids);
}

/* ---- planning ---- */

/* Slots of one chunk whose buckets differ from the query's in as many bits. */
struct slot_run {
    uint32_t chunk, ones;
    size_t count;
};

struct slot_search {
    const struct slots *slots;
    const struct scan_codes *codes;
    const struct query *query;
    struct slot_ring ring;
    int shares[SLOTS_MAX_CHUNKS]; /* bits that may differ in each chunk; -1: not looked up */
    uint32_t buckets[SLOTS_MAX_CHUNKS];
    slot_kernel *kernel;
    uint32_t numbers[BATCH]; /* slots on their way into the cache … */
    size_t waiting;
    struct slot_run runs[BATCH]; /* … which belong to these */
    size_t run_count;
    uint64_t visited, budget; /* slots; beyond it a scan is cheaper */
    uint64_t candidates;
    bool failed;
};

/* The shares sum to radius - chunks + 1 (pigeonhole). */
static void share_out_search(struct slot_search *search)
{
    int chunks = (int)search->slots->chunk_count, total = (int)search->query->radius - chunks + 1;
    for (int i = 0; i < chunks; i++)
        search->shares[i] = total >= 0 ? total / chunks + (i < total % chunks)
                                       : (i <= (int)search->query->radius ? 0 : -1);
}

/* Patterns of at most `share` of `bits` bits. */
static double patterns(uint32_t bits, int share)
{
    double sum = 0, shell = 1;
    for (int ones = 0; ones <= share && ones <= (int)bits; ones++) {
        sum += shell;
        shell = shell * (double)(bits - (uint32_t)ones) / (double)(ones + 1);
    }
    return sum;
}

/* How many of 32 uniform bits differ at most by so much, as a part of all. */
static double part_within(uint32_t radius)
{
    return patterns(32, radius < 32 ? (int)radius : 32) / 4294967296.0;
}

static bool is_cheap(struct slot_search *search)
{
    const struct slots *slots = search->slots;
    double scan_ns = (double)slots->codes * (double)code_words(slots->bits) * ns_a_scanned_word;
    double part = part_within(search->query->radius), cost_ns = 0;
    for (uint32_t i = 0; i < slots->chunk_count; i++) {
        double mean = (double)slots->codes / (double)(1u << slots->chunks[i].bits);
        double visits = patterns(slots->chunks[i].bits, search->shares[i]);
        cost_ns += visits * ((1 + mean / SLOT_LANES) * ns_a_slot + mean * part * ns_a_candidate);
    }
    search->budget = 64 + (uint64_t)(scan_ns / ns_a_slot);
    return cost_ns < scan_ns;
}

/* ---- searching ---- */

static uint32_t distance_to(const struct slot_search *search, uint32_t id)
{
    size_t words = code_words(search->slots->bits);
    const uint64_t *at = search->codes->groups + scan_place(id, words);
    uint64_t differ = at[0] ^ search->query->code[0];
    uint32_t distance =
        (uint32_t)__builtin_popcountll(search->slots->bits == 32 ? differ & UINT32_MAX : differ);
    for (size_t word = 1; word < words; word++)
        distance +=
            (uint32_t)__builtin_popcountll(at[word * SCAN_GROUP] ^ search->query->code[word]);
    return distance;
}

/* Whether an earlier chunk has found the code. */
static bool was_found(const struct slot_search *search, uint32_t chunk, uint32_t id)
{
    const struct slots *slots = search->slots;
    struct slot_ring ring = ring_of(search->codes->groups + scan_place(id, code_words(slots->bits)),
                                    SCAN_GROUP, slots->bits);
    for (uint32_t i = 0; i < chunk; i++) {
        uint32_t differ = bucket_of_ring(&ring, &slots->chunks[i]) ^ search->buckets[i];
        if (__builtin_popcount(differ) <= search->shares[i])
            return true;
    }
    return false;
}

static void take_match_search(struct slot_search *search, uint32_t chunk, uint32_t match)
{
    uint32_t id = search->slots->ids[match / 16][match % 16];
    if (id >= search->codes->count || !scan_is_alive(search->codes, id))
        return;
    struct doppel_index_hit hit = {.distance = distance_to(search, id),
                                   .query = search->query->number};
    if (hit.distance > search->query->radius || was_found(search, chunk, id))
        return;
    hit.payload = scan_payload(search->codes, id);
    search->failed |= !array_push(search->query->hits, hit);
}

/* Look at the slots of a run, and at those behind them. */
static void visit_search(struct slot_search *search, const struct slot_run *run, uint32_t *numbers)
{
    uint32_t found[BATCH * SLOT_LANES], next[BATCH], radius = search->query->radius;
    uint32_t remainder = remainder_of(search->slots, &search->ring, run->chunk);
    /* Remainders of 32-bit codes run into the chunk again; others have these bits to spare. */
    uint32_t limit = search->slots->bits == 32 ? radius : radius - run->ones;
    struct slot_matches matches = {.found = found, .next = next};
    for (size_t count = run->count; count && search->visited <= search->budget;) {
        search->kernel(search->slots->slots, numbers, count, remainder, limit, &matches);
        search->visited += count;
        search->candidates += matches.count;
        for (size_t i = 0; i < matches.count; i++)
            take_match_search(search, run->chunk, found[i]);
        count = matches.next_count;
        memcpy(numbers, next, count * sizeof *numbers);
    }
}

static void visit_waiting(struct slot_search *search)
{
    uint32_t *numbers = search->numbers;
    for (size_t i = 0; i < search->run_count; i++) {
        visit_search(search, &search->runs[i], numbers);
        numbers += search->runs[i].count;
    }
    search->waiting = search->run_count = 0;
}

/* The buckets of a chunk that differ from the query's in `ones` bits. */
static void add_shell(struct slot_search *search, uint32_t chunk, uint32_t ones)
{
    const struct slot_chunk *at = &search->slots->chunks[chunk];
    uint64_t mask = (UINT64_C(1) << ones) - 1, end = UINT64_C(1) << at->bits;
    struct slot_run *run = NULL;
    while (mask < end && search->visited <= search->budget) {
        if (!run) {
            run = &search->runs[search->run_count++];
            *run = (struct slot_run){chunk, ones, 0};
        }
        uint32_t number = at->first + (search->buckets[chunk] ^ (uint32_t)mask);
        __builtin_prefetch(&search->slots->slots[number]);
        search->numbers[search->waiting++] = number;
        run->count++;
        if (search->waiting == BATCH) {
            visit_waiting(search);
            run = NULL;
        }
        if (!mask)
            break;
        /* The next number with as many ones. */
        uint64_t low = mask & -mask, carried = mask + low;
        mask = carried | (mask ^ carried) >> (2 + __builtin_ctzll(low));
    }
}

bool slots_search(const struct slots *slots, const struct scan_codes *codes,
                  const struct query *query, struct doppel_index_counts *counts, bool *out_failed)
{
    struct slot_search search;
    size_t before = query->hits->count;
    if (!slots->codes)
        return false;
    search.slots = slots;
    search.codes = codes;
    search.query = query;
    search.waiting = search.run_count = 0;
    search.visited = search.candidates = 0;
    search.failed = false;
    share_out_search(&search);
    if (!is_cheap(&search))
        return false;
    search.kernel = slot_kernel_choose();
    search.ring = ring_of(query->code, 1, slots->bits);
    for (uint32_t i = 0; i < slots->chunk_count; i++)
        search.buckets[i] = bucket_of_ring(&search.ring, &slots->chunks[i]);
    for (uint32_t i = 0; i < slots->chunk_count; i++)
        for (int ones = 0; ones <= search.shares[i]; ones++)
            add_shell(&search, i, (uint32_t)ones);
    visit_waiting(&search);
    counts->lookups += search.visited;
    counts->candidates += search.candidates;
    *out_failed = search.failed;
    if (search.visited <= search.budget || search.failed)
        return true;
    query->hits->count = before;
    return false;
}
