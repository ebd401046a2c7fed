/* Arrow's streams and files (IPC; Feather is such a file) as rows: a column of texts, numbers,
 * truths, dates or times on the outermost level is one of the rows. A file is read as the stream
 * that it holds. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "corpus/read/arrow/batch.h"

enum {
    ROWS_BYTES = 1 << 16,
    MOST_METADATA = 1 << 26,
    FILE_MARK = 8,
    MESSAGE_SCHEMA = 1,
    MESSAGE_DICTIONARY = 2,
    MESSAGE_BATCH = 3
};

struct arrow {
    struct arrow_input input;
    uint8_t *metadata; /* of the message that was read last */
    size_t metadata_capacity;
    struct arrow_schema schema;
    struct batch_wanted *wanted; /* of each column */
    struct batch_values *values; /* likewise, in this batch */
    struct batch_values *words;  /* likewise: the dictionary, under the first column that has it */
    uint64_t row, rows;          /* of this batch */
    bool ended;
};

static const char arrow_mark[] = "ARROW1\0\0";

/* A file's mark, or a stream's first message, which is small. */
static bool arrow_begins(const char *bytes, size_t size)
{
    if (size >= FILE_MARK && memcmp(bytes, arrow_mark, FILE_MARK) == 0)
        return true;
    if (size < 8)
        return false;
    const uint8_t *head = (const uint8_t *)bytes;
    return get_u32(head) == UINT32_MAX && get_u32(head + 4) > 8 &&
           get_u32(head + 4) < MOST_METADATA;
}

static void arrow_free(void *state)
{
    struct arrow *arrow = state;
    for (size_t i = 0; arrow->values && arrow->words && i < arrow->schema.names.count; i++) {
        arrow_values_free(&arrow->values[i]);
        arrow_values_free(&arrow->words[i]);
    }
    free(arrow->values);
    free(arrow->words);
    free(arrow->wanted);
    free(arrow->metadata);
    arrow_schema_free(&arrow->schema);
    arrow_input_free(&arrow->input);
    free(arrow);
}

/* ---- messages ---- */

struct arrow_message {
    struct flatbuffer flat;
    int64_t kind;
    flat_place header;
    uint64_t body_bytes;
};

/* Bytes of the next message's metadata; 0: there is none. */
static enum doppel_status read_message_size(struct arrow *arrow, uint32_t *out,
                                            struct doppel_error *error)
{
    uint8_t size[4];
    bool ended = false;
    enum doppel_status status;
    *out = 0;
    TRY(arrow_input_read(&arrow->input, size, sizeof size, &ended, error));
    if (!ended && get_u32(size) == UINT32_MAX)
        TRY(arrow_input_read(&arrow->input, size, sizeof size, NULL, error));
    *out = ended ? 0 : get_u32(size);
    if (*out > MOST_METADATA)
        return arrow_is_damaged(error);
done:
    return status;
}

/* @param out borrowed until the next one; of kind 0: the end */
static enum doppel_status read_message(struct arrow *arrow, struct arrow_message *out,
                                       struct doppel_error *error)
{
    enum doppel_status status;
    uint32_t size;
    *out = (struct arrow_message){0};
    TRY(read_message_size(arrow, &size, error));
    if (!size)
        return DOPPEL_OK;
    if (size > arrow->metadata_capacity) {
        free(arrow->metadata);
        arrow->metadata = malloc(size);
        arrow->metadata_capacity = arrow->metadata ? size : 0;
        if (!arrow->metadata)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read Arrow");
    }
    TRY(arrow_input_read(&arrow->input, arrow->metadata, size, NULL, error));
    out->flat = (struct flatbuffer){.bytes = arrow->metadata, .size = size};
    flat_place message = flat_root(&out->flat);
    int64_t body = flat_field(&out->flat, message, 3, 8, 0);
    out->kind = flat_field(&out->flat, message, 1, 1, 0);
    out->header = flat_table(&out->flat, message, 2);
    out->body_bytes = (uint64_t)body;
    if (out->flat.broken || body < 0 || !out->header || !out->kind)
        return arrow_is_damaged(error);
done:
    return status;
}

/* ---- life ---- */

static bool make_arrow_columns(struct arrow *arrow)
{
    size_t count = arrow->schema.names.count;
    arrow->wanted = calloc(count + 1, sizeof *arrow->wanted);
    arrow->values = calloc(count + 1, sizeof *arrow->values);
    arrow->words = calloc(count + 1, sizeof *arrow->words);
    if (!arrow->wanted || !arrow->values || !arrow->words)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct arrow_field *column = &arrow->schema.columns[i];
        bool read = !arrow->schema.names.items[i].unread;
        arrow->wanted[i] = (struct batch_wanted){
            .type = !read                   ? NULL
                    : column->by_dictionary ? &column->number
                                            : &column->type,
            .share = column->share,
            .to = &arrow->values[i],
        };
    }
    return true;
}

static enum doppel_status begin_arrow(struct arrow *arrow, const struct archive_input *input,
                                      struct doppel_error *error)
{
    struct arrow_message message;
    enum doppel_status status;
    arrow->input.begun = malloc(input->begun_size);
    if (!arrow->input.begun)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read Arrow");
    memcpy(arrow->input.begun, input->begun, input->begun_size);
    arrow->input.end = input->begun_size;
    arrow->input.source = input->source;
    arrow->input.at = memcmp(input->begun, arrow_mark, FILE_MARK) == 0 ? FILE_MARK : 0;
    TRY(read_message(arrow, &message, error));
    if (message.kind != MESSAGE_SCHEMA) /* Arrow's JavaScript writes such files */
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "the Arrow file names its columns at its end alone; write it as a "
                           "stream");
    TRY(arrow_schema_read(&message.flat, message.header, &arrow->schema, error));
    TRY(arrow_input_pass_over(&arrow->input, message.body_bytes, error));
    TRY(archive_columns_choose(&arrow->schema.names, input, error));
    if (!make_arrow_columns(arrow))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read Arrow");
done:
    return status;
}

static enum doppel_status arrow_open(const struct archive_input *input, void **out,
                                     struct row_layout **out_layout, struct doppel_error *error)
{
    enum doppel_status status;
    struct arrow *arrow = calloc(1, sizeof *arrow);
    if (!arrow)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read Arrow");
    TRY(begin_arrow(arrow, input, error));
    *out_layout = archive_columns_layout(&arrow->schema.names);
    if (!*out_layout)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read Arrow"));
    *out = arrow;
    return DOPPEL_OK;
done:
    arrow_free(arrow);
    return status;
}

/* ---- values ---- */

static uint64_t little_number(const uint8_t *at, unsigned width)
{
    uint64_t number = 0;
    memcpy(&number, at, width);
    return le64toh(number);
}

static int64_t whole_at(const struct arrow_type *type, const uint8_t *at)
{
    uint64_t number = little_number(at, type->width);
    if (type->is_signed && type->width < 8 && number >> (8 * type->width - 1) & 1)
        number |= UINT64_MAX << 8 * type->width;
    return (int64_t)number;
}

/* Number `i`, of so many bytes; NULL: it is not there. */
static const uint8_t *arrow_number(const struct arrow_buffer *buffer, uint64_t i, unsigned width)
{
    return i < buffer->size / width ? buffer->bytes + i * width : NULL;
}

static bool part_of_buffer(const struct arrow_buffer *buffer, uint64_t from, uint64_t size,
                           struct byte_span *out)
{
    static const char nothing[] = "";
    if (from > buffer->size || size > buffer->size - from)
        return false;
    *out = (struct byte_span){size ? (const char *)buffer->bytes + from : nothing, size};
    return true;
}

static bool text_by_offsets(const struct batch_values *values, unsigned width, uint64_t row,
                            struct byte_span *out)
{
    const uint8_t *from = arrow_number(&values->values, row, width);
    const uint8_t *to = arrow_number(&values->values, row + 1, width);
    if (!from || !to)
        return false;
    uint64_t begin = little_number(from, width), end = little_number(to, width);
    return values->text_count && begin <= end &&
           part_of_buffer(&values->texts[0], begin, end - begin, out);
}

static bool text_by_view(const struct batch_values *values, uint64_t row, struct byte_span *out)
{
    enum { VIEW_BYTES = 16, MOST_INLINE = 12 };
    const uint8_t *view = arrow_number(&values->values, row, VIEW_BYTES);
    if (!view)
        return false;
    uint64_t size = little_number(view, 4);
    if (size <= MOST_INLINE) {
        *out = (struct byte_span){(const char *)view + 4, size};
        return true;
    }
    uint64_t buffer = little_number(view + 8, 4);
    return buffer < values->text_count &&
           part_of_buffer(&values->texts[buffer], little_number(view + 12, 4), size, out);
}

static bool is_null(const struct batch_values *values, uint64_t row)
{
    const struct arrow_buffer *present = &values->present;
    return values->nulls && row / 8 < present->size && !(present->bytes[row / 8] >> (row & 7) & 1);
}

/* Append value `row` as a field. False: it is not there */
static bool write_arrow_value(const struct batch_values *values, const struct arrow_type *type,
                              uint64_t row, struct row_writer *rows, uint32_t column)
{
    const uint8_t *at;
    struct byte_span text;
    float single;
    double number;
    switch (type->kind) {
    case ARROW_WHOLE:
        if (!(at = arrow_number(&values->values, row, type->width)))
            return false;
        row_add_whole(rows, column, type->meaning, whole_at(type, at));
        return true;
    case ARROW_BINARY:
        if (!(at = arrow_number(&values->values, row, type->width)))
            return false;
        memcpy(&single, at, sizeof single);
        memcpy(&number, at, type->width == sizeof number ? sizeof number : sizeof single);
        row_add_binary(rows, column, type->width == sizeof number ? number : (double)single,
                       type->width == sizeof single);
        return true;
    case ARROW_TRUTH:
        if (!(at = arrow_number(&values->values, row / 8, 1)))
            return false;
        row_add_truth(rows, column, *at >> (row & 7) & 1);
        return true;
    case ARROW_TEXT:
    case ARROW_VIEWED:
        if (!(type->kind == ARROW_TEXT ? text_by_offsets(values, type->width, row, &text)
                                       : text_by_view(values, row, &text)))
            return false;
        row_add(rows, column, false, text);
        return true;
    case ARROW_NULLS:
    case ARROW_UNREAD:
        return true;
    }
    return false;
}

/* Dictionaries lie under the first column that has them, as values of its type. */
static const struct batch_values *dictionary_of(const struct arrow *arrow, size_t column)
{
    const struct arrow_field *columns = arrow->schema.columns;
    size_t first = 0;
    while (!(columns[first].by_dictionary && arrow->wanted[first].type &&
             columns[first].dictionary == columns[column].dictionary))
        first++;
    return &arrow->words[first];
}

static bool write_arrow_column(const struct arrow *arrow, size_t i, struct row_writer *rows)
{
    const struct arrow_field *column = &arrow->schema.columns[i];
    const struct batch_values *values = &arrow->values[i];
    uint64_t row = arrow->row;
    if (!arrow->wanted[i].type || is_null(values, row))
        return true;
    if (column->by_dictionary) {
        const uint8_t *at = arrow_number(&values->values, row, column->number.width);
        values = dictionary_of(arrow, i);
        row = at ? (uint64_t)whole_at(&column->number, at) : UINT64_MAX;
        if (row >= values->count)
            return false;
        if (is_null(values, row))
            return true;
    }
    return write_arrow_value(values, &column->type, row, rows, (uint32_t)i);
}

/* ---- rows ---- */

/* A dictionary, if a column that is read has it. */
static enum doppel_status take_arrow_dictionary(struct arrow *arrow, struct arrow_message *message,
                                                struct doppel_error *error)
{
    int64_t id = flat_field(&message->flat, message->header, 0, 8, 0);
    const struct arrow_batch batch = {
        &message->flat, flat_table(&message->flat, message->header, 1), message->body_bytes};
    const struct arrow_field *columns = arrow->schema.columns;
    size_t i = 0, count = arrow->schema.names.count;
    uint64_t words;
    while (i < count &&
           !(columns[i].by_dictionary && arrow->wanted[i].type && columns[i].dictionary == id))
        i++;
    if (i == count)
        return arrow_input_pass_over(&arrow->input, message->body_bytes, error);
    if (flat_field(&message->flat, message->header, 2, 1, 0))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "the dictionary of column '%s' grows from batch to batch, which is not "
                           "read",
                           arrow->schema.names.items[i].name);
    const struct batch_wanted wanted = {.type = &columns[i].type, .to = &arrow->words[i]};
    return arrow_batch_read(&arrow->input, &batch, &wanted, 1, &words, error);
}

static enum doppel_status next_arrow_batch(struct arrow *arrow, struct doppel_error *error)
{
    struct arrow_message message;
    enum doppel_status status;
    TRY(read_message(arrow, &message, error));
    const struct arrow_batch batch = {&message.flat, message.header, message.body_bytes};
    switch (message.kind) {
    case 0:
        arrow->ended = true;
        break;
    case MESSAGE_DICTIONARY:
        TRY(take_arrow_dictionary(arrow, &message, error));
        break;
    case MESSAGE_BATCH:
        arrow->row = arrow->rows = 0;
        TRY(arrow_batch_read(&arrow->input, &batch, arrow->wanted, arrow->schema.names.count,
                             &arrow->rows, error));
        break;
    default:
        TRY(arrow_input_pass_over(&arrow->input, message.body_bytes, error));
    }
done:
    return status;
}

static enum doppel_status take_arrow_row(struct arrow *arrow, struct row_writer *rows,
                                         struct doppel_error *error)
{
    row_begin(rows);
    for (size_t i = 0; i < arrow->schema.names.count; i++)
        if (!write_arrow_column(arrow, i, rows)) {
            row_cancel(rows);
            return arrow_is_damaged(error);
        }
    row_finish(rows);
    arrow->row++;
    return DOPPEL_OK;
}

static enum doppel_status arrow_rows(void *state, struct row_writer *rows,
                                     struct doppel_error *error)
{
    struct arrow *arrow = state;
    enum doppel_status status = DOPPEL_OK;
    while (rows->size < ROWS_BYTES && !rows->failed && !arrow->ended)
        if (arrow->row < arrow->rows)
            TRY(take_arrow_row(arrow, rows, error));
        else
            TRY(next_arrow_batch(arrow, error));
done:
    return status;
}

const struct archive_format arrow_format = {
    .begins = arrow_begins, .open = arrow_open, .rows = arrow_rows, .free = arrow_free};
