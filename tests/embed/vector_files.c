/* Files of vectors that the tests make. */
#include "vector_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

/* ---- making files ---- */

float number_at(size_t i)
{
    return i / COLUMNS == 3 ? 0 : (float)((int)(i * 7 % 23) - 11) / 4;
}

static uint16_t half_of_quarters(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value == 0)
        return 0;
    return (uint16_t)((bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 112) << 10 |
                      (bits >> 13 & 0x3ff));
}

/* As '<f4', "F32"; 'b' is bfloat16. @return bytes of a number */
static size_t put_number(uint8_t *out, float value, char type)
{
    double wide = (double)value;
    uint64_t bits;
    uint32_t narrow;
    switch (type) {
    case '2':
        put_u16(out, half_of_quarters(value));
        return 2;
    case 'b':
        memcpy(&narrow, &value, sizeof narrow);
        put_u16(out, (uint16_t)(narrow >> 16));
        return 2;
    case '8':
        memcpy(&bits, &wide, sizeof bits);
        put_u64(out, bits);
        return 8;
    default:
        put_f32(out, value);
        return 4;
    }
}

size_t put_numbers(uint8_t *out, char type)
{
    size_t size = 0;
    for (size_t i = 0; i < NUMBERS; i++)
        size += put_number(out + size, number_at(i), type);
    return size;
}

size_t npy_of(uint8_t *out, unsigned version, const char *header, const void *numbers, size_t size)
{
    const size_t length = strlen(header), width = version == 1 ? 2 : 4;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (uint8_t)version;
    out[7] = 0;
    if (version == 1)
        put_u16(out + 8, (uint16_t)length);
    else
        put_u32(out + 8, (uint32_t)length);
    memcpy(out + 8 + width, header, length);
    memcpy(out + 8 + width + length, numbers, size);
    return 8 + width + length + size;
}

size_t tensors_of(uint8_t *out, const char *header, const void *numbers, size_t size)
{
    const size_t length = strlen(header);
    put_u64(out, length);
    memcpy(out + 8, header, length);
    memcpy(out + 8 + length, numbers, size);
    return 8 + length + size;
}

size_t fvecs_of(uint8_t *out)
{
    size_t size = 0;
    for (size_t i = 0; i < NUMBERS; i++) {
        if (i % COLUMNS == 0) {
            put_u32(out + size, COLUMNS);
            size += 4;
        }
        size += put_number(out + size, number_at(i), '4');
    }
    return size;
}

size_t lines_of(char *out, const char *ids, const char *end)
{
    size_t size = 0;
    for (size_t row = 0; row < ROWS; row++) {
        size += (size_t)sprintf(out + size, "{");
        if (strcmp(ids, "text") == 0)
            size += (size_t)sprintf(out + size, "\"id\":\"row \xC3\xA9 %zu\",", row);
        if (strcmp(ids, "number") == 0)
            size += (size_t)sprintf(out + size, "\"id\":%d,", (int)row * 1000 - 1);
        size += (size_t)sprintf(out + size, "\"more\":[{}],\"vector\":[");
        for (size_t d = 0; d < COLUMNS; d++)
            size += (size_t)sprintf(out + size, d ? ", %g" : "%g",
                                    (double)number_at(row * COLUMNS + d));
        size += (size_t)sprintf(out + size, "]}%s", end);
    }
    return size;
}

/* ---- reading them ---- */

static void keep_notice(void *context, enum doppel_notice level, const char *path, const char *text)
{
    struct reading *reading = context;
    (void)level, (void)path;
    snprintf(reading->notice, sizeof reading->notice, "%s", text);
}

static bool is_cancelled(void *context)
{
    return ((const struct reading *)context)->cancelled;
}

int begin_reading(void **state)
{
    struct reading *reading = calloc(1, sizeof *reading);
    made_folder_begin(&reading->folder);
    struct doppel_run_options options = doppel_run_options_default();
    options.temporary = reading->folder.path;
    options.on_notice = keep_notice;
    options.cancelled = is_cancelled;
    options.context = reading;
    *state = reading;
    return doppel_run_new(&options, &reading->run, NULL);
}

int end_reading(void **state)
{
    struct reading *reading = *state;
    doppel_run_free(reading->run);
    made_folder_remove(&reading->folder);
    free(reading);
    return 0;
}

enum doppel_status open_made(struct reading *reading, const char *name, const char *ids,
                             struct doppel_vector_file **out, struct doppel_error *error)
{
    const struct doppel_vector_file_options options = {.path = made_path(&reading->folder, name),
                                                       .ids = ids ? made_path(&reading->folder, ids)
                                                                  : NULL};
    reading->notice[0] = '\0';
    return doppel_vector_file_open(&options, reading->run, out, error);
}

struct doppel_vector_file *open_good(struct reading *reading, const char *name, const char *ids)
{
    struct doppel_vector_file *file;
    struct doppel_error error;
    if (open_made(reading, name, ids, &file, &error))
        fail_msg("%s: %s", name, error.message);
    return file;
}

bool assert_reads(struct reading *reading, const char *name, const void *bytes, size_t size)
{
    made_file(made_path(&reading->folder, name), bytes, size);
    struct doppel_vector_file *file = open_good(reading, name, NULL);
    const struct doppel_vectors *vectors = doppel_vector_file_vectors(file);
    assert_int_equal(vectors->count, ROWS);
    assert_int_equal(vectors->dimension, COLUMNS);
    for (size_t i = 0; i < NUMBERS; i++)
        assert_true(vectors->rows[i] == number_at(i));
    if (!strstr(reading->notice, "row 3"))
        fail_msg("of zeros it says '%s'", reading->notice);
    const bool mapped = !file->rows.bytes;
    doppel_vector_file_close(file);
    return mapped;
}
