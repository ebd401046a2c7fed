/* The self-join of an index: the codes of all segments and of the head as they were at one moment,
 * without those that are removed or not wanted. */
#include <stdlib.h>
#include <string.h>

#include "index/index_internal.h"
#include "index/scan_codes.h"

enum { BATCH = 512, MAX_WORDS = 4 };

/* All codes of a snapshot, one after the other: those of the parts, then those of the head. */
struct join_reader {
    const struct doppel_index *index;
    struct snapshot snapshot;
    size_t part;
    uint64_t at;              /* within it */
    uint64_t place;           /* among all */
    ARRAY(uint64_t) alive;    /* by place, as bits */
    ARRAY(uint64_t) payloads; /* of the living, by number */
    uint32_t number;          /* of the next that lives */
};

struct index_join {
    const struct doppel_index_join_request *request;
    doppel_index_join_visitor *visitor;
    void *context;
    struct join_reader reader;
};

/* ---- reading ---- */

static size_t read_head(struct join_reader *reader, uint64_t *codes, uint64_t *payloads, size_t max)
{
    const struct head_view *view = &reader->snapshot.head;
    size_t words = reader->index->words, count = 0;
    pthread_rwlock_rdlock(&reader->index->shared->lock);
    for (; count < max && reader->at < view->count; reader->at++, count++) {
        const uint64_t *code = view->head->codes + scan_place(reader->at, words);
        for (size_t word = 0; word < words; word++)
            codes[count * words + word] = code[word * SCAN_GROUP];
        payloads[count] = view->head->payloads[reader->at];
    }
    pthread_rwlock_unlock(&reader->index->shared->lock);
    return count;
}

static size_t read_all_reader(struct join_reader *reader, uint64_t *codes, uint64_t *payloads,
                              size_t max)
{
    const struct state *state = reader->snapshot.state;
    for (; reader->part < state->count; reader->part++, reader->at = 0) {
        const struct table *table = state->parts[reader->part]->table;
        size_t count = table_read(table, reader->at, max, codes, payloads);
        reader->at += count;
        if (count)
            return count;
    }
    return read_head(reader, codes, payloads, max);
}

static void rewind_join_reader(void *context)
{
    struct join_reader *reader = context;
    reader->part = reader->at = reader->place = reader->number = 0;
}

static bool lives_at(const struct join_reader *reader, uint64_t place)
{
    return place / 64 < reader->alive.count && reader->alive.items[place / 64] >> place % 64 & 1;
}

static size_t read_living_join(void *context, uint64_t *codes, uint32_t *numbers, size_t max)
{
    struct join_reader *reader = context;
    size_t words = reader->index->words, count = 0, got;
    uint64_t payloads[BATCH];
    max = max < BATCH ? max : BATCH;
    while (count == 0 && (got = read_all_reader(reader, codes, payloads, max)) > 0)
        for (size_t i = 0; i < got; i++)
            if (lives_at(reader, reader->place++)) {
                memmove(codes + count * words, codes + i * words, words * sizeof *codes);
                numbers[count++] = reader->number++;
            }
    return count;
}

/* ---- who lives ---- */

/* Whether the code that was read `back` codes ago is removed; of the payload. */
static bool is_removed(const struct join_reader *reader, size_t back, uint64_t payload)
{
    const struct snapshot *snapshot = &reader->snapshot;
    if (reader->part < snapshot->state->count)
        return snapshot_removes(reader->index, snapshot, reader->part, payload);
    pthread_rwlock_rdlock(&reader->index->shared->lock);
    uint32_t death = snapshot->head.head->deaths[reader->at - back];
    pthread_rwlock_unlock(&reader->index->shared->lock);
    return death && death <= snapshot->head.clock;
}

/* Note a code, the `back`-th last that was read. @return false without memory */
static bool note_index_join(struct index_join *join, size_t back, uint64_t payload)
{
    struct join_reader *reader = &join->reader;
    const struct doppel_index_join_request *request = join->request;
    uint64_t place = reader->place++;
    bool lives = !is_removed(reader, back, payload) &&
                 (!request->filter || request->filter(request->filter_context, payload));
    if (place % 64 == 0 && !array_push(&reader->alive, 0))
        return false;
    reader->alive.items[place / 64] |= (uint64_t)lives << place % 64;
    return !lives || array_push(&reader->payloads, payload);
}

static bool note_all(struct index_join *join)
{
    uint64_t codes[BATCH * MAX_WORDS], payloads[BATCH];
    size_t got;
    rewind_join_reader(&join->reader);
    while ((got = read_all_reader(&join->reader, codes, payloads, BATCH)) > 0)
        for (size_t i = 0; i < got; i++)
            if (!note_index_join(join, got - i, payloads[i]))
                return false;
    return true;
}

/* ---- the join ---- */

static bool visit_index_pair(void *context, const struct doppel_index_pair *pairs, size_t count)
{
    struct index_join *join = context;
    const uint64_t *payloads = join->reader.payloads.items;
    for (size_t i = 0; i < count; i++) {
        uint64_t a = payloads[pairs[i].a], b = payloads[pairs[i].b];
        struct doppel_index_joined joined = {a < b ? a : b, a < b ? b : a, pairs[i].distance};
        if (a != b && !join->visitor(join->context, &joined))
            return false;
    }
    return true;
}

static enum doppel_status damage_of(const struct snapshot *snapshot, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < snapshot->state->count && !status; i++)
        status = segment_damage(table_segment(snapshot->state->parts[i]->table), error);
    return status;
}

static enum doppel_status run_index_join(struct index_join *join, struct doppel_error *error)
{
    struct join_reader *reader = &join->reader;
    if (!note_all(join))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to join %zu codes",
                           reader->payloads.count);
    struct doppel_index_codes codes = {.count = reader->payloads.count,
                                       .read = read_living_join,
                                       .rewind = rewind_join_reader,
                                       .context = reader};
    struct doppel_index_pairing pairing = {.bits = reader->index->options.bits,
                                           .radius = join->request->radius,
                                           .left = &codes,
                                           .threads = join->request->threads};
    enum doppel_status status = doppel_index_pair_up(&pairing, visit_index_pair, join, error);
    enum doppel_status damage = damage_of(&reader->snapshot, error);
    return damage ? damage : status;
}

enum doppel_status doppel_index_join(const struct doppel_index *index,
                                     const struct doppel_index_join_request *request,
                                     doppel_index_join_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    struct index_join join = {
        .request = request, .visitor = visitor, .context = context, .reader = {.index = index}};
    if (index->options.table != DOPPEL_INDEX_HAMMING)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "only an index of Hamming codes is joined");
    join.reader.snapshot = snapshot_take(index);
    enum doppel_status status = run_index_join(&join, error);
    snapshot_release(&join.reader.snapshot);
    array_free(&join.reader.alive);
    array_free(&join.reader.payloads);
    return status;
}
