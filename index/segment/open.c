/* Segment files as they are read: every size checked at open, every block at its first touch. */
#include "index/segment/segment_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/digest.h"
#include "core/files/read_at.h"
#include "core/try.h"

/* ---- opening ---- */

static enum doppel_status read_segment_header(int fd, const char *path,
                                              uint8_t header[SEGMENT_HEADER], uint64_t *out_bytes,
                                              struct doppel_error *error)
{
    struct stat about;
    if (fstat(fd, &about))
        return doppel_fail(error, DOPPEL_E_IO, "cannot read the index file %s: %s", path,
                           strerror(errno));
    if (!S_ISREG(about.st_mode))
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s is not an index file", path);
    ssize_t got = read_at(fd, header, SEGMENT_HEADER, 0);
    if (got < 0)
        return doppel_fail(error, DOPPEL_E_IO, "cannot read the index file %s: %s", path,
                           strerror(errno));
    if (got < SEGMENT_HEADER)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the index file %s is cut short", path);
    *out_bytes = (uint64_t)about.st_size;
    return DOPPEL_OK;
}

static enum doppel_status check_header(const uint8_t header[SEGMENT_HEADER], const char *path,
                                       struct doppel_error *error)
{
    if (memcmp(header + AT_MAGIC, SEGMENT_MAGIC, 8) != 0)
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s is not an index file", path);
    if (checksum64(header, AT_HEADER_SUM) != get_u64(header + AT_HEADER_SUM))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the header of the index file %s is damaged",
                           path);
    const uint32_t version = get_u32(header + AT_VERSION);
    if (version < SEGMENT_OLD_VERSION || version > SEGMENT_VERSION)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "the index file %s has version %u, this program reads %d: rebuild it",
                           path, version, SEGMENT_VERSION);
    return DOPPEL_OK;
}

/* What the header says, as far as the file has the size for it. */
static enum doppel_status take_header(const uint8_t header[SEGMENT_HEADER], uint64_t file_bytes,
                                      const char *path, struct segment *segment,
                                      struct doppel_error *error)
{
    struct segment_file *file = segment->file;
    segment->plan.table = get_u32(header + AT_TABLE);
    for (unsigned i = 0; i < SEGMENT_PARAMETERS; i++)
        segment->plan.parameters[i] = get_u64(header + AT_PARAMETERS + 8 * i);
    for (unsigned i = 0; i < SEGMENT_PARTS_MAX; i++)
        segment->plan.part_bytes[i] = get_u64(header + AT_PARTS + 8 * i);
    file->removed_count = get_u64(header + AT_REMOVED);
    if (!segment_layout(&segment->plan, file->removed_count, get_u32(header + AT_VERSION),
                        &file->layout) ||
        file->layout.end != get_u64(header + AT_BYTES))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the sizes in the index file %s are wrong",
                           path);
    if (file_bytes != file->layout.end)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "the index file %s is cut short: %llu bytes instead of %llu", path,
                           (unsigned long long)file_bytes, (unsigned long long)file->layout.end);
    return DOPPEL_OK;
}

/* Pages that nobody will touch: the header's, and what lies behind a part whose last page is full.
 * Once all others are checked, no touch looks any more. */
static void pass_over_padding(struct segment *segment)
{
    const struct segment_layout *layout = &segment->file->layout;
    uint64_t page = 0, passed = 0;
    if (layout->block_shift != SEGMENT_BLOCK_SHIFT)
        return;
    for (unsigned i = 0; i <= SEGMENT_PARTS_MAX; i++) {
        bool part = i < SEGMENT_PARTS_MAX;
        uint64_t at = part ? layout->parts[i] : layout->removed;
        uint64_t bytes =
            part ? segment->plan.part_bytes[i] : segment->file->removed_count * sizeof(uint64_t);
        for (; page < at / SEGMENT_ALIGNMENT; page++, passed++)
            atomic_fetch_or(&segment->file->checked[page / 64], UINT64_C(1) << page % 64);
        page = (at + bytes + SEGMENT_ALIGNMENT - 1) / SEGMENT_ALIGNMENT;
    }
    for (; page < layout->blocks; page++, passed++)
        atomic_fetch_or(&segment->file->checked[page / 64], UINT64_C(1) << page % 64);
    atomic_fetch_sub(&segment->unchecked, passed);
}

static enum doppel_status map(int fd, const char *path, struct segment *segment,
                              struct doppel_error *error)
{
    struct segment_file *file = segment->file;
    uint64_t bitmap_words = (file->layout.blocks + 63) / 64;
    uint64_t second_words = sums_pages(&file->layout) / 64 + 1;
    void *base = mmap(NULL, file->layout.end, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return doppel_fail(error, DOPPEL_E_IO, "cannot map the index file %s: %s", path,
                           strerror(errno));
    file->base = base;
    /* Else each page that is looked up brings its neighbours with it. */
    if (segment->plan.table == SEGMENT_BANDS || segment->plan.table == SEGMENT_HAMMING)
        (void)madvise(base, file->layout.end, MADV_RANDOM);
    else
        segment_want_large_pages(base, file->layout.end);
    file->path = strdup(path);
    file->checked = calloc(bitmap_words, sizeof *file->checked);
    file->second_checked = calloc(second_words, sizeof *file->second_checked);
    file->watch = fault_watch(base, file->layout.end);
    if (!file->path || !file->checked || !file->second_checked || !file->watch)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the index file %s", path);
    atomic_store(&segment->unchecked, file->layout.blocks);
    pass_over_padding(segment);
    segment_place(segment);
    return DOPPEL_OK;
}

static enum doppel_status check_sums(const uint8_t header[SEGMENT_HEADER],
                                     const struct segment *segment, struct doppel_error *error)
{
    const struct segment_file *file = segment->file;
    uint64_t sum =
        checksum64(file->base + file->layout.second, file->layout.end - file->layout.second);
    if (sum != get_u64(header + AT_SUMS_SUM))
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "the checksums of the index file %s are damaged", file->path);
    return DOPPEL_OK;
}

static enum doppel_status load_segment_file(int fd, const char *path, struct segment *segment,
                                            struct doppel_error *error)
{
    uint8_t header[SEGMENT_HEADER];
    uint64_t file_bytes = 0;
    enum doppel_status status;
    TRY(read_segment_header(fd, path, header, &file_bytes, error));
    TRY(check_header(header, path, error));
    TRY(take_header(header, file_bytes, path, segment, error));
    TRY(map(fd, path, segment, error));
    TRY(check_sums(header, segment, error));
done:
    return status;
}

enum doppel_status segment_open(const char *path, struct segment **out, struct doppel_error *error)
{
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "index files are read on little-endian machines only");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                           "cannot open the index file %s: %s", path, strerror(errno));
    enum doppel_status status = DOPPEL_E_MEMORY;
    struct segment *segment = calloc(1, sizeof *segment);
    struct segment_file *file = calloc(1, sizeof *file);
    if (!segment || !file) {
        free(segment);
        free(file);
        doppel_fail(error, status, "no memory for the index file %s", path);
        goto end;
    }
    file->fd = -1;
    atomic_init(&file->references, 1);
    segment->file = file;
    status = load_segment_file(fd, path, segment, error);
    if (status)
        segment_release(segment);
    else
        *out = segment;
end:
    close(fd);
    return status;
}

void segment_read_ahead(const struct segment *segment)
{
    const struct segment_file *file = segment->file;
    if (file->checked)
        (void)madvise(file->base, file->layout.end, MADV_SEQUENTIAL);
}

#ifndef MADV_POPULATE_READ /* Linux 5.14; refused before */
#define MADV_POPULATE_READ 22
#endif

void segment_read_in(const struct segment *segment, bool (*cancelled)(void *context), void *context)
{
    enum { PIECE = 64 << 20 };
    const struct segment_file *file = segment->file;
    const uint64_t end = file->checked ? file->layout.end : 0;
    if (end)
        segment_want_large_pages(file->base, end);
    for (uint64_t at = 0; at < end && !(cancelled && cancelled(context)); at += PIECE)
        (void)madvise(file->base + at, end - at < PIECE ? end - at : PIECE, MADV_POPULATE_READ);
}

bool segment_in_memory(const struct segment *segment, const void *at)
{
    const struct segment_file *file = segment->file;
    const uint64_t page = (uint64_t)((const uint8_t *)at - file->base) / SEGMENT_ALIGNMENT;
    unsigned char in_memory = 1;
    if (file->checked)
        (void)mincore(file->base + page * SEGMENT_ALIGNMENT, SEGMENT_ALIGNMENT, &in_memory);
    return in_memory & 1;
}

static void want_pages(const struct segment_file *file, uint64_t start, uint64_t end)
{
    start = start / SEGMENT_ALIGNMENT * SEGMENT_ALIGNMENT;
    (void)madvise(file->base + start, end - start, MADV_WILLNEED);
}

void segment_want(const struct segment *segment, const void *at, size_t bytes)
{
    const struct segment_file *file = segment->file;
    if (!file->checked || !bytes)
        return;
    const uint64_t start = (uint64_t)((const uint8_t *)at - file->base);
    const uint64_t sum = file->layout.sums + segment_block_of(file, start) * sizeof(uint64_t);
    want_pages(file, start, start + bytes);
    want_pages(file, sum, sum + sizeof(uint64_t));
}

/* ---- checking ---- */

static bool is_set(const _Atomic uint64_t *bitmap, uint64_t bit)
{
    return atomic_load_explicit(&bitmap[bit / 64], memory_order_acquire) >> bit % 64 & 1;
}

/* Before a checksum is believed, the page that it lies on. */
static void check_sums_page(struct segment_file *file, uint64_t page)
{
    size_t bytes;
    const uint8_t *at = segment_sums_page(file, page, &bytes);
    if (checksum64(at, bytes) != get_u64(file->base + file->layout.second + 8 * page))
        atomic_store(&file->damaged, true);
    atomic_fetch_or(&file->second_checked[page / 64], UINT64_C(1) << page % 64);
}

static void check_block(const struct segment *segment, uint64_t block)
{
    struct segment_file *file = segment->file;
    size_t bytes;
    const uint8_t *at = segment_block(file, block, &bytes);
    const uint64_t sums_page = 8 * block / SEGMENT_ALIGNMENT;
    if (sums_page < sums_pages(&file->layout) && file->second_checked &&
        !is_set(file->second_checked, sums_page))
        check_sums_page(file, sums_page);
    if (checksum64(at, bytes) != get_u64(file->base + file->layout.sums + 8 * block))
        atomic_store(&file->damaged, true);
    /* Two threads may both have checked it; one counts. */
    uint64_t bit = UINT64_C(1) << block % 64;
    if (file->checked && !(atomic_fetch_or(&file->checked[block / 64], bit) & bit))
        atomic_fetch_sub(&((struct segment *)segment)->unchecked, 1);
}

bool segment_check(const struct segment *segment, const void *at, size_t bytes)
{
    const struct segment_file *file = segment->file;
    if (!file->checked || !bytes)
        return true;
    uint64_t start = (uint64_t)((const uint8_t *)at - file->base);
    uint64_t last = segment_block_of(file, start + bytes - 1);
    for (uint64_t block = segment_block_of(file, start); block <= last; block++)
        if (!is_set(file->checked, block))
            check_block(segment, block);
    return !file->damaged;
}

/* All blocks of a part before the remembered one are checked. */
bool segment_part_is_checked(const struct segment *segment, unsigned part)
{
    struct segment_file *file = segment->file;
    const uint64_t bytes = segment->plan.part_bytes[part];
    if (!file->checked || !bytes)
        return true;
    const uint64_t start = (uint64_t)(segment->parts[part] - file->base);
    const uint64_t end = segment_block_of(file, start + bytes - 1) + 1;
    const uint64_t before = atomic_load_explicit(&file->checked_before[part], memory_order_acquire);
    uint64_t block = before ? before : segment_block_of(file, start);
    while (block < end && is_set(file->checked, block))
        block++;
    if (block != before)
        atomic_store_explicit(&file->checked_before[part], block, memory_order_release);
    return block == end;
}

enum doppel_status segment_verify(const struct segment *segment, struct doppel_error *error)
{
    const struct segment_file *file = segment->file;
    segment_read_ahead(segment);
    for (uint64_t page = 0; page < sums_pages(&file->layout) && file->second_checked; page++)
        check_sums_page(segment->file, page);
    for (uint64_t block = 0; block < file->layout.blocks; block++)
        check_block(segment, block);
    return segment_damage(segment, error);
}

void segment_found_damaged(const struct segment *segment)
{
    atomic_store(&segment->file->damaged, true);
}

enum doppel_status segment_damage(const struct segment *segment, struct doppel_error *error)
{
    const struct segment_file *file = segment->file;
    if (file->watch && fault_happened(file->watch))
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "the index file %s was cut, or can no longer be read", file->path);
    if (atomic_load_explicit(&file->damaged, memory_order_relaxed))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the index file %s is damaged", file->path);
    return DOPPEL_OK;
}

/* ---- what a segment tells of itself ---- */

const uint64_t *segment_removed(const struct segment *segment, size_t *out_count)
{
    const struct segment_file *file = segment->file;
    const uint8_t *removed = file->base + file->layout.removed;
    *out_count = file->removed_count;
    segment_touch(segment, removed, file->removed_count * sizeof(uint64_t));
    return (const uint64_t *)(const void *)removed;
}

uint64_t segment_bytes(const struct segment *segment)
{
    return segment->file->layout.end;
}
