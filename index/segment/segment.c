/* A segment's layout, and its making: room for it, its header and checksums, its name. */
#include "index/segment/segment_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/digest.h"
#include "core/files/write_all.h"

/* More than any file or address space holds, and little enough for sums not to overflow. */
#define BYTES_END (UINT64_C(1) << 47)

/* ---- layout ---- */

/* Place `bytes` bytes at *end; nothing takes no room. */
static uint64_t place_segment(uint64_t bytes, uint64_t *end)
{
    uint64_t at = *end;
    if (bytes)
        *end = (at + bytes + SEGMENT_TAIL + SEGMENT_ALIGNMENT - 1) / SEGMENT_ALIGNMENT *
               SEGMENT_ALIGNMENT;
    return at;
}

bool segment_layout(const struct segment_plan *plan, uint64_t removed_count, uint32_t version,
                    struct segment_layout *out)
{
    const uint32_t shift =
        version == SEGMENT_OLD_VERSION ? SEGMENT_OLD_BLOCK_SHIFT : SEGMENT_BLOCK_SHIFT;
    uint64_t end = SEGMENT_HEADER;
    for (unsigned i = 0; i < SEGMENT_PARTS_MAX; i++) {
        if (plan->part_bytes[i] >= BYTES_END)
            return false;
        out->parts[i] = place_segment(plan->part_bytes[i], &end);
    }
    if (removed_count >= BYTES_END / sizeof(uint64_t))
        return false;
    out->removed = place_segment(removed_count * sizeof(uint64_t), &end);
    out->sums = end;
    out->block_shift = shift;
    out->blocks = version ? ((end - 1) >> shift) + 1 : 0;
    /* Even an empty last part has something behind it to point at. */
    out->end = end + (version ? 0 : SEGMENT_ALIGNMENT);
    (void)place_segment(out->blocks * sizeof(uint64_t), &out->end);
    out->second = out->sums;
    if (version >= SEGMENT_SECOND_VERSION) {
        out->second = out->end;
        (void)place_segment(sums_pages(out) * sizeof(uint64_t), &out->end);
    }
    return out->end < BYTES_END;
}

const uint8_t *segment_sums_page(const struct segment_file *file, uint64_t page, size_t *out_bytes)
{
    *out_bytes = SEGMENT_ALIGNMENT;
    return file->base + file->layout.sums + page * SEGMENT_ALIGNMENT;
}

void segment_place(struct segment *segment)
{
    for (unsigned i = 0; i < SEGMENT_PARTS_MAX; i++)
        segment->parts[i] = segment->file->base + segment->file->layout.parts[i];
}

const uint8_t *segment_block(const struct segment_file *file, uint64_t block, size_t *out_bytes)
{
    const uint32_t shift = file->layout.block_shift;
    uint64_t start = block << shift, end = (block + 1) << shift;
    if (!block)
        start = SEGMENT_HEADER;
    if (end > file->layout.sums)
        end = file->layout.sums;
    *out_bytes = end - start;
    return file->base + start;
}

/* ---- room in memory or in a file ---- */

static enum doppel_status fail_file(struct doppel_error *error, const char *verb, const char *path,
                                    int number)
{
    return doppel_fail(error, write_failure(number), "cannot %s the index file %s: %s", verb, path,
                       strerror(number));
}

/* Reserve every byte now: later a full disk would be a SIGBUS. The signal of RLIMIT_FSIZE is held
 * back, and taken away if it came. @return errno or 0 */
static int reserve_segment(int fd, uint64_t bytes)
{
    sigset_t over_limit, before, pending;
    sigemptyset(&over_limit);
    sigaddset(&over_limit, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &over_limit, &before);
    int number;
    do
        number = posix_fallocate(fd, 0, (off_t)bytes);
    while (number == EINTR);
    if (!sigismember(&pending, SIGXFSZ)) {
        struct timespec at_once = {0, 0};
        (void)sigtimedwait(&over_limit, NULL, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return number;
}

/* With small pages each look-up misses the TLB, too, and each process that maps a file has a fault
 * for every 64 KB. Pages of a file are as large as they were when they came into the page cache. A
 * wish, no more. */
void segment_want_large_pages(void *base, uint64_t bytes)
{
    (void)madvise(base, bytes, MADV_HUGEPAGE);
}

static enum doppel_status make_file(struct segment_file *file, const char *path,
                                    struct doppel_error *error)
{
    file->path = strdup(path);
    if (!file->path || asprintf(&file->temporary, "%s.new", path) < 0) {
        file->temporary = NULL;
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the index file %s", path);
    }
    file->fd = open(file->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return fail_file(error, "make", path, errno);
    int number = reserve_segment(file->fd, file->layout.end);
    if (number)
        return fail_file(error, "write", path, number);
    void *base = mmap(NULL, file->layout.end, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    if (base == MAP_FAILED)
        return fail_file(error, "map", path, errno);
    segment_want_large_pages(base, file->layout.end);
    file->base = base;
    file->watch = fault_watch(base, file->layout.end);
    if (!file->watch)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the index file %s", path);
    return DOPPEL_OK;
}

static enum doppel_status make_memory(struct segment_file *file, struct doppel_error *error)
{
    void *base =
        mmap(NULL, file->layout.end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %llu bytes of the index",
                           (unsigned long long)file->layout.end);
    segment_want_large_pages(base, file->layout.end);
    file->base = base;
    return DOPPEL_OK;
}

enum doppel_status segment_create(const struct segment_plan *plan,
                                  const struct segment_target *target, struct segment **out,
                                  struct doppel_error *error)
{
    struct segment *segment = calloc(1, sizeof *segment);
    struct segment_file *file = calloc(1, sizeof *file);
    if (!segment || !file) {
        free(segment);
        free(file);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a segment of the index");
    }
    file->fd = -1;
    file->durable = target->durable;
    file->removed_count = target->removed_count;
    atomic_init(&file->references, 1);
    segment->plan = *plan;
    segment->file = file;
    enum doppel_status status;
    if (!segment_layout(plan, target->removed_count, target->path ? SEGMENT_VERSION : 0,
                        &file->layout))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "a segment of the index would be too large");
    else
        status = target->path ? make_file(file, target->path, error) : make_memory(file, error);
    if (status) {
        segment_release(segment); /* nobody else has it */
        return status;            // NOLINT(clang-analyzer-unix.Malloc)
    }
    segment_place(segment);
    if (target->removed_count)
        memcpy(file->base + file->layout.removed, target->removed,
               target->removed_count * sizeof *target->removed);
    *out = segment;
    return DOPPEL_OK;
}

uint8_t *segment_fill(struct segment *segment, unsigned part)
{
    return segment->file->base + segment->file->layout.parts[part];
}

/* ---- sealing ---- */

static void write_sums(struct segment_file *file)
{
    uint8_t *sums = file->base + file->layout.sums;
    for (uint64_t block = 0; block < file->layout.blocks; block++) {
        size_t bytes;
        const uint8_t *at = segment_block(file, block, &bytes);
        put_u64(sums + 8 * block, checksum64(at, bytes));
    }
    for (uint64_t page = 0; page < sums_pages(&file->layout); page++) {
        size_t bytes;
        const uint8_t *at = segment_sums_page(file, page, &bytes);
        put_u64(file->base + file->layout.second + 8 * page, checksum64(at, bytes));
    }
}

static void write_header(const struct segment *segment)
{
    const struct segment_file *file = segment->file;
    uint8_t *header = file->base;
    /* without its NUL */
    memcpy(header + AT_MAGIC, SEGMENT_MAGIC, 8); // NOLINT(bugprone-not-null-terminated-result)
    put_u32(header + AT_VERSION, SEGMENT_VERSION);
    put_u32(header + AT_TABLE, segment->plan.table);
    put_u64(header + AT_BYTES, file->layout.end);
    put_u64(header + AT_REMOVED, file->removed_count);
    put_u64(header + AT_SUMS_SUM,
            checksum64(file->base + file->layout.second, file->layout.end - file->layout.second));
    for (unsigned i = 0; i < SEGMENT_PARAMETERS; i++)
        put_u64(header + AT_PARAMETERS + 8 * i, segment->plan.parameters[i]);
    for (unsigned i = 0; i < SEGMENT_PARTS_MAX; i++)
        put_u64(header + AT_PARTS + 8 * i, segment->plan.part_bytes[i]);
    put_u64(header + AT_HEADER_SUM, checksum64(header, AT_HEADER_SUM));
}

/* A new name is lasting when its folder is. @return errno or 0 */
static int sync_segment_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        return ENOMEM;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0)
        return errno;
    int number = fsync(fd) ? errno : 0;
    close(fd);
    return number;
}

static int give_name(struct segment_file *file)
{
    if (file->durable && fsync(file->fd))
        return errno;
    if (fault_happened(file->watch))
        return EIO;
    if (rename(file->temporary, file->path))
        return errno;
    free(file->temporary);
    file->temporary = NULL;
    return file->durable ? sync_segment_folder(file->path) : 0;
}

enum doppel_status segment_seal(struct segment *segment, struct doppel_error *error)
{
    struct segment_file *file = segment->file;
    if (!file->path)
        return DOPPEL_OK;
    write_sums(file);
    write_header(segment);
    int number = give_name(file);
    if (number)
        return fail_file(error, "write", file->path, number);
    close(file->fd);
    file->fd = -1;
    (void)mprotect(file->base, file->layout.end, PROT_READ);
    return DOPPEL_OK;
}

/* ---- sharing ---- */

struct segment *segment_retain(struct segment *segment)
{
    atomic_fetch_add_explicit(&segment->file->references, 1, memory_order_relaxed);
    return segment;
}

void segment_release(struct segment *segment)
{
    if (!segment ||
        atomic_fetch_sub_explicit(&segment->file->references, 1, memory_order_acq_rel) > 1)
        return;
    struct segment_file *file = segment->file;
    fault_unwatch(file->watch);
    if (file->base)
        munmap(file->base, file->layout.end);
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary) /* never sealed */
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    free(file->checked);
    free(file->second_checked);
    free(file);
    free(segment);
}
