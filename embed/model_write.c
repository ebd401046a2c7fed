/* Writing a model's file: the sections, then the head with the digest of all. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/files/output_file.h"
#include "core/files/write_all.h"
#include "core/try.h"
#include "embed/model_source.h"

struct model_writer {
    struct model_source *source;
    struct output_file file;
    uint64_t at;   /* bytes written */
    float *scales; /* of the int8 rows */
    struct doppel_error *error;
};

/* ---- sections ---- */

static enum doppel_status put_bytes(struct model_writer *writer, const void *bytes, size_t size)
{
    writer->at += size;
    if (!size || fwrite(bytes, 1, size, writer->file.stream) == size)
        return DOPPEL_OK;
    return doppel_fail(writer->error, write_failure(errno), "%s: cannot be written (%s)",
                       writer->file.path, strerror(errno));
}

static enum doppel_status fill_page(struct model_writer *writer)
{
    static const char zeros[MODEL_PAGE];
    return put_bytes(writer, zeros, (size_t)(-writer->at % MODEL_PAGE));
}

static enum doppel_status begin_section(struct model_writer *writer, enum model_section section)
{
    enum doppel_status status = fill_page(writer);
    writer->source->head.sections[section].offset = writer->at;
    return status;
}

static void end_section(struct model_writer *writer, enum model_section section)
{
    writer->source->head.sections[section].size =
        writer->at - writer->source->head.sections[section].offset;
}

static enum doppel_status put_section(struct model_writer *writer, enum model_section section,
                                      const void *bytes, size_t size)
{
    enum doppel_status status;
    TRY(begin_section(writer, section));
    TRY(put_bytes(writer, bytes, size));
    end_section(writer, section);
done:
    return status;
}

/* ---- rows ---- */

/* The nearest of 255 steps each, of which the last is the largest number of the row. */
static float quantize_row(const float *row, uint32_t dimension, int8_t *out)
{
    float most = 0;
    for (uint32_t i = 0; i < dimension; i++)
        most = fabsf(row[i]) > most ? fabsf(row[i]) : most;
    float scale = most / 127;
    for (uint32_t i = 0; i < dimension; i++) {
        float steps = scale > 0 ? row[i] / scale : 0;
        out[i] = (int8_t)lrintf(steps > 127 ? 127 : steps < -127 ? -127 : steps);
    }
    return scale;
}

static enum doppel_status put_rows(struct model_writer *writer)
{
    const struct model_head *head = &writer->source->head;
    int8_t small[DOPPEL_MODEL_MAX_DIMENSION] = {0};
    float wide[DOPPEL_MODEL_MAX_DIMENSION] = {0};
    enum doppel_status status;
    TRY(begin_section(writer, SECTION_INT8_ROWS));
    for (uint32_t i = 0; i < head->rows; i++) {
        const float *row = writer->source->matrix + (size_t)i * head->dimension;
        writer->scales[i] = quantize_row(row, head->dimension, small);
        TRY(put_bytes(writer, small, head->stride));
    }
    end_section(writer, SECTION_INT8_ROWS);
    TRY(begin_section(writer, SECTION_FLOAT_ROWS));
    for (uint32_t i = 0; i < head->rows; i++) {
        memcpy(wide, writer->source->matrix + (size_t)i * head->dimension,
               head->dimension * sizeof *wide);
        TRY(put_bytes(writer, wide, head->stride * sizeof *wide));
    }
    end_section(writer, SECTION_FLOAT_ROWS);
done:
    return status;
}

/* @param scaled by the row's scale */
static enum doppel_status put_weights(struct model_writer *writer, enum model_section section,
                                      bool scaled)
{
    const struct model_source *source = writer->source;
    enum doppel_status status;
    TRY(begin_section(writer, section));
    for (uint32_t i = 0; i < source->head.tokens; i++) {
        uint32_t row = source->mapping ? source->mapping[i] : i;
        float weight = source->weights ? source->weights[i] : 1;
        weight = scaled ? weight * writer->scales[row] : weight;
        TRY(put_bytes(writer, &weight, sizeof weight));
    }
    end_section(writer, section);
done:
    return status;
}

/* ---- the tokenizer ---- */

static enum doppel_status put_trie(struct model_writer *writer)
{
    struct model_source *source = writer->source;
    struct trie trie = {0};
    const struct trie_key *bad;
    enum doppel_status status = trie_build(source->keys.items, source->keys.count,
                                           source->head.roots, ROOT_COUNT, &trie, &bad);
    if (bad)
        return doppel_fail(writer->error, DOPPEL_E_CORRUPT,
                           "the model has the token '%.*s' twice, or what becomes of it",
                           (int)(bad->size < 60 ? bad->size : 60), bad->bytes);
    if (status)
        return doppel_fail(writer->error, status, "no memory for the model's tokens");
    TRY(put_section(writer, SECTION_CELLS, trie.cells, trie.count * sizeof *trie.cells));
done:
    free(trie.cells);
    return status;
}

static enum doppel_status put_steps(struct model_writer *writer)
{
    struct model_source *source = writer->source;
    struct embed_text steps = {0};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < source->normalizers.count; i++)
        text_step_write(&source->normalizers.items[i], &steps);
    for (size_t i = 0; i < source->splits.count; i++)
        text_step_write(&source->splits.items[i], &steps);
    if (steps.failed)
        status = doppel_fail(writer->error, DOPPEL_E_MEMORY, "no memory for the model's steps");
    else
        status = put_section(writer, SECTION_STEPS, steps.bytes, steps.size);
    embed_text_free(&steps);
    return status;
}

/* ---- the file ---- */

static enum doppel_status put_sections(struct model_writer *writer, const char *prefix)
{
    struct model_source *source = writer->source;
    static const char head[MODEL_PAGE];
    bool scored = source->head.kind == DOPPEL_MODEL_UNIGRAM;
    enum doppel_status status;
    TRY(put_bytes(writer, head, sizeof head));
    TRY(put_trie(writer));
    TRY(put_rows(writer));
    TRY(put_section(writer, SECTION_MAPPING, source->mapping,
                    source->mapping ? source->head.tokens * sizeof *source->mapping : 0));
    TRY(put_weights(writer, SECTION_WEIGHTS, false));
    TRY(put_weights(writer, SECTION_INT8_WEIGHTS, true));
    TRY(put_section(writer, SECTION_SCORES, source->scores,
                    scored ? source->head.tokens * sizeof *source->scores : 0));
    TRY(put_steps(writer));
    TRY(put_section(writer, SECTION_ADDED, source->added.items,
                    source->added.count * sizeof *source->added.items));
    TRY(put_section(writer, SECTION_CHARSMAP, source->charsmap, source->charsmap_size));
    TRY(put_section(writer, SECTION_PREFIX, prefix, strlen(prefix)));
    TRY(fill_page(writer));
done:
    return status;
}

static enum doppel_status digest_written(struct model_writer *writer)
{
    struct model_head *head = &writer->source->head;
    int fd = open(writer->file.temporary ? writer->file.temporary : writer->file.path,
                  O_RDONLY | O_CLOEXEC);
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, (size_t)writer->at, PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (map == MAP_FAILED)
        return doppel_fail(writer->error, DOPPEL_E_IO, "%s: cannot be read (%s)", writer->file.path,
                           strerror(errno));
    struct doppel_digest digest =
        model_revision(head, (const uint8_t *)map + MODEL_PAGE, (size_t)writer->at - MODEL_PAGE);
    memcpy(head->revision, digest.bytes, sizeof head->revision);
    munmap(map, (size_t)writer->at);
    return DOPPEL_OK;
}

static enum doppel_status put_head(struct model_writer *writer)
{
    uint8_t head[MODEL_HEAD_BYTES];
    FILE *stream = writer->file.stream;
    enum doppel_status status = DOPPEL_OK;
    if (fflush(stream) == 0)
        TRY(digest_written(writer));
    model_head_write(&writer->source->head, head);
    if (fseeko(stream, 0, SEEK_SET) != 0 || fwrite(head, 1, sizeof head, stream) != sizeof head ||
        fflush(stream) != 0 || fsync(fileno(stream)) != 0)
        return doppel_fail(writer->error, write_failure(errno), "%s: cannot be written (%s)",
                           writer->file.path, strerror(errno));
done:
    return status;
}

static enum doppel_status put_whole_model(struct model_writer *writer, const char *prefix)
{
    enum doppel_status status = put_sections(writer, prefix);
    return status ? status : put_head(writer);
}

static bool has_a_row(const struct model_source *source)
{
    size_t count = (size_t)source->head.rows * source->head.dimension;
    for (size_t i = 0; i < count; i++)
        if (source->matrix[i] != 0)
            return true;
    return false;
}

enum doppel_status model_write(struct model_source *source, const char *prefix, const char *path,
                               struct doppel_error *error)
{
    struct model_writer writer = {.source = source, .error = error};
    struct model_head *head = &source->head;
    enum doppel_status status;
    head->stride = (head->dimension + MODEL_BLOCK - 1) / MODEL_BLOCK * MODEL_BLOCK;
    if (!has_a_row(source))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "all numbers of the model are 0");
    writer.scales = malloc(head->rows * sizeof *writer.scales);
    if (!writer.scales)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the model");
    status = output_file_open(path, NULL, &writer.file, error);
    if (!status)
        status = output_file_close(&writer.file, put_whole_model(&writer, prefix), error);
    free(writer.scales);
    return status;
}
