/* Tables for people: aligned in blocks of lines, empty columns left out; and sheets, a row as lines
 * of a name and a value. */
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/output/formats.h"
#include "core/text/printable.h"

/* So many lines are held back to measure them; a longer table goes on with the next block. */
enum { BLOCK_LINES = 512, WIDEST = 200 /* a longer cell moves only what follows it */ };

struct table_line {
    char *cells[MAX_COLUMNS];
    bool ends_group;
};

struct text_table {
    const struct layout *layout;
    bool color;
    size_t count;
    struct table_line lines[BLOCK_LINES];
    size_t width[MAX_COLUMNS]; /* widest cell, 0 = empty so far */
    uint64_t titled;           /* the columns of the last header, as bits */
};

struct text_table *table_new(const struct layout *layout, bool color)
{
    struct text_table *table = must_allocate(sizeof *table);
    if (layout->count > MAX_COLUMNS)
        abort(); /* assert() would name the folder of the build */
    table->layout = layout;
    table->color = color;
    return table;
}

static bool is_number_column(enum cell cell)
{
    return cell == CELL_NUMBER || cell == CELL_SIZE || cell == CELL_SECONDS || cell == CELL_PLACE;
}

static size_t last_column(const struct text_table *table)
{
    size_t last = 0;
    for (size_t i = 0; i < table->layout->count; i++)
        if (table->width[i])
            last = i;
    return last;
}

static void print_cell(const struct text_table *table, FILE *stream, size_t number,
                       const char *text)
{
    enum cell cell = table->layout->columns[number].cell;
    size_t width = display_width(text);
    int padding = width < table->width[number] ? (int)(table->width[number] - width) : 0;
    bool last = number == last_column(table);
    bool colored = table->color && cell == CELL_PATH;
    if (is_number_column(cell))
        fprintf(stream, "%*s", padding, "");
    fprintf(stream, "%s%s%s", colored ? "\033[36m" : "", text, colored ? "\033[0m" : "");
    if (!is_number_column(cell) && !last)
        fprintf(stream, "%*s", padding, "");
    fputs(last ? "" : "  ", stream);
}

static void print_header(struct text_table *table, FILE *stream)
{
    uint64_t shown = 0;
    for (size_t i = 0; i < table->layout->count; i++)
        shown |= table->width[i] ? UINT64_C(1) << i : 0;
    if (shown == table->titled)
        return;
    if (table->color)
        fputs("\033[1m", stream);
    for (size_t i = 0; i < table->layout->count; i++) {
        const struct column *column = &table->layout->columns[i];
        if (!table->width[i])
            continue;
        int padding = (int)(table->width[i] - display_width(column->title));
        bool right = is_number_column(column->cell), last = i == last_column(table);
        fprintf(stream, "%*s%s", right ? padding : 0, "", column->title);
        fprintf(stream, "%*s", last ? 0 : 2 + (right ? 0 : padding), "");
    }
    fputs(table->color ? "\033[0m\n" : "\n", stream);
    table->titled = shown;
}

static void print_line(const struct text_table *table, FILE *stream, struct table_line *line)
{
    for (size_t i = 0; i < table->layout->count; i++) {
        if (table->width[i])
            print_cell(table, stream, i, line->cells[i]);
        free(line->cells[i]);
    }
    fputs(line->ends_group ? "\n\n" : "\n", stream);
}

static void print_block(struct text_table *table, FILE *stream)
{
    if (!table->count)
        return;
    for (size_t i = 0; i < table->layout->count; i++) {
        size_t title = table->width[i] ? display_width(table->layout->columns[i].title) : 0;
        if (title > table->width[i])
            table->width[i] = title;
    }
    print_header(table, stream);
    for (size_t i = 0; i < table->count; i++)
        print_line(table, stream, &table->lines[i]);
    table->count = 0;
}

void table_add(struct text_table *table, FILE *stream, const json_t *row, const json_t *element)
{
    const struct layout *layout = table->layout;
    if (table->count == BLOCK_LINES)
        print_block(table, stream);
    struct table_line *line = &table->lines[table->count++];
    *line = (struct table_line){0};
    for (size_t i = 0; i < layout->count; i++) {
        const struct column *column = &layout->columns[i];
        const json_t *value = column->title ? cell_value(layout, row, element, column->key) : NULL;
        line->cells[i] = human_text(column->cell, value);
        size_t width = display_width(line->cells[i]);
        if (width > WIDEST)
            width = WIDEST;
        if (width > table->width[i])
            table->width[i] = width;
    }
}

void table_end_group(struct text_table *table)
{
    if (table->count)
        table->lines[table->count - 1].ends_group = true;
}

/* What a column may need that is not known yet: of places "23:59:59.99". */
static size_t usual_width(const struct column *column)
{
    enum { PLACE_WIDTH = 11 };
    size_t width = column->title ? display_width(column->title) : 0;
    return width && column->cell == CELL_PLACE && width < PLACE_WIDTH ? PLACE_WIDTH : width;
}

void table_flush(struct text_table *table, FILE *stream)
{
    if (!table->count)
        return; /* which columns there are is not known yet */
    for (size_t i = 0; i < table->layout->count; i++) {
        size_t width = usual_width(&table->layout->columns[i]);
        if (width > table->width[i])
            table->width[i] = width;
    }
    print_block(table, stream);
}

void table_finish(struct text_table *table, FILE *stream)
{
    if (table->count)
        table->lines[table->count - 1].ends_group = false;
    print_block(table, stream);
    free(table);
}

/* ---- sheets ---- */

void sheet_print(FILE *stream, const struct layout *layout, const json_t *row, bool with_color)
{
    size_t widest = 0;
    for (size_t i = 0; i < layout->count; i++) {
        const struct column *column = &layout->columns[i];
        size_t width = column->title ? display_width(column->title) : 0;
        if (width > widest && cell_value(layout, row, NULL, column->key))
            widest = width;
    }
    for (size_t i = 0; i < layout->count; i++) {
        const struct column *column = &layout->columns[i];
        const json_t *value = column->title ? cell_value(layout, row, NULL, column->key) : NULL;
        char *text = human_text(column->cell, value);
        if (*text)
            fprintf(stream, "%s%s%s%*s  %s\n", with_color ? "\033[2m" : "", column->title,
                    with_color ? "\033[0m" : "", (int)(widest - display_width(column->title)), "",
                    text);
        free(text);
    }
}
