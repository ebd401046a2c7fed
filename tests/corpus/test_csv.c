/* Rows of CSV and TSV: what was written is read, with the bytes and the line of each row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files.h"

/* A row, as it is to be read. */
struct row {
    char id[32];
    struct bytes text;
    uint64_t line, offset;
    size_t size;
};

struct table {
    struct bytes file;
    char separator;
    uint64_t line;
    struct row *rows;
    size_t count;
};

/* Quoted where it must be, and sometimes where it need not. */
static void write_cell(struct table *table, const struct bytes *cell, uint64_t *seed)
{
    const char odd[] = {table->separator, '\r', '\n', '\0'};
    bool must = cell->size && (strpbrk(cell->data, odd) || *cell->data == '"');
    if (!must && random_next(seed) % 2) {
        bytes_add(&table->file, cell->data, cell->size);
        return;
    }
    bytes_add_text(&table->file, "\"");
    for (size_t i = 0; i < cell->size; i++) {
        table->line += cell->data[i] == '\n';
        bytes_add(&table->file, &cell->data[i], 1);
        if (cell->data[i] == '"')
            bytes_add_text(&table->file, "\"");
    }
    bytes_add_text(&table->file, "\"");
}

static void make_cell(struct bytes *out, uint64_t *seed, size_t most)
{
    static const char *const parts[] = {"word ", "\"",   ",",        "\t", "\n",
                                        "\r\n",  "\"\"", "\xC3\xA4", "x",  "{"};
    out->size = 0;
    for (uint64_t i = random_next(seed) % most; i; i--)
        bytes_add_text(out, parts[random_next(seed) % 10]);
    bytes_add(out, "", 1);
    out->size--;
}

static void end_line(struct table *table, uint64_t *seed)
{
    bytes_add_text(&table->file, random_next(seed) % 2 ? "\n" : "\r\n");
    table->line++;
}

static void write_row(struct table *table, uint64_t *seed)
{
    struct row *row = &table->rows[table->count];
    struct bytes other = {0};
    *row = (struct row){.line = table->line, .offset = table->file.size};
    snprintf(row->id, sizeof row->id, "%zu", table->count++);
    make_cell(&row->text, seed, random_next(seed) % 50 ? 12 : 150000);
    make_cell(&other, seed, 5);
    const char separator[] = {table->separator, '\0'};
    bytes_add_text(&table->file, row->id);
    bytes_add_text(&table->file, separator);
    write_cell(table, &other, seed);
    bytes_add_text(&table->file, separator);
    write_cell(table, &row->text, seed);
    row->size = table->file.size - row->offset;
    end_line(table, seed);
    row->size += table->file.data[table->file.size - 2] == '\r';
    if (random_next(seed) % 10 == 0)
        end_line(table, seed); /* a blank one is no row */
    bytes_free(&other);
}

static struct table make_table(uint64_t *seed, size_t rows)
{
    struct table table = {.separator = random_next(seed) % 2 ? ',' : '\t', .line = 1};
    table.rows = calloc(rows, sizeof *table.rows);
    assert_non_null(table.rows);
    if (random_next(seed) % 2)
        bytes_add_text(&table.file, "\xEF\xBB\xBF");
    bytes_add_text(&table.file,
                   table.separator == ',' ? "id,\"some, other\",\"text\"" : "id\tother\ttext");
    end_line(&table, seed);
    while (table.count < rows)
        write_row(&table, seed);
    return table;
}

static void free_table(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        bytes_free(&table->rows[i].text);
    free(table->rows);
    bytes_free(&table->file);
}

static void check_row(const struct row *row, const struct seen *seen, uint64_t limit)
{
    assert_int_equal(seen->offset, row->offset);
    assert_int_equal(seen->line, row->line);
    assert_int_equal(seen->size, row->size);
    if (row->size > limit) {
        assert_int_equal(seen->status, DOPPEL_E_LIMIT);
        return;
    }
    assert_int_equal(seen->status, DOPPEL_OK);
    assert_string_equal(seen->id, row->id);
    assert_int_equal(seen->text_size, row->text.size);
    assert_memory_equal(seen->text, row->text.data, row->text.size);
}

static char *write_table(const char *folder, const struct table *table, int packing)
{
    static const char *const names[2][2] = {{"a.csv", "a.csv.gz"}, {"a.tsv", "a.tsv.gz"}};
    struct bytes packed = {0};
    char *path = path_in(folder, names[table->separator == '\t'][packing]);
    if (packing)
        bytes_add_gzip(&packed, table->file.data, table->file.size);
    write_file(path, packing ? packed.data : table->file.data,
               packing ? packed.size : table->file.size);
    bytes_free(&packed);
    return path;
}

static void what_was_written_is_read(void **state)
{
    uint64_t seed = 99;
    char *folder = folder_make();
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct table table = make_table(&seed, 1 + random_next(&seed) % 300);
        char *path = write_table(folder, &table, round % 2);
        uint64_t limit = round % 3 ? UINT64_C(1) << 30 : 2000;
        struct seen_list seen = read_paths((const char *const *)&path, 1, limit);
        assert_int_equal(seen.count, table.count);
        for (size_t i = 0; i < table.count; i++)
            check_row(&table.rows[i], &seen.items[i], limit);
        seen_free(&seen);
        free(path);
        free_table(&table);
    }
    folder_remove(folder);
}

/* What is no row of the table, and what comes of the rows around it. */
static void odd_rows_cost_themselves(void **state)
{
    static const struct {
        const char *file, *message; /* of the last row */
        size_t rows;
    } cases[] = {
        {"id,text\n1,a\n2\n", "the row has 1 cell, and the first one 2", 2},
        {"id,text\n1,a,b", "the row has 3 cells, and the first one 2", 1},
        {"id,text\n1,\"a\n2,b\n", "a quote that is opened in this row is never closed", 1},
        {"id,text\n1,a\"b\n", "", 1},
        {"id,text\n1,\"a\"b\n", "", 1},
        {"id,text\n1,", "", 1},
        {"id,body\n1,a\n",
         "the record has neither \"text\" nor \"path\", but \"id\", \"body\"; name the field "
         "that has its text, or its path",
         1},
        {"\n\nid,text\n1,a", "", 1},
        {"id,text,path\n1,,a.txt\n", "", 1},
        {"id,text", "", 0},
        {"\n\r\n", "", 0},
        {"", "", 0},
        {"\"id,text\n1,2", "", 0},
    };
    char *folder = folder_make(), *path = path_in(folder, "odd.csv");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file(path, cases[i].file, strlen(cases[i].file));
        struct seen_list seen = read_path(path);
        assert_int_equal(seen.count, cases[i].rows);
        if (seen.count)
            assert_string_equal(seen.items[seen.count - 1].message, cases[i].message);
        seen_free(&seen);
    }
    free(path);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(odd_rows_cost_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
