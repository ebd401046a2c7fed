/* A model as it was read from what it comes as, before its file is written. */
#ifndef DOPPEL_EMBED_MODEL_SOURCE_H
#define DOPPEL_EMBED_MODEL_SOURCE_H

#include "core/array.h"
#include "embed/model.h"
#include "embed/tokenizer/step.h"
#include "embed/tokenizer/trie.h"

/* Zero-initialised it is empty. Arrays are given; numbers are finite, and in their ranges, once a
 * reader has returned DOPPEL_OK. */
struct model_source {
    struct model_head head; /* kind, dimension, tokens, rows, vocabulary, and the limits */

    float *matrix;     /* rows × dimension */
    uint32_t *mapping; /* of a token to its row; NULL: a row each */
    float *weights;    /* of a token; NULL: 1 each */
    double *scores;    /* of Unigram, of a token */

    ARRAY(struct trie_key) keys;
    ARRAY(struct model_added) added;
    ARRAY(struct text_step) normalizers, splits; /* each ended by STEP_END */
    char *charsmap;
    size_t charsmap_size;

    ARRAY(char *) strings; /* that keys and steps are made of, where they are not in `json` */
    void *json;            /* a document of jansson's that they are in; NULL: none */
};

void model_source_free(struct model_source *source);

/* Bytes that live as long as the source; NULL: no memory. */
char *model_source_keep(struct model_source *source, const char *bytes, size_t size);

/* @param folder with model.safetensors and tokenizer.json */
enum doppel_status model2vec_read(const char *folder, struct model_source *out,
                                  struct doppel_error *error);

/* Words, by their frequency, and their numbers; plain or .gz. */
enum doppel_status word_list_read(const char *path, struct model_source *out,
                                  struct doppel_error *error);

/* The JSON of wink-embeddings. */
enum doppel_status wink_read(const char *path, struct model_source *out,
                             struct doppel_error *error);

/* The tokens of a tokenizer.json, and the steps to them. `head.tokens` is 1 + the highest. */
enum doppel_status tokenizer_read(const char *path, struct model_source *out,
                                  struct doppel_error *error);

/* ---- lists of words ---- */

/* What is made of words while they come. */
struct word_rows {
    struct model_source *source;
    ARRAY(float) numbers;
    struct normalizing *folding;
    uint64_t words; /* that came */
};

/* A word, the most frequent first: that it cannot be met in a text, or was there already, is no
 * failure. @return false: no memory */
bool word_rows_add(struct word_rows *rows, const char *word, size_t size, const float *numbers);

void word_rows_begin(struct word_rows *rows, struct model_source *source, uint32_t dimension);
/* @return DOPPEL_OK; DOPPEL_E_CORRUPT: there are none; DOPPEL_E_LIMIT; DOPPEL_E_MEMORY */
enum doppel_status word_rows_end(struct word_rows *rows, const char *path,
                                 enum doppel_status status, struct doppel_error *error);

/* ---- writing ---- */

/* @param path of the file; what is there is replaced when it is whole. @param revision of it */
enum doppel_status model_write(struct model_source *source, const char *prefix, const char *path,
                               struct doppel_error *error);

#endif
