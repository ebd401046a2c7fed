/* Models that the tests make: a tokenizer that is there, and rows of random numbers. */
#ifndef DOPPEL_TESTS_EMBED_MADE_MODEL_H
#define DOPPEL_TESTS_EMBED_MADE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/embed.h>

/* A folder of its own, which made_folder_remove() removes with all in it. */
struct made_folder {
    char path[64];
};

void made_folder_begin(struct made_folder *folder);
void made_folder_remove(const struct made_folder *folder);

/* FOLDER/NAME, in one of 64 static places. */
const char *made_path(const struct made_folder *folder, const char *name);

void made_file(const char *path, const void *bytes, size_t size);
char *made_read(const char *path, size_t *out_size); /* given (free), with a NUL after it */

/* In [-1, 1), the same for the same state. */
float made_random(uint64_t *state);

/* A tensor to be written. */
struct made_tensor {
    const char *name, *type;
    size_t rows, columns; /* columns 0: one dimension */
    const void *bytes;
    size_t size;
};

void made_safetensors(const char *path, const struct made_tensor *tensors, size_t count);

/* A model as model2vec writes it. */
struct made_model {
    uint32_t tokens, rows, dimension;
    float *matrix;
    int32_t *mapping; /* NULL: a row each */
    float *weights;   /* NULL: 1 each */
};

/* Rows of random numbers for a tokenizer of the data.
 * @param mapped that tokens share rows, and have weights */
void made_model_begin(struct made_model *model, const char *tokenizer, uint32_t dimension,
                      bool mapped);
void made_model_write(const struct made_model *model, const char *tokenizer, const char *folder);
void made_model_end(struct made_model *model);

/* Add and open it. @return given (doppel_model_free) */
struct doppel_model *made_model_open(const struct made_folder *folder, const char *source,
                                     const char *prefix, bool exact);

/* The texts of the data, as many as *out_count: given (free). */
char **made_texts(size_t **out_sizes, size_t *out_count);
void made_texts_free(char **texts, size_t *sizes, size_t count);

/* Path of a file of the data, as made_path(). */
const char *made_data(const char *name, const char *ending);

#endif
