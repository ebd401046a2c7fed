/* The log (…-wal) beside a damaged database: which pages it has, up to its last whole commit. */
#include "library/salvage/pages.h"

#include <stdlib.h>

#include "core/files/read_at.h"

enum {
    HEADER_BYTES = 32,
    SUMMED_BYTES = 24, /* of the header */
    FRAME_BYTES = 24,
    SUMMED_FRAME_BYTES = 8,
    MAX_PAGE = 65536,
    LITTLE_ENDIAN_SUMS = 0x377f0682,
    BIG_ENDIAN_SUMS = 0x377f0683
};

struct log {
    int file;
    bool big_endian;
    uint32_t page_size;
    uint64_t salts;
    uint32_t sum[2];
    uint8_t *bytes; /* a frame */
};

static uint32_t word(const struct log *log, const uint8_t *in)
{
    return log->big_endian ? big_u32(in) : get_u32(in);
}

static void add_to_sum(struct log *log, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        log->sum[0] += word(log, bytes + i) + log->sum[1];
        log->sum[1] += word(log, bytes + i + 4) + log->sum[0];
    }
}

static bool sum_is(const struct log *log, const uint8_t *bytes)
{
    return big_u32(bytes) == log->sum[0] && big_u32(bytes + 4) == log->sum[1];
}

static bool read_header(struct log *log)
{
    uint8_t bytes[HEADER_BYTES];
    if (log->file < 0 || read_at(log->file, bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    uint32_t magic = big_u32(bytes);
    log->big_endian = magic == BIG_ENDIAN_SUMS;
    log->page_size = big_u32(bytes + 8);
    log->salts = big_u64(bytes + 16);
    add_to_sum(log, bytes, SUMMED_BYTES);
    return (magic == LITTLE_ENDIAN_SUMS || magic == BIG_ENDIAN_SUMS) && sum_is(log, bytes + 24) &&
           log->page_size >= 512 && log->page_size <= MAX_PAGE &&
           !(log->page_size & (log->page_size - 1));
}

static uint64_t place_of(const struct pages *pages, uint32_t frame)
{
    return HEADER_BYTES + frame * (FRAME_BYTES + (uint64_t)pages->size);
}

/* @param out_count pages of the database after a commit; 0: this ends none */
static bool read_frame(struct log *log, const struct pages *pages, uint32_t frame,
                       uint32_t *out_page, uint32_t *out_count)
{
    size_t size = FRAME_BYTES + (size_t)pages->size;
    if (read_at(log->file, log->bytes, size, place_of(pages, frame)) != (ssize_t)size ||
        big_u64(log->bytes + 8) != log->salts)
        return false;
    add_to_sum(log, log->bytes, SUMMED_FRAME_BYTES);
    add_to_sum(log, log->bytes + FRAME_BYTES, pages->size);
    *out_page = big_u32(log->bytes);
    *out_count = big_u32(log->bytes + 4);
    return sum_is(log, log->bytes + 16) && *out_page > 0;
}

/* @return how many frames there are up to the end of the last commit */
static uint32_t find_commit(struct log *log, const struct pages *pages, uint32_t *out_count)
{
    uint32_t committed = 0, page, count;
    for (uint32_t frame = 0; frame < INT32_MAX && read_frame(log, pages, frame, &page, &count);
         frame++)
        if (count) {
            committed = frame + 1;
            *out_count = count;
        }
    return committed;
}

static bool map_frames(struct pages *pages, uint32_t frames)
{
    pages->frames = calloc((size_t)pages->count + 1, sizeof *pages->frames);
    for (uint32_t frame = 0; pages->frames && frame < frames; frame++) {
        uint8_t number[4];
        if (read_at(pages->log, number, sizeof number, place_of(pages, frame)) ==
                (ssize_t)sizeof number &&
            big_u32(number) <= pages->count)
            pages->frames[big_u32(number)] = frame + 1;
    }
    return pages->frames;
}

bool pages_read_log(struct pages *pages)
{
    struct log log = {.file = pages->log};
    if (!read_header(&log))
        return true;
    uint32_t count = 0;
    struct pages sized = *pages;
    sized.size = log.page_size;
    log.bytes = malloc(FRAME_BYTES + (size_t)log.page_size);
    if (!log.bytes)
        return false;
    uint32_t frames = find_commit(&log, &sized, &count);
    free(log.bytes);
    if (!frames || count > INT32_MAX)
        return true;
    pages->size = log.page_size;
    pages->count = count < pages->count + frames ? count : pages->count + frames;
    return map_frames(pages, frames);
}

bool pages_read(const struct pages *pages, uint32_t number, uint8_t *out)
{
    if (number == 0 || number > pages->count)
        return false;
    uint32_t frame = pages->frames ? pages->frames[number] : 0;
    ssize_t size =
        frame ? read_at(pages->log, out, pages->size, place_of(pages, frame - 1) + FRAME_BYTES)
              : read_at(pages->file, out, pages->size, (uint64_t)pages->size * (number - 1));
    return size == (ssize_t)pages->size;
}
