/* The portable form of a track, in sections: times and cells as zstd compresses them, codes as they
 * are (they hardly can be compressed, and many are read to judge few videos). */
#include <doppel/video.h>

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "core/bytes.h"
#include "core/try.h"
#include "video/video_internal.h"

/* version u16, flags u8, rectangles u8, runs u32, width u32, height u32, sampled u32, bytes of the
 * times u32, of the codes u32, of the cells u32, duration u64, damaged u64, bytes of the audio u64,
 * boxes: the picture's and of each rectangle 4 floats; then times, codes, cells, audio. */
enum {
    VERSION = 2,
    BOX_BYTES = 16,
    HEADER_BYTES = 32 + 24 + (1 + DOPPEL_VIDEO_RECTANGLES) * BOX_BYTES, /* the head */
    KEYFRAMES_ONLY = 1,
    HAS_CELLS = 2,
    HAS_MIDDLE = 4,
    HAS_WHOLE = 8,
    FLAGS = KEYFRAMES_ONLY | HAS_CELLS | HAS_MIDDLE | HAS_WHOLE,
    TIMES_MAX_BYTES = 5 + 5,
    TIMES_MIN_BYTES = 1 + 1,
    CODE_BYTES = 32,
    LEVEL = 5
};

/* ---- writing ---- */

static uint8_t *put_varint(uint8_t *out, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        *out++ = (uint8_t)(0x80 | (value & 0x7f));
    *out++ = (uint8_t)value;
    return out;
}

static void put_box(uint8_t *out, const struct doppel_video_box *box)
{
    const float edges[4] = {box->left, box->top, box->right, box->bottom};
    for (unsigned i = 0; i < 4; i++)
        put_f32(out + i * 4, edges[i]);
}

/* A section: what `raw` holds, compressed. */
struct section {
    uint8_t *bytes; /* NULL: empty */
    size_t size;
};

static bool compress_track(const uint8_t *raw, size_t size, struct section *out)
{
    size_t room = ZSTD_compressBound(size);
    uint8_t *bytes = malloc(room);
    size_t packed = bytes ? ZSTD_compress(bytes, room, raw, size, LEVEL) : 0;
    if (!bytes || ZSTD_isError(packed)) {
        free(bytes);
        return false;
    }
    *out = (struct section){bytes, packed};
    return true;
}

/* From run to run: when it begins after the one before, and how long it is. */
static bool compress_times(const struct doppel_video_track *track, struct section *out)
{
    uint8_t *raw = malloc(track->count * TIMES_MAX_BYTES + 1), *end = raw;
    if (!raw)
        return false;
    uint32_t last_ms = 0;
    for (size_t i = 0; i < track->count; i++) {
        const struct doppel_video_frame *frame = &track->frames[i];
        end = put_varint(end, frame->start_ms - last_ms);
        end = put_varint(end, frame->end_ms - frame->start_ms);
        last_ms = frame->start_ms;
    }
    bool done = compress_track(raw, (size_t)(end - raw), out);
    free(raw);
    return done;
}

static void put_video_code(uint8_t *out, const struct doppel_code *code)
{
    for (unsigned word = 0; word < 4; word++)
        put_u64(out + word * 8, code->word[word]);
}

/* Codes of middles are kept of every run beside cells, of a query; else of one a second. Codes of
 * frames with their bars are kept of every run. */
struct part_walk {
    const struct doppel_video_track *track;
    bool every;
    uint64_t next_ms;
};

static bool has_kept_middle(struct part_walk *walk, size_t run)
{
    const uint32_t start_ms = walk->track->frames[run].start_ms;
    if (!walk->track->has_middle || (!walk->every && start_ms < walk->next_ms))
        return false;
    walk->next_ms = (uint64_t)start_ms + DOPPEL_VIDEO_MIDDLE_MS;
    return true;
}

static size_t kept_parts(const struct doppel_video_track *track, bool every)
{
    struct part_walk walk = {.track = track, .every = every};
    size_t count = track->has_whole ? track->count : 0;
    for (size_t i = 0; i < track->count; i++)
        count += has_kept_middle(&walk, i);
    return count;
}

/* Of the frames, then of each its middle and what it is with its bars. */
static bool write_codes(const struct doppel_video_track *track, bool cells, struct section *out)
{
    struct part_walk walk = {.track = track, .every = cells};
    out->size = (track->count + kept_parts(track, cells)) * CODE_BYTES;
    out->bytes = malloc(out->size + 1);
    uint8_t *next = out->bytes ? out->bytes + track->count * CODE_BYTES : NULL;
    for (size_t i = 0; out->bytes && i < track->count; i++) {
        put_video_code(out->bytes + i * CODE_BYTES, &track->frames[i].code);
        if (has_kept_middle(&walk, i)) {
            put_video_code(next, &track->frames[i].middle);
            next += CODE_BYTES;
        }
        if (track->has_whole) {
            put_video_code(next, &track->frames[i].whole);
            next += CODE_BYTES;
        }
    }
    return out->bytes;
}

/* Cells of the frames, then of each rectangle. */
static bool compress_cells(const struct doppel_video_track *track, struct section *out)
{
    size_t one = track->count * DOPPEL_VIDEO_CELL_BYTES;
    uint8_t *raw = malloc(one * (1 + track->rectangle_count) + 1);
    if (!raw)
        return false;
    memcpy(raw, track->cells, one);
    for (size_t i = 0; i < track->rectangle_count; i++)
        memcpy(raw + one * (i + 1), track->rectangle_cells[i], one);
    bool done = compress_track(raw, one * (1 + track->rectangle_count), out);
    free(raw);
    return done;
}

/* What follows the header, in order; what is not there is empty. */
enum { TIMES, CODES, CELLS, AUDIO, SECTIONS };

static void put_header(const struct doppel_video_track *track, const struct section *sections,
                       uint8_t *out)
{
    const bool cells = sections[CELLS].size;
    const size_t rectangles = cells ? track->rectangle_count : 0;
    put_u16(out, VERSION);
    out[2] = (uint8_t)((track->keyframes_only ? KEYFRAMES_ONLY : 0) | (cells ? HAS_CELLS : 0) |
                       (track->has_middle ? HAS_MIDDLE : 0) | (track->has_whole ? HAS_WHOLE : 0));
    out[3] = (uint8_t)rectangles;
    put_u32(out + 4, (uint32_t)track->count);
    put_u32(out + 8, track->width);
    put_u32(out + 12, track->height);
    put_u32(out + 16, track->sampled);
    for (unsigned i = TIMES; i <= CELLS; i++)
        put_u32(out + 20 + i * 4, (uint32_t)sections[i].size);
    put_u64(out + 32, track->duration_ms);
    put_u64(out + 40, track->damaged_ms);
    put_u64(out + 48, sections[AUDIO].size);
    put_box(out + 56, &track->box);
    for (size_t i = 0; i < rectangles; i++)
        put_box(out + 56 + (i + 1) * BOX_BYTES, &track->rectangles[i]);
}

static uint8_t *join_video_track(const struct doppel_video_track *track,
                                 const struct section *sections, size_t *out_size)
{
    size_t size = HEADER_BYTES;
    for (unsigned i = 0; i < SECTIONS; i++)
        size += sections[i].size;
    uint8_t *out = calloc(1, size);
    if (!out)
        return NULL;
    uint8_t *next = out + HEADER_BYTES;
    put_header(track, sections, out);
    for (unsigned i = 0; i < SECTIONS; next += sections[i++].size)
        if (sections[i].size)
            memcpy(next, sections[i].bytes, sections[i].size);
    *out_size = size;
    return out;
}

enum doppel_status doppel_video_track_write(const struct doppel_video_track *track,
                                            enum doppel_video_parts parts, uint8_t **out,
                                            size_t *out_size, struct doppel_error *error)
{
    struct section sections[SECTIONS] = {0};
    uint8_t *bytes = NULL;
    if (track->audio)
        sections[AUDIO] = (struct section){track->audio, track->audio_size};
    const bool cells = parts == DOPPEL_VIDEO_ALL && track->cells && track->count;
    bool done =
        compress_times(track, &sections[TIMES]) && write_codes(track, cells, &sections[CODES]);
    if (done && cells)
        done = compress_cells(track, &sections[CELLS]);
    if (done)
        bytes = join_video_track(track, sections, out_size);
    for (unsigned i = TIMES; i <= CELLS; i++)
        free(sections[i].bytes);
    if (!bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to write %zu frames", track->count);
    *out = bytes;
    return DOPPEL_OK;
}

/* ---- reading ---- */

struct portable_reader {
    const uint8_t *bytes[SECTIONS];
    size_t sizes[SECTIONS], count, rectangles;
    bool cells;
};

static bool get_box(const uint8_t *in, struct doppel_video_box *out)
{
    float edges[4];
    for (unsigned i = 0; i < 4; i++)
        edges[i] = get_f32(in + i * 4);
    *out = (struct doppel_video_box){edges[0], edges[1], edges[2], edges[3]};
    return edges[0] >= 0 && edges[1] >= 0 && edges[2] <= 1 && edges[3] <= 1 &&
           edges[0] <= edges[2] && edges[1] <= edges[3];
}

static bool read_packed_numbers(const uint8_t *data, size_t size, struct doppel_video_track *track)
{
    if (size < HEADER_BYTES || get_u16(data) != VERSION || data[2] & ~FLAGS ||
        data[3] > DOPPEL_VIDEO_RECTANGLES)
        return false;
    track->keyframes_only = data[2] & KEYFRAMES_ONLY;
    track->has_middle = data[2] & HAS_MIDDLE;
    track->has_whole = data[2] & HAS_WHOLE;
    track->width = get_u32(data + 8);
    track->height = get_u32(data + 12);
    track->sampled = get_u32(data + 16);
    track->duration_ms = get_u64(data + 32);
    track->damaged_ms = get_u64(data + 40);
    return get_box(data + 56, &track->box);
}

static bool find_sections(const uint8_t *data, size_t size, struct portable_reader *reader)
{
    uint64_t sizes[SECTIONS], sum = HEADER_BYTES;
    for (unsigned i = TIMES; i <= CELLS; i++)
        sizes[i] = get_u32(data + 20 + i * 4);
    sizes[AUDIO] = get_u64(data + 48);
    if (sizes[AUDIO] > size)
        return false;
    for (unsigned i = 0; i < SECTIONS; i++)
        sum += sizes[i];
    if (sum != size)
        return false;
    const uint8_t *next = data + HEADER_BYTES;
    for (unsigned i = 0; i < SECTIONS; next += reader->sizes[i++]) {
        reader->sizes[i] = (size_t)sizes[i];
        reader->bytes[i] = next;
    }
    return true;
}

static bool read_rectangles(const uint8_t *data, size_t count, struct doppel_video_track *track)
{
    for (size_t i = 0; i < count; i++)
        if (!get_box(data + 56 + (i + 1) * BOX_BYTES, &track->rectangles[i]))
            return false;
    for (size_t i = 56 + (count + 1) * BOX_BYTES; i < HEADER_BYTES; i++)
        if (data[i])
            return false;
    return true;
}

static bool read_portable_header(const uint8_t *data, size_t size, struct portable_reader *reader,
                                 struct doppel_video_track *track)
{
    if (!read_packed_numbers(data, size, track) || !find_sections(data, size, reader))
        return false;
    const bool cells = data[2] & HAS_CELLS;
    reader->count = get_u32(data + 4);
    reader->rectangles = data[3];
    reader->cells = cells;
    if (reader->count > RUNS_MAX || reader->sizes[CODES] < reader->count * CODE_BYTES ||
        cells != (reader->sizes[CELLS] > 0) ||
        (cells && (!reader->count || reader->count > RUNS_MAX_WITH_CELLS)) ||
        (reader->rectangles && (!cells || reader->count > RUNS_MAX_WITH_RECTANGLES)))
        return false;
    return read_rectangles(data, reader->rectangles, track);
}

enum doppel_status doppel_video_track_head(const uint8_t *data, size_t size,
                                           struct doppel_video_track *out,
                                           struct doppel_error *error)
{
    struct doppel_video_track track = {0};
    if (!read_packed_numbers(data, size, &track))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "these %zu bytes are not those of a video",
                           size);
    *out = track;
    return DOPPEL_OK;
}

/* @param least, most sizes that the section may have. @param out given (free) */
static enum doppel_status expand(const uint8_t *packed, size_t size, size_t least, size_t most,
                                 struct section *out)
{
    unsigned long long raw_size = ZSTD_getFrameContentSize(packed, size);
    if (raw_size == ZSTD_CONTENTSIZE_UNKNOWN || raw_size == ZSTD_CONTENTSIZE_ERROR ||
        raw_size < least || raw_size > most)
        return DOPPEL_E_CORRUPT;
    uint8_t *raw = malloc((size_t)raw_size + 1);
    if (!raw)
        return DOPPEL_E_MEMORY;
    if (ZSTD_decompress(raw, (size_t)raw_size, packed, size) != raw_size) {
        free(raw);
        return DOPPEL_E_CORRUPT;
    }
    *out = (struct section){raw, (size_t)raw_size};
    return DOPPEL_OK;
}

/* A number in its shortest form; NULL: none is there. */
static const uint8_t *get_varint(const uint8_t *in, const uint8_t *end, uint32_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 35 && in < end; shift += 7) {
        uint8_t byte = *in++;
        value |= (uint64_t)(byte & 0x7fu) << shift;
        if (byte < 0x80) {
            *out = (uint32_t)value;
            return value <= UINT32_MAX && (byte || !shift) ? in : NULL;
        }
    }
    return NULL;
}

static bool parse_times(const struct section *raw, struct doppel_video_track *track)
{
    const uint8_t *next = raw->bytes, *end = raw->bytes + raw->size;
    uint32_t start = 0, delta, length;
    for (size_t i = 0; i < track->count; i++) {
        next = get_varint(next, end, &delta);
        next = next ? get_varint(next, end, &length) : NULL;
        if (!next || delta > UINT32_MAX - start || length > UINT32_MAX - start - delta)
            return false;
        start += delta;
        track->frames[i].start_ms = start;
        track->frames[i].end_ms = start + length;
    }
    return next == end;
}

static struct doppel_code get_video_code(const uint8_t *in)
{
    struct doppel_code code;
    for (unsigned word = 0; word < 4; word++)
        code.word[word] = get_u64(in + word * 8);
    return code;
}

/* @return false: there are more or fewer of them */
static bool read_portable_codes(const struct portable_reader *reader,
                                struct doppel_video_track *track)
{
    struct part_walk walk = {.track = track, .every = reader->cells};
    const uint8_t *in = reader->bytes[CODES], *next = in + track->count * CODE_BYTES;
    if (reader->sizes[CODES] != (track->count + kept_parts(track, reader->cells)) * CODE_BYTES)
        return false;
    for (size_t i = 0; i < track->count; i++) {
        struct doppel_video_frame *frame = &track->frames[i];
        frame->code = get_video_code(in + i * CODE_BYTES);
        frame->middle = frame->whole = (struct doppel_code){{0}};
        if (has_kept_middle(&walk, i)) {
            frame->middle = get_video_code(next);
            next += CODE_BYTES;
        }
        if (track->has_whole) {
            frame->whole = get_video_code(next);
            next += CODE_BYTES;
        }
    }
    return true;
}

static enum doppel_status read_runs(const struct portable_reader *reader,
                                    struct doppel_video_track *track)
{
    struct section raw;
    enum doppel_status status =
        expand(reader->bytes[TIMES], reader->sizes[TIMES], reader->count * TIMES_MIN_BYTES,
               reader->count * TIMES_MAX_BYTES, &raw);
    if (status)
        return status;
    track->frames = malloc((reader->count + 1) * sizeof *track->frames);
    track->count = reader->count;
    if (!track->frames)
        status = DOPPEL_E_MEMORY;
    else if (!parse_times(&raw, track) || !read_portable_codes(reader, track))
        status = DOPPEL_E_CORRUPT;
    free(raw.bytes);
    return status;
}

static enum doppel_status read_cells(const struct portable_reader *reader,
                                     struct doppel_video_track *track)
{
    size_t one = reader->count * DOPPEL_VIDEO_CELL_BYTES;
    struct section raw;
    enum doppel_status status =
        expand(reader->bytes[CELLS], reader->sizes[CELLS], one * (1 + reader->rectangles),
               one * (1 + reader->rectangles), &raw);
    if (status)
        return status;
    for (size_t i = 0; i <= reader->rectangles && !status; i++) {
        uint8_t *cells = malloc(one);
        if (!cells)
            status = DOPPEL_E_MEMORY;
        else
            memcpy(cells, raw.bytes + i * one, one);
        if (i)
            track->rectangle_cells[i - 1] = cells;
        else
            track->cells = cells;
    }
    track->rectangle_count = reader->rectangles;
    free(raw.bytes);
    return status;
}

static enum doppel_status read_audio_reader(const struct portable_reader *reader,
                                            struct doppel_video_track *track)
{
    if (!reader->sizes[AUDIO])
        return DOPPEL_OK;
    track->audio = malloc(reader->sizes[AUDIO]);
    if (!track->audio)
        return DOPPEL_E_MEMORY;
    memcpy(track->audio, reader->bytes[AUDIO], reader->sizes[AUDIO]);
    track->audio_size = reader->sizes[AUDIO];
    return DOPPEL_OK;
}

enum doppel_status doppel_video_track_read(const uint8_t *data, size_t size,
                                           enum doppel_video_parts parts,
                                           struct doppel_video_track *out,
                                           struct doppel_error *error)
{
    struct portable_reader reader;
    struct doppel_video_track track = {0};
    enum doppel_status status = DOPPEL_E_CORRUPT;
    if (!read_portable_header(data, size, &reader, &track))
        goto done;
    TRY(read_runs(&reader, &track));
    if (parts == DOPPEL_VIDEO_ALL && reader.sizes[CELLS])
        TRY(read_cells(&reader, &track));
    TRY(read_audio_reader(&reader, &track));
    if (parts == DOPPEL_VIDEO_CODES) {
        track.rectangle_count = 0;
        memset(track.rectangles, 0, sizeof track.rectangles);
    }
    *out = track;
    return DOPPEL_OK;
done:
    doppel_video_track_free(&track);
    return doppel_fail(error, status,
                       status == DOPPEL_E_MEMORY ? "no memory for the frames of %zu bytes"
                                                 : "frames of %zu bytes are damaged",
                       size);
}
