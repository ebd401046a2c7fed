/*
 * Fuzz target: the files of a dedup in stages, changed, and read by the stages after them. The
 * first byte of an input says which file, the second whether checksums are made right again (1),
 * and whether later stages read what earlier ones made of it (2). Changes of eight bytes follow:
 * place (4), how, section, value (2). What has wrong checksums is refused, or changes no result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/bytes.h"
#include "stage_images.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHANGE = 8, MOST_GROWTH = 64 };

static struct staged_run run; /* made once */

static void check(bool good)
{
    if (!good)
        abort();
}

/* ---- changes ---- */

/* A file of a stage, taken apart. */
struct unpacked {
    struct stage_head head;
    uint8_t **sections;
    size_t *sizes;
};

static void unpack(const struct stage_image *image, struct unpacked *out)
{
    memcpy(&out->head, image->bytes, sizeof out->head);
    out->sections = calloc(out->head.sections + 1, sizeof *out->sections);
    out->sizes = calloc(out->head.sections + 1, sizeof *out->sizes);
    for (uint32_t i = 0; i < out->head.sections; i++) {
        struct stage_section section;
        memcpy(&section, image->bytes + sizeof out->head + i * sizeof section, sizeof section);
        out->sizes[i] = (size_t)section.size;
        out->sections[i] = calloc(out->sizes[i] + 1, 1);
        memcpy(out->sections[i], image->bytes + section.offset, out->sizes[i]);
    }
}

static void free_unpacked(struct unpacked *parts, uint32_t sections)
{
    for (uint32_t i = 0; i < sections; i++)
        free(parts->sections[i]);
    free(parts->sections);
    free(parts->sizes);
}

static void resize(struct unpacked *parts, uint32_t section, size_t size)
{
    uint8_t *bytes = calloc(size + 1, 1);
    const size_t before = parts->sizes[section];
    memcpy(bytes, parts->sections[section], before < size ? before : size);
    free(parts->sections[section]);
    parts->sections[section] = bytes;
    parts->sizes[section] = size;
}

static uint64_t odd_number(uint16_t value)
{
    static const uint64_t odd[] = {0,          1,          2,          0x7f,           0xff,
                                   0xffff,     0x10000,    STAGED,     STAGED - 1,     STAGED + 1,
                                   0x7fffffff, 0x80000000, UINT32_MAX, UINT32_MAX - 1, INT64_MAX,
                                   UINT64_MAX};
    return value < 0x8000 ? odd[value % (sizeof odd / sizeof *odd)] : value & 0xffu;
}

static void change_section(struct unpacked *parts, const uint8_t *change)
{
    const uint32_t pick = change[5] < 160 ? change[5] % 8 : change[5];
    const uint32_t section = pick % parts->head.sections;
    const uint16_t value = (uint16_t)(change[6] | change[7] << 8);
    const size_t size = parts->sizes[section], width = change[4] % 2 ? 4 : 8;
    const uint64_t number = odd_number(value);
    if (change[4] % 8 == 6) {
        resize(parts, section, size + value % MOST_GROWTH);
    } else if (change[4] % 8 == 7) {
        resize(parts, section, value % 2 ? size / 2 : size - (size < 8 ? size : 8));
    } else if (change[4] % 8 < 4 && size >= width) {
        memcpy(parts->sections[section] + get_u32(change) % (size / width) * width, &number, width);
    } else if (size) {
        parts->sections[section][get_u32(change) % size] ^= (uint8_t)(1 + value % 255);
    }
}

static void change_head(struct stage_head *head, uint32_t place, uint16_t value)
{
    const uint64_t number = odd_number(value);
    if (place % 3 == 0)
        head->records = number;
    else if (place % 3 == 1 && head->sections)
        head->sections -= 1 + value % head->sections;
    else
        ((uint8_t *)head)[8 + place % (sizeof *head - 8)] ^= (uint8_t)(1 + value % 255);
}

/* Put it together, with checksums that fit. @return its bytes */
static uint8_t *pack(struct unpacked *parts, size_t *out_size)
{
    const size_t table = parts->head.sections * sizeof(struct stage_section);
    const size_t front = sizeof parts->head + table;
    size_t size = front + sizeof(struct doppel_digest);
    for (uint32_t i = 0; i < parts->head.sections; i++)
        size += parts->sizes[i];
    uint8_t *bytes = calloc(size, 1);
    size_t at = front + sizeof(struct doppel_digest);
    for (uint32_t i = 0; i < parts->head.sections; i++) {
        const struct stage_section section = {
            at, parts->sizes[i], doppel_digest_bytes(parts->sections[i], parts->sizes[i])};
        memcpy(bytes + sizeof parts->head + i * sizeof section, &section, sizeof section);
        memcpy(bytes + at, parts->sections[i], parts->sizes[i]);
        at += parts->sizes[i];
    }
    parts->head.bytes = size;
    memcpy(bytes, &parts->head, sizeof parts->head);
    const struct doppel_digest digest = doppel_digest_bytes(bytes, front);
    memcpy(bytes + front, &digest, sizeof digest);
    *out_size = size;
    return bytes;
}

static uint8_t *change_sealed(const struct stage_image *image, const uint8_t *data, size_t size,
                              size_t *out_size)
{
    struct unpacked parts;
    unpack(image, &parts);
    const uint32_t sections = parts.head.sections;
    for (; size >= CHANGE; data += CHANGE, size -= CHANGE) {
        if (data[4] == 255 || !parts.head.sections)
            change_head(&parts.head, get_u32(data), (uint16_t)(data[6] | data[7] << 8));
        else
            change_section(&parts, data);
        if (parts.head.sections > sections)
            parts.head.sections = sections;
    }
    uint8_t *bytes = pack(&parts, out_size);
    free_unpacked(&parts, sections);
    return bytes;
}

static uint8_t *change_bytes(const struct stage_image *image, const uint8_t *data, size_t size,
                             size_t *out_size)
{
    uint8_t *bytes = malloc(image->size + MOST_GROWTH);
    size_t now = image->size;
    memcpy(bytes, image->bytes, now);
    for (; size >= CHANGE; data += CHANGE, size -= CHANGE) {
        const uint32_t place = get_u32(data);
        if (data[4] % 8 == 7)
            now = data[6] % 2 ? place % (now + 1) : image->size + data[7] % MOST_GROWTH;
        else if (now)
            bytes[data[5] % 2 ? place % now : place % 512 % now] ^= (uint8_t)(1 << data[6] % 8);
        if (now > image->size)
            memset(bytes + image->size, data[6], now - image->size);
    }
    *out_size = now;
    return bytes;
}

/* ---- what reads it ---- */

static bool is_same_file(const struct stage_image *image)
{
    size_t size;
    uint8_t *bytes = staged_read(&run, image->name, &size);
    const bool same = bytes && size == image->size && memcmp(bytes, image->bytes, size) == 0;
    free(bytes);
    return same;
}

static bool count_files(void *context, const struct doppel_stage_files *files)
{
    (void)context;
    check(files->missing_count <= files->parts);
    return true;
}

/* A part is done by what is there; then its own file is put back, unless later ones are to read
 * what was made. */
static void do_stage_again(struct doppel_stages *stages, const struct stage_image *image,
                           bool sealed, bool anew)
{
    struct doppel_error error = {0};
    staged_remove(&run, image->name);
    const enum doppel_status status = staged_do(stages, image->stage, image->part, &error);
    check(!status || error.message[0]);
    check(status || sealed || is_same_file(image));
    if (status || !anew)
        staged_write(&run, image->name, image->bytes, image->size);
}

static void emit_again(struct doppel_stages *stages, bool sealed)
{
    struct doppel_error error = {0};
    struct doppel_digest digest;
    const enum doppel_status status = staged_emit(stages, &digest, &error);
    check(!status || error.message[0]);
    check(status || sealed || memcmp(&digest, &run.emitted, sizeof digest) == 0);
}

static void read_output(struct doppel_stages *stages, const struct stage_image *image, bool same)
{
    const struct doppel_stage_part only = {1, 1};
    struct doppel_stage_output *output;
    check(!doppel_stage_output_new(stages, "all", only, &output, NULL));
    check(!output == same);
    doppel_stage_output_free(output);
    staged_write(&run, image->name, image->bytes, image->size);
}

static void read_changed(const struct stage_image *image, const uint8_t *bytes, size_t size,
                         unsigned how)
{
    const bool sealed = how & 1, anew = how & 2;
    const bool same = size == image->size && memcmp(bytes, image->bytes, size) == 0;
    struct doppel_error error = {0};
    struct doppel_stages *stages = NULL;
    const enum doppel_status status = staged_open(&run, &stages, &error);
    check(status ? error.message[0] && !same : image->stage || same);
    if (status)
        return;
    check(!doppel_stages_visit(stages, count_files, NULL, NULL));
    check(doppel_stages_parts(stages, DOPPEL_STAGE_SIGN) > 0);
    if (image->stage == DOPPEL_STAGE_EMIT)
        read_output(stages, image, same);
    for (size_t i = 0; i < STAGED_IMAGES; i++)
        if (image->stage && run.images[i].stage > image->stage &&
            run.images[i].stage < DOPPEL_STAGE_EMIT)
            do_stage_again(stages, &run.images[i], sealed, anew);
    emit_again(stages, sealed);
    doppel_stages_free(stages);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t changed_size;
    staged_make(&run);
    if (size < 2)
        return 0;
    const struct stage_image *image = &run.images[data[0] % STAGED_IMAGES];
    const bool of_part = image->stage && image->stage < DOPPEL_STAGE_EMIT;
    const unsigned how = of_part ? data[1] % 4 : 0;
    uint8_t *bytes = how & 1 ? change_sealed(image, data + 2, size - 2, &changed_size)
                             : change_bytes(image, data + 2, size - 2, &changed_size);
    staged_write(&run, image->name, bytes, changed_size);
    read_changed(image, bytes, changed_size, how);
    free(bytes);
    for (size_t i = 0; i < STAGED_IMAGES; i++)
        staged_write(&run, run.images[i].name, run.images[i].bytes, run.images[i].size);
    return 0;
}
