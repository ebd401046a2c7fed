/* The vectors of unique texts as .npy and JSON Lines. */
#include "corpus/dedup/semantic_hand_off.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/json_writer.h>

#include "core/try.h"

enum { NPY_HEADER_BYTES = 128 }; /* a multiple of 64, as the format wants */

static enum doppel_status no_memory_to_hand_off(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to hand off vectors");
}

/* ---- where they go ---- */

static char *hand_off_path(const struct doppel_dedup_hand_off *hand_off, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", hand_off->folder, name) < 0 ? NULL : path;
}

static enum doppel_status check_hand_off_place(const struct doppel_dedup_hand_off *hand_off,
                                               const char *name, struct doppel_error *error)
{
    char *path = hand_off_path(hand_off, name);
    struct stat place;
    enum doppel_status status = DOPPEL_OK;
    if (!path)
        TRY(no_memory_to_hand_off(error));
    if (lstat(path, &place) != 0)
        goto done;
    if (!S_ISREG(place.st_mode))
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "%s is there, and no file", path));
    if (!hand_off->replace)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "%s is there already; --force replaces it",
                        path));
done:
    free(path);
    return status;
}

enum doppel_status dedup_check_hand_off(const struct dedup *dedup, struct doppel_error *error)
{
    const struct doppel_dedup_semantic *semantic = dedup->options->semantic;
    const struct doppel_dedup_hand_off *hand_off = semantic ? semantic->hand_off : NULL;
    enum doppel_status status = DOPPEL_OK;
    if (!hand_off)
        return DOPPEL_OK;
    if (mkdir(hand_off->folder, 0777) != 0 && errno != EEXIST)
        return doppel_fail(error, DOPPEL_E_IO, "%s cannot be made: %s", hand_off->folder,
                           strerror(errno));
    TRY(check_hand_off_place(hand_off, "vectors.npy", error));
    TRY(check_hand_off_place(hand_off, "vectors.jsonl", error));
done:
    return status;
}

static enum doppel_status open_hand_off(const struct doppel_dedup_hand_off *hand_off,
                                        struct hand_off_files *files, struct doppel_error *error)
{
    enum doppel_status status;
    files->rows_path = hand_off_path(hand_off, "vectors.npy");
    files->lines_path = hand_off_path(hand_off, "vectors.jsonl");
    if (!files->rows_path || !files->lines_path)
        TRY(no_memory_to_hand_off(error));
    TRY(output_file_open(files->lines_path, NULL, &files->lines, error));
    status = output_file_open(files->rows_path, NULL, &files->rows, error);
    if (status)
        output_file_close(&files->lines, status, NULL);
    files->open = !status;
done:
    return status;
}

/* ---- rows ---- */

static bool has_direction(const struct semantic_embedding *embedding, size_t row)
{
    const uint32_t dimension = embedding->options->dimension;
    const float *values = embedding->rows + row * dimension;
    for (uint32_t i = 0; i < dimension; i++)
        if (values[i] != 0)
            return true;
    return false;
}

static uint64_t count_directions(const struct semantic_embedding *embedding)
{
    uint64_t count = 0;
    for (size_t row = 0; row < embedding->written; row++)
        count += has_direction(embedding, row);
    return count;
}

/* Source: NEP 1, "A Simple File Format for NumPy Arrays", version 1.0. */
static void write_npy_header(FILE *stream, uint64_t count, uint32_t dimension)
{
    uint8_t header[NPY_HEADER_BYTES + 1] = "\x93NUMPY\x01";
    const uint16_t size = htole16(NPY_HEADER_BYTES - 10);
    memcpy(header + 8, &size, sizeof size);
    snprintf((char *)header + 10, NPY_HEADER_BYTES - 10,
             "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRIu64 ", %u), }", count,
             dimension);
    const size_t written = 10 + strlen((char *)header + 10);
    memset(header + written, ' ', NPY_HEADER_BYTES - 1 - written);
    header[NPY_HEADER_BYTES - 1] = '\n';
    fwrite(header, 1, NPY_HEADER_BYTES, stream);
}

static void write_npy_row(FILE *stream, const float *row, uint32_t dimension)
{
    for (uint32_t i = 0; i < dimension; i++) {
        uint32_t bits;
        memcpy(&bits, &row[i], sizeof bits);
        bits = htole32(bits);
        fwrite(&bits, sizeof bits, 1, stream);
    }
}

/* ---- lines ---- */

static void write_chunk_fields(const struct semantic_embedding *embedding, uint32_t row,
                               struct doppel_json *json)
{
    const uint32_t text = embedding->text_of.items[row];
    const uint32_t first = embedding->texts.items[text].first;
    const uint32_t chunks = semantic_rows_end(embedding, text) - first;
    if (chunks == 1)
        return;
    doppel_json_integer(json, "chunk", row - first);
    doppel_json_integer(json, "chunks", chunks);
    doppel_json_integer(json, "start", embedding->chunks.items[row].start);
    doppel_json_integer(json, "end", embedding->chunks.items[row].end);
}

static void write_row_line(const struct semantic_embedding *embedding, uint32_t row,
                           uint64_t number, struct doppel_json *json)
{
    const struct dedup *dedup = embedding->dedup;
    const struct doppel_dedup_hand_off *hand_off = embedding->options->hand_off;
    const uint32_t record = embedding->texts.items[embedding->text_of.items[row]].number;
    const struct facts *facts = dedup_facts_of(dedup, record);
    doppel_json_clear(json);
    doppel_json_object_begin(json, NULL);
    doppel_json_integer(json, "row", number);
    doppel_json_text(json, "id", string_of(dedup, facts, FACT_ID));
    doppel_json_path(json, "path", reader_file_path(dedup->reader, file_of(dedup, record)));
    if (facts->line)
        doppel_json_integer(json, "line", facts->line);
    doppel_json_text(json, "model", hand_off->model);
    doppel_json_text(json, "revision", hand_off->revision);
    write_chunk_fields(embedding, row, json);
    doppel_json_object_end(json);
}

/* ---- all ---- */

static enum doppel_status write_hand_off_rows(struct semantic_embedding *embedding,
                                              struct hand_off_files *files,
                                              struct doppel_error *error)
{
    const uint32_t dimension = embedding->options->dimension;
    struct doppel_json json = {0};
    uint64_t number = 0;
    enum doppel_status status = DOPPEL_OK;
    write_npy_header(files->rows.stream, count_directions(embedding), dimension);
    for (uint32_t row = 0; row < embedding->written; row++) {
        if (!has_direction(embedding, row))
            continue;
        write_npy_row(files->rows.stream, embedding->rows + (size_t)row * dimension, dimension);
        write_row_line(embedding, row, number++, &json);
        TRY(doppel_json_status(&json, error));
        fwrite(json.bytes, 1, json.size, files->lines.stream);
        putc('\n', files->lines.stream);
    }
    embedding->summary.handed_off = number;
done:
    doppel_json_free(&json);
    return status;
}

enum doppel_status hand_off_write(struct semantic_embedding *embedding,
                                  struct hand_off_files *files, struct doppel_error *error)
{
    enum doppel_status status;
    if (!embedding->options->hand_off)
        return DOPPEL_OK;
    TRY(dedup_check_hand_off(embedding->dedup, error)); /* again: it took a while */
    TRY(open_hand_off(embedding->options->hand_off, files, error));
    TRY(write_hand_off_rows(embedding, files, error));
done:
    return status;
}

/* The rows last: where they are, the lines are. */
enum doppel_status hand_off_close(struct hand_off_files *files, enum doppel_status status,
                                  struct doppel_error *error)
{
    if (files->open) {
        const enum doppel_status before = status;
        status = output_file_close(&files->lines, status, error);
        const bool is_named = !before && !status;
        status = output_file_close(&files->rows, status, error);
        if (status && is_named)
            unlink(files->lines_path);
    }
    free(files->rows_path);
    free(files->lines_path);
    *files = (struct hand_off_files){0};
    return status;
}
