/* CSV by RFC 4180. A path has a second column for the base64 of what is not UTF-8. */
#include <stdlib.h>
#include <string.h>

#include "core/text/printable.h"
#include "tools/memory.h"
#include "tools/output/formats.h"

void csv_write_field(FILE *stream, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

/* "members.path" is "path" in the header. */
static const char *header_name(const struct layout *layout, const char *key)
{
    size_t prefix = layout->expand ? strlen(layout->expand) : 0;
    bool expanded = prefix && strncmp(key, layout->expand, prefix) == 0 && key[prefix] == '.';
    return expanded ? key + prefix + 1 : key;
}

void csv_write_header(FILE *stream, const struct layout *layout)
{
    for (size_t i = 0; i < layout->count; i++) {
        const char *name = header_name(layout, layout->columns[i].key);
        if (layout->columns[i].cell == CELL_WORDS)
            continue;
        if (i)
            fputc(',', stream);
        csv_write_field(stream, name);
        if (layout->columns[i].cell == CELL_PATH)
            fprintf(stream, ",%s_base64", name);
    }
    fputs("\r\n", stream);
}

static void write_csv_cell(FILE *stream, const json_t *value, bool terminal)
{
    char *text = cell_text(value);
    if (text && terminal) {
        char *shown = must_have(printable(text, true));
        free(text);
        text = shown;
    }
    if (text)
        csv_write_field(stream, text);
    free(text);
}

void csv_write_row(FILE *stream, const struct layout *layout, const json_t *row,
                   const json_t *element, bool terminal)
{
    char base64_key[64];
    for (size_t i = 0; i < layout->count; i++) {
        const struct column *column = &layout->columns[i];
        if (column->cell == CELL_WORDS)
            continue;
        if (i)
            fputc(',', stream);
        write_csv_cell(stream, cell_value(layout, row, element, column->key), terminal);
        if (column->cell != CELL_PATH)
            continue;
        snprintf(base64_key, sizeof base64_key, "%s_base64", column->key);
        fputc(',', stream);
        write_csv_cell(stream, cell_value(layout, row, element, base64_key), terminal);
    }
    fputs("\r\n", stream);
}
