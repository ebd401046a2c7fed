/*
 * The second stage of dedup from the inside:
 *
 *     unique texts ─ chunks ─ rows, in a file ─ whitened ─ near pairs of rows ─ of texts ─ links
 *
 * A text is known by its place in `texts`, a chunk by its row. In memory there are 12 bytes a chunk
 * and 16 a text, and what a join of the rows takes.
 */
#ifndef DOPPEL_CORPUS_DEDUP_SEMANTIC_INTERNAL_H
#define DOPPEL_CORPUS_DEDUP_SEMANTIC_INTERNAL_H

#include "corpus/dedup/lines.h"
#include "corpus/read/record_text.h"

enum { BATCH_TEXTS = 256 };

/* A text that was embedded. Its chunks have the rows from `first` to before the next text's. */
struct embedded_text {
    uint32_t number, first;
    uint32_t known; /* chunks that have a vector */
};

/* In characters of its text. */
struct embedded_chunk {
    uint32_t start, end;
};

/* Texts with chunks that are near each other: the nearest of these. */
struct near_texts {
    uint32_t a, b; /* texts, a before b */
    float cosine, value, rate;
};

struct semantic_embedding {
    struct dedup *dedup;
    const struct doppel_dedup_semantic *options;
    struct doppel_dedup_semantic_summary summary;
    struct line_loader lines;
    struct parser *parser;
    struct doppel_text *text;
    struct file_text file;
    char *batch[BATCH_TEXTS]; /* chunks that are not embedded yet */
    size_t sizes[BATCH_TEXTS], count;
    float *batch_rows;
    bool foreseeing; /* texts are shown, and not embedded yet */

    ARRAY(struct embedded_text) texts;
    ARRAY(struct embedded_chunk) chunks; /* of each row */
    ARRAY(uint32_t) text_of;             /* of each row */
    uint64_t written;                    /* rows */
    int fd;                              /* rows, in a file without a name */
    float *rows;                         /* mapped, when all are there */
    size_t rows_bytes;

    /* By scores: what makes levels, and those of the rows. A *value* is a score then, else a
     * cosine. */
    struct doppel_vector_cohort *cohort;
    const float *levels;

    double
        chunk_power; /* m × n pairs of chunks are as good as so high a power of independent ones */
    uint64_t compared;
    ARRAY(struct near_texts) pairs;
    struct doppel_error *error;
};

/** Embed all that repeats no other, chunk by chunk. */
enum doppel_status semantic_embed_unique(struct semantic_embedding *embedding,
                                         struct doppel_error *error);

/** Rows of a text's chunks end here. */
static inline uint32_t semantic_rows_end(const struct semantic_embedding *embedding, uint32_t text)
{
    return text + 1 < embedding->texts.count ? embedding->texts.items[text + 1].first
                                             : (uint32_t)embedding->chunks.count;
}

/** Of two rows, by their cosine. */
static inline float semantic_value(const struct semantic_embedding *embedding, size_t a, size_t b,
                                   float cosine)
{
    return embedding->levels
               ? doppel_vector_cohort_normalise(cosine, embedding->levels[a], embedding->levels[b])
               : cosine;
}

/** The share of pairs by chance, of a text with so many pairs of chunks with another, whose nearest
 * chunks have this value or a higher one. */
double semantic_rate(const struct semantic_embedding *embedding, uint64_t chunk_pairs, float value);
/** The lowest value of at most a rate. */
float semantic_value_of_rate(const struct semantic_embedding *embedding, uint64_t chunk_pairs,
                             double rate);
/** Learn how alike chunks of one text are, once it is known what a cosine is worth. DOPPEL_OK;
 * DOPPEL_E_MEMORY */
enum doppel_status semantic_learn_rates(struct semantic_embedding *embedding,
                                        struct doppel_error *error);

/** Link each text of `pairs` to an earlier one. */
enum doppel_status semantic_link_texts(struct semantic_embedding *embedding,
                                       struct doppel_error *error);

/** Find which chunks of two texts are near each other.
 * @param found filled; its segments are added to those of the dedup. DOPPEL_OK; DOPPEL_E_MEMORY;
 * DOPPEL_E_CANCELLED */
enum doppel_status semantic_align(struct semantic_embedding *embedding,
                                  const struct near_texts *pair, struct semantic_found *found,
                                  struct doppel_error *error);

enum doppel_status semantic_no_memory(struct doppel_error *error);
enum doppel_status semantic_interrupted(struct doppel_error *error);

#endif
