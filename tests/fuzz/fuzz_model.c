/* Fuzz target: what a model may come as, and a model's file. The first byte says which: a file (its
 * head's digest is set right), a tokenizer.json, a safetensors, a list of words or JSON. What is
 * taken as a model is written, opened, and embeds some texts. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "embed/model.h"
#include "embed/model_source.h"
#include "embed/safetensors.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *, size_t) = {read_model_file, read_tokenizer_file,
                                                               read_tensors, read_list};
    if (size)
        readers[data[0] % 4](data + 1, size - 1);
    return 0;
}
