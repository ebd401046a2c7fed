/* Corpora as blocks of whole lines: a list of files, read one after the other. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "corpus/read/files.h"
#include "corpus/read/reader_internal.h"

/* ---- life ---- */

/* False where it cannot be known. */
static bool size_on_disk(const char *path, uint64_t *out)
{
    struct stat status;
    bool known = strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    *out = known ? (uint64_t)status.st_size : 0;
    return known;
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
                                 .format = reader->format == DOPPEL_CORPUS_BY_NAME
                                               ? files_format_by_name(paths->items[i])
                                               : reader->format};
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
        row_layout_free(reader->files[i].layout);
        if (reader->files[i].fd >= 0)
            close(reader->files[i].fd);
    }
    for (size_t i = 0; i < reader->spare_count; i++)
        free(reader->spares[i]);
    archive_free(reader->archive);
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

void reader_take_only_fields(struct reader *reader)
{
    reader->only_fields = true;
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

const struct row_layout *reader_file_layout(const struct reader *reader, uint32_t file)
{
    const struct row_layout *layout = reader->files[file].layout;
    return is_archive_layout(layout) ? NULL : layout;
}

const struct row_layout *reader_archive_layout(const struct reader *reader, uint32_t file)
{
    const struct row_layout *layout = reader->files[file].layout;
    return is_archive_layout(layout) ? layout : NULL;
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
    if (status)
        return status;
    (*out)->former = &reader->files[file];
    (*out)->fields = reader->fields;
    (*out)->only_fields = reader->only_fields;
    return DOPPEL_OK;
}

void reader_progress(const struct reader *reader, uint64_t *out_done, uint64_t *out_total)
{
    *out_done = atomic_load_explicit(&reader->bytes_done, memory_order_relaxed);
    *out_total = reader->bytes_total;
}

/* ---- blocks ---- */

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
    return reader_open_next(reader, error);
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
            status = reader_next_of_file(reader, &block, error);
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
