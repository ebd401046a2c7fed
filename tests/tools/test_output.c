/* Rows to JSON, CSV, tables and bare paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/args/options.h"
#include "tools/output/output.h"
#include "tools/output/formats.h"
#include "tools/output/messages.h"

static const struct column columns[] = {
    {"group", "group", CELL_NUMBER},         {"members.size", "size", CELL_SIZE},
    {"members.reason", "reason", CELL_TEXT}, {"members.extra.deep", NULL, CELL_BOOL},
    {"members.note", "note", CELL_TEXT},     {"members.path", "path", CELL_PATH},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, "members",
                                     "members.path", NULL};

static json_t *member(const char *path, uint64_t size, const char *reason)
{
    json_t *object = json_object();
    put_path(object, "path", path);
    put_integer(object, "size", size);
    put_text(object, "reason", reason);
    return object;
}

static json_t *group(uint64_t number, json_t *first, json_t *second)
{
    json_t *row = json_object(), *members = json_array();
    put_integer(row, "group", number);
    json_array_append_new(members, first);
    json_array_append_new(members, second);
    put_value(row, "members", members);
    return row;
}

/* What two groups look like; given (free). */
static char *printed(const struct settings *settings, size_t *out_size)
{
    FILE *file = tmpfile();
    int before = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    struct report report = {.stream = stderr};
    struct output *output = output_new(settings, &layout, &report);
    output_row(output, group(1, member("a", 1500, "kept"), member("b,c", 20, "near")));
    output_row(output, group(2, member("d\xff", 7, "kept"), member("e\nf", 7, "identical")));
    assert_true(output_finish(output));
    dup2(before, STDOUT_FILENO);
    close(before);
    fseek(file, 0, SEEK_END);
    *out_size = (size_t)ftell(file);
    char *text = calloc(1, *out_size + 1);
    rewind(file);
    assert_int_equal(fread(text, 1, *out_size, file), *out_size);
    fclose(file);
    return text;
}

static void assert_printed(const struct settings *settings, const char *expected, size_t size)
{
    size_t printed_size;
    char *text = printed(settings, &printed_size);
    assert_string_equal(text, expected);
    assert_int_equal(printed_size, size);
    assert_memory_equal(text, expected, size);
    free(text);
}

static void json_is_an_object_a_line(void **state)
{
    (void)state;
    static const char expected[] =
        "{\"group\":1,\"members\":[{\"path\":\"a\",\"size\":1500,\"reason\":\"kept\"},"
        "{\"path\":\"b,c\",\"size\":20,\"reason\":\"near\"}]}\n"
        "{\"group\":2,\"members\":[{\"path\":\"d\xef\xbf\xbd\",\"path_base64\":\"ZP8=\",\"size\":7,"
        "\"reason\":\"kept\"},{\"path\":\"e\\nf\",\"size\":7,\"reason\":\"identical\"}]}\n";
    assert_printed(&(struct settings){.format = FORMAT_JSON}, expected, sizeof expected - 1);
}

static void csv_has_a_line_a_member(void **state)
{
    (void)state;
    static const char expected[] = "group,size,reason,extra.deep,note,path,path_base64\r\n"
                                   "1,1500,kept,,,a,\r\n"
                                   "1,20,near,,,\"b,c\",\r\n"
                                   "2,7,kept,,,d\xef\xbf\xbd,ZP8=\r\n"
                                   "2,7,identical,,,\"e\nf\",\r\n";
    assert_printed(&(struct settings){.format = FORMAT_CSV}, expected, sizeof expected - 1);
}

static void tables_are_aligned(void **state)
{
    (void)state;
    static const char expected[] = "group    size  reason     path\n"
                                   "    1  1.5 kB  kept       a\n"
                                   "    1    20 B  near       b,c\n"
                                   "\n"
                                   "    2     7 B  kept       d\xef\xbf\xbd\n"
                                   "    2     7 B  identical  e\\nf\n";
    assert_printed(&(struct settings){.format = FORMAT_TABLE}, expected, sizeof expected - 1);
}

static void colour_comes_when_asked_for(void **state)
{
    (void)state;
    size_t size;
    char *text = printed(&(struct settings){.color = COLOR_ALWAYS}, &size);
    assert_non_null(strstr(text, "\033[1mgroup"));
    assert_non_null(strstr(text, "\033[36mb,c\033[0m\n"));
    free(text);
}

static void bare_paths_end_in_nul(void **state)
{
    (void)state;
    static const char expected[] = "a\0b,c\0d\xff\0e\nf";
    assert_printed(&(struct settings){.null_separated = true}, expected, sizeof expected);
}

static void a_format_outranks_bare_paths(void **state)
{
    (void)state;
    size_t size;
    struct settings settings = {
        .null_separated = true, .format = FORMAT_JSON, .format_given = true};
    char *text = printed(&settings, &size);
    assert_int_equal(text[0], '{');
    free(text);
}

static void long_tables_come_in_blocks(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    FILE *file = tmpfile();
    struct text_table *table = table_new(&layout, false);
    for (uint64_t i = 0; i < ROWS; i++) {
        json_t *element = member("x", i, i == 1500 ? "longer than all" : "near");
        json_t *row = json_object();
        put_integer(row, "group", i);
        table_add(table, file, row, element);
        json_decref(row);
        json_decref(element);
    }
    table_finish(table, file);
    size_t lines = 0;
    rewind(file);
    for (int byte; (byte = getc(file)) != EOF;)
        lines += byte == '\n';
    fclose(file);
    assert_int_equal(lines, ROWS + 1); /* one header */
}

/* ---- numbers and matches ---- */

static void assert_json(json_t *object, const char *expected)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15));
    assert_string_equal(text, expected);
    free(text);
    json_decref(object);
}

/* One cell of a megabyte does not make a megabyte of each line. */
static void a_long_cell_pads_no_other_line(void **state)
{
    (void)state;
    enum { LINES = 100, BYTES = 1000000 };
    static char name[BYTES + 1];
    memset(name, 'n', BYTES);
    FILE *file = tmpfile();
    struct text_table *table = table_new(&layout, false);
    json_t *row = group(1, member("a", 1, name), member("b", 2, "near"));
    const json_t *members = json_object_get(row, "members");
    for (unsigned i = 0; i < LINES; i++)
        table_add(table, file, row, json_array_get(members, i > 0));
    table_finish(table, file);
    assert_in_range(ftell(file), BYTES, 2 * BYTES);
    json_decref(row);
    fclose(file);
}

static void numbers_have_sensible_lengths(void **state)
{
    (void)state;
    json_t *object = json_object();
    put_number(object, "similarity", 0.98765432, 4);
    put_number(object, "one", 1, 4);
    put_rate(object, "rate", 1.23456e-8);
    put_rate(object, "half", 0.5);
    put_rate(object, "none", INFINITY);
    put_number(object, "nothing", NAN, 4);
    put_number(object, "zero", -0.00001, 4);
    put_integer(object, "big", INT64_MAX);
    assert_json(object,
                "{\"similarity\":0.9877,\"one\":1.0,\"rate\":1.23e-8,\"half\":0.5,\"zero\":0.0,"
                "\"big\":9223372036854775807}");
}

static void text_is_always_json(void **state)
{
    (void)state;
    json_t *object = json_object();
    put_text(object, "text", "\"\\\x01\xff\xe2\x82\xac");
    assert_json(object, "{\"text\":\"\\\"\\\\\\u0001\xef\xbf\xbd\xe2\x82\xac\"}");
}

static void matches_have_the_contracts_fields(void **state)
{
    (void)state;
    struct doppel_match match = {.kind = DOPPEL_KIND_IMAGE,
                                 .scheme = DOPPEL_SCHEME_PHASH64,
                                 .relation = DOPPEL_RELATION_SAME,
                                 .verified = DOPPEL_VERIFIED_CODES,
                                 .distance = 3,
                                 .bits = 64,
                                 .similarity = 0.91239,
                                 .score = 8.1234,
                                 .false_positive_rate = 7.5261e-9,
                                 .transform = {.mirrored = true, .rotated = 90}};
    json_t *object = json_object();
    put_match(object, &match);
    assert_json(object, "{\"kind\":\"image\",\"scheme\":\"phash64\",\"relation\":\"same\","
                        "\"distance\":3,\"bits\":64,\"similarity\":0.9124,\"score\":8.12,"
                        "\"false_positive_rate\":7.53e-9,\"verified\":\"codes\","
                        "\"transform\":{\"mirrored\":true,\"rotated\":90}}");
    match.transform.mirrored = false;
    match.transform.rotated = 0;
    match.false_positive_rate = -1;
    object = json_object();
    put_match(object, &match);
    assert_null(json_object_get(object, "transform"));
    assert_null(json_object_get(object, "false_positive_rate"));
    assert_null(json_object_get(object, "score"));
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_an_object_a_line),
        cmocka_unit_test(csv_has_a_line_a_member),
        cmocka_unit_test(tables_are_aligned),
        cmocka_unit_test(colour_comes_when_asked_for),
        cmocka_unit_test(bare_paths_end_in_nul),
        cmocka_unit_test(a_format_outranks_bare_paths),
        cmocka_unit_test(long_tables_come_in_blocks),
        cmocka_unit_test(a_long_cell_pads_no_other_line),
        cmocka_unit_test(numbers_have_sensible_lengths),
        cmocka_unit_test(text_is_always_json),
        cmocka_unit_test(matches_have_the_contracts_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
