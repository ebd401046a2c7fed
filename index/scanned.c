/* Scans: the codes of an index as they lie, handed out run by run to several threads. */
#include <stdlib.h>

#include "core/ordered.h"
#include "index/index_internal.h"

enum { RUN_CODES = DOPPEL_INDEX_SCANNED_CODES, PIECE_CODES = 64 * RUN_CODES };

/* A segment, or the head behind the last of them. */
struct doppel_index_scanned_part {
    const struct doppel_index *index;
    const struct snapshot *snapshot;
    size_t source;
    struct scan_codes codes;
    size_t first_piece; /* of the scan */
};

struct index_scan {
    struct snapshot snapshot;
    struct doppel_index_scanned_part *parts;
    size_t part_count, pieces;
    doppel_index_scan_visitor *visitor;
    void *context;
};

static bool is_head_part(const struct doppel_index_scanned_part *part)
{
    return part->source == part->snapshot->state->count;
}

/* ---- runs ---- */

static struct scan_codes codes_of_head(const struct head_view *view)
{
    const struct head *head = view->head;
    return (struct scan_codes){.groups = head->codes,
                               .payloads = head->payloads,
                               .bits = head->options.bits,
                               .count = view->count,
                               .deaths = head->deaths,
                               .clock = view->clock};
}

static void visit_runs(const struct index_scan *scan, const struct doppel_index_scanned_part *part,
                       size_t first, size_t end)
{
    const struct scan_codes *codes = &part->codes;
    const size_t words = codes->blocks ? 1 : code_words(codes->bits);
    for (; first < end; first += RUN_CODES) {
        const struct doppel_index_scanned run = {
            .low = codes->groups + scan_place(first, words),
            .step = words * SCAN_GROUP,
            .marks = codes->marks ? codes->marks + first / 64 : NULL,
            .first = first,
            .count = end - first < RUN_CODES ? end - first : RUN_CODES,
            .part = part};
        if (codes->segment)
            segment_touch(codes->segment, run.low, run.count * sizeof *run.low);
        if (codes->segment && run.marks)
            segment_touch(codes->segment, run.marks,
                          scan_mark_words(run.count) * sizeof *run.marks);
        scan->visitor(scan->context, &run);
    }
}

/* What the head holds may move while nobody looks at it. */
static void scan_piece(void *context, size_t piece, size_t slot)
{
    const struct index_scan *scan = context;
    size_t at = scan->part_count - 1;
    (void)slot;
    while (scan->parts[at].first_piece > piece)
        at--;
    struct doppel_index_scanned_part part = scan->parts[at];
    const size_t first = (piece - part.first_piece) * PIECE_CODES;
    const size_t end =
        part.codes.count - first < PIECE_CODES ? part.codes.count : first + PIECE_CODES;
    if (!is_head_part(&part)) {
        visit_runs(scan, &part, first, end);
        return;
    }
    pthread_rwlock_rdlock(&part.index->shared->lock);
    part.codes = codes_of_head(&scan->snapshot.head);
    visit_runs(scan, &part, first, end);
    pthread_rwlock_unlock(&part.index->shared->lock);
}

static bool deliver_piece(void *context, size_t piece, size_t slot)
{
    (void)context, (void)piece, (void)slot;
    return true;
}

bool doppel_index_scanned_get(const struct doppel_index_scanned *run, uint64_t number,
                              uint64_t *out_code, uint64_t *out_payload)
{
    if (number >= run->part->codes.count)
        return false;
    scan_get(&run->part->codes, number, out_code, out_payload);
    return true;
}

void doppel_index_scanned_prefetch(const struct doppel_index_scanned *run, uint64_t number)
{
    const struct scan_codes *codes = &run->part->codes;
    enum { LINE = 64 };
    if (!codes->blocks || number >= codes->count)
        return;
    const char *block = (const char *)&codes->blocks[number / SCAN_BLOCK_RECORDS];
    for (size_t at = 0; at < sizeof *codes->blocks; at += LINE)
        __builtin_prefetch(block + at);
}

bool doppel_index_scanned_removed(const struct doppel_index_scanned *run, uint64_t number,
                                  uint64_t payload)
{
    const struct doppel_index_scanned_part *part = run->part;
    return is_head_part(part)
               ? !scan_is_alive(&part->codes, number)
               : snapshot_removes(part->index, part->snapshot, part->source, payload);
}

/* ---- a scan ---- */

/* @return false: a segment is of another kind */
static bool list_parts(const struct doppel_index *index, struct index_scan *scan)
{
    const struct state *state = scan->snapshot.state;
    for (size_t source = 0; source <= state->count; source++) {
        struct doppel_index_scanned_part *part = &scan->parts[scan->part_count++];
        const bool segment = source < state->count;
        const struct scan_codes *codes = segment ? table_codes(state->parts[source]->table) : NULL;
        *part = (struct doppel_index_scanned_part){
            .index = index,
            .snapshot = &scan->snapshot,
            .source = source,
            .codes = codes ? *codes : codes_of_head(&scan->snapshot.head),
            .first_piece = scan->pieces};
        if (segment && !codes)
            return false;
        scan->pieces += (part->codes.count + PIECE_CODES - 1) / PIECE_CODES;
    }
    return true;
}

static enum doppel_status check_parts(const struct index_scan *scan, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < scan->part_count && !status; i++)
        if (scan->parts[i].codes.segment)
            status = segment_damage(scan->parts[i].codes.segment, error);
    return status;
}

enum doppel_status doppel_index_scan(const struct doppel_index *index, uint32_t threads,
                                     doppel_index_scan_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    struct index_scan scan = {.visitor = visitor, .context = context};
    enum doppel_status status = DOPPEL_OK;
    if (!table_is_scanned(&index->options))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the index is not made to be scanned");
    scan.snapshot = snapshot_take(index);
    scan.parts = calloc(scan.snapshot.state->count + 1, sizeof *scan.parts);
    if (!scan.parts) {
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a scan");
        goto done;
    }
    if (!list_parts(index, &scan)) {
        status = doppel_fail(error, DOPPEL_E_FORMAT, "the index is not made to be scanned");
        goto done;
    }
    const struct ordered run = {.context = &scan,
                                .threads = threads,
                                .pieces = scan.pieces,
                                .work = scan_piece,
                                .deliver = deliver_piece};
    (void)ordered_run(&run);
    status = check_parts(&scan, error);
done:
    free(scan.parts);
    snapshot_release(&scan.snapshot);
    return status;
}
