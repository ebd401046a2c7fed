/* The portable form of a track: blocks of 4096 hops with a table, so that any can be read alone. */
#include <doppel/audio.h>

#include <stdlib.h>
#include <string.h>

#include "core/audio_tags.h"
#include "core/bytes.h"

/* version u16, whether there are faint peaks u16, peaks u32, duration u64, damaged u64, blocks u32,
 * bytes of the tags u32; the tags: artist, title and album, each with a NUL, or nothing at all;
 * then of each block where its bytes begin, u32, and the number of its first peak, u32; then the
 * blocks. */
enum {
    VERSION = 1,
    HEADER_BYTES = 32,
    ENTRY_BYTES = 8,
    BLOCK_STEPS = 4096 * DOPPEL_AUDIO_TIME_STEPS,
    STRONG = 0x8000, /* beside a frequency of 15 bits */
    FAINT = 1,       /* where there are any: the lowest bit beside a difference of times */
    LEAST_PEAK_BYTES = 3,
    TAGS = 3
};

void doppel_audio_track_free(struct doppel_audio_track *track)
{
    free(track->peaks);
    *track = (struct doppel_audio_track){0};
}

/* ---- writing ---- */

struct track_writer {
    uint8_t *table, *blocks; /* NULL: only count the bytes */
    size_t bytes;            /* of blocks */
    uint32_t peaks, block_count, time;
    bool faint; /* there are faint peaks */
};

static void begin_block(struct track_writer *writer)
{
    if (writer->table) {
        put_u32(writer->table + writer->block_count * ENTRY_BYTES, (uint32_t)writer->bytes);
        put_u32(writer->table + writer->block_count * ENTRY_BYTES + 4, writer->peaks);
    }
    writer->time = writer->block_count++ * (uint32_t)BLOCK_STEPS;
}

static void write_peak(struct track_writer *writer, const struct doppel_audio_peak *peak)
{
    while (writer->block_count <= peak->time / BLOCK_STEPS)
        begin_block(writer);
    uint32_t delta = peak->time - writer->time;
    if (writer->faint)
        delta = delta << FAINT | peak->faint;
    size_t size = 3; /* a byte of the difference, and the frequency */
    for (uint32_t rest = delta >> 7; rest; rest >>= 7)
        size++;
    if (writer->blocks) {
        uint8_t *out = writer->blocks + writer->bytes;
        for (; delta >= 0x80; delta >>= 7)
            *out++ = (uint8_t)(0x80 | delta);
        *out = (uint8_t)delta;
        put_u16(out + 1, (peak->frequency & (STRONG - 1u)) | (peak->strong ? STRONG : 0u));
    }
    writer->bytes += size;
    writer->time = peak->time;
    writer->peaks++;
}

static bool has_faint(const struct doppel_audio_track *track, bool strong_only)
{
    for (size_t i = 0; i < track->count && !strong_only; i++)
        if (track->peaks[i].faint)
            return true;
    return false;
}

static void write_peaks(struct track_writer *writer, const struct doppel_audio_track *track,
                        bool strong_only)
{
    writer->faint = has_faint(track, strong_only);
    for (size_t i = 0; i < track->count; i++)
        if (track->peaks[i].strong || !strong_only)
            write_peak(writer, &track->peaks[i]);
}

/* @param out NULL: only count the bytes */
static size_t write_tags(const struct doppel_audio_tags *tags, uint8_t *out)
{
    const char *const texts[TAGS] = {tags->artist, tags->title, tags->album};
    size_t bytes = 0;
    for (int i = 0; i < TAGS && !audio_tags_empty(tags); i++) {
        size_t size = strlen(texts[i]) + 1;
        if (out)
            memcpy(out + bytes, texts[i], size);
        bytes += size;
    }
    return bytes;
}

size_t doppel_audio_track_size(const struct doppel_audio_track *track, bool strong_only)
{
    struct track_writer writer = {0};
    write_peaks(&writer, track, strong_only);
    return HEADER_BYTES + write_tags(&track->tags, NULL) +
           (size_t)writer.block_count * ENTRY_BYTES + writer.bytes;
}

void doppel_audio_track_write(const struct doppel_audio_track *track, bool strong_only,
                              uint8_t *out)
{
    struct track_writer counted = {0};
    write_peaks(&counted, track, strong_only);
    put_u16(out, VERSION);
    put_u16(out + 2, counted.faint);
    put_u32(out + 4, counted.peaks);
    put_u64(out + 8, track->duration_ms);
    put_u64(out + 16, track->damaged_ms);
    put_u32(out + 24, counted.block_count);
    const size_t tags = write_tags(&track->tags, out + HEADER_BYTES);
    put_u32(out + 28, (uint32_t)tags);
    struct track_writer writer = {.table = out + HEADER_BYTES + tags};
    writer.blocks = writer.table + (size_t)counted.block_count * ENTRY_BYTES;
    write_peaks(&writer, track, strong_only);
}

/* ---- reading ---- */

struct track_reader {
    const uint8_t *table, *blocks;
    uint32_t block_count, peak_count;
    size_t block_bytes;
    bool faint, any_faint; /* there may be faint peaks; one was read */
};

/* Those that a writer would write, and no other bytes. @param out empty */
static bool parse_track_tags(const uint8_t *data, size_t size, struct doppel_audio_tags *out)
{
    char *const texts[TAGS] = {out->artist, out->title, out->album};
    size_t at = 0;
    for (int i = 0; i < TAGS && size; i++) {
        const char *text = (const char *)data + at;
        if (!memchr(text, '\0', size - at))
            return false;
        audio_tag_clean(text, texts[i]);
        if (strcmp(text, texts[i]) != 0)
            return false;
        at += strlen(text) + 1;
    }
    return at == size && (!size || !audio_tags_empty(out));
}

/* Nothing lasts longer than times can tell. @param out zero */
static bool parse_track_head(const uint8_t *data, size_t size, struct doppel_audio_track *out)
{
    if (size < HEADER_BYTES || get_u16(data) != VERSION || get_u16(data + 2) > FAINT ||
        doppel_audio_time((double)get_u64(data + 8) / 1000) > UINT32_MAX)
        return false;
    const uint32_t tags = get_u32(data + 28);
    out->duration_ms = get_u64(data + 8);
    out->damaged_ms = get_u64(data + 16);
    return tags <= DOPPEL_AUDIO_HEAD_BYTES - HEADER_BYTES && tags <= size - HEADER_BYTES &&
           parse_track_tags(data + HEADER_BYTES, tags, &out->tags);
}

/* @param out but for its peaks */
static bool open_track(const uint8_t *data, size_t size, struct track_reader *reader,
                       struct doppel_audio_track *out)
{
    if (!parse_track_head(data, size, out))
        return false;
    const uint32_t peaks = get_u32(data + 4), blocks = get_u32(data + 24);
    const uint8_t *table = data + HEADER_BYTES + get_u32(data + 28);
    size_t left = size - (size_t)(table - data);
    if (blocks > UINT32_MAX / BLOCK_STEPS + 1 || left / ENTRY_BYTES < blocks)
        return false;
    left -= (size_t)blocks * ENTRY_BYTES;
    if (left > UINT32_MAX || left / LEAST_PEAK_BYTES < peaks || (!blocks && left))
        return false;
    *reader = (struct track_reader){
        table, table + (size_t)blocks * ENTRY_BYTES, blocks, peaks, left, get_u16(data + 2), false};
    /* The last block has a peak: bytes that are read are those that would be written. */
    return !blocks || get_u32(reader->blocks - 4) < peaks;
}

/* Where the bytes of a block begin, and its first peak; behind the last block, where all end. */
static void block_start(const struct track_reader *reader, uint32_t block, size_t *byte,
                        uint32_t *peak)
{
    bool end = block == reader->block_count;
    *byte = end ? reader->block_bytes : get_u32(reader->table + (size_t)block * ENTRY_BYTES);
    *peak = end ? reader->peak_count : get_u32(reader->table + (size_t)block * ENTRY_BYTES + 4);
}

/* A block as its bytes and the number of its peaks. */
struct track_block {
    const uint8_t *next, *end;
    uint32_t time, peaks;
    bool faint;
};

static bool open_block(const struct track_reader *reader, uint32_t number, struct track_block *out)
{
    size_t from, to;
    uint32_t first, end;
    block_start(reader, number, &from, &first);
    block_start(reader, number + 1, &to, &end);
    if (from > to || to > reader->block_bytes || first > end || end > reader->peak_count ||
        (to - from) / LEAST_PEAK_BYTES < end - first || (number == 0 && (from || first)))
        return false;
    *out = (struct track_block){reader->blocks + from, reader->blocks + to,
                                number * (uint32_t)BLOCK_STEPS, end - first, reader->faint};
    return true;
}

/* The shortest form of a number below BLOCK_STEPS, or with a bit beside it. */
static bool read_delta(struct track_block *block, uint32_t *out)
{
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 21; shift += 7) {
        if (block->next == block->end)
            return false;
        uint8_t byte = *block->next++;
        value |= (byte & 0x7fu) << shift;
        if (byte < 0x80) {
            *out = value;
            return value >> block->faint < BLOCK_STEPS && (byte || !shift);
        }
    }
    return false;
}

/* The next peak of a block; `last` is the one before in it, or NULL. */
static bool read_peak(struct track_block *block, const struct doppel_audio_peak *last,
                      struct doppel_audio_peak *out)
{
    uint32_t delta;
    if (!read_delta(block, &delta) || block->end - block->next < 2)
        return false;
    uint16_t frequency = get_u16(block->next);
    block->next += 2;
    /* 64 bits: the last block ends where 32 do. */
    uint64_t time = (uint64_t)block->time + (delta >> block->faint);
    if (time / BLOCK_STEPS != block->time / BLOCK_STEPS)
        return false;
    *out = (struct doppel_audio_peak){(uint32_t)time, frequency & (STRONG - 1u), frequency & STRONG,
                                      block->faint && (delta & FAINT)};
    block->time = (uint32_t)time;
    if (out->strong && out->faint)
        return false;
    return !last || out->time > last->time || out->frequency >= last->frequency;
}

/* All peaks of a block, of which those in the range are kept. */
static bool read_block_reader(struct track_reader *reader, uint32_t number, uint32_t from,
                              uint64_t to, struct doppel_audio_track *track)
{
    struct track_block block;
    if (!open_block(reader, number, &block))
        return false;
    struct doppel_audio_peak last = {0};
    for (uint32_t i = 0; i < block.peaks; i++) {
        struct doppel_audio_peak peak;
        if (!read_peak(&block, i ? &last : NULL, &peak))
            return false;
        if (peak.time >= from && peak.time < to)
            track->peaks[track->count++] = peak;
        last = peak;
        reader->any_faint |= peak.faint;
    }
    return block.next == block.end;
}

/* Peaks from <= time < to, of blocks first..end-1. */
static enum doppel_status read_peaks(struct track_reader *reader, uint32_t from, uint64_t to,
                                     struct doppel_audio_track *out)
{
    uint32_t first = from / BLOCK_STEPS;
    uint64_t end = (to + BLOCK_STEPS - 1) / BLOCK_STEPS;
    if (end > reader->block_count)
        end = reader->block_count;
    if (first >= end)
        return DOPPEL_OK;
    size_t byte;
    uint32_t peaks_before, peaks;
    block_start(reader, first, &byte, &peaks_before);
    block_start(reader, (uint32_t)end, &byte, &peaks);
    for (uint32_t block = first; block < end; block++) { /* so there is room for those of each */
        struct track_block checked;
        if (!open_block(reader, block, &checked))
            return DOPPEL_E_CORRUPT;
    }
    out->peaks = malloc(((size_t)peaks - peaks_before + 1) * sizeof *out->peaks);
    if (!out->peaks)
        return DOPPEL_E_MEMORY;
    for (uint32_t block = first; block < end; block++)
        if (!read_block_reader(reader, block, from, to, out))
            return DOPPEL_E_CORRUPT;
    return DOPPEL_OK;
}

static enum doppel_status read_range(const uint8_t *data, size_t size, uint32_t from, uint64_t to,
                                     struct doppel_audio_track *out, struct doppel_error *error)
{
    struct track_reader reader;
    struct doppel_audio_track track = {0};
    enum doppel_status status = DOPPEL_E_CORRUPT;
    if (open_track(data, size, &reader, &track))
        status = read_peaks(&reader, from, to, &track);
    bool all = !from && to > UINT32_MAX; /* then there is one, where there may be any */
    if (!status && all && reader.faint && !reader.any_faint)
        status = DOPPEL_E_CORRUPT;
    if (status) {
        doppel_audio_track_free(&track);
        return doppel_fail(error, status,
                           status == DOPPEL_E_MEMORY ? "no memory for the peaks of %zu bytes"
                                                     : "peaks of %zu bytes are damaged",
                           size);
    }
    *out = track;
    return DOPPEL_OK;
}

enum doppel_status doppel_audio_track_read(const uint8_t *data, size_t size,
                                           struct doppel_audio_track *out,
                                           struct doppel_error *error)
{
    return read_range(data, size, 0, (uint64_t)UINT32_MAX + 1, out, error);
}

enum doppel_status doppel_audio_track_read_range(const uint8_t *data, size_t size, uint32_t from,
                                                 uint32_t to, struct doppel_audio_track *out,
                                                 struct doppel_error *error)
{
    return read_range(data, size, from, to, out, error);
}

enum doppel_status doppel_audio_track_head(const uint8_t *data, size_t size,
                                           struct doppel_audio_track *out,
                                           struct doppel_error *error)
{
    struct doppel_audio_track track = {0};
    if (!parse_track_head(data, size, &track))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "these %zu bytes are not those of peaks", size);
    *out = track;
    return DOPPEL_OK;
}
