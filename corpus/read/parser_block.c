/* The lines, or rows, of a block, each to a record. */
#include <string.h>

#include "core/newlines.h"
#include "corpus/read/reader.h"

static bool is_blank_line(const char *line, size_t size)
{
    while (size && (line[size - 1] == ' ' || line[size - 1] == '\t' || line[size - 1] == '\r'))
        size--;
    return size == 0;
}

static bool visit_damage(const struct line_block *block, uint64_t line, record_visitor *visitor,
                         void *context)
{
    struct doppel_corpus_record record = {
        .file = block->file,
        .line = line,
        .offset = block->offset + block->size,
        .size = block->damage_size,
        .error = block->damage,
    };
    return visitor(context, &record);
}

/* What is too large for a row was left out of it. @param out_size becomes 0: nothing can be kept */
static void check_row_size(const struct line_block *block, const char *row, size_t *out_size,
                           struct doppel_error *error)
{
    uint64_t whole = row_whole_size(row);
    if (whole == *out_size)
        return;
    doppel_fail(error, DOPPEL_E_LIMIT,
                "the record has %llu bytes, more than the limit of %llu (--max-record)",
                (unsigned long long)whole, (unsigned long long)block->max_line_bytes);
    *out_size = 0;
}

static bool visit_archive_rows(struct parser *parser, const struct line_block *block,
                               record_visitor *visitor, void *context)
{
    const char *row = block->bytes, *end = row + block->size;
    uint64_t number = block->line;
    for (size_t size; (size = row_bytes(row, (size_t)(end - row))); row += size, number++) {
        struct doppel_corpus_record record = {.size = size};
        check_row_size(block, row, &record.size, &record.error);
        if (!record.error.status)
            parser_line(parser, row, size, &record);
        record.file = block->file;
        record.line = number;
        record.offset = block->offset + (uint64_t)(row - block->bytes);
        if (!visitor(context, &record))
            return false;
    }
    return !block->damage.status || visit_damage(block, number, visitor, context);
}

/* The newline behind a line, or row, or NULL; `number` becomes that of the line after it. */
static const char *find_line_end(const struct line_block *block, const char *line, const char *end,
                                 uint64_t *number)
{
    enum csv_state state = CSV_CELL;
    if (!block->layout) {
        ++*number;
        return memchr(line, '\n', (size_t)(end - line));
    }
    const char *newline = csv_row_end(line, end, block->layout->separator, &state);
    *number += count_newlines(line, (size_t)((newline ? newline + 1 : end) - line));
    return newline;
}

bool parser_block(struct parser *parser, const struct line_block *block, record_visitor *visitor,
                  void *context)
{
    const char *end = block->bytes + block->size;
    uint64_t number = block->line;
    parser_take_rows(parser, block->layout);
    if (is_archive_layout(block->layout))
        return visit_archive_rows(parser, block, visitor, context);
    for (const char *line = block->bytes; line < end;) {
        uint64_t first = number;
        const char *newline = find_line_end(block, line, end, &number);
        size_t size = (size_t)((newline ? newline : end) - line);
        bool blank = is_blank_line(line, size);
        if (!blank || block->with_blanks) {
            struct doppel_corpus_record record = {.size = size};
            if (blank)
                doppel_fail(&record.error, DOPPEL_E_FORMAT, "an empty line");
            else if (size > block->max_line_bytes)
                line_too_long(line, size, block->max_line_bytes, &record.error);
            else
                parser_line(parser, line, size, &record);
            record.file = block->file;
            record.line = first;
            record.offset = block->offset + (uint64_t)(line - block->bytes);
            if (!visitor(context, &record))
                return false;
        }
        line += size + 1;
    }
    return !block->damage.status || visit_damage(block, number, visitor, context);
}
