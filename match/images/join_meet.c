/* Which pictures meet: their codes are joined, both ways, since a crop meets a whole picture in one
 * direction only; unrelated items that meet by accident are sent away at the gate. */
#include "match/images/join_internal.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/index.h>

#include "core/try.h"

enum side { SIDE_QUERIES, SIDE_ITEMS, SIDE_FULL };

/* The codes of a run of pictures, as a join of codes reads them. */
struct code_stream_reader {
    const struct join *join;
    enum side side;
    const bool *only;      /* these ranks; NULL: all */
    uint32_t from, to, at; /* ranks */
    size_t words;
    struct doppel_index_codes codes;
};

/* The codes by which one picture asks or is found. */
static size_t codes_of_reader(const struct code_stream_reader *reader, uint32_t rank,
                              uint64_t out[MAX_LOOKUP_WORDS])
{
    const struct doppel_matcher *matcher = reader->join->matcher;
    struct unpacked image;
    matcher_unpack(matcher, reader->join->order[rank], &image);
    if (reader->side == SIDE_QUERIES)
        return lookups_of_query(&image.fingerprint, &matcher->options, out);
    if (reader->side == SIDE_ITEMS)
        return lookups_of_item(&image.fingerprint, &matcher->options, out);
    if (image.fingerprint.code_bits < 256) /* the codes of a list would all meet */
        return 0;
    memcpy(out, image.fingerprint.codes[0].word, 4 * sizeof *out);
    return 1;
}

static size_t read_met_codes(void *context, uint64_t *codes, uint32_t *numbers, size_t max)
{
    struct code_stream_reader *reader = context;
    size_t count = 0;
    while (reader->at < reader->to && count + MAX_LOOKUPS <= max) {
        uint32_t rank = reader->at++;
        if (reader->join->follows[rank] || (reader->only && !reader->only[rank]))
            continue;
        size_t more = codes_of_reader(reader, rank, codes + count * reader->words);
        for (size_t i = 0; i < more; i++)
            numbers[count++] = rank;
    }
    return count;
}

static void rewind_codes(void *context)
{
    struct code_stream_reader *reader = context;
    reader->at = reader->from;
}

static size_t count_codes(struct code_stream_reader *reader)
{
    uint64_t codes[MAX_LOOKUP_WORDS];
    uint32_t numbers[MAX_LOOKUPS];
    size_t count = 0, more;
    rewind_codes(reader);
    while ((more = read_met_codes(reader, codes, numbers, MAX_LOOKUPS)) > 0)
        count += more;
    return count;
}

static void reader_make(const struct join *join, enum side side, const bool *only, uint32_t from,
                        uint32_t to, struct code_stream_reader *out)
{
    *out = (struct code_stream_reader){
        .join = join, .side = side, .only = only, .from = from, .to = to};
    out->words = side == SIDE_FULL ? 4 : join->matcher->scheme->code_bits / 64u;
    out->codes = (struct doppel_index_codes){
        .read = read_met_codes, .rewind = rewind_codes, .context = out, .count = count_codes(out)};
}

/* ---- the gate ---- */

/* Cold memory is asked for so many pairs ahead: where the codes of pictures lie, then the codes. */
enum { SEEN = 1024, AHEAD = 8 };

static struct doppel_image_codes packed_codes(const struct join *join, uint32_t rank)
{
    const struct place *place = &join->places[rank];
    return (struct doppel_image_codes){join->matcher->codes.items + place->first, place->views};
}

static void prefetch_codes(const struct join *join, uint32_t rank)
{
    struct doppel_image_codes codes = packed_codes(join, rank);
    const char *at = (const char *)codes.codes;
    size_t bytes = (size_t)__builtin_popcount(codes.views) * sizeof *codes.codes;
    for (size_t line = 0; line < bytes; line += 64)
        __builtin_prefetch(at + line);
}

static void look_ahead(const struct join *join, const struct doppel_index_pair *pairs, size_t count,
                       size_t at)
{
    if (at + 2 * AHEAD < count) {
        __builtin_prefetch(&join->places[pairs[at + 2 * AHEAD].a]);
        __builtin_prefetch(&join->places[pairs[at + 2 * AHEAD].b]);
    }
    if (at + AHEAD < count) {
        prefetch_codes(join, pairs[at + AHEAD].a);
        prefetch_codes(join, pairs[at + AHEAD].b);
    }
}

/* Two pictures meet with many of their views, or none: most repeats follow soon. */
static bool met_before(uint64_t seen[SEEN], const struct doppel_index_pair *pair)
{
    uint64_t low = pair->a < pair->b ? pair->a : pair->b;
    uint64_t high = pair->a < pair->b ? pair->b : pair->a, key = high << 32 | low;
    uint64_t *place = &seen[key * 0x9e3779b97f4a7c15u >> 54];
    bool met = *place == key;
    *place = key;
    return met;
}

size_t join_sift(const struct join *join, struct doppel_index_pair *pairs, size_t count)
{
    uint64_t seen[SEEN] = {0}; /* 0: a picture with itself */
    size_t kept = 0, passed = 0;
    for (size_t i = 0; i < count; i++)
        if (pairs[i].a != pairs[i].b && !met_before(seen, &pairs[i]))
            pairs[kept++] = pairs[i];
    if (!join->gated)
        return kept;
    for (size_t i = 0; i < kept; i++) {
        struct doppel_image_codes a = packed_codes(join, pairs[i].a);
        struct doppel_image_codes b = packed_codes(join, pairs[i].b);
        look_ahead(join, pairs, kept, i);
        if (doppel_image_gate_passes(&join->gate, &a, &b))
            pairs[passed++] = pairs[i];
    }
    return passed;
}

static size_t sift_met_codes(void *context, struct doppel_index_pair *pairs, size_t count)
{
    return join_sift(context, pairs, count);
}

/* ---- meetings ---- */

static int compare_meetings(const void *left, const void *right)
{
    const struct meeting *a = left, *b = right;
    if (a->later != b->later)
        return a->later < b->later ? -1 : 1;
    return a->earlier < b->earlier ? -1 : a->earlier > b->earlier;
}

void join_settle(struct join *join)
{
    struct meeting *items = join->meetings.items;
    size_t kept = 0;
    if (join->meetings.count > 1)
        qsort(items, join->meetings.count, sizeof *items, compare_meetings);
    for (size_t i = 0; i < join->meetings.count; i++)
        if (kept == 0 || compare_meetings(&items[kept - 1], &items[i]) != 0)
            items[kept++] = items[i];
    join->meetings.count = kept;
}

/* Whether there is room for more of them. */
static bool make_room_join(struct join *join)
{
    if (join->meetings.count < join->most || join->end - join->start == 1)
        return true;
    join_settle(join);
    if (join->meetings.count > join->most / 2)
        join->status = DOPPEL_E_LIMIT;
    return !join->status;
}

bool join_note_pairs(struct join *join, const struct doppel_index_pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t a = pairs[i].a, b = pairs[i].b;
        struct meeting meeting = {a < b ? a : b, a < b ? b : a};
        if (!make_room_join(join))
            return false;
        if (!array_push(&join->meetings, meeting)) {
            join->status = DOPPEL_E_MEMORY;
            return false;
        }
    }
    return true;
}

static bool note_met_pair(void *context, const struct doppel_index_pair *pairs, size_t count)
{
    return join_note_pairs(context, pairs, count);
}

static enum doppel_status pair_up(struct join *join, const struct code_stream_reader *left,
                                  const struct code_stream_reader *right, uint32_t radius)
{
    struct doppel_index_pairing pairing = {.bits = (uint32_t)left->words * 64,
                                           .radius = radius,
                                           .left = &left->codes,
                                           .right = right ? &right->codes : NULL,
                                           .filter = sift_met_codes,
                                           .filter_context = join,
                                           .threads = join->matcher->threads,
                                           .cancelled = join->matcher->cancelled,
                                           .cancel_context = join->matcher->cancel_context};
    enum doppel_status status = doppel_index_pair_up(&pairing, note_met_pair, join, NULL);
    return join->status ? join->status : status;
}

static enum doppel_status meet_by_look_ups(struct join *join)
{
    struct code_stream_reader asking, found;
    uint32_t radius = join->matcher->radius;
    reader_make(join, SIDE_QUERIES, NULL, join->start, join->end, &asking);
    reader_make(join, SIDE_ITEMS, NULL, 0, join->end, &found);
    enum doppel_status status = pair_up(join, &asking, &found, radius);
    if (status || !join->start)
        return status;
    reader_make(join, SIDE_QUERIES, NULL, 0, join->start, &asking);
    reader_make(join, SIDE_ITEMS, NULL, join->start, join->end, &found);
    return pair_up(join, &found, &asking, radius);
}

static enum doppel_status meet_in_full(struct join *join)
{
    struct code_stream_reader block, before;
    uint32_t radius = join->matcher->full_radius;
    reader_make(join, SIDE_FULL, NULL, join->start, join->end, &block);
    enum doppel_status status = pair_up(join, &block, NULL, radius);
    if (status || !join->start)
        return status;
    reader_make(join, SIDE_FULL, NULL, 0, join->start, &before);
    return pair_up(join, &block, &before, radius);
}

enum doppel_status join_meet(struct join *join)
{
    join->meetings.count = 0;
    join->status = DOPPEL_OK;
    enum doppel_status status;
    if (join_sweeps_faster(join)) {
        TRY(join_sweep(join, NULL, 0));
    } else {
        TRY(meet_by_look_ups(join));
        if (join->matcher->full_radius)
            TRY(meet_in_full(join));
    }
    join_settle(join);
done:
    return status;
}

static enum doppel_status meet_one_way(struct join *join, enum side some_side, enum side all_side,
                                       const bool *some)
{
    struct code_stream_reader left, right;
    bool full = some_side == SIDE_FULL;
    reader_make(join, some_side, some, 0, join->count, &left);
    reader_make(join, all_side, NULL, 0, join->count, &right);
    return pair_up(join, &left, &right, full ? join->matcher->full_radius : join->matcher->radius);
}

enum doppel_status join_look_up_some(struct join *join, const bool *some)
{
    join->status = DOPPEL_OK;
    enum doppel_status status;
    TRY(meet_one_way(join, SIDE_QUERIES, SIDE_ITEMS, some));
    TRY(meet_one_way(join, SIDE_ITEMS, SIDE_QUERIES, some));
    if (join->matcher->full_radius)
        TRY(meet_one_way(join, SIDE_FULL, SIDE_FULL, some));
done:
    return status;
}

enum doppel_status join_meet_some(struct join *join, const bool *some)
{
    join->status = DOPPEL_OK;
    return join_sweeps_faster(join) ? join_sweep(join, some, 0) : join_look_up_some(join, some);
}
