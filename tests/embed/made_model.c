/* Models that the tests make. */
#include "made_model.h"

#include <ftw.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(bool good)
{
    if (!good)
        abort();
}

/* ---- files ---- */

void made_folder_begin(struct made_folder *folder)
{
    strcpy(folder->path, "/tmp/doppel-embed-XXXXXX");
    must(mkdtemp(folder->path));
}

static int remove_one(const char *path, const struct stat *stamp, int type, struct FTW *walk)
{
    (void)stamp, (void)type, (void)walk;
    return remove(path);
}

void made_folder_remove(const struct made_folder *folder)
{
    must(nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

static char *next_place(void)
{
    static char places[64][4096];
    static _Atomic unsigned next;
    return places[next++ % 64];
}

const char *made_path(const struct made_folder *folder, const char *name)
{
    char *path = next_place();
    snprintf(path, 4096, "%s/%s", folder->path, name);
    return path;
}

const char *made_data(const char *name, const char *ending)
{
    char *path = next_place();
    snprintf(path, 4096, "%s/%s%s", EMBED_DATA, name, ending);
    return path;
}

void made_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    must(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

char *made_read(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    must(file && fseek(file, 0, SEEK_END) == 0);
    size_t size = (size_t)ftell(file);
    char *bytes = malloc(size + 1);
    rewind(file);
    must(bytes && fread(bytes, 1, size, file) == size);
    fclose(file);
    bytes[size] = '\0';
    if (out_size)
        *out_size = size;
    return bytes;
}

float made_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(*state >> 32) / 2147483648.0f;
}

void made_safetensors(const char *path, const struct made_tensor *tensors, size_t count)
{
    json_t *header = json_object();
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const struct made_tensor *tensor = &tensors[i];
        json_t *shape = tensor->columns ? json_pack("[I, I]", (json_int_t)tensor->rows,
                                                    (json_int_t)tensor->columns)
                                        : json_pack("[I]", (json_int_t)tensor->rows);
        json_object_set_new(header, tensor->name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", tensor->type, "shape", shape,
                                      "data_offsets", (json_int_t)at,
                                      (json_int_t)(at + tensor->size)));
        at += tensor->size;
    }
    char *text = json_dumps(header, JSON_COMPACT);
    uint64_t size = strlen(text);
    FILE *file = fopen(path, "wb");
    must(file && fwrite(&size, 8, 1, file) == 1 && fwrite(text, 1, size, file) == size);
    for (size_t i = 0; i < count; i++)
        must(fwrite(tensors[i].bytes, 1, tensors[i].size, file) == tensors[i].size);
    must(fclose(file) == 0);
    free(text);
    json_decref(header);
}

/* ---- models ---- */

/* 1 + the highest id of a tokenizer. */
static uint32_t count_tokens(const char *path)
{
    json_t *json = json_load_file(path, 0, NULL), *added, *entry;
    must(json);
    json_t *vocab = json_object_get(json_object_get(json, "model"), "vocab");
    size_t count = json_is_array(vocab) ? json_array_size(vocab) : json_object_size(vocab), i;
    added = json_object_get(json, "added_tokens");
    json_array_foreach(added, i, entry)
    {
        size_t id = (size_t)json_integer_value(json_object_get(entry, "id"));
        count = id >= count ? id + 1 : count;
    }
    json_decref(json);
    return (uint32_t)count;
}

void made_model_begin(struct made_model *model, const char *tokenizer, uint32_t dimension,
                      bool mapped)
{
    uint64_t state = dimension + 1000u * mapped;
    *model = (struct made_model){.tokens = count_tokens(tokenizer), .dimension = dimension};
    model->rows = mapped ? model->tokens / 3 + 1 : model->tokens;
    size_t numbers = (size_t)model->rows * dimension;
    model->matrix = malloc(numbers * sizeof *model->matrix);
    for (size_t i = 0; i < numbers; i++)
        model->matrix[i] = made_random(&state);
    if (!mapped)
        return;
    model->mapping = malloc(model->tokens * sizeof *model->mapping);
    model->weights = malloc(model->tokens * sizeof *model->weights);
    for (uint32_t i = 0; i < model->tokens; i++) {
        model->mapping[i] = (int32_t)(i * 7919u % model->rows);
        model->weights[i] = made_random(&state) + 1.5f;
    }
}

void made_model_write(const struct made_model *model, const char *tokenizer, const char *folder)
{
    char path[4096];
    size_t size;
    char *text = made_read(tokenizer, &size);
    struct made_tensor tensors[3] = {
        {"embeddings", "F32", model->rows, model->dimension, model->matrix,
         (size_t)model->rows * model->dimension * 4},
        {"mapping", "I32", model->tokens, 0, model->mapping, model->tokens * 4u},
        {"weights", "F32", model->tokens, 0, model->weights, model->tokens * 4u}};
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/tokenizer.json", folder);
    made_file(path, text, size);
    free(text);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    made_safetensors(path, tensors, model->mapping ? 3 : 1);
}

void made_model_end(struct made_model *model)
{
    free(model->matrix);
    free(model->mapping);
    free(model->weights);
}

struct doppel_model *made_model_open(const struct made_folder *folder, const char *source,
                                     const char *prefix, bool exact)
{
    struct doppel_model_add_options add = doppel_model_add_options_default();
    struct doppel_model_info info;
    struct doppel_error error;
    struct doppel_model *model;
    add.folder = folder->path;
    add.source = source;
    add.prefix = prefix;
    if (doppel_model_add(&add, &info, &error) ||
        doppel_model_open(&(struct doppel_model_open_options){folder->path, info.name, exact},
                          &model, &error)) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    return model;
}

/* ---- texts ---- */

char **made_texts(size_t **out_sizes, size_t *out_count)
{
    json_t *json = json_load_file(made_data("texts", ".json"), JSON_ALLOW_NUL, NULL), *entry;
    must(json);
    size_t count = json_array_size(json), i;
    char **texts = malloc(count * sizeof *texts);
    *out_sizes = malloc(count * sizeof **out_sizes);
    json_array_foreach(json, i, entry)
    {
        size_t size = (*out_sizes)[i] = json_string_length(entry);
        texts[i] = malloc(size + 1); /* of its own, so that a reader beyond it is seen */
        memcpy(texts[i], json_string_value(entry), size + 1);
    }
    json_decref(json);
    *out_count = count;
    return texts;
}

void made_texts_free(char **texts, size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
    free(sizes);
}
