/* Blocks of whole lines, cut from what an open corpus file gives. */
#include <stdlib.h>
#include <string.h>

#include "core/newlines.h"
#include "corpus/read/file_start.h"
#include "corpus/read/reader_internal.h"

enum { PIPE_BLOCK_BYTES = 1 << 15 }; /* who writes to a pipe waits for answers */

/* What is being read. */
struct block_filling {
    char *bytes;
    size_t size, capacity;
    size_t whole;         /* bytes of whole lines */
    enum csv_state state; /* of rows, at the end of what was read */
    size_t first_row;     /* bytes of the first that was read since; 0: its end is not there */
    uint64_t lines;       /* that were read past */
    bool ended;           /* of the file */
    struct doppel_error damage;
};

static bool grow_filling(struct block_filling *filling, size_t capacity)
{
    char *grown = realloc(filling->bytes, capacity + PARSE_SLACK);
    if (!grown)
        return false;
    filling->bytes = grown;
    filling->capacity = capacity;
    return true;
}

static bool begin_filling(struct reader *reader, struct block_filling *filling, size_t capacity)
{
    if (capacity != BLOCK_BYTES || !reader->spare_count)
        return grow_filling(filling, capacity);
    filling->bytes = reader->spares[--reader->spare_count];
    filling->capacity = capacity;
    return true;
}

/* What was read from `from` on may end some lines. */
static void find_whole_lines(const struct reader *reader, struct block_filling *filling,
                             size_t from)
{
    const char *at = filling->bytes + from, *end = filling->bytes + filling->size;
    if (reader->archive) {
        size_t row;
        while ((row = row_bytes(filling->bytes + filling->whole, filling->size - filling->whole)))
            filling->whole += row;
        return;
    }
    if (!reader->separator) {
        const char *newline = memrchr(at, '\n', (size_t)(end - at));
        if (newline)
            filling->whole = (size_t)(newline - filling->bytes) + 1;
        return;
    }
    enum csv_state state = filling->state;
    while ((at = csv_row_end(at, end, reader->separator, &state))) {
        filling->whole = (size_t)(++at - filling->bytes);
        if (!filling->first_row)
            filling->first_row = filling->whole;
    }
    filling->state = state;
}

/* Archives give other bytes than they have. @param got of the beginning */
static void begin_archive(struct reader *reader, struct block_filling *filling, size_t got)
{
    struct corpus_file *file = &reader->files[reader->next_file - 1];
    const struct archive_input input = {
        .source = reader->source,
        .is_plain = reader->regular && file->packing == DOPPEL_PACKING_NONE,
        .begun = filling->bytes,
        .begun_size = got,
        .fields = reader->fields,
        .only_fields = reader->only_fields,
        .max_bytes = reader->max_line_bytes,
    };
    file->is_archive = true;
    filling->ended = archive_new(&input, &reader->archive, &filling->damage) != DOPPEL_OK;
    if (filling->ended)
        return;
    row_layout_free(file->layout);
    file->layout = archive_give_layout(reader->archive);
}

static void read_more_records(struct reader *reader, struct block_filling *filling)
{
    size_t got = 0;
    char *to = filling->bytes + filling->size;
    bool begins = !filling->size && !reader->offset && !reader->archive;
    size_t room = filling->capacity - filling->size;
    enum doppel_status status =
        reader->archive ? archive_read(reader->archive, to, room, &got, &filling->damage)
                        : source_read(reader->source, to, room, &got, &filling->damage);
    filling->ended = status != DOPPEL_OK || got == 0;
    reader_count_bytes(reader);
    if (filling->ended)
        return;
    if (begins && reader_may_meet_archive(reader) && archive_begins(to, got)) {
        begin_archive(reader, filling, got);
        return;
    }
    filling->size += got;
    find_whole_lines(reader, filling, filling->size - got);
}

/* Twice as much, but no more than it takes to see that a line is over the limit. */
static size_t next_capacity(const struct reader *reader, size_t capacity)
{
    uint64_t limit = reader->archive ? UINT64_MAX : reader->max_line_bytes;
    return capacity <= limit && limit < 2 * (uint64_t)capacity ? (size_t)limit + 1 : 2 * capacity;
}

/* Read until the block is full, of pipes until there is a line, or to the end. */
static enum doppel_status fill_reader_block(struct reader *reader, struct block_filling *filling,
                                            struct doppel_error *error)
{
    size_t capacity = reader->regular ? BLOCK_BYTES : PIPE_BLOCK_BYTES;
    if (capacity < 2 * reader->rest_size)
        capacity = 2 * reader->rest_size;
    if (!begin_filling(reader, filling, capacity))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
    if (reader->rest_size)
        memcpy(filling->bytes, reader->rest, reader->rest_size);
    filling->size = reader->rest_size;
    find_whole_lines(reader, filling, 0);
    while (!filling->ended) {
        if (filling->whole && (!reader->regular || filling->size == filling->capacity))
            break;
        if (!filling->whole && filling->size > reader->max_line_bytes && !reader->archive)
            break;
        if (filling->size == filling->capacity &&
            !grow_filling(filling, next_capacity(reader, filling->capacity)))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a line of %zu bytes and more",
                               filling->size);
        read_more_records(reader, filling);
    }
    if (filling->ended && !filling->damage.status && !reader->archive)
        filling->whole = filling->size;
    memset(filling->bytes + filling->size, 0, PARSE_SLACK);
    return DOPPEL_OK;
}

enum doppel_status line_too_long(const char *line, uint64_t size, uint64_t limit,
                                 struct doppel_error *error)
{
    if (size && *line == '[')
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "an array of %llu bytes on one line, not a record; make a line of each "
                           "of its records: jq -c '.[]'",
                           (unsigned long long)size);
    return doppel_fail(error, DOPPEL_E_LIMIT,
                       "the line has %llu bytes, more than the limit of %llu (--max-record); one "
                       "record is one line",
                       (unsigned long long)size, (unsigned long long)limit);
}

/* Read past a line that is over the limit, block by block; the rest of the last one stays. */
static void skip_line(struct reader *reader, struct block_filling *filling,
                      struct line_block *block)
{
    char first = filling->bytes[0];
    uint64_t size = 0;
    if (filling->capacity > BLOCK_BYTES)
        filling->capacity = BLOCK_BYTES; /* what it has beyond is not needed any more */
    while (!filling->whole && !filling->ended) {
        size += filling->size;
        filling->lines += count_newlines(filling->bytes, filling->size);
        filling->size = 0;
        read_more_records(reader, filling);
    }
    const char *newline =
        reader->separator ? (filling->first_row ? filling->bytes + filling->first_row - 1 : NULL)
                          : memchr(filling->bytes, '\n', filling->size);
    size_t last = newline ? (size_t)(newline - filling->bytes) : filling->size;
    size += last;
    line_too_long(&first, size, reader->max_line_bytes, &block->damage);
    block->damage_size = size;
    filling->whole = newline ? last + 1 : last;
    filling->lines += count_newlines(filling->bytes, filling->whole);
}

/* Keep what is behind the whole lines for the next block. */
static bool keep_rest_of_block(struct reader *reader, const struct block_filling *filling)
{
    size_t size = filling->size - filling->whole;
    if (size > reader->rest_capacity) {
        char *grown = realloc(reader->rest, size + size / 2);
        if (!grown)
            return false;
        reader->rest = grown;
        reader->rest_capacity = size + size / 2;
    }
    if (size)
        memcpy(reader->rest, filling->bytes + filling->whole, size);
    reader->rest_size = size;
    return true;
}

static bool begins_file(const struct reader *reader)
{
    if (reader->archive)
        return false;
    return reader->first_line == 1 || strcmp(reader->files[reader->next_file - 1].path, "-") != 0;
}

/* What is no record at the beginning of a file. False: no memory. */
static bool take_head(struct reader *reader, struct block_filling *filling,
                      struct line_block *block)
{
    const struct file_start start = {filling->bytes, filling->whole, reader->takes_paths,
                                     reader->separator};
    size_t head;
    struct corpus_file *file = &reader->files[reader->next_file - 1];
    enum doppel_status status = file_start(&start, file, &head, &block->damage);
    block->bytes = filling->bytes + head;
    reader->line += count_newlines(filling->bytes, head);
    if (status && status != DOPPEL_E_MEMORY) { /* the rest is no better */
        filling->whole = head;
        filling->ended = true;
    }
    return status != DOPPEL_E_MEMORY;
}

static uint64_t count_archive_rows(const char *rows, size_t size)
{
    uint64_t count = 0;
    for (size_t one; (one = row_bytes(rows, size)); rows += one, size -= one)
        count++;
    return count;
}

/* Make a block of what was read, which it takes. */
static bool make_block(struct reader *reader, struct block_filling *filling,
                       struct line_block *block)
{
    uint64_t skipped = 0;
    block->memory = filling->bytes;
    block->capacity = filling->capacity;
    block->bytes = filling->bytes;
    block->damage = filling->damage;
    if (!filling->whole && !filling->ended && !reader->archive) {
        skip_line(reader, filling, block);
        skipped = block->damage_size + 1;
        filling->ended |= reader->separator && reader->offset == 0; /* its columns have no names */
    } else {
        if (reader->offset == 0 && begins_file(reader) && !take_head(reader, filling, block))
            return false;
        block->size = filling->whole - (size_t)(block->bytes - filling->bytes);
    }
    if (!keep_rest_of_block(reader, filling))
        return false;
    block->offset = reader->offset + (uint64_t)(block->bytes - filling->bytes);
    block->line = reader->line;
    block->layout = reader->files[reader->next_file - 1].layout;
    reader->line += skipped           ? filling->lines
                    : reader->archive ? count_archive_rows(block->bytes, block->size)
                                      : count_newlines(block->bytes, block->size);
    reader->offset += skipped ? skipped : filling->whole;
    if ((block->damage.status && !skipped) || filling->ended)
        reader_end_file(reader);
    return true;
}

/* The next block of the open file; without lines and damage where it is at its end. */
enum doppel_status reader_next_of_file(struct reader *reader, struct line_block *block,
                                       struct doppel_error *error)
{
    struct block_filling filling = {0};
    enum doppel_status status = fill_reader_block(reader, &filling, error);
    if (!status && !make_block(reader, &filling, block))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
    if (status)
        free(filling.bytes);
    return status;
}
