/* A row for people as lines of a name and a value: what has too many columns for a table. */
#include <stdlib.h>

#include "tools/output/formats.h"
#include "core/printable.h"

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
