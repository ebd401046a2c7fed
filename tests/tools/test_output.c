/* Rows to JSON, CSV, tables and bare paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/args/options.h"
#include "tools/output/output.h"
#include "tools/output/formats.h"
#include "tools/output/messages.h"
#include "tools/output/rows/segment_rows.h"

static const struct column columns[] = {
    {"group", "group", CELL_NUMBER},         {"members.size", "size", CELL_SIZE},
    {"members.reason", "reason", CELL_TEXT}, {"members.extra.deep", NULL, CELL_BOOL},
    {"members.note", "note", CELL_TEXT},     {"members.path", "path", CELL_PATH},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, "members",
                                     "members.path", NULL};

struct member {
    const char *path;
    uint64_t size;
    const char *reason;
};

static void write_member(struct doppel_json *row, const struct member *member)
{
    doppel_json_object_begin(row, NULL);
    doppel_json_path(row, "path", member->path);
    doppel_json_integer(row, "size", member->size);
    doppel_json_text(row, "reason", member->reason);
    doppel_json_object_end(row);
}

static void write_group(struct doppel_json *row, uint64_t number, struct member first,
                        struct member second)
{
    doppel_json_integer(row, "group", number);
    doppel_json_array_begin(row, "members");
    write_member(row, &first);
    write_member(row, &second);
    doppel_json_array_end(row);
}

static void print_group(struct output *output, uint64_t number, struct member first,
                        struct member second)
{
    write_group(output_begin(output), number, first, second);
    output_end(output);
}

/* As the output reads it again. */
static json_t *parsed_group(uint64_t number, struct member first, struct member second)
{
    struct doppel_json row = {0};
    doppel_json_object_begin(&row, NULL);
    write_group(&row, number, first, second);
    doppel_json_object_end(&row);
    json_t *parsed = json_loadb(row.bytes, row.size, 0, NULL);
    doppel_json_free(&row);
    return parsed;
}

typedef void rows_printer(const struct settings *settings, struct report *report);

static void print_two_groups(const struct settings *settings, struct report *report)
{
    struct output *output = output_new(settings, &layout, report);
    print_group(output, 1, (struct member){"a", 1500, "kept"}, (struct member){"b,c", 20, "near"});
    print_group(output, 2, (struct member){"d\xff", 7, "kept"},
                (struct member){"e\nf", 7, "identical"});
    assert_true(output_finish(output));
}

static char *whole_text(FILE *file, size_t *out_size)
{
    fseek(file, 0, SEEK_END);
    *out_size = (size_t)ftell(file);
    char *text = calloc(1, *out_size + 1);
    rewind(file);
    assert_int_equal(fread(text, 1, *out_size, file), *out_size);
    fclose(file);
    return text;
}

/* What rows look like; given (free). */
static char *printed_by(rows_printer *print, const struct settings *settings, size_t *out_size)
{
    FILE *file = tmpfile();
    int before = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    struct report report = {.stream = stderr};
    print(settings, &report);
    dup2(before, STDOUT_FILENO);
    close(before);
    return whole_text(file, out_size);
}

static char *printed(const struct settings *settings, size_t *out_size)
{
    return printed_by(print_two_groups, settings, out_size);
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

static void print_one_without_a_path(const struct settings *settings, struct report *report)
{
    size_t size;
    report->stream = tmpfile();
    struct output *output = output_new(settings, &layout, report);
    print_group(output, 1, (struct member){"a", 1, "kept"}, (struct member){NULL, 2, "near"});
    assert_true(output_finish(output));
    char *said = whole_text(report->stream, &size);
    assert_non_null(strstr(said, "1 without a path: not printed"));
    free(said);
}

static void what_has_no_path_is_counted(void **state)
{
    (void)state;
    size_t size;
    char *text =
        printed_by(print_one_without_a_path, &(struct settings){.null_separated = true}, &size);
    assert_int_equal(size, 2);
    assert_string_equal(text, "a");
    free(text);
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

static const struct column place_columns[] = {{"query", NULL, CELL_TEXT}, PLACE_COLUMNS};

static const struct layout place_layout = {
    place_columns, sizeof place_columns / sizeof *place_columns, NULL, NULL, NULL};

/* In the library, segments are what was said of them once. */
static void print_places_with_one_far_off(const struct settings *settings, struct report *report)
{
    struct output *output = output_new(settings, &place_layout, report);
    struct place_rows rows;
    struct doppel_json row = {0};
    static const char text[] =
        "{\"query\":\"q\",\"kind\":\"audio\",\"segments\":[{\"a_start\":1e300},{\"a_start\":5}]}";
    doppel_json_append(&row, text, sizeof text - 1);
    place_rows_begin(&rows, settings, output);
    place_rows_add(&rows, &row);
    place_rows_end(&rows);
    doppel_json_free(&row);
    assert_true(output_finish(output));
}

static void places_come_in_order_wherever_they_are(void **state)
{
    (void)state;
    size_t size;
    char *text =
        printed_by(print_places_with_one_far_off, &(struct settings){.format = FORMAT_CSV}, &size);
    const char *near = strstr(text, "q,5"), *far = strstr(text, "q,1e300");
    assert_true(near && far && near < far);
    free(text);
}

static void long_tables_come_in_blocks(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    FILE *file = tmpfile();
    struct text_table *table = table_new(&layout, false);
    for (uint64_t i = 0; i < ROWS; i++) {
        struct member member = {"x", i, i == 1500 ? "longer than all" : "near"};
        json_t *row = parsed_group(i, member, member);
        table_add(table, file, row, json_array_get(json_object_get(row, "members"), 0));
        json_decref(row);
    }
    table_finish(table, file);
    size_t lines = 0;
    rewind(file);
    for (int byte; (byte = getc(file)) != EOF;)
        lines += byte == '\n';
    fclose(file);
    assert_int_equal(lines, ROWS + 1); /* one header */
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
    json_t *row = parsed_group(1, (struct member){"a", 1, name}, (struct member){"b", 2, "near"});
    const json_t *members = json_object_get(row, "members");
    for (unsigned i = 0; i < LINES; i++)
        table_add(table, file, row, json_array_get(members, i > 0));
    table_finish(table, file);
    assert_in_range(ftell(file), BYTES, 2 * BYTES);
    json_decref(row);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_an_object_a_line),
        cmocka_unit_test(csv_has_a_line_a_member),
        cmocka_unit_test(tables_are_aligned),
        cmocka_unit_test(colour_comes_when_asked_for),
        cmocka_unit_test(bare_paths_end_in_nul),
        cmocka_unit_test(what_has_no_path_is_counted),
        cmocka_unit_test(a_format_outranks_bare_paths),
        cmocka_unit_test(places_come_in_order_wherever_they_are),
        cmocka_unit_test(long_tables_come_in_blocks),
        cmocka_unit_test(a_long_cell_pads_no_other_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
