/* Files of vectors: of each format what was written is read, in whatever way it lies there. */
#include <stdio.h>
#include <string.h>

#include "vector_files.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        WHILE_READING(reads_arrays_of_numpy),
        WHILE_READING(reads_tensors),
        WHILE_READING(reads_a_tensor_by_its_name),
        WHILE_READING(reads_fvecs),
        WHILE_READING(reads_lines),
        WHILE_READING(takes_ids_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
