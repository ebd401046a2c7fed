/* How fast the id and the text of records are read, one core, CPU time, page cache warm, against
 * counting lines alone and against jansson: corpus_read [HALF [FILE]]. Records are what text_speed
 * reads, or those of FILE. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <zlib.h>
#include <zstd.h>

#include "bench.h"
#include "corpus/read/reader.h"
#include "debian_text.h"

enum { LIMIT_BYTES = 64 << 20, LONG_RECORD = 6600, SHORT_RECORD = 200, ROUNDS = 5 };

struct total {
    size_t records, bytes;
};

/* ---- the ways to read ---- */

static struct total count_lines(const char *path)
{
    enum { BYTES = 1 << 18 };
    static char buffer[BYTES];
    struct total total = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got; (got = read(fd, buffer, BYTES)) > 0; total.bytes += (size_t)got)
        for (const char *at = buffer, *end = at + got;
             (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
            total.records++;
    close(fd);
    return total;
}

static bool take(void *context, const struct doppel_corpus_record *record)
{
    struct total *total = context;
    total->records += record->error.status == DOPPEL_OK;
    total->bytes += record->text_size;
    return true;
}

static struct total read_with(const char *path, bool parse)
{
    const struct doppel_corpus_fields fields = doppel_corpus_fields_default();
    const struct doppel_corpus_files files = {
        .paths = &path, .count = 1, .max_line_bytes = UINT64_C(1) << 30};
    struct parser *parser = parser_new(&fields);
    struct total total = {0};
    struct reader *reader;
    struct line_block block;
    if (!parser || reader_new(&files, &reader, NULL))
        exit(1);
    while (!reader_next(reader, &block, NULL)) {
        total.bytes += parse ? 0 : block.size;
        if (parse)
            parser_block(parser, &block, take, &total);
        line_block_free(&block);
    }
    reader_free(reader);
    parser_free(parser);
    return total;
}

static struct total read_blocks(const char *path)
{
    return read_with(path, false);
}

static struct total read_records(const char *path)
{
    return read_with(path, true);
}

static struct total read_jansson(const char *path)
{
    struct total total = {0};
    FILE *file = fopen(path, "rb");
    char *line = NULL;
    size_t room = 0;
    for (ssize_t size; file && (size = getline(&line, &room, file)) > 0;) {
        json_t *object = json_loadb(line, (size_t)size, JSON_ALLOW_NUL, NULL);
        const json_t *text = json_object_get(object, "text");
        total.records += json_is_string(text);
        total.bytes += json_string_length(text);
        json_decref(object);
    }
    free(line);
    if (file)
        fclose(file);
    return total;
}

/* ---- corpora ---- */

static void add_record(FILE *file, size_t number, const char *text, size_t size)
{
    json_t *string = json_stringn_nocheck(text, size);
    char *encoded = json_dumps(string, JSON_ENCODE_ANY);
    fprintf(file,
            "{\"id\":\"doc-%zu\",\"url\":\"https://example.org/page/%zu\",\"text\":%s,"
            "\"meta\":{\"language\":\"en\",\"score\":0.5}}\n",
            number, number, encoded);
    free(encoded);
    json_decref(string);
}

static void write_corpus(const struct debian_text *texts, size_t record_bytes, const char *path)
{
    FILE *file = fopen(path, "wb");
    size_t number = 0;
    for (size_t at = 0; file && at < texts->size; at += record_bytes) {
        size_t left = texts->size - at;
        add_record(file, number++, texts->bytes + at, left < record_bytes ? left : record_bytes);
    }
    if (!file || fclose(file) != 0)
        exit(1);
}

static char *read_whole(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    char *bytes = malloc(size + 1);
    rewind(file);
    if (!bytes || fread(bytes, 1, size, file) != size)
        exit(1);
    fclose(file);
    *out_size = size;
    return bytes;
}

static void write_packed(const char *from, const char *gzip, const char *zstd)
{
    size_t size;
    char *bytes = read_whole(from, &size);
    gzFile file = gzopen(gzip, "wb6");
    gzwrite(file, bytes, (unsigned)size);
    gzclose(file);
    size_t bound = ZSTD_compressBound(size);
    char *packed = malloc(bound);
    size_t made = ZSTD_compress(packed, bound, bytes, size, 3);
    FILE *out = fopen(zstd, "wb");
    fwrite(packed, 1, made, out);
    fclose(out);
    free(packed);
    free(bytes);
}

/* ---- the table ---- */

/* MB/s of the plain file: the best of some rounds. */
static double measure(struct total (*read)(const char *), const char *path, size_t plain_bytes,
                      int rounds, struct total *out)
{
    double best = 1e9;
    for (int i = 0; i < rounds; i++) {
        double begin = bench_now().cpu;
        *out = read(path);
        double seconds = bench_now().cpu - begin;
        best = seconds < best ? seconds : best;
    }
    return (double)plain_bytes / best / 1e6;
}

static void print(const char *what, double speed, double peer, size_t records)
{
    printf("  %-34s %8.0f MB/s", what, speed);
    if (peer > 0)
        printf("  %6.1f x jansson", speed / peer);
    printf("  %zu records\n", records);
}

static void measure_plain(const char *title, const char *path)
{
    struct total lines, blocks, records, peer;
    struct total size = count_lines(path);
    double line_speed = measure(count_lines, path, size.bytes, ROUNDS, &lines);
    double block_speed = measure(read_blocks, path, size.bytes, ROUNDS, &blocks);
    double speed = measure(read_records, path, size.bytes, ROUNDS, &records);
    double peer_speed = measure(read_jansson, path, size.bytes, 1, &peer);
    printf("%s: %.1f MB, %.1f%% of the bytes text\n", title, (double)size.bytes / 1e6,
           100.0 * (double)records.bytes / (double)size.bytes);
    print("read() and memchr for lines", line_speed, 0, lines.records);
    print("blocks of lines", block_speed, 0, lines.records);
    print("id and text", speed, peer_speed, records.records);
    print("jansson, line by line", peer_speed, 0, peer.records);
    if (records.records != peer.records || records.bytes != peer.bytes)
        printf("  jansson reads another text: %zu, not %zu bytes\n", peer.bytes, records.bytes);
}

static void measure_packed(const char *what, const char *path, size_t plain_bytes)
{
    struct total blocks, records;
    double block_speed = measure(read_blocks, path, plain_bytes, 2, &blocks);
    double speed = measure(read_records, path, plain_bytes, 2, &records);
    printf("%s: %.0f MB/s unpacked alone, %.0f with id and text\n", what, block_speed, speed);
}

static void measure_all(const struct debian_text *texts, const char *folder)
{
    static const char *const names[] = {"long.jsonl", "short.jsonl", "a.gz", "a.zst"};
    char paths[4][4200];
    for (int i = 0; i < 4; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    write_corpus(texts, LONG_RECORD, paths[0]);
    measure_plain("Records of 6.6 KB", paths[0]);
    write_packed(paths[0], paths[2], paths[3]);
    size_t bytes = count_lines(paths[0]).bytes;
    measure_packed("The same, gzip -6", paths[2], bytes);
    measure_packed("The same, zstd -3", paths[3], bytes);
    write_corpus(texts, SHORT_RECORD, paths[1]);
    measure_plain("Records of 200 bytes", paths[1]);
    for (int i = 0; i < 4; i++)
        unlink(paths[i]);
}

int main(int argument_count, char **arguments)
{
    unsigned half = argument_count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 0;
    const char *base = getenv("TMPDIR");
    char folder[4096];
    if (argument_count > 2) {
        measure_plain(arguments[2], arguments[2]);
        return 0;
    }
    struct debian_text texts = {0};
    debian_text_find(&texts, "/usr/share/doc", LIMIT_BYTES, half);
    snprintf(folder, sizeof folder, "%s/doppel-corpus-XXXXXX", base ? base : "/tmp");
    if (!texts.size || !mkdtemp(folder))
        return 1;
    measure_all(&texts, folder);
    rmdir(folder);
    debian_text_free(&texts);
    return 0;
}
