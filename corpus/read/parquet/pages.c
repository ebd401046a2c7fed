/* The values of a column of Parquet, page by page: plain ones, and those of a dictionary. */
#include "corpus/read/parquet/parquet.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"

enum {
    HEADER_BYTES = 1 << 12, /* that are read at first */
    MOST_HEADER_BYTES = 1 << 24,
    PAGE_DATA = 0,
    PAGE_DICTIONARY = 2,
    PAGE_DATA_V2 = 3,
    ENCODING_PLAIN = 0,
    ENCODING_PLAIN_DICTIONARY = 2,
    ENCODING_RLE = 3,
    ENCODING_RLE_DICTIONARY = 8
};

struct page_header {
    int64_t kind, size, packed; /* bytes */
    int64_t values, encoding, level_encoding;
    int64_t level_bytes, repeat_bytes; /* of version 2 */
    bool is_packed;
    size_t header_bytes;
};

static enum doppel_status broken_page(const struct parquet_pages *pages, struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "a page of column '%s' is damaged; the rest is not read", pages->name);
}

/* Room for `size` bytes, among those that all columns may have. What was there is lost. */
static enum doppel_status make_page_room(struct parquet_pages *pages, void *bytes_at,
                                         size_t *capacity, uint64_t size,
                                         struct doppel_error *error)
{
    void **bytes = bytes_at;
    struct parquet_memory *memory = pages->memory;
    if (size <= *capacity && *bytes)
        return DOPPEL_OK;
    free(*bytes);
    *bytes = NULL;
    memory->held -= *capacity;
    *capacity = 0;
    uint64_t wanted = size + size / 4 + 1;
    if (wanted > PARQUET_MOST_BYTES - memory->held)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "pages of column '%s', and those of others, want more than 512 MB; "
                           "write smaller ones",
                           pages->name);
    *bytes = malloc(wanted);
    if (!*bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a Parquet file");
    *capacity = wanted;
    memory->held += wanted;
    return DOPPEL_OK;
}

enum doppel_status parquet_pages_begin(struct parquet_pages *pages,
                                       const struct parquet_chunk *chunk,
                                       struct doppel_error *error)
{
    const char *name = pages->name;
    if (chunk->elsewhere)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "column '%s' is encrypted, or in another file", name);
    if (!parquet_codec_is_known(chunk->codec))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "column '%s' is neither plain nor packed by snappy, gzip or zstd; write "
                           "it again so",
                           name);
    if (chunk->type != (int)pages->column->type)
        return broken_page(pages, error);
    pages->codec = chunk->codec;
    pages->at = chunk->at;
    pages->end = chunk->at + chunk->size;
    pages->left = 0;
    pages->dictionary_count = 0;
    return DOPPEL_OK;
}

void parquet_pages_free(struct parquet_pages *pages)
{
    free(pages->page);
    free(pages->dictionary);
    free(pages->places);
}

/* ---- headers ---- */

static void take_page_details(struct thrift *thrift, int kind, struct page_header *header)
{
    struct thrift_field field = {0};
    while (thrift_next(thrift, &field)) {
        bool second = kind == PAGE_DATA_V2;
        if (field.id == 1)
            header->values = thrift_number(thrift, &field);
        else if (field.id == (second ? 4 : 2))
            header->encoding = thrift_number(thrift, &field);
        else if (field.id == 3 && kind == PAGE_DATA)
            header->level_encoding = thrift_number(thrift, &field);
        else if (field.id == 5 && second)
            header->level_bytes = thrift_number(thrift, &field);
        else if (field.id == 6 && second)
            header->repeat_bytes = thrift_number(thrift, &field);
        else if (field.id == 7 && second)
            header->is_packed = thrift_number(thrift, &field) != 0;
        else
            thrift_skip(thrift, &field);
    }
}

static bool take_page_header(struct thrift *thrift, struct page_header *header)
{
    struct thrift_field field = {0};
    const uint8_t *begin = thrift->at;
    *header = (struct page_header){.kind = -1, .level_encoding = ENCODING_RLE, .is_packed = true};
    while (thrift_next(thrift, &field)) {
        if (field.id == 1)
            header->kind = thrift_number(thrift, &field);
        else if (field.id == 2)
            header->size = thrift_number(thrift, &field);
        else if (field.id == 3)
            header->packed = thrift_number(thrift, &field);
        else if (field.id == 5 && thrift_struct(thrift, &field))
            take_page_details(thrift, PAGE_DATA, header);
        else if (field.id == 7 && thrift_struct(thrift, &field))
            take_page_details(thrift, PAGE_DICTIONARY, header);
        else if (field.id == 8 && thrift_struct(thrift, &field))
            take_page_details(thrift, PAGE_DATA_V2, header);
        else
            thrift_skip(thrift, &field);
    }
    header->header_bytes = (size_t)(thrift->at - begin);
    return !thrift->broken;
}

/* The header of the next page, within what is left of the chunk. */
static enum doppel_status read_page_header(struct parquet_pages *pages, struct page_header *out,
                                           struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    struct parquet_memory *memory = pages->memory;
    uint64_t left = pages->end - pages->at;
    if (!left)
        return broken_page(pages, error);
    for (size_t wanted = HEADER_BYTES;; wanted *= 4) {
        size_t some = wanted < left ? wanted : (size_t)left;
        TRY(make_page_room(pages, &memory->packed, &memory->packed_capacity, some, error));
        TRY(parquet_pread(pages->fd, memory->packed, some, pages->at, error));
        struct thrift thrift = {.at = memory->packed, .end = memory->packed + some};
        if (take_page_header(&thrift, out))
            break;
        if (some == left || wanted >= MOST_HEADER_BYTES)
            return broken_page(pages, error);
    }
    if (out->size < 0 || out->packed < 0 || out->values < 0 || out->values > INT32_MAX ||
        (uint64_t)out->packed > left - out->header_bytes)
        return broken_page(pages, error);
done:
    return status;
}

/* ---- pages ---- */

/* The page behind a header, unpacked. @param plain bytes at its beginning that are not packed */
static enum doppel_status unpack_page(struct parquet_pages *pages, const struct page_header *header,
                                      size_t plain, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    size_t packed = (size_t)header->packed, size = (size_t)header->size;
    bool dictionary = header->kind == PAGE_DICTIONARY;
    struct parquet_memory *memory = pages->memory;
    uint8_t **to = dictionary ? &pages->dictionary : &pages->page;
    if (plain > packed || plain > size)
        return broken_page(pages, error);
    TRY(make_page_room(pages, &memory->packed, &memory->packed_capacity, packed, error));
    TRY(make_page_room(pages, to, dictionary ? &pages->dictionary_capacity : &pages->page_capacity,
                       size, error));
    TRY(parquet_pread(pages->fd, memory->packed, packed, pages->at + header->header_bytes, error));
    pages->at += header->header_bytes + packed;
    memcpy(*to, memory->packed, plain);
    int codec = header->is_packed ? pages->codec : 0;
    if (packed == plain && size == plain)
        return DOPPEL_OK; /* only nulls */
    if (!parquet_unpack(codec, memory->packed + plain, packed - plain, *to + plain, size - plain))
        return broken_page(pages, error);
done:
    return status;
}

/* Bytes of a value; 0: of texts, which state it, and of truths. */
static size_t value_width(const struct parquet_pages *pages)
{
    enum parquet_type type = pages->column->type;
    return type == PARQUET_INT32 || type == PARQUET_FLOAT    ? 4
           : type == PARQUET_INT64 || type == PARQUET_DOUBLE ? 8
                                                             : 0;
}

/* A plain value, and move behind it. False: it is not whole. */
static bool take_plain_value(size_t width, const uint8_t **at, const uint8_t *end,
                             struct parquet_value *out)
{
    size_t left = (size_t)(end - *at);
    if (!width) {
        if (left < 4)
            return false;
        width = get_u32(*at);
        *at += 4;
        left -= 4;
    }
    if (width > left)
        return false;
    *out = (struct parquet_value){.bytes = *at, .size = width};
    *at += width;
    return true;
}

static enum doppel_status take_dictionary(struct parquet_pages *pages,
                                          const struct page_header *header,
                                          struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    size_t width = value_width(pages), count = (size_t)header->values;
    if (pages->column->type == PARQUET_BOOLEAN ||
        (header->encoding != ENCODING_PLAIN && header->encoding != ENCODING_PLAIN_DICTIONARY) ||
        (uint64_t)header->values > (uint64_t)header->size / (width ? width : 4))
        return broken_page(pages, error);
    TRY(unpack_page(pages, header, 0, error));
    TRY(make_page_room(pages, &pages->places, &pages->place_capacity,
                       (count + 1) * sizeof *pages->places, error));
    const uint8_t *at = pages->dictionary, *end = at + header->size;
    for (size_t i = 0; i < count; i++) {
        struct parquet_value value;
        pages->places[i] = (uint32_t)(at - pages->dictionary);
        if (!take_plain_value(width, &at, end, &value))
            return broken_page(pages, error);
    }
    pages->places[count] = (uint32_t)(at - pages->dictionary);
    pages->dictionary_count = count;
done:
    return status;
}

/* Where the levels of a page end, and its values begin. False: it is damaged. */
static bool take_page_levels(struct parquet_pages *pages, const struct page_header *header,
                             struct thrift *page)
{
    size_t left = (size_t)(page->end - page->at), size = (size_t)header->level_bytes;
    if (header->kind == PAGE_DATA && pages->column->optional) {
        if (left < 4 || header->level_encoding != ENCODING_RLE)
            return false;
        size = get_u32(page->at);
        page->at += 4;
        left -= 4;
    }
    if (size > left)
        return false;
    pages->present =
        (struct parquet_levels){.bytes = {.at = page->at, .end = page->at + size}, .width = 1};
    page->at += size;
    return true;
}

/* How the values of a page are written. */
static enum doppel_status take_encoding(struct parquet_pages *pages,
                                        const struct page_header *header, struct thrift page,
                                        struct doppel_error *error)
{
    size_t left = (size_t)(page.end - page.at);
    bool truths = pages->column->type == PARQUET_BOOLEAN;
    bool by_dictionary = header->encoding == ENCODING_PLAIN_DICTIONARY ||
                         header->encoding == ENCODING_RLE_DICTIONARY;
    pages->by_numbers = header->encoding != ENCODING_PLAIN;
    pages->value = page.at;
    pages->values_end = page.end;
    pages->bit = 0;
    if (!pages->by_numbers)
        return DOPPEL_OK;
    if (truths ? header->encoding != ENCODING_RLE : !by_dictionary)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "column '%s' is written in an encoding (%d) that is not read; write it "
                           "plain, or with a dictionary",
                           pages->name, (int)(header->encoding & 0xFF));
    unsigned width = truths ? 1 : left ? page.at[0] : 0;
    size_t before = truths ? 4 : 1;
    if (width > 32 || (left < before && left))
        return broken_page(pages, error);
    page.at += left ? before : 0;
    pages->numbers = (struct parquet_levels){.bytes = page, .width = width};
    return DOPPEL_OK;
}

static enum doppel_status take_data_page(struct parquet_pages *pages,
                                         const struct page_header *header,
                                         struct doppel_error *error)
{
    enum doppel_status status;
    if (header->level_bytes < 0 || header->repeat_bytes || header->level_bytes > header->size)
        return broken_page(pages, error);
    TRY(unpack_page(pages, header, (size_t)header->level_bytes, error));
    struct thrift page = {.at = pages->page, .end = pages->page + header->size};
    if (!take_page_levels(pages, header, &page))
        return broken_page(pages, error);
    TRY(take_encoding(pages, header, page, error));
    pages->left = (uint64_t)header->values;
done:
    return status;
}

/* Pages up to one with values. Each takes some bytes of the chunk, so there is an end. */
static enum doppel_status next_page(struct parquet_pages *pages, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    while (!pages->left) {
        struct page_header header;
        TRY(read_page_header(pages, &header, error));
        if (header.kind == PAGE_DICTIONARY)
            TRY(take_dictionary(pages, &header, error));
        else if (header.kind == PAGE_DATA || header.kind == PAGE_DATA_V2)
            TRY(take_data_page(pages, &header, error));
        else
            pages->at += header.header_bytes + (size_t)header.packed;
    }
done:
    return status;
}

/* ---- values ---- */

/* The value that a number stands for. */
static bool take_numbered(struct parquet_pages *pages, struct parquet_value *out)
{
    uint32_t number = parquet_levels_next(&pages->numbers);
    size_t prefix = value_width(pages) ? 0 : 4;
    if (pages->numbers.bytes.broken)
        return false;
    if (pages->column->type == PARQUET_BOOLEAN) {
        out->truth = (uint8_t)number;
        return true;
    }
    if (number >= pages->dictionary_count)
        return false;
    out->bytes = pages->dictionary + pages->places[number] + prefix;
    out->size = pages->places[number + 1] - pages->places[number] - prefix;
    return true;
}

static bool take_plain_truth(struct parquet_pages *pages, struct parquet_value *out)
{
    if (pages->value == pages->values_end)
        return false;
    out->truth = *pages->value >> pages->bit & 1;
    pages->value += pages->bit == 7;
    pages->bit = (pages->bit + 1) & 7;
    return true;
}

enum doppel_status parquet_pages_next(struct parquet_pages *pages, struct parquet_value *out,
                                      struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    bool truths = pages->column->type == PARQUET_BOOLEAN;
    TRY(next_page(pages, error));
    pages->left--;
    *out = (struct parquet_value){0};
    if (pages->column->optional) {
        bool present = parquet_levels_next(&pages->present);
        if (pages->present.bytes.broken)
            return broken_page(pages, error);
        if (!present)
            return DOPPEL_OK;
    }
    bool whole = pages->by_numbers ? take_numbered(pages, out)
                 : truths
                     ? take_plain_truth(pages, out)
                     : take_plain_value(value_width(pages), &pages->value, pages->values_end, out);
    if (!whole)
        return broken_page(pages, error);
    if (truths) {
        out->bytes = &out->truth;
        out->size = 1;
    }
done:
    return status;
}
