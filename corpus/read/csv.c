/* Rows of CSV and TSV. */
#include "corpus/read/csv.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

/* One byte further. */
static enum csv_state next_state(enum csv_state state, char byte, char separator)
{
    switch (state) {
    case CSV_QUOTED:
        return byte == '"' ? CSV_CLOSED : CSV_QUOTED;
    case CSV_CLOSED:
        if (byte == '"') /* it was doubled */
            return CSV_QUOTED;
        break;
    case CSV_CELL:
        if (byte == '"')
            return CSV_QUOTED;
        break;
    case CSV_PLAIN:
        break;
    }
    return byte == separator || byte == '\n' ? CSV_CELL : CSV_PLAIN;
}

const char *csv_row_end(const char *at, const char *end, char separator, enum csv_state *state)
{
    for (; at < end; at++) {
        if (*state == CSV_QUOTED) {
            at = memchr(at, '"', (size_t)(end - at));
            if (!at)
                return NULL;
        }
        bool quoted = *state == CSV_QUOTED;
        *state = next_state(*state, *at, separator);
        if (*at == '\n' && !quoted)
            return at;
    }
    return NULL;
}

/* ---- cells ---- */

struct csv_row csv_row_of(const char *row, size_t size, char separator)
{
    size -= size && row[size - 1] == '\r';
    return (struct csv_row){.at = row, .end = row + size, .separator = separator};
}

bool csv_next_cell(struct csv_row *row, const char **out, size_t *out_size)
{
    enum csv_state state = CSV_CELL;
    if (row->at > row->end)
        return false;
    const char *at = row->at;
    for (; at < row->end; at++) {
        if (state == CSV_QUOTED) {
            const char *quote = memchr(at, '"', (size_t)(row->end - at));
            at = quote ? quote : row->end;
            if (!quote)
                break;
        } else if (*at == row->separator) {
            break;
        }
        state = next_state(state, *at, row->separator);
        if (state == CSV_CELL) /* a newline where none can be: of a row that was cut elsewhere */
            state = CSV_PLAIN;
    }
    row->open = state == CSV_QUOTED;
    *out = row->at;
    *out_size = (size_t)(at - row->at);
    row->at = at + 1;
    return true;
}

size_t csv_decode_cell(const char *cell, size_t size, char *out)
{
    size_t used = 0, i = 1;
    if (!size || *cell != '"') {
        memcpy(out, cell, size);
        return size;
    }
    while (i < size) {
        const char *quote = memchr(cell + i, '"', size - i);
        size_t part = quote ? (size_t)(quote - cell) - i : size - i;
        memcpy(out + used, cell + i, part);
        used += part;
        i += part + 1;
        if (!quote || i >= size || cell[i] != '"')
            break;
        out[used++] = '"';
        i++;
    }
    if (i < size) { /* behind the closing quote: it belongs to the cell, as others read it */
        memcpy(out + used, cell + i, size - i);
        used += size - i;
    }
    return used;
}

/* ---- columns ---- */

static size_t count_cells(const char *row, size_t size, char separator)
{
    struct csv_row cells = csv_row_of(row, size, separator);
    const char *cell;
    size_t count = 0;
    while (csv_next_cell(&cells, &cell, &size))
        count++;
    return count;
}

static bool name_columns(struct row_layout *layout, const char *row, size_t size)
{
    struct csv_row cells = csv_row_of(row, size, layout->separator);
    const char *cell;
    while (csv_next_cell(&cells, &cell, &size)) {
        char *name = malloc(size + 1);
        if (!name)
            return false;
        name[csv_decode_cell(cell, size, name)] = '\0';
        layout->names[layout->count++] = name;
    }
    return true;
}

struct row_layout *csv_layout(const char *row, size_t size, char separator)
{
    struct row_layout *layout = row_layout_new(NULL, count_cells(row, size, separator), separator);
    if (layout && name_columns(layout, row, size))
        return layout;
    row_layout_free(layout);
    return NULL;
}
