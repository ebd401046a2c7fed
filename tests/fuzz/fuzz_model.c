/* Fuzz target: what a model may come as, and a model's file. The first byte says which: a file (its
 * head's digest is set right), a tokenizer.json, a safetensors, a list of words or JSON, the file
 * of a whitened model (its digests are set right). What is taken as a model is written, opened, and
 * embeds some texts. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "embed/model.h"
#include "embed/model_source.h"
#include "embed/safetensors.h"
#include "embed/whitened/whitened.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void remove_folder(void)
{
    static const char *const names[] = {"m.model", "source"};
    char path[128];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* FOLDER/NAME, in memory where there is such a file system. */
static const char *file_path(const char *name)
{
    static char path[128];
    if (!folder[0]) {
        strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/doppel-model-XXXXXX"
                                                     : "/tmp/doppel-model-XXXXXX");
        if (!mkdtemp(folder))
            abort();
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put_file(const char *name, const uint8_t *data, size_t size)
{
    FILE *file = fopen(file_path(name), "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

/* A vector has length 1 or none, or the file is damaged. */
static void embed_some(void)
{
    static const char *const texts[] = {
        "The files, of a system: don't!", "caf\xC3\xA9 CAFE\xCC\x81 [MASK]  <mask> x",
        "\xE4\xB8\xAD\xE6\x96\x87 \xF0\x9F\x98\x80 12 is\xFF not", " \t\n", "aaaaaaaaaaaaaaaaaaaa"};
    enum { TEXTS = 5 };
    struct doppel_model *model;
    struct doppel_error error = {0};
    enum doppel_status each[TEXTS];
    file_path("m.model");
    if (doppel_model_open(&(struct doppel_model_open_options){folder, "m", false}, &model,
                          &error)) {
        if (!error.message[0])
            abort();
        return;
    }
    uint32_t dimension = doppel_model_info(model)->dimension;
    float *rows = malloc(TEXTS * dimension * sizeof *rows);
    enum doppel_status status = doppel_model_embed(
        model, &(struct doppel_model_texts){texts, NULL, TEXTS}, rows, each, &error);
    if (!rows || (status && status != DOPPEL_E_CORRUPT))
        abort();
    for (int i = 0; i < TEXTS && !status; i++) {
        double squares = 0;
        for (uint32_t d = 0; d < dimension; d++)
            squares += (double)rows[(uint32_t)i * dimension + d] *
                       (double)rows[(uint32_t)i * dimension + d];
        if (fabs(squares - (each[i] ? 0 : 1)) > 1e-3)
            abort();
    }
    free(rows);
    doppel_model_free(model);
}

static void read_model_file(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, data, size);
    if (size >= MODEL_HEAD_BYTES) {
        struct doppel_digest digest = doppel_digest_bytes(copy, MODEL_HEAD_BYTES - 16);
        memcpy(copy + MODEL_HEAD_BYTES - 16, digest.bytes, 16);
    }
    put_file("m.model", copy, size);
    free(copy);
    embed_some();
}

/* Of a tokenizer, with rows for as many tokens as it has. */
static void read_tokenizer_file(const uint8_t *data, size_t size)
{
    enum { DIMENSION = 2, MOST_TOKENS = 100000 };
    struct model_source source = {0};
    struct doppel_error error = {0};
    put_file("source", data, size);
    enum doppel_status status = tokenizer_read(file_path("source"), &source, &error);
    if (status && !error.message[0])
        abort();
    if (!status && source.head.tokens < MOST_TOKENS) {
        source.head.rows = source.head.tokens;
        source.head.dimension = DIMENSION;
        source.matrix = malloc(source.head.rows * DIMENSION * sizeof *source.matrix);
        for (size_t i = 0; i < (size_t)source.head.rows * DIMENSION; i++)
            source.matrix[i] = (float)(i % 7) - 2.5f;
        if (!model_write(&source, "", file_path("m.model"), &error))
            embed_some();
    }
    model_source_free(&source);
}

static void read_tensors(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"embeddings", "mapping", "weights"};
    for (int i = 0; i < 3; i++) {
        struct tensor tensor;
        struct doppel_error error = {0};
        if (tensor_find(data, size, "x", names[i], &tensor, &error)) {
            if (!error.message[0])
                abort();
            continue;
        }
        double sum = 0;
        bool whole = tensor.type == TENSOR_I32 || tensor.type == TENSOR_I64;
        for (size_t j = 0; j < tensor.count; j++)
            sum += whole ? (double)tensor_integer(&tensor, j) : (double)tensor_float(&tensor, j);
        if (sum == 42.125)
            putchar('.');
    }
}

static void read_list(const uint8_t *data, size_t size)
{
    struct doppel_model_add_options add = doppel_model_add_options_default();
    struct doppel_model_info info;
    struct doppel_error error = {0};
    put_file("source", data, size);
    unlink(file_path("m.model"));
    add.source = file_path("source");
    add.folder = folder;
    add.name = "m";
    if (!doppel_model_add(&add, &info, &error))
        embed_some();
    else if (!error.message[0])
        abort();
}

/* Those of the numbers, and of all, where the head says that they are so many. */
static void set_digests(uint8_t *file, size_t size)
{
    enum { HEAD = 72, DIGEST = 16, AT_DIMENSION = 12, AT_BASE = 40, AT_REVISION = 56 };
    uint32_t dimension;
    if (size < HEAD + DIGEST)
        return;
    memcpy(&dimension, file + AT_DIMENSION, sizeof dimension);
    const size_t bytes = 4 * doppel_vector_whitening_size(dimension % 256);
    if (dimension < 256 && bytes <= size - HEAD - DIGEST) {
        uint8_t *summed = malloc(DIGEST + bytes);
        memcpy(summed, file + AT_BASE, DIGEST);
        memcpy(summed + DIGEST, file + size - DIGEST - bytes, bytes);
        const struct doppel_digest revision = doppel_digest_bytes(summed, DIGEST + bytes);
        memcpy(file + AT_REVISION, revision.bytes, DIGEST);
        free(summed);
    }
    const struct doppel_digest all = doppel_digest_bytes(file, size - DIGEST);
    memcpy(file + size - DIGEST, all.bytes, DIGEST);
}

/* What is read can be written again, to the same bytes. */
static void write_whitened_again(const struct whitened_model *model, const uint8_t *data,
                                 size_t size)
{
    struct doppel_vector_whitening *whitening = NULL;
    struct doppel_error error = {0};
    uint8_t *again = malloc(size + 1);
    if (whitened_write(model, file_path("source"), &error))
        abort();
    FILE *file = fopen(file_path("source"), "rb");
    if (!file || fread(again, 1, size + 1, file) != size || memcmp(again, data, 28) != 0)
        abort();
    fclose(file);
    free(again);
    if (doppel_vector_whitening_set(model->numbers, model->info.dimension, &whitening, &error))
        return;
    float row[DOPPEL_MODEL_MAX_DIMENSION] = {1};
    if (!doppel_vector_whiten(whitening, row, row))
        abort();
    doppel_vector_whitening_free(whitening);
}

static void read_whitened_file(const uint8_t *data, size_t size)
{
    struct whitened_model model = {0};
    struct doppel_error error = {0};
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, data, size);
    set_digests(copy, size);
    put_file("m.model", copy, size);
    if (!whitened_read(file_path("m.model"), "m", &model, &error))
        write_whitened_again(&model, copy, size);
    else if (!error.message[0])
        abort();
    whitened_free(&model);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *, size_t) = {
        read_model_file, read_tokenizer_file, read_tensors, read_list, read_whitened_file};
    if (size)
        readers[data[0] % 5](data + 1, size - 1);
    return 0;
}
