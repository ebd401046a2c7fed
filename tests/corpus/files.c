/* Corpus files for tests, and all records that the reader finds in them. */
#include "files.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

char *folder_make(void)
{
    const char *base = getenv("TMPDIR");
    char *folder = path_in(base ? base : "/tmp", "doppel-corpus-XXXXXX");
    return must(mkdtemp(folder));
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *ftw)
{
    (void)status, (void)kind, (void)ftw;
    return remove(path);
}

void folder_remove(char *folder)
{
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

char *path_in(const char *folder, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        abort();
    return path;
}

void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
    if (bytes->size + size > bytes->capacity) {
        bytes->capacity = 2 * (bytes->size + size);
        bytes->data = must(realloc(bytes->data, bytes->capacity));
    }
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void bytes_add_text(struct bytes *bytes, const char *text)
{
    bytes_add(bytes, text, strlen(text));
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

void bytes_add_gzip(struct bytes *bytes, const void *data, size_t size)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    uLong bound = deflateBound(&stream, size) + 64;
    uint8_t *out = must(malloc(bound));
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)bound;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        abort();
    bytes_add(bytes, out, stream.total_out);
    deflateEnd(&stream);
    free(out);
}

void bytes_add_zstd(struct bytes *bytes, const void *data, size_t size)
{
    size_t bound = ZSTD_compressBound(size);
    void *out = must(malloc(bound));
    ZSTD_CCtx *context = must(ZSTD_createCCtx());
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t made = ZSTD_compress2(context, out, bound, data, size);
    if (ZSTD_isError(made))
        abort();
    bytes_add(bytes, out, made);
    ZSTD_freeCCtx(context);
    free(out);
}

void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = must(fopen(path, "wb"));
    if (fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static char *copy(const char *string, size_t size)
{
    if (!string)
        return NULL;
    char *made = must(malloc(size + 1));
    memcpy(made, string, size + 1); /* with the NUL that is promised */
    return made;
}

static char *copy_string(const char *string)
{
    return copy(string, string ? strlen(string) : 0);
}

static bool see(void *context, const struct doppel_corpus_record *record)
{
    struct seen_list *list = context;
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 64;
        list->items = must(realloc(list->items, list->capacity * sizeof *list->items));
    }
    struct seen *seen = &list->items[list->count++];
    *seen = (struct seen){
        .file = record->file,
        .line = record->line,
        .offset = record->offset,
        .size = record->size,
        .id = copy_string(record->id),
        .text = copy(record->text, record->text_size),
        .path = copy_string(record->path),
        .text_size = record->text_size,
        .status = record->error.status,
    };
    strcpy(seen->message, record->error.message);
    return true;
}

struct seen_list read_files(const struct doppel_corpus_files *files)
{
    struct doppel_dedup_options defaults = doppel_dedup_options_default();
    struct seen_list list = {0};
    struct reader *reader;
    struct doppel_error error = {0};
    if (reader_new(files, &reader, &error))
        abort();
    struct parser *parser = must(parser_new(&defaults.fields));
    struct line_block block;
    enum doppel_status status;
    while (!(status = reader_next(reader, &block, &error))) {
        parser_block(parser, &block, see, &list);
        line_block_free(&block);
        list.blocks++;
    }
    if (status != DOPPEL_E_NOT_FOUND)
        abort();
    parser_free(parser);
    reader_free(reader);
    return list;
}

struct seen_list read_paths(const char *const *paths, size_t count, uint64_t max_line_bytes)
{
    struct doppel_corpus_files files = doppel_dedup_options_default().files;
    files.paths = paths;
    files.count = count;
    if (max_line_bytes)
        files.max_line_bytes = max_line_bytes;
    return read_files(&files);
}

struct seen_list read_path(const char *path)
{
    return read_paths(&path, 1, 0);
}

void seen_free(struct seen_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].id);
        free(list->items[i].text);
        free(list->items[i].path);
    }
    free(list->items);
    *list = (struct seen_list){0};
}

uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}
