/* Files of vectors: of each format what was written is read, in whatever way it lies there; what is
 * cut, damaged or of another kind is refused by a sentence. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/bytes.h"
#include "embed/brought/brought.h"
#include "made_model.h"

enum { ROWS = 7, COLUMNS = 5, NUMBERS = ROWS * COLUMNS, MOST_FILE = 1 << 16 };

/* ---- making files ---- */

/* Numbers that all formats have: quarters, and a row of zeros. */
static float number_at(size_t i)
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

static size_t put_numbers(uint8_t *out, char type)
{
    size_t size = 0;
    for (size_t i = 0; i < NUMBERS; i++)
        size += put_number(out + size, number_at(i), type);
    return size;
}

/* A .npy whose header is this text, and so many bytes of numbers behind it. */
static size_t npy_of(uint8_t *out, unsigned version, const char *header, const void *numbers,
                     size_t size)
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

static size_t tensors_of(uint8_t *out, const char *header, const void *numbers, size_t size)
{
    const size_t length = strlen(header);
    put_u64(out, length);
    memcpy(out + 8, header, length);
    memcpy(out + 8 + length, numbers, size);
    return 8 + length + size;
}

static size_t fvecs_of(uint8_t *out)
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

/* @param ids "text", "number" or "" */
static size_t lines_of(char *out, const char *ids, const char *end)
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

struct reading {
    struct made_folder folder;
    struct doppel_run *run;
    char notice[512];
    bool cancelled;
};

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

static int begin_reading(void **state)
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

static int end_reading(void **state)
{
    struct reading *reading = *state;
    doppel_run_free(reading->run);
    made_folder_remove(&reading->folder);
    free(reading);
    return 0;
}

#define WHILE_READING(test) cmocka_unit_test_setup_teardown(test, begin_reading, end_reading)

static enum doppel_status open_made(struct reading *reading, const char *name, const char *ids,
                                    struct doppel_vector_file **out, struct doppel_error *error)
{
    const struct doppel_vector_file_options options = {.path = made_path(&reading->folder, name),
                                                       .ids = ids ? made_path(&reading->folder, ids)
                                                                  : NULL};
    reading->notice[0] = '\0';
    return doppel_vector_file_open(&options, reading->run, out, error);
}

static struct doppel_vector_file *open_good(struct reading *reading, const char *name,
                                            const char *ids)
{
    struct doppel_vector_file *file;
    struct doppel_error error;
    if (open_made(reading, name, ids, &file, &error))
        fail_msg("%s: %s", name, error.message);
    return file;
}

/* @return whether its rows lie where they were */
static bool assert_reads(struct reading *reading, const char *name, const void *bytes, size_t size)
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

static void reads_arrays_of_numpy(void **state)
{
    static const char *const headers[] = {
        "{'descr': '<f%c', 'fortran_order': False, 'shape': (7, 5), }      %s\n",
        "{\"shape\":(7L,5L,),\"fortran_order\":False,\"descr\":\"<f%c\"}%s",
        "\t{ 'fortran_order' :False , 'shape': ( 7 ,5 ) , 'descr':'<f%c' , } %s ",
    };
    uint8_t numbers[NUMBERS * 8], file[1024];
    for (unsigned version = 1; version <= 3; version++)
        for (size_t i = 0; i < 9; i++) {
            char header[256], type = "248"[i % 3];
            for (size_t shift = 0; shift < 4; shift++) {
                snprintf(header, sizeof header, headers[i / 3], type, &"   "[3 - shift]);
                size_t size = npy_of(file, version, header, numbers, put_numbers(numbers, type));
                const size_t place = strlen(header) + (version == 1 ? 10 : 12);
                assert_int_equal(assert_reads(*state, "x", file, size),
                                 type == '4' && place % 4 == 0);
            }
        }
}

static void reads_tensors(void **state)
{
    static const struct {
        const char *name;
        char type;
    } types[] = {{"F16", '2'}, {"BF16", 'b'}, {"F32", '4'}, {"F64", '8'}};
    uint8_t numbers[NUMBERS * 8], file[1024];
    for (size_t i = 0; i < 4; i++) {
        char header[256];
        const size_t size = put_numbers(numbers, types[i].type);
        snprintf(header, sizeof header,
                 "{\"__metadata__\":{\"shape\":\"a\"},\"bias\":{\"dtype\":\"F32\",\"shape\":[1],"
                 "\"data_offsets\":[0,4]},\"x\":{\"dtype\":\"%s\",\"shape\":[7,5],"
                 "\"data_offsets\":[0,%zu]}}",
                 types[i].name, size);
        assert_reads(*state, "x.safetensors", file, tensors_of(file, header, numbers, size));
    }
}

static void reads_a_tensor_by_its_name(void **state)
{
    static const char header[] =
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":"
        "\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},\"c\":{\"dtype\":\"F32\",\"shape\":[2],"
        "\"data_offsets\":[0,8]}}";
    static const float numbers[2] = {1, 2};
    struct reading *reading = *state;
    struct doppel_vector_file *file;
    struct doppel_error error;
    uint8_t bytes[512];
    struct doppel_vector_file_options options = {.path = made_path(&reading->folder, "x")};
    made_file(options.path, bytes, tensors_of(bytes, header, numbers, sizeof numbers));
    assert_int_equal(doppel_vector_file_open(&options, reading->run, &file, &error),
                     DOPPEL_E_ARGUMENT);
    assert_non_null(strstr(error.message, "several tensors of rows and columns, 'a' and 'b'"));
    options.tensor = "b";
    assert_int_equal(doppel_vector_file_open(&options, reading->run, &file, &error), DOPPEL_OK);
    assert_int_equal(doppel_vector_file_vectors(file)->count, 2);
    doppel_vector_file_close(file);
    options.tensor = "c";
    assert_int_equal(doppel_vector_file_open(&options, reading->run, &file, &error),
                     DOPPEL_E_UNSUPPORTED);
    options.tensor = "d";
    assert_int_equal(doppel_vector_file_open(&options, reading->run, &file, NULL),
                     DOPPEL_E_NOT_FOUND);
}

static void reads_fvecs(void **state)
{
    uint8_t file[1024];
    assert_false(assert_reads(*state, "x.fvecs", file, fvecs_of(file)));
}

static void reads_lines(void **state)
{
    static const char *const ids[] = {"", "text", "number"}, *const ends[] = {"\n", "\r\n",
                                                                              "\n \n"};
    static char text[MOST_FILE];
    struct reading *reading = *state;
    for (size_t i = 0; i < 9; i++) {
        const size_t mark = i % 2 ? 3 : 0;
        memcpy(text, "\xEF\xBB\xBF", mark);
        assert_reads(reading, "x", text, mark + lines_of(text + mark, ids[i / 3], ends[i % 3]));
        struct doppel_vector_file *file = open_good(reading, "x", NULL);
        const char *id = doppel_vector_file_id(file, 2);
        if (i < 3)
            assert_null(id);
        else
            assert_string_equal(id, i < 6 ? "row \xC3\xA9 2" : "1999");
        doppel_vector_file_close(file);
    }
    const size_t size = lines_of(text, "text", "\n");
    assert_reads(reading, "x", text, size - 1); /* the last line has no end */
}

static void takes_ids_of_a_file(void **state)
{
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (7, 5)}";
    static const char seven[] = "a\nb \r\n\nd\xFF\ne\nf\ng\n";
    static char text[MOST_FILE];
    struct reading *reading = *state;
    struct doppel_vector_file *file;
    struct doppel_error error;
    uint8_t numbers[NUMBERS * 4], bytes[512];
    made_file(made_path(&reading->folder, "x.npy"), bytes,
              npy_of(bytes, 1, header, numbers, put_numbers(numbers, '4')));
    made_file(made_path(&reading->folder, "ids"), seven, sizeof seven - 1);
    file = open_good(reading, "x.npy", "ids");
    assert_string_equal(doppel_vector_file_id(file, 0), "a");
    assert_string_equal(doppel_vector_file_id(file, 1), "b ");
    assert_string_equal(doppel_vector_file_id(file, 2), "");
    assert_string_equal(doppel_vector_file_id(file, 6), "g");
    assert_non_null(strstr(reading->notice, "row 3 ('d"));
    doppel_vector_file_close(file);
    made_file(made_path(&reading->folder, "ids"), seven, sizeof seven - 3);
    assert_int_equal(open_made(reading, "x.npy", "ids", &file, &error), DOPPEL_E_CORRUPT);
    assert_non_null(strstr(error.message, "6 ids, where there are 7 vectors"));
    made_file(made_path(&reading->folder, "ids"), "a\nb\0\n", 5);
    assert_int_equal(open_made(reading, "x.npy", "ids", &file, &error), DOPPEL_E_FORMAT);
    assert_non_null(strstr(error.message, "line 2: holds a NUL"));
    assert_int_equal(open_made(reading, "x.npy", "none", &file, &error), DOPPEL_E_NOT_FOUND);
    made_file(made_path(&reading->folder, "x"), text, lines_of(text, "text", "\n"));
    made_file(made_path(&reading->folder, "ids"), seven, sizeof seven - 1);
    assert_int_equal(open_made(reading, "x", "ids", &file, &error), DOPPEL_E_ARGUMENT);
    made_file(made_path(&reading->folder, "x"), text, lines_of(text, "", "\n"));
    doppel_vector_file_close(open_good(reading, "x", "ids"));
}

/* ---- what is refused ---- */

static void assert_refused(struct reading *reading, const char *name, const void *bytes,
                           size_t size, enum doppel_status status, const char *sentence)
{
    struct doppel_vector_file *file = NULL;
    struct doppel_error error = {0};
    made_file(made_path(&reading->folder, name), bytes, size);
    enum doppel_status got = open_made(reading, name, NULL, &file, &error);
    if (got != status || !strstr(error.message, sentence) || !strstr(error.message, name))
        fail_msg("status %d, '%s', not %d, '%s'", got, error.message, status, sentence);
    assert_null(file);
}

#define HEAD(type, fortran, shape)                                                                 \
    "{'descr': '" type "', 'fortran_order': " fortran ", 'shape': " shape ", }"

static void refuses_other_arrays(void **state)
{
    static const struct {
        const char *header;
        enum doppel_status status;
        const char *sentence;
    } cases[] = {
        {HEAD(">f4", "False", "(3, 2)"), DOPPEL_E_UNSUPPORTED, "'>f4'"},
        {HEAD("<i8", "False", "(3, 1)"), DOPPEL_E_UNSUPPORTED, "'<i8'"},
        {HEAD("|O", "False", "(3, 2)"), DOPPEL_E_UNSUPPORTED, "'|O'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }", DOPPEL_E_UNSUPPORTED,
         "several fields"},
        {HEAD("<f4", "True", "(3, 2)"), DOPPEL_E_UNSUPPORTED, "Fortran order"},
        {HEAD("<f4", "False", "(6,)"), DOPPEL_E_UNSUPPORTED, "array has 1 as"},
        {HEAD("<f4", "False", "()"), DOPPEL_E_UNSUPPORTED, "array has 0 as"},
        {HEAD("<f4", "False", "(1, 3, 2)"), DOPPEL_E_UNSUPPORTED, "array has 3 as"},
        {HEAD("<f4", "False", "(0, 2)"), DOPPEL_E_CORRUPT, "24 bytes"},
        {HEAD("<f4", "False", "(4, 2)"), DOPPEL_E_CORRUPT, "24 bytes"},
        {HEAD("<f4", "False", "(1, 2)"), DOPPEL_E_CORRUPT, "24 bytes"},
        {HEAD("<f4", "False", "(4611686018427387904, 4)"), DOPPEL_E_CORRUPT, "24 bytes"},
        {HEAD("<f4", "False", "(4611686018427387910, 1)"), DOPPEL_E_CORRUPT, "24 bytes"},
        {HEAD("<f4", "False", "(18446744073709551617, 6)"), DOPPEL_E_CORRUPT, "header is damaged"},
        {HEAD("<f4", "False", "(-3, 2)"), DOPPEL_E_CORRUPT, "header is damaged"},
        {HEAD("<f4", "False", "(3 2)"), DOPPEL_E_CORRUPT, "header is damaged"},
        {HEAD("<f4", "False", "(3, 2"), DOPPEL_E_CORRUPT, "header is damaged"},
        {HEAD("<f4", "0", "(3, 2)"), DOPPEL_E_CORRUPT, "header is damaged"},
        {HEAD("<f4", "False", "(3, 2), 'shape': (3, 2)"), DOPPEL_E_CORRUPT, "header is damaged"},
        {HEAD("<f4", "False", "(3, 2), 'other': 1"), DOPPEL_E_CORRUPT, "header is damaged"},
        {HEAD("<f4", "False", "(3, 2)") "x", DOPPEL_E_CORRUPT, "header is damaged"},
        {"{'descr': '<f4', 'shape': (3, 2)}", DOPPEL_E_CORRUPT, "header is damaged"},
        {"{'descr': '<f4, 'fortran_order", DOPPEL_E_CORRUPT, "header is damaged"},
        {"{}", DOPPEL_E_CORRUPT, "header is damaged"},
        {"", DOPPEL_E_CORRUPT, "header is damaged"},
    };
    static const float numbers[6] = {1, 2, 3, 4, 5, 6};
    uint8_t file[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(*state, "x.npy", file,
                       npy_of(file, 1, cases[i].header, numbers, sizeof numbers), cases[i].status,
                       cases[i].sentence);
    size_t size = npy_of(file, 1, HEAD("<f4", "False", "(0, 2)"), numbers, 0);
    assert_refused(*state, "x.npy", file, size, DOPPEL_E_EMPTY, "no vectors");
    size = npy_of(file, 2, HEAD("<f4", "False", "(3, 2)"), numbers, sizeof numbers);
    file[6] = 4;
    assert_refused(*state, "x.npy", file, size, DOPPEL_E_UNSUPPORTED, "version 4.0");
    file[6] = 2;
    put_u32(file + 8, 0xffffffff);
    assert_refused(*state, "x.npy", file, size, DOPPEL_E_UNSUPPORTED, "header is of 4294967295");
    put_u32(file + 8, 500);
    assert_refused(*state, "x.npy", file, size, DOPPEL_E_CORRUPT, "cut short");
}

static void refuses_wide_rows(void **state)
{
    static float numbers[4097] = {1};
    static uint8_t file[MOST_FILE];
    assert_refused(*state, "x.npy", file,
                   npy_of(file, 1, HEAD("<f4", "False", "(1, 4097)"), numbers, sizeof numbers),
                   DOPPEL_E_LIMIT, "not 4097");
    put_u32(file, 4097);
    assert_refused(*state, "x.fvecs", file, 4 + sizeof numbers, DOPPEL_E_LIMIT, "not 4097");
}

static void refuses_other_lines(void **state)
{
    static const struct {
        const char *text;
        enum doppel_status status;
        const char *sentence;
    } cases[] = {
        {"{\"vector\":[1,2]}\n[1,2]\n", DOPPEL_E_FORMAT, "line 2: no object"},
        {"{\"vector\":[1,2]}\n\n{\"vector\":[1,2}\n", DOPPEL_E_FORMAT, "line 3: "},
        {"{\"vector\":[1,2]}\n{\"vector\":[1,2,3]}\n", DOPPEL_E_FORMAT,
         "line 2: has 3 dimensions, where others have 2"},
        {"{\"vector\":[1,2]}\n{\"vector\":[1,\"2\"]}\n", DOPPEL_E_FORMAT, "no number"},
        {"{\"vector\":[1,2]}\n{\"vector\":[1,null]}\n", DOPPEL_E_FORMAT, "no number"},
        {"{\"vector\":[1,2]}\n{\"vector\":[1,NaN]}\n", DOPPEL_E_FORMAT, "line 2: "},
        {"{\"vector\":[1,2]}\n{\"vector\":[1,1e999]}\n", DOPPEL_E_FORMAT, "line 2: "},
        {"{\"vector\":[1,2]}\n{\"vector\":[1,1e300]}\n", DOPPEL_E_CORRUPT,
         "row 1 holds what is no finite number"},
        {"{\"vector\":[1,2]}\n{\"id\":1,\"vector\":[1,2]}\n", DOPPEL_E_FORMAT, "has an \"id\""},
        {"{\"id\":1,\"vector\":[1,2]}\n{\"vector\":[1,2]}\n", DOPPEL_E_FORMAT, "has no \"id\""},
        {"{\"id\":1.5,\"vector\":[1,2]}\n", DOPPEL_E_FORMAT, "neither a text nor a whole number"},
        {"{\"id\":null,\"vector\":[1,2]}\n", DOPPEL_E_FORMAT, "neither a text nor a whole number"},
        {"{\"id\":\"a\\u0000\",\"vector\":[1,2]}\n", DOPPEL_E_FORMAT, "line 1: "},
        {"{\"embedding\":[1,2]}\n", DOPPEL_E_FORMAT, "no \"vector\" that is an array"},
        {"{\"vector\":{}}\n", DOPPEL_E_FORMAT, "no \"vector\" that is an array"},
        {"{\"vector\":[1],\"vector\":[1]}\n", DOPPEL_E_FORMAT, "line 1: "},
        {"{\"vector\":[]}\n", DOPPEL_E_EMPTY, "no vectors"},
        {"", DOPPEL_E_EMPTY, "is empty"},
        {"\n\n", DOPPEL_E_FORMAT, "no vectors that are known"},
        {"1 2 3\n", DOPPEL_E_FORMAT, "no vectors that are known"},
        {"PK\x03\x04 archive", DOPPEL_E_CORRUPT, "directory of the archive is missing"},
    };
    static char text[32768];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(*state, "x.jsonl", cases[i].text, strlen(cases[i].text), cases[i].status,
                       cases[i].sentence);
    memset(text, '0', sizeof text);
    for (size_t i = 12; i < sizeof text; i += 2)
        text[i] = ',';
    memcpy(text, "{\"vector\":[1", 12);
    memcpy(text + sizeof text - 4, "]}\n\n", 4);
    assert_refused(*state, "x.jsonl", text, sizeof text, DOPPEL_E_LIMIT, "4096 dimensions, not");
}

static void refuses_what_is_no_number(void **state)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    uint8_t file[256];
    for (size_t i = 0; i < 3; i++) {
        float numbers[6] = {1, 2, 3, 4, 5, 6};
        numbers[3] = bad[i];
        assert_refused(*state, "x.npy", file,
                       npy_of(file, 1, HEAD("<f4", "False", "(3, 2)"), numbers, sizeof numbers),
                       DOPPEL_E_CORRUPT, "row 1 holds what is no finite number");
    }
    static const float tiny[2] = {1, -1e-16F}, huge[2] = {1, -1e14F};
    static const char two[] = HEAD("<f4", "False", "(2, 1)");
    assert_refused(*state, "x.npy", file, npy_of(file, 1, two, tiny, sizeof tiny), DOPPEL_E_LIMIT,
                   "the largest number of row 1 is 1e-16");
    assert_refused(*state, "x.npy", file, npy_of(file, 1, two, huge, sizeof huge), DOPPEL_E_LIMIT,
                   "the largest number of row 1 is 1e+14");
    static const double large[2] = {1, 1e300};
    assert_refused(*state, "x.npy", file,
                   npy_of(file, 1, HEAD("<f8", "False", "(2, 1)"), large, sizeof large),
                   DOPPEL_E_CORRUPT, "row 1 holds");
}

static void refuses_other_fvecs(void **state)
{
    uint8_t file[1024];
    size_t size = fvecs_of(file);
    assert_refused(*state, "x.fvecs", file, size - 1, DOPPEL_E_CORRUPT, "no whole number");
    put_u32(file + 2 * (4 + 4 * COLUMNS), 4);
    assert_refused(*state, "x.fvecs", file, size, DOPPEL_E_CORRUPT, "row 2 has 4 dimensions");
    put_u32(file, 0);
    assert_refused(*state, "x.fvecs", file, size, DOPPEL_E_EMPTY, "no vectors");
    put_u32(file, 0xffffffff);
    assert_refused(*state, "x.fvecs", file, size, DOPPEL_E_LIMIT, "dimensions, not 4294967295");
    assert_refused(*state, "x.fvecs", file, 3, DOPPEL_E_CORRUPT, "cut short");
}

/* Whatever is missing at the end, there is a sentence. */
static void refuses_what_is_cut(void **state)
{
    struct reading *reading = *state;
    uint8_t numbers[NUMBERS * 4], files[2][1024];
    const size_t size = put_numbers(numbers, '4');
    const size_t sizes[2] = {
        npy_of(files[0], 1, HEAD("<f4", "False", "(7, 5)"), numbers, size),
        tensors_of(files[1], "{\"x\":{\"dtype\":\"F32\",\"shape\":[7,5],\"data_offsets\":[0,140]}}",
                   numbers, size)};
    for (int i = 0; i < 2; i++) {
        assert_reads(reading, "x", files[i], sizes[i]);
        for (size_t cut = 0; cut < sizes[i]; cut++) {
            struct doppel_vector_file *file;
            struct doppel_error error = {0};
            made_file(made_path(&reading->folder, "x"), files[i], cut);
            assert_int_not_equal(open_made(reading, "x", NULL, &file, &error), DOPPEL_OK);
            assert_true(error.message[0]);
        }
    }
}

static void ends_when_it_is_cancelled(void **state)
{
    static char text[MOST_FILE];
    struct reading *reading = *state;
    struct doppel_vector_file *file;
    uint8_t bytes[1024];
    made_file(made_path(&reading->folder, "x.fvecs"), bytes, fvecs_of(bytes));
    size_t size = 0;
    while (size < sizeof text - 32)
        size += (size_t)sprintf(text + size, "{\"vector\":[%zu,1]}\n", size);
    made_file(made_path(&reading->folder, "x"), text, size);
    reading->cancelled = true;
    assert_int_equal(open_made(reading, "x.fvecs", NULL, &file, NULL), DOPPEL_E_CANCELLED);
    assert_int_equal(open_made(reading, "x", NULL, &file, NULL), DOPPEL_E_CANCELLED);
}

static void refuses_what_is_no_file(void **state)
{
    struct reading *reading = *state;
    struct doppel_vector_file *file;
    struct doppel_error error;
    assert_int_equal(open_made(reading, "none", NULL, &file, &error), DOPPEL_E_NOT_FOUND);
    assert_int_equal(open_made(reading, ".", NULL, &file, &error), DOPPEL_E_FORMAT);
    assert_non_null(strstr(error.message, "is a folder"));
    doppel_vector_file_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WHILE_READING(reads_arrays_of_numpy),
        WHILE_READING(reads_tensors),
        WHILE_READING(reads_a_tensor_by_its_name),
        WHILE_READING(reads_fvecs),
        WHILE_READING(reads_lines),
        WHILE_READING(takes_ids_of_a_file),
        WHILE_READING(refuses_other_arrays),
        WHILE_READING(refuses_wide_rows),
        WHILE_READING(refuses_other_lines),
        WHILE_READING(refuses_what_is_no_number),
        WHILE_READING(refuses_other_fvecs),
        WHILE_READING(refuses_what_is_cut),
        WHILE_READING(ends_when_it_is_cancelled),
        WHILE_READING(refuses_what_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
