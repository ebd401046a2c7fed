/* Rows, of tables and archives. */
#include "corpus/read/row.h"

#include <stdlib.h>
#include <string.h>

#include "corpus/read/csv.h"

/* Of a row, and of a field; in the order of the machine, as they leave it only as JSON. */
struct row_head {
    uint64_t whole_size; /* more than `size`: fields are left out */
    uint32_t size;       /* the head included */
};

struct field_head {
    uint32_t column;
    uint32_t size; /* the head not included */
    uint32_t is_literal;
};

/* ---- columns ---- */

struct row_layout *row_layout_new(const char *const *names, size_t count, char separator)
{
    struct row_layout *layout = calloc(1, sizeof *layout);
    if (!layout)
        return NULL;
    layout->separator = separator;
    layout->names = calloc(count + 1, sizeof *layout->names);
    bool good = layout->names;
    for (; good && names && layout->count < count; layout->count += good)
        good = (layout->names[layout->count] = strdup(names[layout->count]));
    if (good)
        return layout;
    row_layout_free(layout);
    return NULL;
}

void row_layout_free(struct row_layout *layout)
{
    if (!layout)
        return;
    for (size_t i = 0; i < layout->count; i++)
        free(layout->names[i]);
    free(layout->names);
    free(layout);
}

size_t row_column(const struct row_layout *layout, const char *name)
{
    size_t i = 0;
    while (i < layout->count && strcmp(layout->names[i], name) != 0)
        i++;
    return i;
}

bool is_archive_layout(const struct row_layout *layout)
{
    return layout && !layout->separator;
}

/* ---- writing ---- */

static bool reserve_row_bytes(struct row_writer *writer, size_t more)
{
    if (writer->failed || writer->capacity - writer->size >= more)
        return !writer->failed;
    size_t capacity = 2 * writer->capacity + more;
    char *grown = realloc(writer->bytes, capacity);
    writer->failed = !grown;
    if (!grown)
        return false;
    writer->bytes = grown;
    writer->capacity = capacity;
    return true;
}

static void append_row_bytes(struct row_writer *writer, const void *bytes, size_t size)
{
    if (size)
        memcpy(writer->bytes + writer->size, bytes, size);
    writer->size += size;
}

void row_begin(struct row_writer *writer)
{
    writer->begun = writer->size;
    writer->over = 0;
    if (reserve_row_bytes(writer, sizeof(struct row_head)))
        writer->size += sizeof(struct row_head);
}

void row_leave_out(struct row_writer *writer, uint64_t size)
{
    writer->over += size < UINT64_MAX / 4 ? size : UINT64_MAX / 4;
}

void row_add(struct row_writer *writer, uint32_t column, bool is_literal, struct byte_span value)
{
    const uint64_t most = writer->most < UINT32_MAX / 2 ? writer->most : UINT32_MAX / 2;
    struct field_head head = {.column = column, .is_literal = is_literal};
    size_t before = writer->size - writer->begun;
    if (!value.bytes)
        return;
    if (value.size > most || before > most - value.size) {
        row_leave_out(writer, value.size);
        return;
    }
    head.size = (uint32_t)value.size;
    if (!reserve_row_bytes(writer, sizeof head + value.size + 1))
        return;
    append_row_bytes(writer, &head, sizeof head);
    append_row_bytes(writer, value.bytes, value.size);
    append_row_bytes(writer, "", 1);
}

void row_finish(struct row_writer *writer)
{
    struct row_head head = {.size = (uint32_t)(writer->size - writer->begun)};
    head.whole_size = head.size + writer->over;
    if (!writer->failed)
        memcpy(writer->bytes + writer->begun, &head, sizeof head);
}

void row_cancel(struct row_writer *writer)
{
    writer->size = writer->begun;
}

void row_writer_free(struct row_writer *writer)
{
    free(writer->bytes);
    *writer = (struct row_writer){0};
}

/* ---- reading ---- */

static struct row_head head_of_row(const char *row)
{
    struct row_head head;
    memcpy(&head, row, sizeof head);
    return head;
}

size_t row_bytes(const char *at, size_t left)
{
    if (left < sizeof(struct row_head))
        return 0;
    size_t size = head_of_row(at).size;
    return size <= left ? size : 0;
}

uint64_t row_whole_size(const char *row)
{
    return head_of_row(row).whole_size;
}

bool row_next(const char *row, size_t size, size_t *place, struct row_field *out)
{
    struct field_head head;
    if (!*place)
        *place = sizeof(struct row_head);
    if (size < *place || size - *place < sizeof head)
        return false;
    memcpy(&head, row + *place, sizeof head);
    *place += sizeof head;
    if (head.size >= size - *place)
        return false;
    *out = (struct row_field){head.column, head.is_literal, row + *place, head.size};
    *place += head.size + 1;
    return true;
}

static void table_row_to_json(const struct row_layout *layout, const char *row, size_t size,
                              struct json_line *out)
{
    struct csv_row cells = csv_row_of(row, size, layout->separator);
    const char *cell;
    char *text = malloc(size + 1);
    json_line_begin(out);
    for (size_t i = 0; text && i < layout->count && csv_next_cell(&cells, &cell, &size); i++)
        json_line_field(out, layout->names[i],
                        (struct byte_span){text, csv_decode_cell(cell, size, text)});
    json_line_end(out);
    out->failed |= !text;
    free(text);
}

void rows_to_json(const struct row_layout *layout, const char *rows, size_t size,
                  struct json_line *out)
{
    if (layout->separator) {
        table_row_to_json(layout, rows, size, out);
        return;
    }
    for (size_t one; (one = row_bytes(rows, size)); rows += one, size -= one) {
        size_t place = 0;
        struct row_field field;
        json_line_begin(out);
        while (row_next(rows, one, &place, &field)) {
            const struct byte_span value = {field.bytes, field.size};
            (field.is_literal ? json_line_literal
                              : json_line_field)(out, layout->names[field.column], value);
        }
        json_line_end(out);
    }
}
