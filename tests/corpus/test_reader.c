/* Files to lines: blocks, folders, limits, files that are no JSON Lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "files.h"

struct fixture {
    char *folder;
};

static int set_up(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture->folder = folder_make();
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    folder_remove(fixture->folder);
    free(fixture);
    return 0;
}

static struct seen_list read_bytes(const struct fixture *fixture, const void *data, size_t size)
{
    char *path = path_in(fixture->folder, "corpus.jsonl");
    write_file(path, data, size);
    struct seen_list list = read_path(path);
    free(path);
    return list;
}

static struct seen_list read_text(const struct fixture *fixture, const char *text)
{
    return read_bytes(fixture, text, strlen(text));
}

/* That record i is the line at its offset, and says its own number. */
static void check_records(const struct bytes *file, const struct seen_list *list, size_t count)
{
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++) {
        const struct seen *seen = &list->items[i];
        assert_int_equal(seen->status, DOPPEL_OK);
        assert_int_equal(seen->line, i + 1);
        assert_int_equal(strtoul(seen->id, NULL, 10), i);
        assert_true(seen->offset == 0 || file->data[seen->offset - 1] == '\n');
        assert_true(seen->offset + seen->size == file->size ||
                    file->data[seen->offset + seen->size] == '\n');
        assert_memory_equal(file->data + seen->offset, "{\"id\":", 6);
    }
}

static void add_line(struct bytes *file, size_t number, size_t text_size, const char *newline)
{
    char head[64];
    snprintf(head, sizeof head, "{\"id\":%zu,\"text\":\"", number);
    bytes_add_text(file, head);
    static const char words[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    for (size_t left = text_size, size; left; left -= size) {
        size = left < sizeof words - 1 ? left : sizeof words - 1;
        bytes_add(file, words, size);
    }
    bytes_add_text(file, "\"}");
    bytes_add_text(file, newline);
}

static void test_lines_across_blocks(void **state)
{
    /* Lines shift against the blocks by a byte a file. */
    for (size_t shift = 0; shift < 60; shift++) {
        struct bytes file = {0};
        enum { LINES = 1000, TEXT = 700 };
        for (size_t i = 0; i < LINES; i++)
            add_line(&file, i, i == 0 ? shift : TEXT, i + 1 < LINES || shift % 2 ? "\n" : "");
        struct seen_list list = read_bytes(*state, file.data, file.size);
        assert_true(list.blocks > 1);
        check_records(&file, &list, LINES);
        seen_free(&list);
        bytes_free(&file);
    }
}

static void test_every_way_to_end_a_line(void **state)
{
    struct seen_list list =
        read_text(*state, "{\"id\":0,\"text\":\"a\"}\r\n\n  "
                          "\t\r\n{\"id\":1,\"text\":\"b\"}\n{\"id\":2,\"text\":\"c\"}");
    assert_int_equal(list.count, 3);
    static const uint64_t lines[] = {1, 4, 5}, offsets[] = {0, 27, 47};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(list.items[i].status, DOPPEL_OK);
        assert_int_equal(list.items[i].line, lines[i]);
        assert_int_equal(list.items[i].offset, offsets[i]);
    }
    seen_free(&list);
}

static void test_a_broken_line_is_one_record(void **state)
{
    struct seen_list list = read_text(*state, "{\"id\":0,\"text\":\"a\"}\n{\"id\":1,\"text\":\"b\n"
                                              "c\"}\n{\"id\":3,\"text\":\"d\"}\n");
    assert_int_equal(list.count, 4);
    assert_int_equal(list.items[1].status, DOPPEL_E_CORRUPT);
    assert_string_equal(list.items[1].id, "1");
    assert_int_equal(list.items[2].status, DOPPEL_E_CORRUPT);
    assert_int_equal(list.items[3].status, DOPPEL_OK);
    assert_int_equal(list.items[3].line, 4);
    seen_free(&list);
}

static void test_empty_files_have_no_records(void **state)
{
    static const char *const files[] = {"", "\n", "\xEF\xBB\xBF", "\n\r\n  \n"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct seen_list list = read_text(*state, files[i]);
        assert_int_equal(list.count, 0);
        seen_free(&list);
    }
}

static void test_marks_are_passed_over(void **state)
{
    struct seen_list list = read_text(*state, "\xEF\xBB\xBF{\"id\":0,\"text\":\"a\"}\n");
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].status, DOPPEL_OK);
    assert_int_equal(list.items[0].offset, 3);
    assert_int_equal(list.items[0].size, 19);
    seen_free(&list);
}

static void expect_one(const struct fixture *fixture, const void *data, size_t size,
                       const char *says)
{
    struct seen_list list = read_bytes(fixture, data, size);
    assert_int_equal(list.count, 1);
    assert_int_not_equal(list.items[0].status, DOPPEL_OK);
    if (!strstr(list.items[0].message, says))
        fail_msg("not %s but %s", says, list.items[0].message);
    assert_int_equal(list.items[0].line, 1);
    seen_free(&list);
}

static void test_other_files_are_told_once(void **state)
{
    static const char utf16[] = "\xFF\xFE{\0\"\0i\0d\0\"\0:\0"
                                "1\0}\0\n\0{\0}\0\n";
    expect_one(*state, utf16, sizeof utf16, "iconv -f UTF-16");
    expect_one(*state, utf16 + 2, sizeof utf16 - 2, "iconv -f UTF-16");
    static const char array[] = "[\n {\"id\":1,\"text\":\"a\"},\n {\"id\":2,\"text\":\"b\"}\n]\n";
    expect_one(*state, array, sizeof array - 1, "jq -c '.[]'");
    static const char line[] = "[{\"id\":1,\"text\":\"a\"},{\"id\":2,\"text\":\"b\"}]\n";
    expect_one(*state, line, sizeof line - 1, "jq -c '.[]'");
    static const char pretty[] = "{\n  \"id\": 1,\n  \"text\": \"a\"\n}\n{\n}\n";
    expect_one(*state, pretty, sizeof pretty - 1, "jq -c .");
}

static void test_files_that_cannot_be_opened(void **state)
{
    const struct fixture *fixture = *state;
    char *missing = path_in(fixture->folder, "missing.jsonl");
    char *empty = path_in(fixture->folder, "empty");
    char *good = path_in(fixture->folder, "good.jsonl");
    mkdir(empty, 0700);
    write_file(good, "{\"text\":\"a\"}\n", 13);
    const char *paths[] = {missing, empty, good};
    struct seen_list list = read_paths(paths, 3, 0);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.items[0].status, DOPPEL_E_NOT_FOUND);
    assert_int_equal(list.items[0].line, 0);
    assert_int_equal(list.items[1].status, DOPPEL_E_NOT_FOUND);
    assert_non_null(strstr(list.items[1].message, "a folder without"));
    assert_int_equal(list.items[2].status, DOPPEL_OK);
    assert_int_equal(list.items[2].file, 2);
    seen_free(&list);
    free(missing);
    free(empty);
    free(good);
}

static void test_folders_by_byte_order(void **state)
{
    const struct fixture *fixture = *state;
    static const char *const names[] = {"b.jsonl",       "B.json",      "a.ndjson",  "a/z.jsonl",
                                        "a/y.txt",       "state.json",  "b.tsv.zst", "b.parquet",
                                        ".hidden.jsonl", "c.jsonl.bak"};
    static const char *const wanted[] = {"B.json", "z.jsonl", "a.ndjson", "b.jsonl", "b.parquet"};
    char *inner = path_in(fixture->folder, "a");
    mkdir(inner, 0700);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[64];
        const char *base = strrchr(names[i], '/');
        snprintf(line, sizeof line, "{\"text\":\"%s\"}\n", base ? base + 1 : names[i]);
        char *path = path_in(fixture->folder, names[i]);
        write_file(path, line, strlen(line));
        free(path);
    }
    struct seen_list list = read_path(fixture->folder);
    assert_int_equal(list.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(list.items[i].text, wanted[i]);
        assert_int_equal(list.items[i].file, i);
    }
    seen_free(&list);
    free(inner);
}

static void test_a_first_line_that_was_cut(void **state)
{
    const struct fixture *fixture = *state;
    static const char lines[] = "{\n{\"text\":\"a\"}\n{\"text\":\"b\"}\n";
    char *path = path_in(fixture->folder, "corpus.jsonl");
    write_file(path, lines, sizeof lines - 1);
    struct seen_list list = read_path(path);
    assert_int_equal(list.count, 3);
    assert_int_not_equal(list.items[0].status, DOPPEL_OK);
    assert_string_equal(list.items[1].text, "a");
    assert_int_equal(list.items[2].line, 3);
    seen_free(&list);
    free(path);
}

/* What would be another kind of file at its beginning is a broken line where another reader read
 * what stands before it. */
static void test_lines_that_go_on(void **state)
{
    const struct fixture *fixture = *state;
    static const char lines[] = "[\n{\"text\":\"a\"}\n";
    static const char *const standard_input[] = {"-"};
    char *path = path_in(fixture->folder, "corpus.jsonl");
    write_file(path, lines, sizeof lines - 1);
    for (uint64_t first = 0; first <= 1000; first += 500) {
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        const struct doppel_corpus_files files = {
            .paths = standard_input, .count = 1, .descriptor = fileno(file), .first_line = first};
        struct seen_list list = read_files(&files);
        assert_int_equal(list.count, first ? 2 : 1);
        assert_int_not_equal(list.items[0].status, DOPPEL_OK);
        assert_int_equal(list.items[0].line, first ? first : 1);
        if (first) {
            assert_int_equal(list.items[1].line, first + 1);
            assert_string_equal(list.items[1].text, "a");
        }
        seen_free(&list);
        (void)fclose(file);
    }
    free(path);
}

static void test_what_lies_in_folders(void **state)
{
    const struct fixture *fixture = *state;
    char *pipe = path_in(fixture->folder, "a.jsonl");
    char *broken = path_in(fixture->folder, "b.jsonl");
    char *good = path_in(fixture->folder, "c.jsonl");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink("/nowhere/at/all", broken), 0);
    write_file(good, "{\"text\":\"a\"}\n", 13);
    struct seen_list list = read_path(fixture->folder);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].status, DOPPEL_E_NOT_FOUND);
    assert_int_equal(list.items[1].status, DOPPEL_OK);
    seen_free(&list);
    free(pipe);
    free(broken);
    free(good);
}

static void test_lines_over_the_limit(void **state)
{
    const struct fixture *fixture = *state;
    static const size_t sizes[] = {200, 5000, 1 << 20, 3000000};
    char *path = path_in(fixture->folder, "corpus.jsonl");
    for (size_t i = 0; i < 4 * 2 * 2; i++) {
        bool first = i % 2, last = i / 2 % 2;
        size_t long_size = sizes[i / 4];
        struct bytes file = {0};
        size_t number = 0;
        if (!first)
            add_line(&file, number++, 10, "\n");
        uint64_t offset = file.size;
        add_line(&file, number++, long_size, last ? "" : "\n");
        uint64_t size = file.size - offset - !last;
        for (size_t j = 0; j < 5000 && !last; j++)
            add_line(&file, number++, 10, "\n");
        write_file(path, file.data, file.size);
        const char *paths[] = {path};
        struct seen_list list = read_paths(paths, 1, 100);
        assert_int_equal(list.count, number);
        for (size_t j = 0; j < number; j++) {
            bool is_long = j == (first ? 0 : 1);
            assert_int_equal(list.items[j].line, j + 1);
            assert_int_equal(list.items[j].status, is_long ? DOPPEL_E_LIMIT : DOPPEL_OK);
            if (is_long) {
                assert_int_equal(list.items[j].offset, offset);
                assert_int_equal(list.items[j].size, size);
            } else {
                assert_int_equal(strtoul(list.items[j].id, NULL, 10), j);
                assert_memory_equal(file.data + list.items[j].offset, "{\"id\":", 6);
            }
        }
        seen_free(&list);
        bytes_free(&file);
    }
    free(path);
}

static void test_reading_again(void **state)
{
    const struct fixture *fixture = *state;
    char *path = path_in(fixture->folder, "corpus.jsonl");
    struct bytes file = {0};
    for (size_t i = 0; i < 1000; i++)
        add_line(&file, i, i % 50, "\n");
    write_file(path, file.data, file.size);
    const char *paths[] = {path};
    struct doppel_corpus_files files = {.paths = paths, .count = 1};
    struct reader *reader;
    assert_int_equal(reader_new(&files, &reader, NULL), DOPPEL_OK);
    struct line_block block;
    while (!reader_next(reader, &block, NULL))
        line_block_free(&block);
    assert_true(reader_file_is_plain(reader, 0));
    uint64_t done, total;
    reader_progress(reader, &done, &total);
    assert_int_equal(done, file.size);
    assert_int_equal(total, file.size);
    char buffer[300 + PARSE_SLACK];
    struct doppel_error error;
    for (size_t at = 0; at + 300 <= file.size; at += 777) {
        assert_int_equal(
            reader_rewind(reader, 0, &(struct reread_part){at, 300, buffer, false}, &error),
            DOPPEL_OK);
        assert_memory_equal(buffer, file.data + at, 300);
    }
    struct reread_part part = {file.size - 100, 300, buffer, false};
    assert_int_equal(reader_rewind(reader, 0, &part, &error), DOPPEL_E_CHANGED);
    assert_int_equal(truncate(path, 500), 0);
    part.offset = 0;
    assert_int_equal(reader_rewind(reader, 0, &part, &error), DOPPEL_E_CHANGED);
    part.known = true;
    assert_int_equal(reader_rewind(reader, 0, &part, &error), DOPPEL_OK);
    part.offset = 400;
    assert_int_equal(reader_rewind(reader, 0, &part, &error), DOPPEL_E_CHANGED);
    reader_free(reader);
    bytes_free(&file);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines_across_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_way_to_end_a_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_broken_line_is_one_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_empty_files_have_no_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_marks_are_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_files_are_told_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_that_cannot_be_opened, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folders_by_byte_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_lies_in_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_first_line_that_was_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lines_that_go_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lines_over_the_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reading_again, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
