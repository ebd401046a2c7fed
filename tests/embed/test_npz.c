/* Archives of NumPy's arrays, made here byte by byte: stored, packed, of 64 bits; and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "core/bytes.h"
#include "embed/brought/brought.h"
#include "made_model.h"

enum { MOST_ARCHIVE = 8192, ROWS = 40, COLUMNS = 3, HEAD_BYTES = 80 };

struct archive {
    uint8_t bytes[MOST_ARCHIVE];
    size_t size;
    uint8_t entries[1024]; /* its directory, as it grows */
    size_t entries_size;
    unsigned count;
    bool wide;      /* sizes and places in 64 bits */
    unsigned shift; /* bytes of the extra field of the file itself */
};

static float value_at(size_t i)
{
    return (float)(i % 7) + 1;
}

static size_t make_array_file(uint8_t *out)
{
    char head[HEAD_BYTES - 10 + 1];
    snprintf(head, sizeof head, "%-70s",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (40, 3), }");
    memcpy(out, "\x93NUMPY\x01\x00\x46\x00", 10);
    memcpy(out + 10, head, HEAD_BYTES - 10);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        put_f32(out + HEAD_BYTES + 4 * i, value_at(i));
    return HEAD_BYTES + 4 * ROWS * COLUMNS;
}

static size_t pack(const uint8_t *bytes, size_t size, uint8_t *out)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = MOST_ARCHIVE;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t packed = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

/* Sizes and place of an entry, at its 20th byte; in 64 bits behind its name. @return bytes behind
 */
static size_t put_sizes(uint8_t *entry, uint8_t *extra, bool wide, const uint64_t sizes[3])
{
    put_u32(entry + 20, wide ? UINT32_MAX : (uint32_t)sizes[1]);
    put_u32(entry + 24, wide ? UINT32_MAX : (uint32_t)sizes[0]);
    put_u32(entry + 42, wide ? UINT32_MAX : (uint32_t)sizes[2]);
    if (!wide)
        return 0;
    put_u32(extra, 0x00027777); /* another field, of two bytes */
    put_u16(extra + 4, 0);
    put_u16(extra + 6, 1);
    put_u16(extra + 8, 24);
    for (size_t i = 0; i < 3; i++)
        put_u64(extra + 10 + 8 * i, sizes[i]);
    return 34;
}

static void add_file(struct archive *archive, const char *name, const uint8_t *bytes, size_t size,
                     bool packed)
{
    static uint8_t space[MOST_ARCHIVE];
    const size_t name_size = strlen(name);
    const size_t stored = packed ? pack(bytes, size, space) : size;
    uint8_t *local = archive->bytes + archive->size;
    uint8_t *entry = archive->entries + archive->entries_size;
    memset(local, 0, 30 + name_size + archive->shift);
    put_u32(local, 0x04034b50);
    put_u16(local + 26, (uint16_t)name_size);
    put_u16(local + 28, (uint16_t)archive->shift);
    memcpy(local + 30, name, name_size);
    memcpy(local + 30 + name_size + archive->shift, packed ? space : bytes, stored);
    memset(entry, 0, 46);
    put_u32(entry, 0x02014b50);
    put_u16(entry + 10, packed ? 8 : 0);
    put_u32(entry + 16, (uint32_t)crc32(0, bytes, (uInt)size));
    put_u16(entry + 28, (uint16_t)name_size);
    memcpy(entry + 46, name, name_size);
    const uint64_t sizes[3] = {size, stored, archive->size};
    const size_t extra = put_sizes(entry, entry + 46 + name_size, archive->wide, sizes);
    put_u16(entry + 30, (uint16_t)extra);
    archive->size += 30 + name_size + archive->shift + stored;
    archive->entries_size += 46 + name_size + extra;
    archive->count++;
}

/* The directory, and the end; of 64 bits the ends that stand before it. */
static void end_archive(struct archive *archive, const char *comment)
{
    const size_t place = archive->size;
    memcpy(archive->bytes + place, archive->entries, archive->entries_size);
    uint8_t *end = archive->bytes + place + archive->entries_size;
    if (archive->wide) {
        memset(end, 0, 76);
        put_u32(end, 0x06064b50);
        put_u64(end + 40, archive->entries_size);
        put_u64(end + 48, place);
        put_u32(end + 56, 0x07064b50);
        put_u64(end + 64, (uint64_t)(end - archive->bytes));
        end += 76;
    }
    memset(end, 0, 22);
    put_u32(end, 0x06054b50);
    put_u32(end + 12, archive->wide ? UINT32_MAX : (uint32_t)archive->entries_size);
    put_u32(end + 16, archive->wide ? UINT32_MAX : (uint32_t)place);
    put_u16(end + 20, (uint16_t)strlen(comment));
    memcpy(end + 22, comment, strlen(comment));
    archive->size = (size_t)(end - archive->bytes) + 22 + strlen(comment);
}

/* One array, "x.npy". */
static struct archive simple_archive(bool packed, bool wide)
{
    struct archive archive = {.wide = wide};
    uint8_t array[1024];
    add_file(&archive, "x.npy", array, make_array_file(array), packed);
    end_archive(&archive, "");
    return archive;
}

/* ---- reading ---- */

static struct made_folder folder;
static struct doppel_run *run;

static int begin_archives(void **state)
{
    struct doppel_run_options options = doppel_run_options_default();
    (void)state;
    made_folder_begin(&folder);
    options.temporary = folder.path;
    return doppel_run_new(&options, &run, NULL);
}

static int end_archives(void **state)
{
    (void)state;
    doppel_run_free(run);
    made_folder_remove(&folder);
    return 0;
}

static enum doppel_status open_archive(const struct archive *archive, const char *array,
                                       struct doppel_vector_file **out, struct doppel_error *error)
{
    const struct doppel_vector_file_options options = {.path = made_path(&folder, "x.npz"),
                                                       .tensor = array};
    *error = (struct doppel_error){0};
    made_file(options.path, archive->bytes, archive->size);
    return doppel_vector_file_open(&options, run, out, error);
}

/* @return whether its rows lie where they were */
static bool assert_opens(const struct archive *archive, const char *array)
{
    struct doppel_vector_file *file;
    struct doppel_error error;
    if (open_archive(archive, array, &file, &error))
        fail_msg("%s", error.message);
    const struct doppel_vectors *vectors = doppel_vector_file_vectors(file);
    assert_int_equal(vectors->count, ROWS);
    assert_int_equal(vectors->dimension, COLUMNS);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        assert_true(vectors->rows[i] == value_at(i));
    const bool mapped = !file->rows.bytes;
    doppel_vector_file_close(file);
    return mapped;
}

static void reads_archives(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++)
        for (unsigned shift = 0; shift < 4; shift++) {
            struct archive archive = {.wide = kind & 1, .shift = shift};
            uint8_t array[1024];
            const size_t size = make_array_file(array);
            add_file(&archive, "x.npy", array, size, kind & 2);
            end_archive(&archive, shift & 1 ? "a comment PK\x05\x06" : "");
            const size_t place = 30 + 5 + shift + HEAD_BYTES;
            assert_int_equal(assert_opens(&archive, NULL), (kind & 2) || place % 4 == 0);
        }
}

static void reads_one_of_several(void **state)
{
    struct archive archive = {0};
    struct doppel_vector_file *file;
    struct doppel_error error;
    uint8_t array[1024];
    const size_t size = make_array_file(array);
    (void)state;
    add_file(&archive, "readme", array, 9, true);
    add_file(&archive, "ids.npy", array, 9, true);
    add_file(&archive, "x.npy", array, size, true);
    end_archive(&archive, "");
    assert_int_equal(open_archive(&archive, NULL, &file, &error), DOPPEL_E_ARGUMENT);
    assert_non_null(strstr(error.message, "several arrays, 'ids.npy' and 'x.npy'"));
    assert_opens(&archive, "x");
    assert_opens(&archive, "x.npy");
    assert_int_equal(open_archive(&archive, "y", &file, &error), DOPPEL_E_NOT_FOUND);
    assert_int_equal(open_archive(&archive, "readme", &file, &error), DOPPEL_E_NOT_FOUND);
    assert_int_equal(open_archive(&archive, "ids", &file, &error), DOPPEL_E_CORRUPT);
    assert_int_equal(open_archive(&archive, "", &file, &error), DOPPEL_E_NOT_FOUND);
}

/* ---- what is refused ---- */

static void assert_archive_refused(const struct archive *archive, enum doppel_status status,
                                   const char *sentence)
{
    struct doppel_vector_file *file;
    struct doppel_error error;
    enum doppel_status got = open_archive(archive, NULL, &file, &error);
    if (got != status || !strstr(error.message, sentence))
        fail_msg("status %d, '%s', not %d, '%s'", got, error.message, status, sentence);
}

/* A number of the directory, or of the end, that is changed. */
static void refuses_wrong_directories(void **state)
{
    static const struct {
        size_t place; /* in the entry */
        uint32_t value;
        enum doppel_status status;
        const char *sentence;
    } cases[] = {
        {0, 7, DOPPEL_E_CORRUPT, "directory of the archive is damaged"},
        {8, 1 | 8 << 16, DOPPEL_E_UNSUPPORTED, "encrypted"},
        {8, 12 << 16, DOPPEL_E_UNSUPPORTED, "another method"},
        {8, 0, DOPPEL_E_CORRUPT, "outside of the archive"}, /* stored, of two sizes */
        {16, 1, DOPPEL_E_CORRUPT, "cannot be unpacked"},
        {20, 5, DOPPEL_E_CORRUPT, "cannot be unpacked"},
        {20, 0, DOPPEL_E_CORRUPT, "cannot be unpacked"},
        {20, 100000, DOPPEL_E_CORRUPT, "outside of the archive"},
        {20, UINT32_MAX, DOPPEL_E_CORRUPT, "directory of the archive is damaged"},
        {24, 559, DOPPEL_E_CORRUPT, "cannot be unpacked"},
        {24, 561, DOPPEL_E_CORRUPT, "cannot be unpacked"},
        {24, 0, DOPPEL_E_CORRUPT, "cannot be unpacked"},
        {24, UINT32_MAX - 1, DOPPEL_E_CORRUPT, "cannot be unpacked"},
        {28, 500, DOPPEL_E_CORRUPT, "directory of the archive is damaged"},
        {28, 3, DOPPEL_E_CORRUPT, "directory of the archive is damaged"},
        {30, 9, DOPPEL_E_CORRUPT, "directory of the archive is damaged"},
        {42, 1, DOPPEL_E_CORRUPT, "outside of the archive"},
        {42, UINT32_MAX - 1, DOPPEL_E_CORRUPT, "outside of the archive"},
        {46, 0, DOPPEL_E_NOT_FOUND, "no array"},
        {51 + 12, 1000, DOPPEL_E_CORRUPT, "directory of the archive is missing"},
        {51 + 12, 40, DOPPEL_E_CORRUPT, "directory of the archive is damaged"},
        {51 + 12, 0, DOPPEL_E_NOT_FOUND, "no array"},
        {51 + 16, 100000, DOPPEL_E_CORRUPT, "directory of the archive is missing"},
        {51 + 16, 1, DOPPEL_E_CORRUPT, "directory of the archive is damaged"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct archive archive = simple_archive(true, false);
        uint8_t *entry = archive.bytes + archive.size - 22 - archive.entries_size;
        put_u32(entry + cases[i].place, cases[i].value);
        if (cases[i].place == 46)
            memcpy(entry + 46, "x.txt", 5);
        assert_archive_refused(&archive, cases[i].status, cases[i].sentence);
    }
}

static void refuses_wrong_wide_numbers(void **state)
{
    static const uint64_t wrong[] = {0, UINT64_MAX, UINT64_MAX - 60, (uint64_t)1 << 63, 100000};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (size_t place = 0; place < 6; place++) {
            struct archive archive = simple_archive(true, true);
            struct doppel_vector_file *file;
            struct doppel_error error;
            uint8_t *end = archive.bytes + archive.size - 98;
            uint8_t *const numbers[] = {end - 24, end - 16, end - 8, end + 40, end + 48, end + 64};
            if (wrong[i] == get_u64(numbers[place]))
                continue;
            put_u64(numbers[place], wrong[i]);
            assert_int_not_equal(open_archive(&archive, NULL, &file, &error), DOPPEL_OK);
            assert_true(error.message[0]);
        }
}

/* Whatever is cut off, there is a sentence. */
static void refuses_cut_archives(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct archive archive = simple_archive(kind & 1, kind & 2);
        struct doppel_vector_file *file;
        struct doppel_error error;
        while (archive.size--) {
            assert_int_not_equal(open_archive(&archive, NULL, &file, &error), DOPPEL_OK);
            assert_true(error.message[0]);
            if (!archive.size)
                break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_archives),
        cmocka_unit_test(reads_one_of_several),
        cmocka_unit_test(refuses_wrong_directories),
        cmocka_unit_test(refuses_wrong_wide_numbers),
        cmocka_unit_test(refuses_cut_archives),
    };
    return cmocka_run_group_tests(tests, begin_archives, end_archives);
}
