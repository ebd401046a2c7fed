/* The columns of an Arrow stream. Numbers of fields are those of Arrow's Schema.fbs. */
#include "corpus/read/arrow/schema.h"

#include <stdlib.h>
#include <string.h>

/* MOST_COLUMNS: with those that are inside others. */
enum { DEEPEST_FIELD = 32, MOST_COLUMNS = 1 << 16 };

/* Arrow's types. */
enum {
    TYPE_NULL = 1,
    TYPE_INT = 2,
    TYPE_FLOATING = 3,
    TYPE_BINARY = 4,
    TYPE_UTF8 = 5,
    TYPE_BOOL = 6,
    TYPE_DATE = 8,
    TYPE_TIMESTAMP = 10,
    TYPE_LIST = 12,
    TYPE_STRUCT = 13,
    TYPE_UNION = 14,
    TYPE_FIXED_LIST = 16,
    TYPE_MAP = 17,
    TYPE_LARGE_BINARY = 19,
    TYPE_LARGE_UTF8 = 20,
    TYPE_LARGE_LIST = 21,
    TYPE_RUN_ENDS = 22,
    TYPE_BINARY_VIEW = 23,
    TYPE_UTF8_VIEW = 24,
    TYPE_LIST_VIEW = 25,
    TYPE_LARGE_LIST_VIEW = 26
};

/* Fields of the table of a field. */
enum {
    FIELD_NAME,
    FIELD_NULLABLE,
    FIELD_TYPE_NUMBER,
    FIELD_TYPE,
    FIELD_DICTIONARY,
    FIELD_CHILDREN
};

static struct arrow_type whole_type(struct flatbuffer *flat, flat_place table)
{
    int64_t bits = flat_field(flat, table, 0, 4, 0);
    bool is_signed = flat_field(flat, table, 1, 1, 0);
    bool known = bits == 8 || bits == 16 || bits == 32 || bits == 64;
    return (struct arrow_type){.kind = known ? ARROW_WHOLE : ARROW_UNREAD,
                               .width = known ? (unsigned)bits / 8 : 0,
                               .is_signed = is_signed,
                               .meaning = is_signed ? ROW_SIGNED : ROW_UNSIGNED};
}

static struct arrow_type binary_type(struct flatbuffer *flat, flat_place table)
{
    int64_t precision = flat_field(flat, table, 0, 2, 0);
    bool known = precision == 1 || precision == 2;
    return (struct arrow_type){.kind = known ? ARROW_BINARY : ARROW_UNREAD,
                               .width = precision == 1 ? 4 : 8};
}

static struct arrow_type time_type(struct flatbuffer *flat, int64_t number, flat_place table)
{
    int64_t unit = flat_field(flat, table, 0, 2, number == TYPE_DATE);
    struct arrow_type type = {.kind = ARROW_WHOLE, .width = 8, .is_signed = true};
    if (number == TYPE_TIMESTAMP)
        type.meaning = (enum row_meaning)(ROW_SECONDS + (unit & 3));
    else
        type.meaning = unit ? ROW_MILLISECONDS : ROW_DAYS;
    if (type.meaning == ROW_DAYS)
        type.width = 4;
    return type;
}

static struct arrow_type arrow_type_of(struct flatbuffer *flat, int64_t number, flat_place table)
{
    switch (number) {
    case TYPE_NULL:
        return (struct arrow_type){.kind = ARROW_NULLS};
    case TYPE_INT:
        return whole_type(flat, table);
    case TYPE_FLOATING:
        return binary_type(flat, table);
    case TYPE_BOOL:
        return (struct arrow_type){.kind = ARROW_TRUTH};
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
        return time_type(flat, number, table);
    case TYPE_BINARY:
    case TYPE_UTF8:
        return (struct arrow_type){.kind = ARROW_TEXT, .width = 4};
    case TYPE_LARGE_BINARY:
    case TYPE_LARGE_UTF8:
        return (struct arrow_type){.kind = ARROW_TEXT, .width = 8};
    case TYPE_BINARY_VIEW:
    case TYPE_UTF8_VIEW:
        return (struct arrow_type){.kind = ARROW_VIEWED};
    default:
        return (struct arrow_type){.kind = ARROW_UNREAD};
    }
}

/* Buffers of a field itself; of views without those that are counted apart. */
static size_t own_buffers(struct flatbuffer *flat, int64_t number, flat_place table)
{
    switch (number) {
    case TYPE_NULL:
    case TYPE_RUN_ENDS:
        return 0;
    case TYPE_STRUCT:
    case TYPE_FIXED_LIST:
        return 1;
    case TYPE_UNION:
        return flat_field(flat, table, 0, 2, 0) ? 2 : 1; /* dense or sparse */
    case TYPE_BINARY:
    case TYPE_UTF8:
    case TYPE_LARGE_BINARY:
    case TYPE_LARGE_UTF8:
    case TYPE_LIST_VIEW:
    case TYPE_LARGE_LIST_VIEW:
        return 3;
    default:
        return 2;
    }
}

/* @param left columns that may still come: the same ones may be inside of many */
static void add_share(struct flatbuffer *flat, flat_place field, struct arrow_share *share,
                      size_t *left, int depth)
{
    int64_t number = flat_field(flat, field, FIELD_TYPE_NUMBER, 1, 0);
    flat_place table = flat_table(flat, field, FIELD_TYPE);
    bool by_dictionary = flat_table(flat, field, FIELD_DICTIONARY);
    share->nodes++;
    share->buffers += by_dictionary ? 2 : own_buffers(flat, number, table);
    share->views += !by_dictionary && (number == TYPE_BINARY_VIEW || number == TYPE_UTF8_VIEW);
    flat->broken |= depth == DEEPEST_FIELD || !*left;
    *left -= !flat->broken;
    struct flat_vector children = flat_vector_of(flat, field, FIELD_CHILDREN, 4);
    for (size_t i = 0; i < children.count && !flat->broken && !by_dictionary; i++)
        add_share(flat, flat_table_at(flat, &children, i), share, left, depth + 1);
}

static struct arrow_field arrow_column_of(struct flatbuffer *flat, flat_place field, size_t *left)
{
    struct arrow_field column = {0};
    flat_place dictionary = flat_table(flat, field, FIELD_DICTIONARY);
    column.type = arrow_type_of(flat, flat_field(flat, field, FIELD_TYPE_NUMBER, 1, 0),
                                flat_table(flat, field, FIELD_TYPE));
    if (dictionary) {
        flat_place index = flat_table(flat, dictionary, 1);
        column.by_dictionary = true;
        column.dictionary = flat_field(flat, dictionary, 0, 8, 0);
        column.number = (struct arrow_type){.kind = ARROW_WHOLE, .width = 4, .is_signed = true};
        if (index)
            column.number = whole_type(flat, index);
        if (column.number.kind != ARROW_WHOLE)
            column.type.kind = ARROW_UNREAD;
    }
    add_share(flat, field, &column.share, left, 0);
    return column;
}

enum doppel_status arrow_schema_read(struct flatbuffer *flat, flat_place table,
                                     struct arrow_schema *out, struct doppel_error *error)
{
    struct flat_vector fields = flat_vector_of(flat, table, 1, 4);
    size_t left = MOST_COLUMNS;
    *out = (struct arrow_schema){0};
    if (flat_field(flat, table, 0, 2, 0))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "Arrow with the big end of numbers first is not read");
    if (fields.count > MOST_COLUMNS)
        return doppel_fail(error, DOPPEL_E_LIMIT, "Arrow of more than %d columns", MOST_COLUMNS);
    out->columns = calloc(fields.count + 1, sizeof *out->columns);
    bool good = out->columns;
    for (size_t i = 0; good && i < fields.count && !flat->broken; i++) {
        flat_place field = flat_table_at(flat, &fields, i);
        struct flat_vector name = flat_vector_of(flat, field, FIELD_NAME, 1);
        out->columns[i] = arrow_column_of(flat, field, &left);
        good = archive_columns_add(
            &out->names, (const char *)flat->bytes + name.at, name.count,
            out->columns[i].type.kind ? NULL : "has neither texts nor whole or binary numbers");
    }
    if (!good)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read Arrow");
    if (flat->broken)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "the schema of the Arrow data is damaged");
    return DOPPEL_OK;
}

void arrow_schema_free(struct arrow_schema *schema)
{
    archive_columns_free(&schema->names);
    free(schema->columns);
    *schema = (struct arrow_schema){0};
}
