/**
 * doppel/embed.h: static embedding models: texts to unit vectors, by the mean of the rows of their
 * tokens. Uses core, vector, index, store, client, utf8proc, jansson and zlib. Its parts:
 * doppel/embed_vectors.h for vectors that others have made, doppel/embed_endpoint.h for services
 * that embed, doppel/embed_index.h for vectors that are kept. Whatever the vectors come from,
 * doppel/embedder.h has one type for it.
 *
 * A model is *added* once: what it comes as (a folder of model2vec, a list of words with numbers)
 * is checked and written as one file, NAME.model, into a folder of models. Such a file is mapped,
 * so that opening it costs the same whatever its size, and processes share what they read of it.
 *
 *     struct doppel_model_add_options add = doppel_model_add_options_default();
 *     add.folder = "models";
 *     add.source = "potion-base-8M";
 *     doppel_model_add(&add, &info, &error);
 *     doppel_model_open(&(struct doppel_model_open_options){"models", info.name, false}, &model,
 *                       &error);
 *     doppel_model_embed(model, &request, rows, each, &error);
 *
 * Vectors of two models never meet in a comparison. What makes a model is its `revision`, a digest
 * of all that its vectors depend on.
 */
#ifndef DOPPEL_EMBED_H
#define DOPPEL_EMBED_H

#include <stdbool.h>

#include <doppel/core.h>
#include <doppel/embed_endpoint.h>
#include <doppel/embed_vectors.h>
#include <doppel/json_writer.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DOPPEL_MODEL_MAX_DIMENSION = 4096,
    DOPPEL_MODEL_MAX_NAME = 64,     /**< bytes: letters of ASCII, digits, '.', '_' and '-' */
    DOPPEL_MODEL_MAX_PREFIX = 1024, /**< bytes */
    DOPPEL_MODEL_MAX_BASE = 255     /**< bytes: the name of a model of a service may be any */
};

/** How a model takes a text apart. */
enum doppel_model_tokens {
    DOPPEL_MODEL_WORD_PIECES = 1, /**< WordPiece of a tokenizer.json */
    DOPPEL_MODEL_UNIGRAM = 2,     /**< Unigram of a tokenizer.json */
    DOPPEL_MODEL_WHOLE_WORDS = 3, /**< WordLevel of a tokenizer.json */
    DOPPEL_MODEL_WORD_LIST = 4,   /**< words of a list, as of GloVe or fastText */
    DOPPEL_MODEL_WHITENED = 5     /**< another model does, and its vectors are whitened
                                     (doppel_model_whiten); doppel_embedder_open opens it */
};

/** "word-pieces", "unigram", "whole-words", "word-list" or "whitened"; static storage.
 * Thread-safe. */
DOPPEL_API const char *doppel_model_tokens_name(enum doppel_model_tokens tokens);

/** What a model is. The first four are its identity. */
struct doppel_model_info {
    char name[DOPPEL_MODEL_MAX_NAME + 1];
    char revision[33];  /**< 32 hex digits: XXH3-128 of what the file holds, but its name */
    uint32_t dimension; /**< 1 to DOPPEL_MODEL_MAX_DIMENSION */
    char prefix[DOPPEL_MODEL_MAX_PREFIX + 1]; /**< what stands before every text; "": nothing */
    enum doppel_model_tokens tokens;
    uint32_t vocabulary; /**< tokens that it knows */
    uint32_t rows;       /**< vectors that it has: fewer, where tokens share them */
    uint32_t max_tokens; /**< of a text, more are not looked at; 0: no limit */
    uint64_t size_bytes; /**< of the file */

    /* of a whitened one, of which vocabulary, rows and max_tokens are 0; "" and 0 of others */
    char base[DOPPEL_MODEL_MAX_BASE + 1]; /**< the model whose vectors are whitened */
    bool of_service;                      /**< that is one of a service */
    uint64_t learned_from;                /**< vectors of it */
};

/** Append its fields to the object that was begun; no "prefix" where there is none, no "max_tokens"
 * where there is no limit; docs/formats.md. */
DOPPEL_API void doppel_model_info_to_json(struct doppel_json *json,
                                          const struct doppel_model_info *info);

/* ---- the folder of models ---- */

/** Strings are borrowed. */
struct doppel_model_add_options {
    const char *folder; /**< made if there is none */
    /** A folder with model.safetensors, tokenizer.json and config.json, as model2vec or
     * sentence-transformers write it; or a file with a word and its numbers on each line (GloVe,
     * fastText; a first line with two counts is passed over; the words that are used most come
     * first), also as .gz; or the JSON of wink-embeddings, or the folder of its npm package. */
    const char *source;
    const char *name;   /**< NULL: that of the source, without its ending */
    const char *prefix; /**< NULL: none */
};

DOPPEL_API struct doppel_model_add_options doppel_model_add_options_default(void);

/**
 * Check a model, and write its file. The file appears when it is whole. If there is one of this
 * name and of the same revision, nothing is written.
 *
 * @param out what was written; untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: the name, or the prefix; DOPPEL_E_NOT_FOUND: the source;
 *         DOPPEL_E_BUSY: another model has this name; DOPPEL_E_FORMAT: the source is none of these;
 *         DOPPEL_E_UNSUPPORTED: it has a part that doppel does not know, which is named;
 *         DOPPEL_E_CORRUPT: what it states does not fit together; DOPPEL_E_LIMIT; DOPPEL_E_IO;
 *         DOPPEL_E_NO_SPACE; DOPPEL_E_MEMORY
 *
 * Needs memory for the whole model, for a while. Thread-safe; of several that add other models by
 * one name at a time, one wins. Sources: docs/methods.md.
 */
DOPPEL_API enum doppel_status doppel_model_add(const struct doppel_model_add_options *options,
                                               struct doppel_model_info *out,
                                               struct doppel_error *error);

/** @param problem what is wrong with the file, of which only the name is known then; NULL: nothing.
 * Borrowed for the call. @return false: no more */
typedef bool doppel_model_visitor(void *context, const struct doppel_model_info *info,
                                  const char *problem);

/** Visit the models of a folder by name, and check every byte of them. A folder that is not there
 * has none. @return DOPPEL_OK; DOPPEL_E_CANCELLED; DOPPEL_E_IO; DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_models_list(const char *folder, doppel_model_visitor *visit,
                                                 void *context, struct doppel_error *error);

/** Remove a model's file. Whoever has it open keeps it until it is freed. @return DOPPEL_OK;
 * DOPPEL_E_NOT_FOUND; DOPPEL_E_ARGUMENT: no name of a model; DOPPEL_E_IO. Thread-safe. */
DOPPEL_API enum doppel_status doppel_model_remove(const char *folder, const char *name,
                                                  struct doppel_error *error);

/* ---- texts to vectors ---- */

struct doppel_model;

struct doppel_model_open_options {
    const char *folder; /**< borrowed */
    const char *name;   /**< borrowed */
    bool exact; /**< sum the float rows: within 1e-5 of the reference; false: rows of 8 bits with a
                   scale each, several times as fast, at a cosine of .999 and more to those */
};

/**
 * Map a model. What is read of the file later is bounds-checked: a damaged one gives wrong vectors
 * or DOPPEL_E_CORRUPT, and nothing else.
 *
 * @param out given (doppel_model_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT; DOPPEL_E_NOT_FOUND; DOPPEL_E_FORMAT: it is none, or a
 *         whitened one; DOPPEL_E_CORRUPT; DOPPEL_E_VERSION; DOPPEL_E_IO; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_model_open(const struct doppel_model_open_options *options,
                                                struct doppel_model **out,
                                                struct doppel_error *error);
DOPPEL_API void doppel_model_free(struct doppel_model *model);

/** Of an open model; borrowed for its life. Thread-safe. */
DOPPEL_API const struct doppel_model_info *doppel_model_info(const struct doppel_model *model);

/** Texts of any bytes; what is no UTF-8 counts as U+FFFD. All borrowed. */
struct doppel_model_texts {
    const char *const *texts;
    const size_t *sizes; /**< bytes; NULL: each ends in NUL */
    size_t count;
};

/**
 * Vectors of texts: the mean of the rows of their tokens, each times the token's weight, divided by
 * its length. The same text gives the same bits on every processor, whatever it is embedded with.
 *
 * @param rows room for `count` × dimension floats: the vector of text i begins at rows + i ×
 *        dimension; zeros where there is none
 * @param each NULL, or `count` of: DOPPEL_OK; DOPPEL_E_TOO_SHORT: no token of the text is known, or
 *        they cancel out
 * @return DOPPEL_OK; DOPPEL_E_CORRUPT: the file is damaged; DOPPEL_E_MEMORY. Vectors that were
 *         made before a failure stay.
 *
 * Thread-safe: any number of threads may use a model. Source: model2vec's StaticModel.encode.
 */
DOPPEL_API enum doppel_status doppel_model_embed(const struct doppel_model *model,
                                                 const struct doppel_model_texts *texts,
                                                 float *rows, enum doppel_status *each,
                                                 struct doppel_error *error);

/**
 * The tokens that a text is taken for: numbers of the tokenizer's, those that the model does not
 * know left out.
 *
 * @param out     room for `room` of them
 * @param out_count how many there are, also where there are more than fit
 * @return as doppel_model_embed. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_model_tokenize(const struct doppel_model *model,
                                                    const char *text, size_t size, uint32_t *out,
                                                    size_t room, size_t *out_count,
                                                    struct doppel_error *error);

#ifdef __cplusplus
}
#endif

#endif
