/* A segment in memory. Files: to come. */
#include "index/segment.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 4096 };

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 64 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

struct segment_file {
    uint8_t *base;
    uint64_t bytes;
    _Atomic uint64_t references;
};

enum doppel_status segment_create(const struct segment_plan *plan,
                                  const struct segment_target *target, struct segment **out,
                                  struct doppel_error *error)
{
    if (target->path)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "segments are not written to files yet");
    struct segment *segment = calloc(1, sizeof *segment);
    struct segment_file *file = calloc(1, sizeof *file);
    if (!segment || !file)
        goto no_memory;
    for (unsigned i = 0; i < SEGMENT_PARTS_MAX; i++)
        file->bytes += rounded(plan->part_bytes[i]);
    file->base = aligned_alloc(ALIGNMENT, file->bytes);
    if (!file->base)
        goto no_memory;
    memset(file->base, 0, file->bytes);
    segment->plan = *plan;
    segment->file = file;
    atomic_init(&file->references, 1);
    uint8_t *at = file->base;
    for (unsigned i = 0; i < SEGMENT_PARTS_MAX; at += rounded(plan->part_bytes[i++]))
        segment->parts[i] = at;
    *out = segment;
    return DOPPEL_OK;
no_memory:
    free(segment);
    free(file);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a segment of the index");
}

uint8_t *segment_fill(struct segment *segment, unsigned part)
{
    return segment->file->base + (segment->parts[part] - segment->file->base);
}

enum doppel_status segment_seal(struct segment *segment, struct doppel_error *error)
{
    (void)segment;
    (void)error;
    return DOPPEL_OK;
}

struct segment *segment_retain(struct segment *segment)
{
    atomic_fetch_add(&segment->file->references, 1);
    return segment;
}

void segment_release(struct segment *segment)
{
    if (!segment || atomic_fetch_sub(&segment->file->references, 1) > 1)
        return;
    free(segment->file->base);
    free(segment->file);
    free(segment);
}

uint64_t segment_bytes(const struct segment *segment)
{
    return segment->file->bytes;
}

bool segment_check(const struct segment *segment, const void *at, size_t bytes)
{
    (void)segment;
    (void)at;
    (void)bytes;
    return true;
}

enum doppel_status segment_damage(const struct segment *segment, struct doppel_error *error)
{
    (void)segment;
    (void)error;
    return DOPPEL_OK;
}
