/* Any bytes as a corpus: read in blocks, parsed, cut into paragraphs. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "corpus/paragraphs/paragraph.h"
#include "corpus/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

struct reading {
    uint64_t line, offset;
};

static void check_string(const char *string)
{
    volatile size_t length = string ? strlen(string) : 0;
    (void)length;
}

static void check_text(const char *text, size_t size)
{
    struct paragraph_cutter cutter;
    struct paragraph paragraph;
    const char *at = text;
    check(text[size] == '\0');
    paragraphs_begin(&cutter, text, size);
    while (paragraphs_next(&cutter, &paragraph)) {
        check(at + paragraph.gap == paragraph.bytes && paragraph.size);
        at = paragraph.bytes + paragraph.size;
        check(at <= text + size);
    }
}

/* Records come in order, readable ones with a text or a path. */
static bool check_record(void *context, const struct doppel_corpus_record *record)
{
    struct reading *reading = context;
    bool unopened = record->line == 0 && record->error.status;
    check(unopened || (record->line > reading->line && record->offset >= reading->offset));
    reading->line = record->line;
    reading->offset = record->offset + record->size;
    check_string(record->id);
    check_string(record->path);
    check_string(record->source);
    check_string(record->date);
    if (record->said) {
        const struct doppel_metadata *said = record->said;
        check_string(said->external_id);
        check_string(said->meta);
        for (size_t i = 0; i < said->label_count; i++)
            check_string(said->labels[i]);
        for (size_t i = 0; i < said->list_count; i++)
            check_string(said->lists[i]);
    }
    if (record->error.status)
        check(record->error.message[0] && !record->text);
    else
        check(record->text || record->path);
    if (record->text)
        check_text(record->text, record->text_size);
    return true;
}

static void read_all(const char *path, uint64_t max_line_bytes, enum doppel_corpus_format format)
{
    const struct doppel_corpus_fields fields = {.date = "date[0].t"};
    const struct doppel_corpus_files files = {
        .paths = &path, .count = 1, .max_line_bytes = max_line_bytes, .format = format};
    struct parser *parser = parser_new(&fields);
    struct reading reading = {0};
    struct reader *reader;
    struct line_block block;
    check(parser && parser_take_metadata(parser));
    check(reader_new(&files, &reader, NULL) == DOPPEL_OK);
    while (reader_next(reader, &block, NULL) == DOPPEL_OK) {
        check(parser_block(parser, &block, check_record, &reading));
        line_block_free(&block);
    }
    reader_free(reader);
    parser_free(parser);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("corpus", MFD_CLOEXEC);
    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (int format = DOPPEL_CORPUS_JSONL; format <= DOPPEL_CORPUS_TSV; format++) {
        read_all(path, size ? 1 + data[0] : 1, (enum doppel_corpus_format)format);
        read_all(path, UINT64_C(1) << 30, (enum doppel_corpus_format)format);
    }
    close(fd);
    return 0;
}
