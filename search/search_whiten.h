/**
 * doppel/search_whiten.h: what the vectors of a model are to be whitened by is learned from texts,
 * or from the vectors of a library. Part of doppel/search.h.
 *
 *     doppel_semantic_sample_new(NULL, 0, &sample, &error);
 *     doppel_semantic_sample_add(sample, text, size, &error); // and others
 *     doppel_semantic_sample_embed(sample, embedder, run, &vectors, &error);
 *     doppel_model_whiten(&options, &info, &error);           // of doppel/embedder.h
 */
#ifndef DOPPEL_SEARCH_WHITEN_H
#define DOPPEL_SEARCH_WHITEN_H

#include <doppel/embedder.h>
#include <doppel/library.h>
#include <doppel/run.h>
#include <doppel/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Chunks of texts (doppel/text_chunks.h), at most so many, each as likely to be among them as any
 * other; the same texts in the same order give the same. One thread at a time. */
struct doppel_semantic_sample;

enum { DOPPEL_SEMANTIC_SAMPLE_MOST = 1 << 16 };

/**
 * @param text how texts are read; NULL: the defaults
 * @param most chunks to keep, up to DOPPEL_SEMANTIC_SAMPLE_MOST; 0: so many
 * @param out  given (doppel_semantic_sample_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_semantic_sample_new(const struct doppel_text_options *text,
                                                         size_t most,
                                                         struct doppel_semantic_sample **out,
                                                         struct doppel_error *error);
DOPPEL_API void doppel_semantic_sample_free(struct doppel_semantic_sample *sample);

/** Add the chunks of a text, of which the first 1 MB counts.
 * @return DOPPEL_OK; DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_semantic_sample_add(struct doppel_semantic_sample *sample,
                                                         const char *bytes, size_t size,
                                                         struct doppel_error *error);
/** The same of a file's text. @return also DOPPEL_E_NOT_FOUND; DOPPEL_E_FORMAT: no regular file;
 * DOPPEL_E_IO */
DOPPEL_API enum doppel_status doppel_semantic_sample_add_file(struct doppel_semantic_sample *sample,
                                                              const char *path,
                                                              struct doppel_error *error);
/** A text that is one chunk. @return as doppel_semantic_sample_add */
DOPPEL_API enum doppel_status doppel_semantic_sample_add_chunk(
    struct doppel_semantic_sample *sample, const char *chunk, size_t size,
    struct doppel_error *error);

/** What is in it, and how many chunks there were. Borrowed until the next one is added. */
DOPPEL_API void doppel_semantic_sample_texts(const struct doppel_semantic_sample *sample,
                                             struct doppel_model_texts *out, uint64_t *out_seen);

/**
 * Vectors of what is in it; chunks that have none are left out.
 *
 * @param run borrowed: cancelling, progress ("texts embedded")
 * @param out its rows lie in the sample: borrowed until the next call, or its end
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY; as doppel_embedder_embed
 */
DOPPEL_API enum doppel_status doppel_semantic_sample_embed(struct doppel_semantic_sample *sample,
                                                           struct doppel_embedder *embedder,
                                                           struct doppel_run *run,
                                                           struct doppel_vectors *out,
                                                           struct doppel_error *error);

/**
 * Vectors that a library has, at even distances, in place of texts.
 *
 * @param library   borrowed; open to be read at least
 * @param directory of it
 * @param identity  of the model that they are to be of
 * @param out       as above
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND: it has none; DOPPEL_E_VERSION: they are of another model,
 *         which is named; DOPPEL_E_CORRUPT: it lacks vectors that the library knows of;
 *         DOPPEL_E_MEMORY; as doppel_vector_index_sample
 */
DOPPEL_API enum doppel_status doppel_semantic_sample_library(
    struct doppel_semantic_sample *sample, struct doppel_library *library, const char *directory,
    const struct doppel_embedder_identity *identity, struct doppel_vectors *out,
    struct doppel_error *error);

#ifdef __cplusplus
}
#endif

#endif
