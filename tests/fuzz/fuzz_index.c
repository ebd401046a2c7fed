/*
 * Fuzz target: a damaged segment file is opened and searched, merged, verified. Every input runs
 * twice: as it is, and with checksums made right again, so that what lies behind them is reached.
 */
#include "fuzz_index.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/digest.h"
#include "index/segment/segment_internal.h"

enum { HEAD = 2, CHANGE = 8, SIZE_MAX_MENDED = 4 << 20 };

static const char name[] = "fuzzed";

/* ---- changes ---- */

struct file {
    uint8_t *bytes;
    size_t size;
};

/* The sizes as the header has them now; false when they are beyond reason. */
static bool layout_of(const struct file *file, struct segment_layout *out)
{
    struct segment_plan plan = {0};
    if (file->size < SEGMENT_HEADER)
        return false;
    for (unsigned i = 0; i < SEGMENT_PARTS_MAX; i++)
        plan.part_bytes[i] = get_u64(file->bytes + AT_PARTS + 8 * i);
    uint32_t version = get_u32(file->bytes + AT_VERSION);
    if (version < SEGMENT_OLD_VERSION || version > SEGMENT_VERSION)
        version = SEGMENT_VERSION;
    return segment_layout(&plan, get_u64(file->bytes + AT_REMOVED), version, out) &&
           out->end <= SIZE_MAX_MENDED;
}

/* Where a change goes: a parameter, a size, or somewhere in a part. */
static size_t place_of(const struct file *file, const struct segment_layout *layout, uint8_t where,
                       uint32_t at)
{
    if (where < 0x30)
        return AT_PARAMETERS + at % (8 * SEGMENT_PARAMETERS);
    if (where < 0x50)
        return AT_PARTS + at % (8 * SEGMENT_PARTS_MAX);
    if (where < 0x58)
        return at % AT_PARAMETERS;
    if (where < 0x60)
        return at % file->size;
    unsigned part = where % SEGMENT_PARTS_MAX;
    uint64_t start = layout->parts[part];
    uint64_t end = part + 1 < SEGMENT_PARTS_MAX ? layout->parts[part + 1] : layout->sums;
    return end > start && end <= file->size ? start + at % (end - start) : at % file->size;
}

static void change(struct file *file, const struct segment_layout *layout, const uint8_t *with)
{
    static const uint64_t telling[] = {0,          1,          2,          0x7fff,
                                       0xffff,     0x10000,    0x7fffffff, 0xffffffff,
                                       1ull << 32, 1ull << 47, 1ull << 63, UINT64_MAX};
    if (file->size < 8)
        return;
    uint32_t at = get_u32(with + 2);
    size_t place = place_of(file, layout, with[1], at);
    size_t width = (size_t)1 << with[0] % 4;
    if (place > file->size - width)
        return;
    uint64_t value = get_u64(file->bytes + (place > file->size - 8 ? file->size - 8 : place));
    switch (with[0] / 4 % 8) {
    case 0:
        value = telling[with[6] % (sizeof telling / sizeof *telling)];
        break;
    case 1:
        value += with[6];
        break;
    case 2:
        value -= with[6];
        break;
    case 3:
        value ^= (uint64_t)1 << with[6] % 64;
        break;
    case 4:
        value = get_u32(with + 4);
        break;
    case 5:
        file->size = with[6] < 8 ? place : file->size;
        return;
    default:
        value = file->bytes[place] ^ with[6];
        width = 1;
    }
    for (size_t i = 0; i < width; i++)
        file->bytes[place + i] = (uint8_t)(value >> 8 * i);
}

/* Sizes, checksums and the header's sum made to fit. */
static void mend(struct file *file)
{
    struct segment_layout layout;
    if (!layout_of(file, &layout))
        return;
    uint8_t *bytes = calloc(1, layout.end);
    if (!bytes)
        abort();
    memcpy(bytes, file->bytes, file->size < layout.sums ? file->size : layout.sums);
    free(file->bytes);
    *file = (struct file){bytes, layout.end};
    struct segment_file shape = {.base = bytes, .layout = layout};
    for (uint64_t block = 0; block < layout.blocks; block++) {
        size_t size;
        const uint8_t *start = segment_block(&shape, block, &size);
        put_u64(bytes + layout.sums + 8 * block, checksum64(start, size));
    }
    for (uint64_t page = 0; page < sums_pages(&layout); page++) {
        size_t size;
        const uint8_t *start = segment_sums_page(&shape, page, &size);
        put_u64(bytes + layout.second + 8 * page, checksum64(start, size));
    }
    put_u64(bytes + AT_BYTES, layout.end);
    put_u64(bytes + AT_SUMS_SUM, checksum64(bytes + layout.second, layout.end - layout.second));
    put_u64(bytes + AT_HEADER_SUM, checksum64(bytes, AT_HEADER_SUM));
}

/* ---- use ---- */

static bool count_hit(void *context, const struct doppel_index_hit *hit)
{
    *(uint64_t *)context += hit->payload ^ hit->distance;
    return true;
}

static bool count_run(void *context, uint32_t key_number, uint64_t base, const uint32_t *positions,
                      size_t count)
{
    (void)key_number;
    uint64_t *last = context;
    for (size_t i = 0; i < count; i++)
        *last = base + positions[i];
    return true;
}

static void search(struct doppel_index *index, const struct seed *seed, uint8_t how)
{
    static const uint32_t radii[] = {0, 3, 8, 12, 16, 40, 100, 256};
    uint64_t sum = 0;
    struct doppel_index_request request = {
        .queries = seed->queries, .count = SEED_QUERIES, .radius = radii[how % 8]};
    (void)doppel_index_search(index, &request, count_hit, &sum, NULL);
    request.radius = 256;
    request.nearest = 5;
    (void)doppel_index_search(index, &request, count_hit, &sum, NULL);
}

static void look_up(struct doppel_index *index)
{
    struct doppel_index_axis *axis;
    uint32_t keys[64];
    uint64_t lengths[64], last = 0;
    for (uint32_t i = 0; i < 64; i++)
        keys[i] = i < 8 ? i : i * 61;
    if (doppel_index_axis_take(index, &axis, NULL))
        return;
    (void)doppel_index_lengths(axis, keys, 64, lengths, NULL);
    if (!doppel_index_lookup(axis, keys, 64, count_run, &last, NULL) && last)
        (void)doppel_index_item_at(axis, last);
    doppel_index_axis_free(axis);
}

/* A merge reads everything. */
static void merge(struct doppel_index *index, const struct seed *seed)
{
    uint64_t payload = 2;
    if (seed->options.table != DOPPEL_INDEX_POSTINGS)
        (void)doppel_index_insert(index, seed->queries, &payload, 1, NULL);
    (void)doppel_index_remove(index, &payload, 1, NULL);
    (void)doppel_index_flush(index, NULL);
    (void)doppel_index_compact(index, true, NULL);
}

static void use(const char *folder, const struct seed *seed, const struct file *file, uint8_t how)
{
    char path[4096];
    const char *names[] = {name};
    struct doppel_index_files files = {.folder = folder, .names = names, .count = 1};
    struct doppel_index *index;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, file->bytes, file->size) != (ssize_t)file->size)
        abort();
    close(fd);
    if (doppel_index_open(&seed->options, &files, &index, NULL) == DOPPEL_OK) {
        if (seed->options.table == DOPPEL_INDEX_POSTINGS)
            look_up(index);
        else
            search(index, seed, how);
        if (how % 128 == 127) /* seconds under sanitizers: the places of bits are chosen anew */
            merge(index, seed);
        if (how & 32)
            (void)doppel_index_verify(index, NULL);
        doppel_index_free(index);
    }
    empty_folder(folder);
}

/* ---- entry ---- */

static char folder[] = "/dev/shm/doppel-fuzz-XXXXXX";
static struct seed seeds[SEEDS_MAX];
static size_t seed_count;

static void remove_folder(void)
{
    empty_folder(folder);
    rmdir(folder);
}

/* Seconds under sanitizers, which are not those of the first input. */
int LLVMFuzzerInitialize(int *argument_count, char ***arguments)
{
    (void)argument_count;
    (void)arguments;
    if (!mkdtemp(folder) || atexit(remove_folder))
        abort();
    seed_count = make_seeds(folder, seeds);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    const struct seed *seed = &seeds[data[0] % seed_count];
    struct file file = {malloc(seed->size), seed->size};
    struct segment_layout layout = {0};
    if (!file.bytes)
        abort();
    memcpy(file.bytes, seed->bytes, seed->size);
    if (!layout_of(&file, &layout))
        abort();
    for (size_t at = HEAD; at + CHANGE <= size; at += CHANGE)
        change(&file, &layout, data + at);
    use(folder, seed, &file, data[1]);
    mend(&file);
    use(folder, seed, &file, data[1]);
    free(file.bytes);
    return 0;
}
