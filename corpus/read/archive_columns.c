/* The columns of a file of columns, and which of them are read. */
#include "corpus/read/archive_columns.h"

#include <stdlib.h>
#include <string.h>

bool archive_columns_add(struct archive_columns *columns, const char *name, size_t size,
                         const char *unread)
{
    if (columns->count == columns->capacity) {
        size_t capacity = 2 * columns->capacity + 8;
        struct archive_column *grown = realloc(columns->items, capacity * sizeof *grown);
        if (!grown)
            return false;
        columns->items = grown;
        columns->capacity = capacity;
    }
    char *copy = strndup(name, size);
    if (copy)
        columns->items[columns->count++] = (struct archive_column){copy, unread};
    return copy;
}

static bool is_field(const char *name, const struct doppel_corpus_fields *fields)
{
    const struct doppel_corpus_fields usual = doppel_corpus_fields_default();
    const char *const wanted[][2] = {{fields->text, usual.text},
                                     {fields->path, usual.path},
                                     {fields->id, usual.id},
                                     {fields->source, usual.source},
                                     {fields->date, usual.date}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(name, wanted[i][0] ? wanted[i][0] : wanted[i][1]) == 0)
            return true;
    return false;
}

enum doppel_status archive_columns_choose(struct archive_columns *columns,
                                          const struct archive_input *input,
                                          struct doppel_error *error)
{
    size_t readable = 0, fields = 0;
    for (size_t i = 0; i < columns->count; i++) {
        const struct archive_column *column = &columns->items[i];
        bool field = input->fields && is_field(column->name, input->fields);
        if (column->unread && field)
            return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "column '%s' %s, so it is not read",
                               column->name, column->unread);
        readable += !column->unread;
        fields += field;
    }
    for (size_t i = 0; i < columns->count && input->only_fields && fields; i++)
        if (!is_field(columns->items[i].name, input->fields))
            columns->items[i].unread = "is no field";
    return readable ? DOPPEL_OK
                    : doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                                  "none of its columns has texts or numbers that are read");
}

struct row_layout *archive_columns_layout(const struct archive_columns *columns)
{
    const char **names = malloc((columns->count + 1) * sizeof *names);
    for (size_t i = 0; names && i < columns->count; i++)
        names[i] = columns->items[i].name;
    struct row_layout *layout = names ? row_layout_new(names, columns->count, '\0') : NULL;
    free(names);
    return layout;
}

void archive_columns_free(struct archive_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        free(columns->items[i].name);
    free(columns->items);
    *columns = (struct archive_columns){0};
}
