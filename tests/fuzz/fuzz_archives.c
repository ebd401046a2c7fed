/* Any bytes as an archive of records (WARC, Parquet, Arrow): rows, and each of them a line of JSON
 * that is read as the row is. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "corpus/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_ROWS = 20000 }; /* a run length may stand for any number of them */

static void check(bool good)
{
    if (!good)
        abort();
}

struct archive_fuzzing {
    const struct line_block *block;
    struct parser *lines;
    size_t records;
};

/* Strings end where they say; the text is the one of the line. */
static bool check_archive_record(void *context, const struct doppel_corpus_record *record)
{
    struct archive_fuzzing *fuzzing = context;
    const struct line_block *block = fuzzing->block;
    struct json_line line = {0};
    struct doppel_corpus_record again;
    fuzzing->records++;
    if (record->error.status && !record->lacks_text)
        return true;
    check(record->size <= block->size &&
          record->offset - block->offset <= block->size - record->size);
    check(!record->text || record->text[record->text_size] == '\0');
    rows_to_json(block->layout, block->bytes + (record->offset - block->offset), record->size,
                 &line);
    check(line.size && line.bytes[line.size - 1] == '\n');
    parser_line(fuzzing->lines, line.bytes, line.size - 1, &again);
    check(!record->text || (again.text && again.text_size >= record->text_size / 3));
    json_line_free(&line);
    return true;
}

static void read_archive(const char *path, uint64_t max_bytes, bool only_fields)
{
    const struct doppel_corpus_fields fields = {.date = "number"};
    const struct doppel_corpus_files files = {
        .paths = &path, .count = 1, .max_line_bytes = max_bytes, .format = DOPPEL_CORPUS_JSONL};
    struct archive_fuzzing fuzzing = {.lines = parser_new(&fields)};
    struct parser *parser = parser_new(&fields);
    struct reader *reader;
    struct line_block block;
    check(parser && fuzzing.lines && reader_new(&files, &reader, NULL) == DOPPEL_OK);
    check(reader_check_fields(reader, &fields));
    if (only_fields)
        reader_take_only_fields(reader);
    while (fuzzing.records < MOST_ROWS && reader_next(reader, &block, NULL) == DOPPEL_OK) {
        fuzzing.block = &block;
        if (is_archive_layout(block.layout))
            check(parser_block(parser, &block, check_archive_record, &fuzzing));
        line_block_free(&block);
    }
    reader_free(reader);
    parser_free(fuzzing.lines);
    parser_free(parser);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("corpus", MFD_CLOEXEC);
    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_archive(path, size ? 1 + data[size / 2] : 1, false);
    read_archive(path, UINT64_C(1) << 24, true);
    close(fd);
    return 0;
}
