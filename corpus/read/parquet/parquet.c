/* Parquet files as rows: a column of texts, numbers, truths, dates or times on the outermost level
 * is one of the rows. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "corpus/read/parquet/parquet.h"

enum { ROWS_BYTES = 1 << 16 };

struct parquet {
    struct parquet_footer footer;
    struct parquet_memory memory;
    struct parquet_pages *pages; /* of each column */
    size_t next_group;
    uint64_t rows_left; /* of the group before */
    uint64_t bytes_done;
};

/* ---- life ---- */

static void parquet_free(void *state)
{
    struct parquet *parquet = state;
    for (size_t i = 0; parquet->pages && i < parquet->footer.names.count; i++)
        parquet_pages_free(&parquet->pages[i]);
    free(parquet->pages);
    free(parquet->memory.packed);
    parquet_footer_free(&parquet->footer);
    free(parquet);
}

static enum doppel_status parquet_open(const struct archive_input *input, void **out,
                                       struct row_layout **out_layout, struct doppel_error *error)
{
    enum doppel_status status;
    int fd = source_descriptor(input->source);
    if (!input->is_plain)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "Parquet is read from a plain file, neither from a pipe nor packed "
                           "once more");
    struct parquet *parquet = calloc(1, sizeof *parquet);
    if (!parquet)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a Parquet file");
    TRY(parquet_footer_read(fd, &parquet->footer, error));
    TRY(archive_columns_choose(&parquet->footer.names, input, error));
    parquet->pages = calloc(parquet->footer.names.count + 1, sizeof *parquet->pages);
    *out_layout = archive_columns_layout(&parquet->footer.names);
    if (!parquet->pages || !*out_layout)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a Parquet file"));
    for (size_t i = 0; i < parquet->footer.names.count; i++)
        parquet->pages[i] = (struct parquet_pages){.memory = &parquet->memory,
                                                   .fd = fd,
                                                   .name = parquet->footer.names.items[i].name,
                                                   .column = &parquet->footer.columns[i]};
    *out = parquet;
    return DOPPEL_OK;
done:
    parquet_free(parquet);
    return status;
}

static uint64_t parquet_bytes_read(const void *state)
{
    const struct parquet *parquet = state;
    return parquet->bytes_done;
}

/* ---- values ---- */

static int64_t whole_of_value(const struct parquet_column *column,
                              const struct parquet_value *value)
{
    uint64_t number = 0;
    for (size_t i = 0; i < value->size; i++)
        number |= (uint64_t)value->bytes[i] << 8 * i;
    bool narrow = value->size == 4 && column->meaning != ROW_UNSIGNED;
    return narrow ? (int32_t)(uint32_t)number : (int64_t)number;
}

static double binary_of_value(const struct parquet_value *value)
{
    float narrow;
    double number;
    if (value->size == sizeof number) {
        memcpy(&number, value->bytes, sizeof number);
        return number;
    }
    memcpy(&narrow, value->bytes, sizeof narrow);
    return (double)narrow;
}

static void write_column_value(struct row_writer *rows, uint32_t number,
                               const struct parquet_column *column,
                               const struct parquet_value *value)
{
    if (!value->bytes)
        return;
    switch (column->type) {
    case PARQUET_BOOLEAN:
        row_add_truth(rows, number, *value->bytes);
        return;
    case PARQUET_INT32:
    case PARQUET_INT64:
        row_add_whole(rows, number, column->meaning, whole_of_value(column, value));
        return;
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        row_add_binary(rows, number, binary_of_value(value), value->size == sizeof(float));
        return;
    case PARQUET_BYTE_ARRAY:
        row_add(rows, number, false, (struct byte_span){(const char *)value->bytes, value->size});
        return;
    }
}

/* ---- rows ---- */

static enum doppel_status begin_row_group(struct parquet *parquet, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    const struct parquet_footer *footer = &parquet->footer;
    size_t number = parquet->next_group++;
    for (size_t i = 0; i < footer->names.count; i++) {
        const struct parquet_column *column = &footer->columns[i];
        const struct parquet_chunk *chunk =
            &footer->chunks[number * footer->leaf_count + column->leaf];
        if (footer->names.items[i].unread)
            continue;
        if (!chunk->elsewhere && chunk->values != footer->group_rows[number])
            return doppel_fail(error, DOPPEL_E_CORRUPT,
                               "column '%s' has not as many values as there are rows",
                               footer->names.items[i].name);
        TRY(parquet_pages_begin(&parquet->pages[i], chunk, error));
        if (parquet->bytes_done < chunk->at)
            parquet->bytes_done = chunk->at;
    }
    parquet->rows_left = footer->group_rows[number];
done:
    return status;
}

static enum doppel_status take_parquet_row(struct parquet *parquet, struct row_writer *rows,
                                           struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    row_begin(rows);
    for (size_t i = 0; i < parquet->footer.names.count; i++) {
        struct parquet_value value;
        if (parquet->footer.names.items[i].unread)
            continue;
        TRY(parquet_pages_next(&parquet->pages[i], &value, error));
        write_column_value(rows, (uint32_t)i, &parquet->footer.columns[i], &value);
    }
    row_finish(rows);
    parquet->rows_left--;
    return DOPPEL_OK;
done:
    row_cancel(rows);
    return status;
}

static enum doppel_status parquet_rows(void *state, struct row_writer *rows,
                                       struct doppel_error *error)
{
    struct parquet *parquet = state;
    enum doppel_status status = DOPPEL_OK;
    while (rows->size < ROWS_BYTES && !rows->failed) {
        if (parquet->rows_left)
            TRY(take_parquet_row(parquet, rows, error));
        else if (parquet->next_group < parquet->footer.group_count)
            TRY(begin_row_group(parquet, error));
        else
            break;
    }
done:
    return status;
}

const struct archive_format parquet_format = {.begins = parquet_begins,
                                              .open = parquet_open,
                                              .rows = parquet_rows,
                                              .bytes_read = parquet_bytes_read,
                                              .free = parquet_free};
