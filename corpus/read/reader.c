/* Cuts corpus files into blocks of whole lines. */
#include "corpus/read/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "corpus/read/field_check.h"
#include "corpus/read/file_start.h"
#include "corpus/read/files.h"
#include "corpus/read/parquet/footer.h"
#include "corpus/read/parquet/parquet.h"
#include "core/newlines.h"
#include "corpus/read/reread.h"
#include "corpus/read/source.h"
#include "corpus/read/warc.h"

enum {
    BLOCK_BYTES = 1 << 18,
    PIPE_BLOCK_BYTES = 1 << 15, /* who writes to a pipe waits for answers */
    KEPT_FILES = 256,           /* descriptors that stay open to read lines again */
    SPARE_BLOCKS = 8
};

struct reader {
    const atomic_bool *stop; /* may be NULL */
    bool takes_paths;
    bool partial; /* not all of the input is read */
    enum doppel_corpus_format format;
    int descriptor;            /* what "-" is; 0: standard input */
    uint64_t first_line;       /* of it; above 1 it goes on with what another reader read */
    struct field_check *check; /* NULL: whether records have texts is not asked */
    uint64_t max_line_bytes;
    const struct corpus_file *former; /* that the one file must still be; NULL: nothing is known */
    struct corpus_file *files;
    size_t file_count;
    uint32_t next_file;

    struct corpus_source *source; /* of file next_file - 1, or NULL */
    struct warc *warc;            /* of a web archive, over the source; else NULL */
    struct parquet *parquet;      /* of a Parquet file, in place of the source; else NULL */
    const struct doppel_corpus_fields *fields; /* that are asked for, where it is known */
    bool regular;
    char separator;        /* of the cells of its rows; 0: of JSON Lines */
    uint64_t line, offset; /* of the next line in it */
    char *rest;            /* its beginning, read already */
    size_t rest_size, rest_capacity;
    char *spares[SPARE_BLOCKS]; /* of blocks, with room for BLOCK_BYTES */
    size_t spare_count;

    uint64_t bytes_total, bytes_before; /* in all; in the files before this one */
    _Atomic uint64_t bytes_done;
};

/* ---- life ---- */

/* False where it cannot be known. */
static bool size_on_disk(const char *path, uint64_t *out)
{
    struct stat status;
    bool known = strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    *out = known ? (uint64_t)status.st_size : 0;
    return known;
}

static bool name_has_ending(const char *path, size_t size, const char *ending)
{
    size_t length = strlen(ending);
    return size > length && strncmp(path + size - length, ending, length) == 0;
}

static enum doppel_corpus_format format_by_name(enum doppel_corpus_format format, const char *path)
{
    size_t size = strlen(path);
    if (format != DOPPEL_CORPUS_BY_NAME)
        return format;
    size -= name_has_ending(path, size, ".gz") ? 3 : name_has_ending(path, size, ".zst") ? 4 : 0;
    return name_has_ending(path, size, ".csv")   ? DOPPEL_CORPUS_CSV
           : name_has_ending(path, size, ".tsv") ? DOPPEL_CORPUS_TSV
                                                 : DOPPEL_CORPUS_JSONL;
}

static bool take_paths(struct reader *reader, const path_array *paths)
{
    reader->files = calloc(paths->count ? paths->count : 1, sizeof *reader->files);
    if (!reader->files)
        return false;
    bool known = true;
    for (size_t i = 0; i < paths->count; i++) {
        reader->files[i] =
            (struct corpus_file){.path = paths->items[i],
                                 .fd = -1,
                                 .format = format_by_name(reader->format, paths->items[i])};
        uint64_t size;
        known = size_on_disk(paths->items[i], &size) && known;
        reader->bytes_total += size;
    }
    if (!known)
        reader->bytes_total = 0;
    reader->file_count = paths->count;
    return true;
}

enum doppel_status reader_new(const struct doppel_corpus_files *files, struct reader **out,
                              struct doppel_error *error)
{
    path_array paths = {0};
    struct reader *reader = calloc(1, sizeof *reader);
    enum doppel_status status = DOPPEL_OK;
    if (reader)
        *reader = (struct reader){.format = files->format,
                                  .descriptor = files->descriptor,
                                  .first_line = files->first_line ? files->first_line : 1};
    for (size_t i = 0; reader && i < files->count && !status; i++)
        status = files_append(&paths, files->paths[i], error);
    if (reader && !status && take_paths(reader, &paths)) {
        reader->max_line_bytes = files->max_line_bytes ? files->max_line_bytes : UINT64_MAX;
        free(paths.items);
        *out = reader;
        return DOPPEL_OK;
    }
    for (size_t i = 0; i < paths.count; i++)
        free(paths.items[i]);
    free(paths.items);
    free(reader);
    return status ? status : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
}

void reader_free(struct reader *reader)
{
    if (!reader)
        return;
    for (size_t i = 0; i < reader->file_count; i++) {
        free(reader->files[i].path);
        free(reader->files[i].head);
        csv_layout_free(reader->files[i].layout);
        if (reader->files[i].fd >= 0)
            close(reader->files[i].fd);
    }
    for (size_t i = 0; i < reader->spare_count; i++)
        free(reader->spares[i]);
    warc_free(reader->warc);
    parquet_free(reader->parquet);
    source_free(reader->source);
    free(reader->files);
    free(reader->rest);
    field_check_free(reader->check);
    free(reader);
}

void reader_stop_by(struct reader *reader, const atomic_bool *stop)
{
    reader->stop = stop;
}

bool reader_check_fields(struct reader *reader, const struct doppel_corpus_fields *fields)
{
    reader->fields = fields;
    reader->check = field_check_new(fields, reader->takes_paths);
    return reader->check;
}

void reader_take_paths(struct reader *reader)
{
    reader->takes_paths = true;
}

void line_block_free(struct line_block *block)
{
    free(block->memory);
    *block = (struct line_block){0};
}

void reader_take_back(struct reader *reader, struct line_block *block)
{
    if (block->capacity == BLOCK_BYTES && reader->spare_count < SPARE_BLOCKS) {
        reader->spares[reader->spare_count++] = block->memory;
        block->memory = NULL;
    }
    line_block_free(block);
}

/* ---- what is known of files ---- */

size_t reader_file_count(const struct reader *reader)
{
    return reader->file_count;
}

const char *reader_file_path(const struct reader *reader, uint32_t file)
{
    return reader->files[file].path;
}

bool reader_file_is_regular(const struct reader *reader, uint32_t file)
{
    return reader->files[file].regular;
}

bool reader_file_is_plain(const struct reader *reader, uint32_t file)
{
    return reader->files[file].regular && reader->files[file].packing == DOPPEL_PACKING_NONE &&
           !reader->files[file].is_archive;
}

const struct csv_layout *reader_file_layout(const struct reader *reader, uint32_t file)
{
    return reader->files[file].layout;
}

struct doppel_corpus_input reader_file_input(const struct reader *reader, uint32_t number)
{
    const struct corpus_file *file = &reader->files[number];
    return (struct doppel_corpus_input){.number = number,
                                        .path = file->path,
                                        .opened = file->opened,
                                        .packing = file->packing,
                                        .format = file->format,
                                        .head = file->head,
                                        .head_size = file->head_size};
}

const struct stat *reader_file_stat(const struct reader *reader, uint32_t file)
{
    return &reader->files[file].status;
}

uint64_t reader_file_lines(const struct reader *reader, uint32_t file)
{
    return reader->files[file].lines;
}

void reader_take_ranges(struct reader *reader, const struct reader_range *ranges)
{
    reader->bytes_total = 0;
    for (size_t i = 0; i < reader->file_count; i++) {
        struct corpus_file *file = &reader->files[i];
        bool whole = ranges[i].to == UINT64_MAX;
        uint64_t size = (uint64_t)file->status.st_size;
        file->passed_over = ranges[i].from == ranges[i].to;
        file->from = whole ? 0 : ranges[i].from;
        file->to = whole ? 0 : ranges[i].to;
        reader->partial |= file->passed_over || !whole;
        reader->bytes_total += file->passed_over ? 0 : whole ? size : file->to - file->from;
    }
}

enum doppel_status reader_again(const struct reader *reader, uint32_t file, struct reader **out,
                                struct doppel_error *error)
{
    const char *path = reader->files[file].path;
    const struct doppel_corpus_files files = {.paths = &path,
                                              .count = 1,
                                              .max_line_bytes = reader->max_line_bytes,
                                              .format = reader->files[file].format};
    enum doppel_status status = reader_new(&files, out, error);
    if (!status)
        (*out)->former = &reader->files[file];
    return status;
}

void reader_progress(const struct reader *reader, uint64_t *out_done, uint64_t *out_total)
{
    *out_done = atomic_load_explicit(&reader->bytes_done, memory_order_relaxed);
    *out_total = reader->bytes_total;
}

/* ---- a file begins and ends ---- */

static enum doppel_status open_path(const struct reader *reader, const char *path, int *out_fd,
                                    struct stat *out_status, struct doppel_error *error)
{
    bool is_open = strcmp(path, "-") == 0;
    int fd =
        is_open ? fcntl(reader->descriptor, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                           "cannot be opened: %s", strerror(errno));
    if (fstat(fd, out_status) == 0 && !S_ISDIR(out_status->st_mode)) {
        *out_fd = fd;
        return DOPPEL_OK;
    }
    close(fd);
    return doppel_fail(
        error, DOPPEL_E_NOT_FOUND,
        "a folder without .jsonl, .ndjson or .json files (or these with .gz, .zst)%s",
        reader->format == DOPPEL_CORPUS_BY_NAME ? "; .csv and .tsv files are named one by one"
                                                : "");
}

/* Lines of a stream may be paths: of those nothing is a mark. */
static bool may_be_archive(const struct reader *reader)
{
    return !reader->separator && !reader->takes_paths;
}

static bool begins_archive(const char *bytes, size_t size)
{
    return warc_begins(bytes, size) || parquet_begins(bytes, size);
}

static bool is_plain_archive(const struct reader *reader, int fd)
{
    char head[8] = "";
    ssize_t size = may_be_archive(reader) ? pread(fd, head, sizeof head, 0) : 0;
    return size > 0 && begins_archive(head, (size_t)size);
}

static enum doppel_status open_next(struct reader *reader, struct doppel_error *error)
{
    struct corpus_file *file = &reader->files[reader->next_file++];
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    reader->separator = file->format == DOPPEL_CORPUS_CSV   ? ','
                        : file->format == DOPPEL_CORPUS_TSV ? '\t'
                                                            : '\0';
    reader->offset = file->from;
    reader->line = strcmp(file->path, "-") == 0 ? reader->first_line : 1;
    reader->rest_size = 0;
    int fd = -1;
    enum doppel_status status = open_path(reader, file->path, &fd, &file->status, error);
    if (status)
        return status;
    reader->regular = S_ISREG(file->status.st_mode);
    if (reader->regular)
        posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (reader->former && !is_same_file_stat(&file->status, &reader->former->status)) {
        close(fd);
        return doppel_fail(error, DOPPEL_E_CHANGED, "%s changed while it was read", file->path);
    }
    file->is_archive = reader->regular && is_plain_archive(reader, fd);
    bool again = reader->regular && strcmp(file->path, "-") != 0;
    int kept = again && reader->next_file <= KEPT_FILES ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    status = file->to
                 ? source_new_part(fd, file->from, file->to - file->from, &reader->source, error)
                 : source_new(fd, reader->stop, &reader->source, error);
    file->opened = !status;
    file->regular = !status && again;
    file->packing = status ? DOPPEL_PACKING_NONE : source_packing(reader->source);
    if (reader_file_is_plain(reader, reader->next_file - 1))
        file->fd = kept;
    else if (kept >= 0)
        close(kept);
    return status;
}

static uint64_t bytes_of_file(const struct reader *reader)
{
    return reader->parquet ? parquet_bytes_read(reader->parquet)
                           : source_bytes_read(reader->source);
}

static void count_bytes(struct reader *reader)
{
    uint64_t done = reader->bytes_before + bytes_of_file(reader);
    atomic_store_explicit(&reader->bytes_done, done, memory_order_relaxed);
}

static void end_file(struct reader *reader)
{
    if (reader->source) {
        reader->bytes_before += bytes_of_file(reader);
        reader->files[reader->next_file - 1].lines = reader->line - 1;
    }
    warc_free(reader->warc);
    reader->warc = NULL;
    parquet_free(reader->parquet);
    reader->parquet = NULL;
    source_free(reader->source);
    reader->source = NULL;
    reader->rest_size = 0;
}

enum doppel_status reader_survey(struct reader *reader, struct doppel_error *error)
{
    struct doppel_error why;
    while (reader->next_file < reader->file_count) {
        if (open_next(reader, &why))
            return doppel_fail(error, why.status, "%s: %s",
                               reader->files[reader->next_file - 1].path, why.message);
        end_file(reader);
    }
    reader->next_file = 0;
    reader->bytes_before = 0;
    return DOPPEL_OK;
}

/* ---- blocks ---- */

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

/* Web archives and Parquet give other bytes than they have. @param got of the beginning */
static void begin_archive(struct reader *reader, struct block_filling *filling, size_t got)
{
    struct corpus_file *file = &reader->files[reader->next_file - 1];
    enum doppel_status status = DOPPEL_OK;
    struct doppel_error *error = &filling->damage;
    file->is_archive = true;
    if (warc_begins(filling->bytes, got)) {
        reader->warc = warc_new(reader->source, reader->max_line_bytes, filling->bytes, got);
        if (!reader->warc)
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a web archive");
    } else if (!reader->regular || file->packing != DOPPEL_PACKING_NONE) {
        status = doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                             "Parquet is read from a plain file, neither from a pipe nor packed "
                             "once more");
    } else {
        status =
            parquet_new(source_descriptor(reader->source), reader->fields, &reader->parquet, error);
    }
    filling->ended = status != DOPPEL_OK;
}

static enum doppel_status read_record_bytes(struct reader *reader, struct block_filling *filling,
                                            size_t *out_got)
{
    char *to = filling->bytes + filling->size;
    size_t room = filling->capacity - filling->size;
    if (reader->warc)
        return warc_read(reader->warc, to, room, out_got, &filling->damage);
    if (reader->parquet)
        return parquet_read(reader->parquet, to, room, out_got, &filling->damage);
    return source_read(reader->source, to, room, out_got, &filling->damage);
}

static void read_more_records(struct reader *reader, struct block_filling *filling)
{
    size_t got = 0;
    const char *to = filling->bytes + filling->size;
    bool begins = !filling->size && !reader->offset && !reader->warc && !reader->parquet;
    enum doppel_status status = read_record_bytes(reader, filling, &got);
    filling->ended = status != DOPPEL_OK || got == 0;
    count_bytes(reader);
    if (filling->ended)
        return;
    if (begins && may_be_archive(reader) && begins_archive(to, got)) {
        begin_archive(reader, filling, got);
        return;
    }
    filling->size += got;
    find_whole_lines(reader, filling, filling->size - got);
}

/* Twice as much, but no more than it takes to see that a line is over the limit. */
static size_t next_capacity(const struct reader *reader, size_t capacity)
{
    uint64_t limit = reader->max_line_bytes;
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
        if (!filling->whole && filling->size > reader->max_line_bytes)
            break;
        if (filling->size == filling->capacity &&
            !grow_filling(filling, next_capacity(reader, filling->capacity)))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a line of %zu bytes and more",
                               filling->size);
        read_more_records(reader, filling);
    }
    if (filling->ended && !filling->damage.status)
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

/* Make a block of what was read, which it takes. */
static bool make_block(struct reader *reader, struct block_filling *filling,
                       struct line_block *block)
{
    uint64_t skipped = 0;
    block->memory = filling->bytes;
    block->capacity = filling->capacity;
    block->bytes = filling->bytes;
    block->damage = filling->damage;
    if (!filling->whole && !filling->ended) {
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
    reader->line += skipped ? filling->lines : count_newlines(block->bytes, block->size);
    reader->offset += skipped ? skipped : filling->whole;
    if ((block->damage.status && !skipped) || filling->ended)
        end_file(reader);
    return true;
}

/* The next block of the open file; without lines and damage where it is at its end. */
static enum doppel_status next_of_file(struct reader *reader, struct line_block *block,
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

static bool is_at_end(const struct reader *reader)
{
    size_t next = reader->next_file;
    while (next < reader->file_count && reader->files[next].passed_over)
        next++;
    return !reader->source && next == reader->file_count;
}

/* The next file of which something is read; there is one. */
static enum doppel_status open_next_wanted(struct reader *reader, struct doppel_error *error)
{
    while (reader->files[reader->next_file].passed_over)
        reader->next_file++;
    return open_next(reader, error);
}

/* Of files that are read to their end, all of their records are enough. */
static enum doppel_status check_fields_of(struct reader *reader, const struct line_block *block,
                                          struct doppel_error *error)
{
    uint64_t enough = !reader->regular                        ? FIELD_CHECK_PIPED
                      : is_at_end(reader) && !reader->partial ? 1
                                                              : FIELD_CHECK_RECORDS;
    if (!reader->check || !reader->next_file)
        return DOPPEL_OK;
    return field_check_block(reader->check, reader->files[reader->next_file - 1].path, block,
                             enough, error);
}

enum doppel_status reader_next(struct reader *reader, struct line_block *out,
                               struct doppel_error *error)
{
    struct line_block block = {0};
    enum doppel_status status = DOPPEL_OK;
    while (!block.size && !block.damage.status) {
        line_block_free(&block);
        block = (struct line_block){.bytes = "", .max_line_bytes = reader->max_line_bytes};
        if (is_at_end(reader)) {
            status = check_fields_of(reader, &block, error);
            return status ? status : DOPPEL_E_NOT_FOUND;
        }
        if (reader->source || !open_next_wanted(reader, &block.damage))
            status = next_of_file(reader, &block, error);
        if (status)
            return status;
    }
    status = check_fields_of(reader, &block, error);
    if (status) {
        line_block_free(&block);
        return status;
    }
    block.file = reader->next_file - 1;
    *out = block;
    return DOPPEL_OK;
}

/* ---- reading again ---- */

enum doppel_status reader_rewind(const struct reader *reader, uint32_t number,
                                 const struct reread_part *part, struct doppel_error *error)
{
    return reread(&reader->files[number], part, error);
}
