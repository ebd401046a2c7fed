/* What the files that make segments share: how a segment lies in its memory or file. */
#ifndef DOPPEL_INDEX_SEGMENT_SEGMENT_INTERNAL_H
#define DOPPEL_INDEX_SEGMENT_SEGMENT_INTERNAL_H

#include "index/fault.h"
#include "index/segment/segment.h"

/*
 * Header (one page), parts, removed payloads, checksums; each at a multiple of 4096, followed by at
 * least 64 bytes. All numbers are little-endian. Block b of the checksums is a page (of version 1:
 * 64 KiB), without the header, up to the next block or the checksums; behind these lies a checksum
 * of each page of them (not before version 3). So a process that asks one question checks the pages
 * that it touches, and an open reads next to nothing. A segment in memory is laid out alike,
 * without checksums.
 */
enum {
    SEGMENT_ALIGNMENT = 4096,
    SEGMENT_HEADER = 4096,
    SEGMENT_BLOCK_SHIFT = 12,     /* a block has so many bytes: 2 to the power of it */
    SEGMENT_OLD_BLOCK_SHIFT = 16, /* of version 1 */
    SEGMENT_TAIL = 64,
    SEGMENT_OLD_VERSION = 1,
    SEGMENT_SECOND_VERSION = 3, /* since when the checksums have checksums */
    SEGMENT_VERSION = 3
};

/* Offsets in the header. */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_TABLE = 12,
    AT_BYTES = 16,    /* of the file */
    AT_REMOVED = 24,  /* payloads */
    AT_SUMS_SUM = 32, /* checksum of the checksums of the checksums; before, of these */
    AT_PARAMETERS = 64,
    AT_PARTS = AT_PARAMETERS + 8 * SEGMENT_PARAMETERS,
    AT_HEADER_SUM = SEGMENT_HEADER - 8 /* of all before it */
};

#define SEGMENT_MAGIC "doppelIX"

struct segment_layout {
    uint64_t parts[SEGMENT_PARTS_MAX], removed, sums;
    uint64_t second; /* checksums of the pages of the checksums; where there are none, `sums` */
    uint64_t end;
    uint64_t blocks; /* 0 in memory */
    uint32_t block_shift;
};

/** False when the sizes do not fit into memory. @param version of a file; 0: in memory */
bool segment_layout(const struct segment_plan *plan, uint64_t removed_count, uint32_t version,
                    struct segment_layout *out);

struct segment_file {
    uint8_t *base;
    struct segment_layout layout;
    uint64_t removed_count;
    char *path, *temporary; /* NULL: in memory; NULL: sealed */
    int fd;                 /* until sealed */
    bool durable;
    struct fault_watch *watch;                          /* of a mapped file */
    _Atomic uint64_t *checked;                          /* a bit a block; NULL: all are good */
    _Atomic uint64_t *second_checked;                   /* a bit a page of checksums */
    _Atomic uint64_t checked_before[SEGMENT_PARTS_MAX]; /* of a part, blocks; 0: none known */
    _Atomic bool damaged;
    _Atomic uint64_t references;
};

/** How many pages checksums take, if these have checksums. */
static inline uint64_t sums_pages(const struct segment_layout *layout)
{
    return (layout->second - layout->sums) / SEGMENT_ALIGNMENT;
}

/** The block in which a byte of the file lies. */
static inline uint64_t segment_block_of(const struct segment_file *file, uint64_t offset)
{
    return offset >> file->layout.block_shift;
}

/** Of what is mapped. */
void segment_want_large_pages(void *base, uint64_t bytes);

/** Point the parts into the mapped layout. */
void segment_place(struct segment *segment);

/** The bytes of a page of checksums, and how many. */
const uint8_t *segment_sums_page(const struct segment_file *file, uint64_t page, size_t *out_bytes);

/** The bytes of a block, and how many. */
const uint8_t *segment_block(const struct segment_file *file, uint64_t block, size_t *out_bytes);

#endif
