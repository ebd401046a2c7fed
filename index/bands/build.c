/*
 * Building a band table, from two passes over the stream. The first numbers the distinct
 * signatures by a hash of the whole; the second writes them, and compares those that are said to be
 * equal: two that are not (a collision) start it again with another hash. Then each band's entries
 * are sorted into buckets.
 */
#include <stdlib.h>

#include "core/try.h"
#include "index/bands/bands_internal.h"

enum { AHEAD = 24, CHUNK = 256, ATTEMPTS = 3, PART_BUCKETS_MIN = 2048, PARTS_MAX = 1024 };

struct build {
    struct bands_shape shape;
    struct code_stream *stream;
    uint32_t words, bucket_entries;
    uint64_t seed;      /* of the hash; 0: take all signatures for distinct */
    uint64_t *codes;    /* a chunk of the stream */
    uint64_t *payloads; /* likewise */
    uint32_t *number;   /* of each record: its distinct signature */
    uint32_t *repeats;  /* of each distinct one: records; later: its place in the segment */
    struct segment *segment;
};

static enum doppel_status no_memory_for_bands(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to build a band table");
}

/* The next of the stream's records, never more than it has announced. */
static size_t read_chunk(struct build *build, uint64_t at)
{
    uint64_t left = build->shape.count - at;
    size_t max = left < CHUNK ? (size_t)left : CHUNK;
    return max ? build->stream->read(build->stream->context, build->codes, build->payloads, max)
               : 0;
}

static enum doppel_status ended_early(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "a stream of signatures ended before its announced count");
}

/* ---- first pass: number the distinct signatures ---- */

/* A slot holds the high half of a hash and 1 + the number of its signature. */
struct distinct {
    uint64_t *slots;
    uint64_t mask;
};

static bool make_distinct(struct distinct *table, uint64_t count)
{
    uint64_t slots = 2;
    while (slots < 2 * count)
        slots *= 2;
    table->mask = slots - 1;
    table->slots = calloc(slots, sizeof *table->slots);
    return table->slots;
}

/* The number of the signature with this hash; `next` when it is new. */
static uint32_t find_distinct(struct distinct *table, uint64_t hash, uint32_t next)
{
    for (uint64_t at = hash;; at++) {
        uint64_t *slot = &table->slots[at & table->mask];
        if (!*slot)
            *slot = (hash & ~0xffffffffull) | (next + 1ull);
        if (*slot >> 32 == hash >> 32)
            return (uint32_t)*slot - 1;
    }
}

static void number_chunk(struct build *build, struct distinct *table, uint64_t at, size_t n)
{
    uint64_t hashes[CHUNK];
    for (size_t i = 0; i < n && build->seed; i++) {
        hashes[i] = signature_hash(build->codes + i * build->words, build->words, build->seed);
        __builtin_prefetch(&table->slots[hashes[i] & table->mask]);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t next = build->shape.distinct;
        uint32_t number = build->seed ? find_distinct(table, hashes[i], next) : next;
        build->shape.distinct += number == next;
        build->repeats[number]++;
        build->number[at + i] = number;
        if (build->payloads[i] > UINT32_MAX)
            build->shape.payload_bytes = 8;
    }
}

static enum doppel_status number_signatures(struct build *build, struct doppel_error *error)
{
    struct distinct table = {0};
    uint64_t at = 0, count = build->shape.count;
    if (build->seed && !make_distinct(&table, count))
        return no_memory_for_bands(error);
    build->shape.distinct = 0;
    build->shape.payload_bytes = 4;
    memset(build->repeats, 0, count * sizeof *build->repeats);
    build->stream->rewind(build->stream->context);
    for (size_t n; (n = read_chunk(build, at)); at += n)
        number_chunk(build, &table, at, n);
    free(table.slots);
    return at < count ? ended_early(error) : DOPPEL_OK;
}

/* Turn the counts of the distinct signatures into their places, those with one record first. */
static uint32_t *place_signatures(struct build *build)
{
    uint32_t distinct = build->shape.distinct, singles = 0;
    for (uint32_t i = 0; i < distinct; i++)
        singles += build->repeats[i] == 1;
    build->shape.singles = singles;
    /* Where the next payload of each repeated signature goes. */
    uint32_t *next = malloc((distinct - singles + 1ull) * sizeof *next);
    if (!next)
        return NULL;
    uint32_t single = 0, repeated = singles, payload = singles;
    for (uint32_t i = 0; i < distinct; i++) {
        uint32_t records = build->repeats[i];
        if (records > 1) {
            next[repeated - singles] = payload;
            payload += records;
        }
        build->repeats[i] = records == 1 ? single++ : repeated++;
    }
    next[distinct - singles] = payload;
    return next;
}

/* ---- second pass: write signatures and payloads ---- */

static void write_payload(struct build *build, uint64_t record, uint64_t payload)
{
    const uint32_t bytes = build->shape.payload_bytes;
    memcpy(segment_fill(build->segment, BANDS_PAYLOADS) + record * bytes, &payload,
           bytes == 4 ? 4 : 8);
}

/* False at a collision. */
static bool write_record(struct build *build, uint32_t *next, uint64_t record, size_t i)
{
    uint32_t singles = build->shape.singles, place = build->repeats[build->number[record]];
    uint64_t *signature = (void *)segment_fill(build->segment, BANDS_SIGNATURES);
    const uint32_t *starts = (const void *)build->segment->parts[BANDS_STARTS];
    const uint64_t *code = build->codes + i * build->words;
    size_t bytes = build->words * sizeof *code;
    signature += (uint64_t)place * build->words;
    if (place < singles) {
        write_payload(build, place, build->payloads[i]);
        memcpy(signature, code, bytes);
        return true;
    }
    uint32_t to = next[place - singles]++;
    write_payload(build, to, build->payloads[i]);
    if (to > starts[place - singles])
        return !memcmp(signature, code, bytes);
    memcpy(signature, code, bytes);
    return true;
}

static enum doppel_status write_records(struct build *build, uint32_t *next, bool *out_collision,
                                        struct doppel_error *error)
{
    uint32_t repeated = build->shape.distinct - build->shape.singles;
    uint64_t at = 0;
    if (repeated)
        memcpy(segment_fill(build->segment, BANDS_STARTS), next, (repeated + 1ull) * sizeof *next);
    build->stream->rewind(build->stream->context);
    for (size_t n; (n = read_chunk(build, at)); at += n)
        for (size_t i = 0; i < n; i++)
            if (!write_record(build, next, at + i, i)) {
                *out_collision = true;
                return DOPPEL_OK;
            }
    return at < build->shape.count ? ended_early(error) : DOPPEL_OK;
}

/* ---- the bands ---- */

/* Entries with their buckets in the high half, in order of number; then by parts: runs of
 * neighbouring buckets, small enough to be sorted within the cache. */
struct band_sorting {
    uint64_t *keyed, *parted;
    uint32_t shift; /* bucket >> shift is its part */
    uint32_t part_start[PARTS_MAX + 1];
    uint32_t *bucket_start; /* of one part */
};

static void key_entries(const struct build *build, uint32_t band, struct band_sorting *sorting)
{
    const uint64_t *signature = (const void *)build->segment->parts[BANDS_SIGNATURES];
    const struct bands_shape *shape = &build->shape;
    uint32_t id_mask = bands_id_mask(shape->distinct), rows = shape->options.rows;
    memset(sorting->part_start, 0, sizeof sorting->part_start);
    for (uint32_t i = 0; i < shape->distinct; i++, signature += build->words) {
        __builtin_prefetch(band_lanes(signature + AHEAD * build->words, band, rows));
        uint64_t hash = band_hash(signature, band, rows);
        uint32_t bucket = band_bucket(hash, shape->buckets);
        sorting->keyed[i] = (uint64_t)bucket << 32 | ((uint32_t)hash & ~id_mask) | i;
        sorting->part_start[(bucket >> sorting->shift) + 1]++;
    }
    for (uint32_t i = 0; i < PARTS_MAX; i++)
        sorting->part_start[i + 1] += sorting->part_start[i];
}

static void part_entries(const struct build *build, struct band_sorting *sorting)
{
    uint32_t next[PARTS_MAX];
    memcpy(next, sorting->part_start, sizeof next);
    for (uint32_t i = 0; i < build->shape.distinct; i++)
        sorting->parted[next[sorting->keyed[i] >> 32 >> sorting->shift]++] = sorting->keyed[i];
}

/* Sort one part into its buckets, and note where they start. */
static void write_part_sorting(const struct band_sorting *sorting, uint32_t number,
                               uint32_t buckets, uint32_t *offsets, uint32_t *entries)
{
    uint32_t first = sorting->part_start[number], end = sorting->part_start[number + 1];
    uint32_t first_bucket = number << sorting->shift;
    uint32_t here = buckets - first_bucket < 1u << sorting->shift ? buckets - first_bucket
                                                                  : 1u << sorting->shift;
    uint32_t *start = sorting->bucket_start;
    memset(start, 0, here * sizeof *start);
    for (uint32_t i = first; i < end; i++)
        start[(sorting->parted[i] >> 32) - first_bucket]++;
    for (uint32_t i = 0, at = first; i < here; i++) {
        uint32_t count = start[i];
        offsets[first_bucket + i] = start[i] = at;
        at += count;
    }
    for (uint32_t i = first; i < end; i++)
        entries[start[(sorting->parted[i] >> 32) - first_bucket]++] = (uint32_t)sorting->parted[i];
}

static void write_band(const struct build *build, uint32_t band, struct band_sorting *sorting)
{
    const struct bands_shape *shape = &build->shape;
    uint32_t *offsets = (void *)segment_fill(build->segment, BANDS_OFFSETS);
    uint32_t *entries = (void *)segment_fill(build->segment, BANDS_ENTRIES);
    offsets += band * (shape->buckets + 1ull);
    entries += (uint64_t)band * shape->distinct;
    key_entries(build, band, sorting);
    part_entries(build, sorting);
    for (uint32_t number = 0; number <= (shape->buckets - 1) >> sorting->shift; number++)
        write_part_sorting(sorting, number, shape->buckets, offsets, entries);
    offsets[shape->buckets] = shape->distinct;
}

static enum doppel_status write_bands(const struct build *build, struct doppel_error *error)
{
    const struct bands_shape *shape = &build->shape;
    uint32_t part_buckets = PART_BUCKETS_MIN;
    while (shape->buckets / part_buckets >= PARTS_MAX)
        part_buckets *= 2;
    struct band_sorting sorting = {.shift = (uint32_t)__builtin_ctz(part_buckets)};
    sorting.keyed = malloc((shape->distinct + 1ull) * sizeof *sorting.keyed);
    sorting.parted = malloc((shape->distinct + 1ull) * sizeof *sorting.parted);
    sorting.bucket_start = malloc(part_buckets * sizeof *sorting.bucket_start);
    bool enough = sorting.keyed && sorting.parted && sorting.bucket_start;
    for (uint32_t band = 0; band < shape->options.bands && enough; band++)
        write_band(build, band, &sorting);
    free(sorting.keyed);
    free(sorting.parted);
    free(sorting.bucket_start);
    return enough ? DOPPEL_OK : no_memory_for_bands(error);
}

/* ---- all together ---- */

static enum doppel_status build_once(struct build *build, const struct segment_target *target,
                                     bool *out_collision, struct doppel_error *error)
{
    enum doppel_status status = number_signatures(build, error);
    if (status)
        return status;
    uint32_t *next = place_signatures(build);
    if (!next)
        return no_memory_for_bands(error);
    build->shape.buckets = build->shape.distinct / build->bucket_entries + 1;
    struct segment_plan plan = bands_plan(&build->shape);
    TRY(segment_create(&plan, target, &build->segment, error));
    TRY(write_records(build, next, out_collision, error));
    free(next);
    next = NULL;
    if (*out_collision)
        goto done;
    free(build->number);
    free(build->repeats);
    build->number = build->repeats = NULL;
    TRY(write_bands(build, error));
    if (!*out_collision)
        TRY(segment_seal(build->segment, error));
done:
    free(next);
    if (status || *out_collision) {
        segment_release(build->segment);
        build->segment = NULL;
    }
    return status;
}

static enum doppel_status build_table(struct build *build, const struct segment_target *target,
                                      struct doppel_error *error)
{
    bool collision = true;
    enum doppel_status status = DOPPEL_OK;
    for (unsigned attempt = 1; attempt <= ATTEMPTS && collision && !status; attempt++) {
        collision = false;
        build->seed = attempt < ATTEMPTS ? attempt : 0;
        status = build_once(build, target, &collision, error);
    }
    return status;
}

enum doppel_status bands_build(const struct bands_options *options, struct code_stream *stream,
                               const struct segment_target *target, struct segment **out,
                               struct doppel_error *error)
{
    enum doppel_status status = bands_options_check(options, error);
    if (status)
        return status;
    if (stream->count >= UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "a segment of a band table holds fewer than 2^32 - 1 signatures");
    struct build build = {.shape = {.options = *options, .count = stream->count},
                          .stream = stream,
                          .words = options->lanes / 4,
                          .bucket_entries =
                              target->path ? BANDS_BUCKET_ENTRIES_IN_FILE : BANDS_BUCKET_ENTRIES};
    build.codes = malloc(CHUNK * build.words * sizeof *build.codes);
    build.payloads = malloc(CHUNK * sizeof *build.payloads);
    build.number = malloc((stream->count + 1) * sizeof *build.number);
    build.repeats = malloc((stream->count + 1) * sizeof *build.repeats);
    if (build.codes && build.payloads && build.number && build.repeats)
        status = build_table(&build, target, error);
    else
        status = no_memory_for_bands(error);
    free(build.codes);
    free(build.payloads);
    free(build.number);
    free(build.repeats);
    if (!status)
        *out = build.segment;
    return status;
}
