/*
 * Which records share a band. Records with equal lanes in a band are a bucket; a record's cell of
 * the band then holds the number of the first record in the bucket, and that of the first nothing.
 * The replay makes of the cells lists of representatives (dedup_leaders.h).
 *
 * Band by band, the keys of all records are computed, scattered by their top bits, and sorted in
 * small pieces; threads share out ranges of pieces. Where memory is limited there are more ranges.
 */
#include "corpus/dedup/buckets.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LET_GO_CHUNKS = LET_GO_RECORDS / CHUNK_ROWS };

/* Of a thread: the keys of the range that it sorts. */
struct bucket_room {
    struct keyed *keys;
    size_t capacity;
};

struct buckets {
    struct dedup *dedup;
    struct thread_team thread_team;
    struct bucket_room *rooms; /* a thread */
    uint32_t band;
    uint64_t *keys;      /* of all records; NO_KEY: it takes no part */
    uint32_t piece_bits; /* keys are scattered into 2^piece_bits pieces */
    uint32_t ranges;     /* of pieces; a power of two */
    atomic_uint next;    /* chunk of records, or range */
};

/* One with a content that came before is that one's affair, unless that one may be
 * replaced. */
bool dedup_takes_part(const struct dedup *dedup, uint32_t number)
{
    const struct facts *facts = dedup_facts_of(dedup, number);
    if (facts->flags & FACT_LIBRARY)
        return facts->flags & FACT_LEADER;
    bool passed_over =
        facts->former != NO_RECORD && dedup->options->on_same_id != DOPPEL_SAME_ID_UPDATE;
    return !(facts->flags & (FACT_UNREADABLE | FACT_TOO_SHORT)) && !passed_over &&
           (facts->content == number || dedup->replacing);
}

static uint64_t mix_band_key(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

uint64_t band_key(const uint16_t *lanes, uint32_t count)
{
    uint64_t key = 0;
    for (uint32_t i = 0; i < count; i += 4) {
        uint64_t word = 0;
        memcpy(&word, lanes + i, (count - i < 4 ? count - i : 4) * sizeof *lanes);
        key = mix_band_key(key ^ word);
    }
    return key == NO_KEY ? 0 : key;
}

/* ---- keys ---- */

static void compute_keys(void *context, uint32_t thread)
{
    struct buckets *buckets = context;
    const struct dedup *dedup = buckets->dedup;
    uint32_t rows = dedup->rows_a_band, chunk;
    (void)thread;
    while ((chunk = atomic_fetch_add(&buckets->next, 1)) <= (dedup->count - 1) / CHUNK_ROWS) {
        uint32_t from = chunk * CHUNK_ROWS;
        uint32_t to = dedup->count - from < CHUNK_ROWS ? dedup->count : from + CHUNK_ROWS;
        for (uint32_t i = from; i < to; i++)
            if (buckets->keys[i] != NO_KEY)
                buckets->keys[i] =
                    band_key(dedup_lanes_of(dedup, i) + (size_t)buckets->band * rows, rows);
        if (chunk % LET_GO_CHUNKS == 0)
            chunked_let_go(&dedup->lanes_of);
    }
}

/* ---- buckets ---- */

static bool is_before(const struct keyed *a, const struct keyed *b)
{
    return a->key != b->key ? a->key < b->key : a->number < b->number;
}

static int compare_keyed(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : 1;
}

void keyed_sort(struct keyed *keys, size_t count)
{
    enum { FEW = 64 };
    if (count > FEW) {
        qsort(keys, count, sizeof *keys, compare_keyed);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct keyed key = keys[i];
        size_t j = i;
        for (; j && is_before(&key, &keys[j - 1]); j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

static void mark_piece(const struct dedup *dedup, const struct keyed *keys, size_t count,
                       uint32_t band)
{
    size_t first = 0;
    for (size_t i = 1; i < count; i++)
        if (keys[i].key == keys[first].key)
            *dedup_cell_of(dedup, keys[i].number, band) = keys[first].number;
        else
            first = i;
}

/* The pieces of one range, in the room of a thread. */
struct bucket_range {
    const struct buckets *buckets;
    uint32_t first_piece, pieces;
    size_t *ends; /* of each piece, in `keys`; pieces + 1 */
    struct bucket_room *room;
};

static bool piece_of_range(const struct bucket_range *range, uint32_t number, uint32_t *out_piece)
{
    uint64_t key = range->buckets->keys[number];
    *out_piece = (uint32_t)(key >> (64 - range->buckets->piece_bits)) - range->first_piece;
    return *out_piece < range->pieces && key != NO_KEY;
}

static bool make_bucket_room(struct bucket_room *room, size_t count)
{
    if (room->keys && count <= room->capacity)
        return true;
    free(room->keys);
    room->capacity = count + count / 8 + 1;
    room->keys = malloc(room->capacity * sizeof *room->keys);
    if (!room->keys)
        room->capacity = 0;
    return room->keys;
}

/* Afterwards piece p is keys[ends[p]] up to keys[ends[p + 1]]. */
static bool scatter_range(struct bucket_range *range)
{
    uint32_t piece, count = range->buckets->dedup->count;
    size_t *starts = range->ends + 1; /* moves by one while filling */
    for (uint32_t i = 0; i < count; i++)
        if (piece_of_range(range, i, &piece))
            starts[piece]++;
    size_t total = 0;
    for (uint32_t i = 0; i < range->pieces; i++) {
        size_t next = total + starts[i];
        starts[i] = total;
        total = next;
    }
    if (!make_bucket_room(range->room, total))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (piece_of_range(range, i, &piece))
            range->room->keys[starts[piece]++] = (struct keyed){range->buckets->keys[i], i};
    return true;
}

static bool do_range(const struct buckets *buckets, uint32_t number, struct bucket_room *room)
{
    uint32_t pieces = (UINT32_C(1) << buckets->piece_bits) / buckets->ranges;
    struct bucket_range range = {.buckets = buckets,
                                 .first_piece = number * pieces,
                                 .pieces = pieces,
                                 .room = room,
                                 .ends = calloc((size_t)pieces + 1, sizeof *range.ends)};
    bool good = range.ends && scatter_range(&range);
    for (uint32_t i = 0; good && i < pieces; i++) {
        struct keyed *keys = room->keys + range.ends[i];
        size_t count = range.ends[i + 1] - range.ends[i];
        keyed_sort(keys, count);
        mark_piece(buckets->dedup, keys, count, buckets->band);
    }
    free(range.ends);
    return good;
}

static enum doppel_status no_room_for_buckets(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory to sort band keys");
}

static void do_ranges(void *context, uint32_t thread)
{
    struct buckets *buckets = context;
    struct doppel_error error;
    uint32_t range;
    while ((range = atomic_fetch_add(&buckets->next, 1)) < buckets->ranges)
        if (!do_range(buckets, range, &buckets->rooms[thread])) {
            no_room_for_buckets(&error);
            thread_team_fail(&buckets->thread_team, &error);
        }
}

/* ---- all ---- */

/* Pieces of some eight keys; a range a thread, or smaller ones where memory is limited. */
static void plan(struct buckets *buckets)
{
    const struct dedup *dedup = buckets->dedup;
    uint64_t bytes = (uint64_t)dedup->count * sizeof(struct keyed) / 4;
    buckets->piece_bits = 4;
    while (buckets->piece_bits < 24 && dedup->count >> buckets->piece_bits > 8)
        buckets->piece_bits++;
    buckets->ranges = 1;
    while (buckets->ranges < 1 << 4 &&
           (buckets->ranges < buckets->thread_team.threads ||
            (dedup->space.limit &&
             bytes / buckets->ranges * buckets->thread_team.threads > dedup->space.limit)))
        buckets->ranges *= 2;
}

static enum doppel_status do_band(struct buckets *buckets, struct doppel_error *error)
{
    atomic_store(&buckets->next, 0);
    enum doppel_status status =
        thread_team_run(&buckets->thread_team, compute_keys, buckets, error);
    chunked_let_go(&buckets->dedup->lanes_of);
    atomic_store(&buckets->next, 0);
    if (!status)
        status = thread_team_run(&buckets->thread_team, do_ranges, buckets, error);
    chunked_let_go(&buckets->dedup->cells);
    return status;
}

static void free_bucket_rooms(struct buckets *buckets)
{
    for (uint32_t i = 0; buckets->rooms && i < buckets->thread_team.threads; i++)
        free(buckets->rooms[i].keys);
    free(buckets->rooms);
    free(buckets->keys);
}

static enum doppel_status do_bands(struct buckets *buckets, struct doppel_error *error)
{
    const struct dedup *dedup = buckets->dedup;
    enum doppel_status status = DOPPEL_OK;
    buckets->keys = malloc(dedup->count * sizeof *buckets->keys);
    buckets->rooms = calloc(buckets->thread_team.threads, sizeof *buckets->rooms);
    if (!buckets->keys || !buckets->rooms) {
        free_bucket_rooms(buckets);
        return no_room_for_buckets(error);
    }
    for (uint32_t i = 0; i < dedup->count; i++)
        buckets->keys[i] = dedup_takes_part(dedup, i) ? 0 : NO_KEY;
    for (uint32_t band = 0; band < dedup->bands && !status; band++) {
        buckets->band = band;
        status = do_band(buckets, error);
    }
    free_bucket_rooms(buckets);
    return status;
}

enum doppel_status dedup_empty_cells(struct dedup *dedup, struct doppel_error *error)
{
    enum doppel_status status = chunked_grow(&dedup->cells, &dedup->space, dedup->count, error);
    for (size_t i = 0; !status && i < dedup->cells.chunks.count; i++) {
        memset(dedup->cells.chunks.items[i].bytes, 0xff, dedup->cells.row_bytes * CHUNK_ROWS);
        if (i % LET_GO_CHUNKS == 0)
            chunked_let_go(&dedup->cells);
    }
    return status;
}

enum doppel_status dedup_fill_buckets(struct dedup *dedup, struct doppel_error *error)
{
    enum { FEW = 10000 }; /* that one thread sorts sooner than others begin */
    enum doppel_status status = dedup_empty_cells(dedup, error);
    if (status || !dedup->count)
        return status;
    struct buckets buckets = {.dedup = dedup};
    thread_team_init(&buckets.thread_team, dedup->count < FEW ? 1 : dedup->threads);
    plan(&buckets);
    status = do_bands(&buckets, error);
    thread_team_end(&buckets.thread_team);
    return status;
}
