/* Pages of trees, their cells, and the records in these; nothing in them is believed. */
#include "library/salvage/pages.h"

#include <stdlib.h>
#include <string.h>

enum {
    FILE_HEADER_BYTES = 100, /* before the first page's own header */
    LEAF_HEADER_BYTES = 8,
    INNER_HEADER_BYTES = 12,
    PLACE_BYTES = 2,
    NUMBER_BYTES = 4, /* of a page */
    MAX_VARINT_BYTES = 9
};

/* ---- pages ---- */

bool tree_page_parse(uint8_t *bytes, uint32_t size, uint32_t number, struct page *out)
{
    uint32_t start = number == 1 ? FILE_HEADER_BYTES : 0;
    uint8_t kind = bytes[start];
    if (kind != PAGE_KEYS_INNER && kind != PAGE_ROWS_INNER && kind != PAGE_KEYS_LEAF &&
        kind != PAGE_ROWS_LEAF)
        return false;
    bool inner = is_inner((enum page_kind)kind);
    *out = (struct page){.bytes = bytes,
                         .size = size,
                         .number = number,
                         .kind = (enum page_kind)kind,
                         .cells = big_u16(bytes + start + 3),
                         .first = start + (inner ? INNER_HEADER_BYTES : LEAF_HEADER_BYTES),
                         .right = inner ? big_u32(bytes + start + LEAF_HEADER_BYTES) : 0};
    return out->first + PLACE_BYTES * out->cells <= size;
}

/* ---- cells ---- */

struct cell_reader {
    const uint8_t *at, *end;
};

/* 7 bits a byte, high ones first; the ninth has 8. */
static bool read_varint(struct cell_reader *reader, uint64_t *out)
{
    uint64_t value = 0;
    for (int i = 0; i < MAX_VARINT_BYTES && reader->at < reader->end; i++) {
        uint8_t byte = *reader->at++;
        if (i == MAX_VARINT_BYTES - 1) {
            *out = value << 8 | byte;
            return true;
        }
        value = value << 7 | (byte & 0x7f);
        if (byte < 0x80) {
            *out = value;
            return true;
        }
    }
    return false;
}

/* How much of a record lies in its cell. */
static uint32_t local_size(const struct page *page, uint64_t size)
{
    uint32_t least = (page->size - 12) * 32 / 255 - 23;
    uint32_t most = has_ids(page->kind) ? page->size - 35 : (page->size - 12) * 64 / 255 - 23;
    if (size <= most)
        return (uint32_t)size;
    uint32_t wanted = least + (uint32_t)((size - least) % (page->size - NUMBER_BYTES));
    return wanted <= most ? wanted : least;
}

static bool read_record_place(const struct page *page, struct cell_reader *reader, struct cell *out)
{
    out->local_size = local_size(page, out->size);
    out->local = reader->at;
    if (out->size > MAX_RECORD_BYTES || (size_t)(reader->end - reader->at) < out->local_size)
        return false;
    reader->at += out->local_size;
    if (out->local_size == out->size)
        return true;
    if (reader->end - reader->at < NUMBER_BYTES)
        return false;
    out->overflow = big_u32(reader->at);
    return true;
}

bool cell_read(const struct page *page, uint32_t index, struct cell *out)
{
    uint32_t start = big_u16(page->bytes + page->first + (size_t)PLACE_BYTES * index);
    uint64_t id = 0;
    *out = (struct cell){0};
    if (start < page->first + PLACE_BYTES * page->cells || start + NUMBER_BYTES > page->size)
        return false;
    struct cell_reader reader = {page->bytes + start, page->bytes + page->size};
    if (is_inner(page->kind)) {
        out->child = big_u32(reader.at);
        reader.at += NUMBER_BYTES;
    }
    if (page->kind != PAGE_ROWS_INNER && !read_varint(&reader, &out->size))
        return false;
    if (has_ids(page->kind) && !read_varint(&reader, &id))
        return false;
    out->id = (int64_t)id;
    return page->kind == PAGE_ROWS_INNER || read_record_place(page, &reader, out);
}

/* ---- records ---- */

static bool make_room_in_record(struct salvaged_record *record, size_t size)
{
    if (size <= record->capacity)
        return true;
    uint8_t *grown = realloc(record->bytes, size);
    if (!grown)
        return false;
    record->bytes = grown;
    record->capacity = size;
    return true;
}

/* The chain is as long as the rest of the record, and no longer. */
static bool read_overflow(const struct pages *pages, const struct cell *cell, uint8_t *out,
                          uint8_t *page)
{
    uint32_t next = cell->overflow;
    for (size_t done = cell->local_size; done < cell->size;) {
        size_t part = cell->size - done;
        if (part > pages->size - NUMBER_BYTES)
            part = pages->size - NUMBER_BYTES;
        if (next < 2 || !pages_read(pages, next, page))
            return false;
        memcpy(out + done, page + NUMBER_BYTES, part);
        done += part;
        next = big_u32(page);
    }
    return next == 0;
}

static int64_t read_integer(const uint8_t *bytes, size_t size)
{
    uint64_t value = bytes[0] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    return (int64_t)value;
}

static struct bound_value read_real(const uint8_t *bytes)
{
    double real;
    uint64_t bits = big_u64(bytes);
    memcpy(&real, &bits, sizeof real);
    return value_real(real);
}

/* A value by the number of its type. */
static bool read_value(uint64_t type, struct cell_reader *reader, struct bound_value *out)
{
    static const uint8_t sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
    if (type == 10 || type == 11)
        return false;
    uint64_t size = type < 10 ? sizes[type] : (type - 12) / 2;
    if (size > (uint64_t)(reader->end - reader->at))
        return false;
    if (type == 0)
        *out = (struct bound_value){0};
    else if (type < 7)
        *out = value_integer(read_integer(reader->at, size));
    else if (type == 7)
        *out = read_real(reader->at);
    else if (type < 10)
        *out = value_integer((int64_t)type - 8);
    else
        *out = (struct bound_value){
            .type = type & 1 ? VALUE_TEXT : VALUE_BYTES, .bytes = reader->at, .size = (size_t)size};
    reader->at += size;
    return true;
}

static bool read_values(struct salvaged_record *record, size_t size)
{
    uint64_t header, type;
    struct cell_reader types = {record->bytes, record->bytes + size};
    if (!read_varint(&types, &header) || header > size)
        return false;
    struct cell_reader values = {record->bytes + header, record->bytes + size};
    types.end = values.at;
    record->count = 0;
    while (types.at < types.end) {
        if (record->count == MAX_RECORD_VALUES || !read_varint(&types, &type) ||
            !read_value(type, &values, &record->values[record->count]))
            return false;
        record->count++;
    }
    return types.at == types.end && values.at == values.end;
}

enum record_outcome record_of_cell(const struct pages *pages, const struct cell *cell,
                                   struct salvaged_record *record)
{
    if (!make_room_in_record(record, cell->size + pages->size)) /* and a page of overflow */
        return RECORD_NO_MEMORY;
    if (cell->size == 0 || cell->size / pages->size > pages->count)
        return RECORD_DAMAGED;
    memcpy(record->bytes, cell->local, cell->local_size);
    if (cell->local_size < cell->size &&
        !read_overflow(pages, cell, record->bytes, record->bytes + cell->size))
        return RECORD_DAMAGED;
    return read_values(record, cell->size) ? RECORD_READ : RECORD_DAMAGED;
}

void record_free(struct salvaged_record *record)
{
    free(record->bytes);
    *record = (struct salvaged_record){0};
}
