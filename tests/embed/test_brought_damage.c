/* Files of vectors that are cut, damaged or of another kind are refused by a sentence. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "vector_files.h"

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
        {"{\"vector\":[1,2]}\n{\"vector\":[1,1e300]}\n", DOPPEL_E_LIMIT,
         "the largest number of line 2 is 1e+300"},
        {"{\"vector\":[1,2]}\n{\"id\":1,\"vector\":[1,2]}\n", DOPPEL_E_FORMAT, "has an \"id\""},
        {"{\"id\":1,\"vector\":[1,2]}\n{\"vector\":[1,2]}\n", DOPPEL_E_FORMAT, "has no \"id\""},
        {"{\"id\":1.5,\"vector\":[1,2]}\n", DOPPEL_E_FORMAT, "neither a text nor a whole number"},
        {"{\"id\":null,\"vector\":[1,2]}\n", DOPPEL_E_FORMAT, "neither a text nor a whole number"},
        {"{\"id\":\"a\\u0000\",\"vector\":[1,2]}\n", DOPPEL_E_FORMAT, "holds a NUL"},
        {"{\"embedding\":[1,2]}\n", DOPPEL_E_FORMAT, "no \"vector\" that is an array"},
        {"{\"vector\":{}}\n", DOPPEL_E_FORMAT, "no \"vector\" that is an array"},
        {"{\"vector\":[1]} {}\n", DOPPEL_E_FORMAT, "line 1: "},
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
    static const double wide[][2] = {{1, 1e300}, {0, -1e-300}, {1, NAN}, {1, -1e-16}};
    static const enum doppel_status statuses[] = {DOPPEL_E_LIMIT, DOPPEL_E_LIMIT, DOPPEL_E_CORRUPT,
                                                  DOPPEL_E_LIMIT};
    static const char *const sentences[] = {
        "the largest number of row 1 is 1e+300", "the largest number of row 1 is 1e-300",
        "row 1 holds what is no finite number", "the largest number of row 1 is 1e-16"};
    for (size_t i = 0; i < 4; i++)
        assert_refused(*state, "x.npy", file,
                       npy_of(file, 1, HEAD("<f8", "False", "(2, 1)"), wide[i], sizeof wide[i]),
                       statuses[i], sentences[i]);
    static const char lines[] = "{\"vector\":[1]}\n{\"vector\":[-1e-300]}\n";
    assert_refused(*state, "x", lines, strlen(lines), DOPPEL_E_LIMIT,
                   "the largest number of line 2 is 1e-300");
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
        WHILE_READING(refuses_other_arrays),      WHILE_READING(refuses_wide_rows),
        WHILE_READING(refuses_other_lines),       WHILE_READING(refuses_what_is_no_number),
        WHILE_READING(refuses_other_fvecs),       WHILE_READING(refuses_what_is_cut),
        WHILE_READING(ends_when_it_is_cancelled), WHILE_READING(refuses_what_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
