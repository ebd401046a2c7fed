/* Lookups of several queries in one row, so that fetching ahead never pauses between them. */
#include "index/hamming/search.h"

#include <string.h>

static const uint32_t *slot_of_hamming(const struct hamming *table, uint64_t bucket)
{
    return table->slots + bucket * table->shape.slot_words;
}

static uint32_t bucket_of_hamming(const struct hamming *table, unsigned chunk, uint32_t prefix)
{
    return (uint32_t)chunk << table->shape.prefix | prefix;
}

static const uint32_t *own_slot(const struct hamming *table, const struct active *active,
                                unsigned chunk)
{
    return slot_of_hamming(table, bucket_of_hamming(table, chunk, active->turned[chunk].prefix));
}

void active_begin(const struct hamming *table, struct hamming_scratch *scratch, unsigned number,
                  struct query *query)
{
    const struct hamming_shape *shape = &table->shape;
    struct active *active = &scratch->active[number];
    scratch->checking = atomic_load_explicit(&table->segment->unchecked, memory_order_relaxed) != 0;
    active->query = query;
    active->known = -1;
    uint64_t code[WORDS_MAX];
    memcpy(code, query->code, shape->words * sizeof *code);
    if (shape->bits == 32)
        code[0] &= UINT32_MAX;
    permute(table->permuter, code, active->code);
    for (unsigned chunk = 0; chunk < shape->chunks; chunk++) {
        active->turned[chunk] = code_turn(active->code, shape, chunk);
        active->before[chunk] = -1;
        active->windows[chunk] = UINT32_MAX;
        __builtin_prefetch(own_slot(table, active, chunk));
    }
    if (query->radius >= shape->chunks - 1) /* most likely all are looked up whole */
        for (unsigned chunk = 0; chunk < shape->chunks; chunk++)
            for (uint32_t at = LANES; at < shape->slot_words; at += LANES)
                __builtin_prefetch(own_slot(table, active, chunk) + at);
}

void active_sizes(const struct hamming *table, struct active *active)
{
    for (unsigned chunk = 0; chunk < table->shape.chunks; chunk++) {
        const uint32_t *slot = own_slot(table, active, chunk);
        segment_touch(table->segment, slot, HEADER * sizeof *slot);
        active->sizes[chunk] = slot[1];
    }
}

/* A job without lookups yet. @param limit of chunk and remainder */
static struct lookup_job *job_begin(const struct hamming *table, struct hamming_scratch *scratch,
                                    unsigned number, unsigned chunk, uint32_t limit)
{
    if (scratch->job_count == JOBS_MAX || scratch->lookup_count == BLOCK)
        plan_run(table, scratch);
    const struct active *active = &scratch->active[number];
    uint32_t job_number = scratch->job_count++;
    struct lookup_job *job = &scratch->jobs[job_number];
    *job = (struct lookup_job){
        .lookups = scratch->lookups + scratch->lookup_count,
        .home = bucket_of_hamming(table, chunk, active->turned[chunk].prefix),
        .limit = limit,
        .rest = active->turned[chunk].rest,
        .number = (uint16_t)job_number,
    };
    scratch->job_active[job_number] = (uint8_t)number;
    scratch->job_chunk[job_number] = (uint8_t)chunk;
    return job;
}

static uint32_t job_room(const struct hamming_scratch *scratch, uint64_t wanted)
{
    uint32_t room = BLOCK - scratch->lookup_count;
    return wanted < room ? (uint32_t)wanted : room;
}

/* How far the masks were read. */
struct shell_reader {
    uint32_t shell, at;
};

/* The next lookups of a job, from one shell on to the next. */
static void read_shells(const struct hamming *table, struct shell_reader *reader,
                        const struct lookup_job *job, struct hamming_scratch *scratch)
{
    uint32_t *lookups = scratch->lookups + scratch->lookup_count;
    for (uint32_t done = 0; done < job->count;) {
        const uint32_t *masks = shell_masks_get(table, reader->shell);
        uint32_t before = reader->shell ? table->shell_ends[reader->shell - 1] : 0;
        uint32_t size = table->shell_ends[reader->shell] - before, wanted = job->count - done;
        uint32_t count = size - reader->at < wanted ? size - reader->at : wanted;
        for (uint32_t i = 0; i < count; i++)
            lookups[done + i] = (masks ? masks[reader->at + i] : 0) ^ job->home;
        scratch->no_memory |= !masks;
        done += count;
        reader->at += count;
        if (reader->at == size)
            *reader = (struct shell_reader){.shell = reader->shell + 1};
    }
}

void plan_shells(const struct hamming *table, struct hamming_scratch *scratch, unsigned number,
                 unsigned chunk, int32_t first, int32_t last)
{
    if (last < first)
        return;
    struct shell_reader reader = {.shell = first > 0 ? (uint32_t)first : 0};
    uint32_t left = table->shell_ends[last] - (first > 0 ? table->shell_ends[first - 1] : 0);
    const struct active *active = &scratch->active[number];
    const uint32_t window = active->windows[chunk];
    while (left && !scratch->no_memory) {
        struct lookup_job *job = job_begin(table, scratch, number, chunk,
                                           active->limit < window ? active->limit : window);
        job->count = job_room(scratch, left);
        read_shells(table, &reader, job, scratch);
        scratch->lookup_count += job->count;
        left -= job->count;
    }
}

void plan_scan(const struct hamming *table, struct hamming_scratch *scratch, unsigned number)
{
    uint32_t at = 0, end = UINT32_C(1) << table->shape.prefix;
    if (table->shape.apart) {
        scan_apart(table, scratch, number);
        return;
    }
    while (at < end) {
        struct lookup_job *job =
            job_begin(table, scratch, number, 0, scratch->active[number].limit);
        uint32_t *lookups = scratch->lookups + scratch->lookup_count;
        job->count = job_room(scratch, end - at);
        for (uint32_t i = 0; i < job->count; i++)
            lookups[i] = at + i;
        scratch->lookup_count += job->count;
        at += job->count;
    }
}

/* The rests of buckets that go on in the spill. */
static void run_spilled(const struct hamming *table, struct hamming_scratch *scratch,
                        const struct lookup_job *job, struct pass_queue *queue)
{
    uint32_t piece = PASSES_MAX / 2;
    for (size_t i = 0; i < queue->spilled_count; i++) {
        struct bucket bucket = hamming_bucket(table, queue->spilled[i]);
        for (uint32_t done = bucket.inside; done < bucket.count; done += piece) {
            if (queue->room - queue->count < piece)
                passes_verify(table, scratch, queue);
            uint32_t left = bucket.count - done;
            struct spill_run run = {bucket.spill + (done - bucket.inside), queue->spilled[i],
                                    bucket.start + done, left < piece ? left : piece};
            table->kernel->spill(job, &run, queue);
            scratch->counts.candidates += run.count;
        }
    }
    queue->spilled_count = 0;
}

static void run_job(const struct hamming *table, const struct code_slots *slots,
                    struct hamming_scratch *scratch, const struct lookup_job *job,
                    struct pass_queue *queue)
{
    if (scratch->checking_slots)
        for (uint32_t i = 0; i < job->count; i++)
            segment_touch(table->segment, slot_of_hamming(table, job->lookups[i]),
                          table->shape.slot_words * sizeof(uint32_t));
    for (size_t done = 0;;) {
        done = table->kernel->lookup(slots, job, done, queue);
        if (queue->spilled_count)
            run_spilled(table, scratch, job, queue);
        if (done == job->count)
            return;
        passes_verify(table, scratch, queue);
    }
}

/* Where buckets are not in memory, the disk is told of all before the first is waited for. Of few
 * look-ups, asking the system would take longer than they do. */
static void read_buckets_ahead(const struct hamming *table, struct hamming_scratch *scratch)
{
    enum { FEW = 512, SAMPLES = 8 };
    const uint32_t count = scratch->lookup_count;
    const size_t bytes = table->shape.slot_words * sizeof(uint32_t);
    for (uint32_t i = 0; i < SAMPLES && count >= FEW && !scratch->on_disk; i++) {
        const uint32_t bucket = scratch->lookups[(uint64_t)i * count / SAMPLES];
        scratch->on_disk = !segment_in_memory(table->segment, slot_of_hamming(table, bucket));
    }
    for (uint32_t i = 0; i < count && scratch->on_disk; i++)
        segment_want(table->segment, slot_of_hamming(table, scratch->lookups[i]), bytes);
}

void plan_run(const struct hamming *table, struct hamming_scratch *scratch)
{
    const struct hamming_shape *shape = &table->shape;
    uint32_t ahead = 128 / shape->groups;
    ahead = ahead > 48 ? 48 : ahead < 3 ? 3 : ahead;
    if (ahead > scratch->lookup_count)
        ahead = scratch->lookup_count;
    struct code_slots slots = {
        .words = table->slots, .spill = table->spill, .groups = shape->groups, .ahead = ahead};
    struct pass_queue queue = {.positions = scratch->pass_positions,
                               .buckets = scratch->pass_buckets,
                               .marks = scratch->pass_marks,
                               .room = PASSES_MAX,
                               .spilled = scratch->spilled};
    scratch->checking_slots =
        scratch->checking && !segment_part_is_checked(table->segment, PART_SLOTS);
    scratch->on_disk = false;
    if (scratch->checking)
        read_buckets_ahead(table, scratch);
    for (uint32_t i = 0; i < slots.ahead; i++)
        scratch->lookups[scratch->lookup_count + i] = scratch->lookups[0];
    for (uint32_t i = 0; i < slots.ahead; i++)
        for (uint32_t at = 0; at < shape->slot_words; at += LANES)
            __builtin_prefetch(slot_of_hamming(table, scratch->lookups[i]) + at);
    for (uint32_t i = 0; i < scratch->job_count && !scratch->no_memory; i++)
        run_job(table, &slots, scratch, &scratch->jobs[i], &queue);
    passes_verify(table, scratch, &queue);
    found_deliver(table, scratch);
    scratch->counts.lookups += scratch->lookup_count;
    scratch->counts.candidates += queue.seen;
    scratch->lookup_count = scratch->job_count = 0;
}
