/* The footer of a Parquet file, none of whose numbers is trusted. */
#include "corpus/read/parquet/parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/try.h"

enum {
    MARK_BYTES = 4,
    TAIL_BYTES = 8,
    MOST_FOOTER_BYTES = 1 << 26,
    MOST_CHUNKS = 1 << 20,
    MOST_COLUMNS = 1 << 16
};

static const char mark[] = "PAR1";

/* An element of the schema. */
struct schema_element {
    int64_t type, repetition, children, converted;
    const char *name;
    size_t name_size;
};

bool parquet_begins(const char *bytes, size_t size)
{
    return size >= MARK_BYTES && memcmp(bytes, mark, MARK_BYTES) == 0;
}

static enum doppel_status no_footer_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a Parquet file");
}

static enum doppel_status broken_footer(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "its end is not that of a Parquet file: it is damaged, or cut short; fetch "
                       "it again");
}

enum doppel_status parquet_pread(int fd, void *bytes, size_t size, uint64_t at,
                                 struct doppel_error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, (char *)bytes + done, size - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(errno));
        if (got == 0)
            return doppel_fail(error, DOPPEL_E_CORRUPT, "it is cut short; fetch it again");
        done += (size_t)got;
    }
    return DOPPEL_OK;
}

/* ---- columns ---- */

static struct schema_element take_schema_element(struct thrift *thrift)
{
    struct schema_element element = {.type = -1, .converted = -1, .name = ""};
    struct thrift_field field = {0};
    while (thrift_next(thrift, &field)) {
        if (field.id == 1)
            element.type = thrift_number(thrift, &field);
        else if (field.id == 3)
            element.repetition = thrift_number(thrift, &field);
        else if (field.id == 4)
            element.name = thrift_bytes(thrift, &field, &element.name_size);
        else if (field.id == 5)
            element.children = thrift_number(thrift, &field);
        else if (field.id == 6)
            element.converted = thrift_number(thrift, &field);
        else
            thrift_skip(thrift, &field);
    }
    thrift->broken |= element.children < 0;
    return element;
}

static enum row_meaning parquet_meaning_of(const struct schema_element *element)
{
    switch (element->converted) {
    case 6:
        return element->type == PARQUET_INT32 ? ROW_DAYS : ROW_SIGNED;
    case 9:
        return element->type == PARQUET_INT64 ? ROW_MILLISECONDS : ROW_SIGNED;
    case 10:
        return element->type == PARQUET_INT64 ? ROW_MICROSECONDS : ROW_SIGNED;
    case 11:
    case 12:
    case 13:
    case 14:
        return ROW_UNSIGNED;
    default:
        return ROW_SIGNED;
    }
}

static const char *why_column_unread(const struct schema_element *element)
{
    enum { DECIMAL = 5, BSON = 20, INTERVAL = 21, INT96 = 3, FIXED = 7 };
    if (element->children || element->repetition == 2)
        return "is nested";
    if (element->type == INT96 || element->type >= FIXED || element->type < 0 ||
        element->converted == DECIMAL || element->converted == BSON ||
        element->converted == INTERVAL)
        return "has neither texts nor whole or binary numbers";
    return NULL;
}

/* What is inside a column that is not read. @return how many elements */
static size_t pass_inner_columns(struct thrift *thrift, struct parquet_footer *footer,
                                 const struct schema_element *outer, size_t left)
{
    uint64_t pending = (uint64_t)outer->children;
    size_t passed = 0;
    for (; pending && !thrift->broken; passed++, pending--) {
        thrift->broken |= passed == left || pending > left;
        struct schema_element inner = take_schema_element(thrift);
        footer->leaf_count += !inner.children;
        pending += (uint64_t)inner.children;
    }
    return passed;
}

static enum doppel_status take_schema(struct thrift *thrift, const struct thrift_field *field,
                                      struct parquet_footer *footer, struct doppel_error *error)
{
    size_t count = thrift_list(thrift, field, THRIFT_STRUCT);
    if (!count || footer->columns)
        return broken_footer(error);
    if (count > MOST_COLUMNS)
        return doppel_fail(error, DOPPEL_E_LIMIT, "Parquet of more than %d columns", MOST_COLUMNS);
    footer->columns = calloc(count, sizeof *footer->columns);
    if (!footer->columns)
        return no_footer_memory(error);
    take_schema_element(thrift); /* the root */
    for (size_t i = 1; i < count && !thrift->broken; i++) {
        struct schema_element element = take_schema_element(thrift);
        struct parquet_column *column = &footer->columns[footer->names.count];
        if (!archive_columns_add(&footer->names, element.name, element.name_size,
                                 why_column_unread(&element)))
            return no_footer_memory(error);
        column->leaf = footer->leaf_count;
        column->type = (enum parquet_type)element.type;
        column->meaning = parquet_meaning_of(&element);
        column->optional = element.repetition == 1;
        footer->leaf_count += !element.children;
        i += pass_inner_columns(thrift, footer, &element, count - i - 1);
    }
    return DOPPEL_OK;
}

/* ---- groups of rows ---- */

static void take_chunk_metadata(struct thrift *thrift, struct parquet_chunk *chunk)
{
    struct thrift_field field = {0};
    int64_t data = 0, dictionary = 0, size = 0, values = 0;
    while (thrift_next(thrift, &field)) {
        if (field.id == 1)
            chunk->type = (int)(thrift_number(thrift, &field) & 0xFF);
        else if (field.id == 4)
            chunk->codec = (int)(thrift_number(thrift, &field) & 0xFF);
        else if (field.id == 5)
            values = thrift_number(thrift, &field);
        else if (field.id == 7)
            size = thrift_number(thrift, &field);
        else if (field.id == 9)
            data = thrift_number(thrift, &field);
        else if (field.id == 11)
            dictionary = thrift_number(thrift, &field);
        else
            thrift_skip(thrift, &field);
    }
    thrift->broken |= data < 0 || dictionary < 0 || size < 0 || values < 0;
    chunk->at = (uint64_t)(dictionary && dictionary < data ? dictionary : data);
    chunk->size = (uint64_t)size;
    chunk->values = (uint64_t)values;
}

static void take_chunk(struct thrift *thrift, struct parquet_chunk *chunk)
{
    struct thrift_field field = {0};
    bool known = false;
    while (thrift_next(thrift, &field)) {
        if (field.id == 3 && thrift_struct(thrift, &field)) {
            take_chunk_metadata(thrift, chunk);
            known = true;
            continue;
        }
        chunk->elsewhere |= field.id == 1 || field.id == 8 || field.id == 9;
        thrift_skip(thrift, &field);
    }
    chunk->elsewhere |= !known;
}

static void take_row_group(struct thrift *thrift, struct parquet_footer *footer, size_t number)
{
    struct thrift_field field = {0};
    struct parquet_chunk *chunks = footer->chunks + number * footer->leaf_count;
    size_t count = 0;
    int64_t rows = -1;
    while (thrift_next(thrift, &field)) {
        if (field.id == 1) {
            thrift->broken |= count != 0;
            count = thrift_list(thrift, &field, THRIFT_STRUCT);
            thrift->broken |= count != footer->leaf_count;
            for (size_t i = 0; i < count && !thrift->broken; i++)
                take_chunk(thrift, &chunks[i]);
        } else if (field.id == 3) {
            rows = thrift_number(thrift, &field);
        } else {
            thrift_skip(thrift, &field);
        }
    }
    thrift->broken |= rows < 0 || count != footer->leaf_count;
    footer->group_rows[number] = (uint64_t)rows;
}

static enum doppel_status take_groups(struct thrift *thrift, const struct thrift_field *field,
                                      struct parquet_footer *footer, struct doppel_error *error)
{
    size_t count = thrift_list(thrift, field, THRIFT_STRUCT);
    thrift->broken |= !footer->leaf_count || footer->chunks ||
                      (footer->leaf_count && count > MOST_CHUNKS / footer->leaf_count);
    if (thrift->broken || !count)
        return DOPPEL_OK;
    footer->group_rows = calloc(count, sizeof *footer->group_rows);
    footer->chunks = calloc(count * footer->leaf_count, sizeof *footer->chunks);
    if (!footer->group_rows || !footer->chunks)
        return no_footer_memory(error);
    footer->group_count = count;
    for (size_t i = 0; i < count && !thrift->broken; i++)
        take_row_group(thrift, footer, i);
    return DOPPEL_OK;
}

static enum doppel_status take_footer(struct thrift *thrift, struct parquet_footer *footer,
                                      struct doppel_error *error)
{
    struct thrift_field field = {0};
    enum doppel_status status = DOPPEL_OK;
    while (!status && thrift_next(thrift, &field)) {
        if (field.id == 2)
            status = take_schema(thrift, &field, footer, error);
        else if (field.id == 4)
            status = take_groups(thrift, &field, footer, error);
        else
            thrift_skip(thrift, &field);
    }
    if (!status && (thrift->broken || !footer->columns))
        status = broken_footer(error);
    return status;
}

enum doppel_status parquet_footer_read(int fd, struct parquet_footer *out,
                                       struct doppel_error *error)
{
    struct stat found;
    uint8_t tail[TAIL_BYTES];
    uint8_t *bytes = NULL;
    enum doppel_status status = DOPPEL_OK;
    *out = (struct parquet_footer){0};
    if (fstat(fd, &found))
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read: %s", strerror(errno));
    uint64_t size = (uint64_t)found.st_size;
    if (size < MARK_BYTES + TAIL_BYTES)
        return broken_footer(error);
    TRY(parquet_pread(fd, tail, sizeof tail, size - TAIL_BYTES, error));
    const uint64_t length = get_u32(tail);
    if (memcmp(tail + 4, mark, MARK_BYTES) != 0 || length > size - MARK_BYTES - TAIL_BYTES)
        return broken_footer(error);
    if (length > MOST_FOOTER_BYTES)
        return doppel_fail(error, DOPPEL_E_LIMIT, "its footer has more than 64 MB");
    bytes = malloc(length ? length : 1);
    if (!bytes)
        return no_footer_memory(error);
    TRY(parquet_pread(fd, bytes, length, size - TAIL_BYTES - length, error));
    struct thrift thrift = {.at = bytes, .end = bytes + length};
    TRY(take_footer(&thrift, out, error));
    for (size_t i = 0; i < out->group_count * out->leaf_count; i++)
        if (!out->chunks[i].elsewhere &&
            (out->chunks[i].at > size || out->chunks[i].size > size - out->chunks[i].at))
            TRY(broken_footer(error));
done:
    free(bytes);
    return status;
}

void parquet_footer_free(struct parquet_footer *footer)
{
    archive_columns_free(&footer->names);
    free(footer->columns);
    free(footer->group_rows);
    free(footer->chunks);
    *footer = (struct parquet_footer){0};
}
