/* Merging segments: which, and into what. */
#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "core/try.h"
#include "index/index_internal.h"

enum {
    RATIO = 2,           /* a part is merged with newer ones of at least half its size */
    LINEAR_PART = 65536, /* so large, merging linear tables gains nothing */
    PIECE = 1024
};

/* Neighbouring parts of a state. */
struct merge_run {
    const struct state *state;
    size_t first, end;
};

/* ---- which ---- */

static uint64_t weight(const struct part *part)
{
    uint64_t distinct;
    size_t removed;
    (void)part_removed(part, &removed);
    return table_count(part->table, &distinct) + removed;
}

/* Positions of postings; 0 of codes. */
static uint64_t axis_of(const struct part *part)
{
    const struct postings *postings = table_postings(part->table);
    return postings ? postings_info(postings).axis : 0;
}

static struct merge_run choose_run(const struct doppel_index *index, const struct state *state,
                                   bool all)
{
    struct merge_run run = {state, state->count, state->count};
    uint64_t newer = 0, axis = 0;
    for (; run.first > 0; run.first--) {
        const struct part *part = state->parts[run.first - 1];
        uint64_t older = weight(part);
        axis += axis_of(part);
        if (axis > UINT32_MAX || (!all && run.first < run.end && older > RATIO * newer))
            break;
        newer += older;
    }
    if (all)
        return run;
    if (table_is_linear(&index->options, newer))
        while (run.first < run.end && weight(state->parts[run.first]) >= LINEAR_PART)
            run.first++;
    return run;
}

/* ---- its codes ---- */

struct merge_stream {
    struct code_stream stream;
    struct merge_run run;
    size_t words, part;
    uint64_t at; /* in the part */
    bool filtered;
};

static bool is_dropped(const struct merge_stream *merge, uint64_t payload)
{
    return state_removes(merge->run.state, merge->part, merge->run.state->count, payload);
}

/* Move the living together. */
static size_t drop_removed(const struct merge_stream *merge, uint64_t *codes, uint64_t *payloads,
                           size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_dropped(merge, payloads[i])) {
            memmove(codes + kept * merge->words, codes + i * merge->words,
                    merge->words * sizeof *codes);
            payloads[kept++] = payloads[i];
        }
    return kept;
}

static size_t read_merged(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct merge_stream *merge = context;
    while (merge->part < merge->run.end) {
        const struct table *table = merge->run.state->parts[merge->part]->table;
        size_t n = table_read(table, merge->at, max, codes, payloads);
        merge->at += n;
        if (n && merge->filtered)
            n = drop_removed(merge, codes, payloads, n);
        else if (!n) {
            merge->part++;
            merge->at = 0;
        }
        if (n)
            return n;
    }
    return 0;
}

static void rewind_merge(void *context)
{
    struct merge_stream *merge = context;
    merge->part = merge->run.first;
    merge->at = 0;
}

static bool count_living(struct merge_stream *merge)
{
    uint64_t *codes = malloc(PIECE * (merge->words + 1) * sizeof *codes);
    if (!codes)
        return false;
    rewind_merge(merge);
    size_t n;
    while ((n = read_merged(merge, codes, codes + PIECE * merge->words, PIECE)) != 0)
        merge->stream.count += n;
    free(codes);
    return true;
}

static bool merge_stream_init(struct merge_stream *merge, const struct doppel_index *index,
                              const struct merge_run *run)
{
    *merge = (struct merge_stream){.stream = {merge, 0, read_merged, rewind_merge},
                                   .run = *run,
                                   .words = index->words,
                                   .part = run->first};
    for (size_t i = run->first; i < run->end; i++)
        segment_read_ahead(table_segment(run->state->parts[i]->table));
    for (size_t i = run->first; i < run->end && !merge->filtered; i++)
        merge->filtered = state_removes_any(run->state, i, run->state->count);
    if (merge->filtered)
        return count_living(merge);
    for (size_t i = run->first; i < run->end; i++) {
        uint64_t distinct;
        merge->stream.count += table_count(run->state->parts[i]->table, &distinct);
    }
    return true;
}

/* ---- its removed payloads ---- */

/* Those of all parts together, for parts that are older than the run; given (free). */
static uint64_t *join_removed(const struct merge_run *run, size_t *out_count)
{
    size_t count = 0, kept = 0, part_count;
    for (size_t i = run->first; i < run->end && run->first; i++) {
        (void)part_removed(run->state->parts[i], &part_count);
        count += part_count;
    }
    uint64_t *removed = malloc((count + 1) * sizeof *removed);
    if (!removed)
        return NULL;
    count = 0;
    for (size_t i = run->first; i < run->end && run->first; i++) {
        const uint64_t *some = part_removed(run->state->parts[i], &part_count);
        memcpy(removed + count, some, part_count * sizeof *some);
        count += part_count;
    }
    if (count > 1)
        qsort(removed, count, sizeof *removed, compare_u64);
    for (size_t i = 0; i < count; i++)
        if (!kept || removed[kept - 1] != removed[i])
            removed[kept++] = removed[i];
    *out_count = kept;
    return removed;
}

/* ---- merging ---- */

/* Damage that was met while reading must not get into a segment with good checksums. */
static enum doppel_status check_damage(const struct merge_run *run, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = run->first; i < run->end && !status; i++)
        status = segment_damage(table_segment(run->state->parts[i]->table), error);
    return status;
}

static enum doppel_status merge_codes(const struct doppel_index *index, const struct merge_run *run,
                                      const uint64_t *removed, size_t removed_count,
                                      struct part **out, struct doppel_error *error)
{
    struct merge_stream stream;
    if (!merge_stream_init(&stream, index, run))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to merge segments of the index");
    struct table_source source = {.codes = &stream.stream};
    if (!stream.stream.count && !removed_count)
        return DOPPEL_OK;
    return part_build(index, &source, removed, removed_count, out, error);
}

static bool keep_item(void *context, size_t table, uint64_t payload)
{
    const struct merge_run *run = context;
    return !state_removes(run->state, run->first + table, run->state->count, payload);
}

static enum doppel_status merge_postings(const struct doppel_index *index,
                                         const struct merge_run *run, const uint64_t *removed,
                                         size_t removed_count, struct part **out,
                                         struct doppel_error *error)
{
    size_t count = run->end - run->first;
    const struct postings **tables = calloc(count, sizeof(struct postings *));
    if (!tables)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to merge segments of the index");
    for (size_t i = 0; i < count; i++)
        tables[i] = table_postings(run->state->parts[run->first + i]->table);
    struct merge_run kept = *run;
    struct postings_merge merge = {tables, count, keep_item, &kept};
    struct table_source source = {.postings = &merge};
    enum doppel_status status = part_build(index, &source, removed, removed_count, out, error);
    free(tables);
    return status;
}

static enum doppel_status merge_index(struct doppel_index *index, const struct merge_run *run,
                                      struct doppel_error *error)
{
    struct part *fresh = NULL;
    size_t removed_count;
    uint64_t *removed = join_removed(run, &removed_count);
    if (!removed)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to merge segments of the index");
    enum doppel_status status;
    TRY(index->words ? merge_codes(index, run, removed, removed_count, &fresh, error)
                     : merge_postings(index, run, removed, removed_count, &fresh, error));
    TRY(check_damage(run, error));
    struct change change = {
        .old = run->state->parts + run->first, .old_count = run->end - run->first, .fresh = fresh};
    TRY(change_make(index, &change, error));
done:
    free(removed);
    if (status && fresh)
        part_discard(index, fresh);
    else
        part_release(fresh);
    return status;
}

enum doppel_status doppel_index_compact(struct doppel_index *index, bool all,
                                        struct doppel_error *error)
{
    if (index->read_only)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the index is open for reading only");
    enum doppel_status status = DOPPEL_OK;
    bool more = true;
    pthread_mutex_lock(&index->shared->compacting);
    while (more && !status) {
        struct snapshot snapshot = snapshot_take(index);
        struct merge_run run = choose_run(index, snapshot.state, all);
        more = run.end - run.first >= 2;
        if (more)
            status = merge_index(index, &run, error);
        more = more && !all;
        snapshot_release(&snapshot);
    }
    pthread_mutex_unlock(&index->shared->compacting);
    return status;
}
