/* Codes at even distances among all of an index. */
#include <stdlib.h>

#include "index/index_internal.h"

struct code_sample {
    const struct doppel_index *index;
    struct snapshot snapshot;
    uint64_t *codes, *payloads; /* codes NULL: payloads alone */
    uint64_t *scratch;          /* room for a code that nobody wants */
    size_t count;
};

static uint64_t *room_for_code(const struct code_sample *sample)
{
    return sample->codes ? sample->codes + sample->count * sample->index->words : sample->scratch;
}

/* The living code of number `at` of a source, behind those that were taken. */
static void sample_segment(struct code_sample *sample, size_t source, uint64_t at)
{
    const struct table *table = sample->snapshot.state->parts[source]->table;
    uint64_t *payload = sample->payloads + sample->count;
    sample->count += table_read(table, at, 1, room_for_code(sample), payload) &&
                     !snapshot_removes(sample->index, &sample->snapshot, source, *payload);
}

static void sample_head(struct code_sample *sample, uint64_t at)
{
    const struct head_view *view = &sample->snapshot.head;
    pthread_rwlock_rdlock(&sample->index->shared->lock);
    const uint32_t death = view->head->deaths[at];
    if (!death || death > view->clock) {
        head_read_code(view->head, (uint32_t)at, room_for_code(sample));
        sample->payloads[sample->count++] = view->head->payloads[at];
    }
    pthread_rwlock_unlock(&sample->index->shared->lock);
}

static void sample_code_at(struct code_sample *sample, uint64_t at)
{
    const struct state *state = sample->snapshot.state;
    uint64_t distinct;
    for (size_t source = 0; source < state->count; source++) {
        const uint64_t count = table_count(state->parts[source]->table, &distinct);
        if (at < count) {
            sample_segment(sample, source, at);
            return;
        }
        at -= count;
    }
    sample_head(sample, at);
}

static enum doppel_status sample_damage(const struct code_sample *sample,
                                        struct doppel_error *error)
{
    const struct state *state = sample->snapshot.state;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < state->count && !status; i++)
        status = segment_damage(table_segment(state->parts[i]->table), error);
    return status;
}

enum doppel_status doppel_index_sample(const struct doppel_index *index, size_t most,
                                       uint64_t *codes, uint64_t *payloads, size_t *out_count,
                                       struct doppel_error *error)
{
    struct code_sample sample = {.index = index, .codes = codes, .payloads = payloads};
    uint64_t all = 0, distinct;
    if (!index->words)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "an index of postings has no codes");
    sample.scratch = codes ? NULL : malloc(index->words * sizeof *codes);
    if (!codes && !sample.scratch)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read codes");
    sample.snapshot = snapshot_take(index);
    for (size_t i = 0; i < sample.snapshot.state->count; i++)
        all += table_count(sample.snapshot.state->parts[i]->table, &distinct);
    all += sample.snapshot.head.count;
    /* removed ones of the head have numbers, too, and take no room */
    const uint64_t some = doppel_index_count(index) <= most ? all : most;
    for (uint64_t i = 0; i < some && sample.count < most; i++)
        sample_code_at(&sample, (uint64_t)((double)i * (double)all / (double)some));
    enum doppel_status status = sample_damage(&sample, error);
    snapshot_release(&sample.snapshot);
    free(sample.scratch);
    if (!status)
        *out_count = sample.count;
    return status;
}
