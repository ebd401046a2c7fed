/**
 * doppel/text_chunks.h: a plain text in chunks of some sentences, for what compares meanings: a
 * vector of a whole document says what it is about, one of a chunk what stands there.
 */
#ifndef DOPPEL_TEXT_CHUNKS_H
#define DOPPEL_TEXT_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sizes in letters: code points but white space. One of a script that is written without spaces
 * (Han, kana, Thai, Khmer, Lao, Burmese) is as much as three. */
struct doppel_text_chunk_options {
    uint32_t least; /**< default 200; from 8 on */
    uint32_t aim;   /**< between the two; default 400 */
    uint32_t most;  /**< default 800; at least three times `least` */
};

DOPPEL_API struct doppel_text_chunk_options doppel_text_chunk_options_default(void);

/** Where a chunk stands in its text: from `start` to before `end`. */
struct doppel_text_chunk {
    uint64_t start, end; /**< characters: code points, where bytes are bad each U+FFFD that
                              they are read as */
    uint64_t byte_start, byte_end; /**< the same in bytes */
    uint32_t letters;              /**< as of the options */
};

/** A walk through the chunks of a text. Its fields are its own. */
struct doppel_text_chunker {
    const char *text;
    uint64_t size, at, character, letters; /**< letters: those that are left */
    struct doppel_text_chunk_options options;
};

/**
 * Begin with a text.
 *
 * Chunks follow each other without a gap, from the first byte to the last; white space belongs to
 * what stands before it. A text of up to `most` letters is one chunk. Of others each has `least` to
 * `most` letters, and ends at the first paragraph's end within these bounds; else where a sentence
 * does, by the marks of all scripts that have such (in Thai and Lao by a space); else at the end of
 * a line, at a space, or, where there is none, between two characters. Of several such places one
 * is chosen by the last eight letters before it, and then by `aim`. So chunks depend on what stands
 * in them, and a text that was inserted changes few behind it.
 *
 * @param text    plain text, any bytes; borrowed until the last chunk
 * @param options NULL for the defaults
 * @param out     nothing to free
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: options out of range
 *
 * Reads the text once. Thread-safe. Sources: Unicode Standard Annex #29, "Unicode Text
 * Segmentation", for sentences (Sentence_Terminal); Muthitacharoen, Chen, Mazières, "A
 * Low-bandwidth Network File System" (2001), for ends that content defines.
 */
DOPPEL_API enum doppel_status doppel_text_chunker_begin(
    const char *text, size_t size, const struct doppel_text_chunk_options *options,
    struct doppel_text_chunker *out, struct doppel_error *error);

/** The next chunk; false, with `*out` untouched, at the end. An empty text has none. */
DOPPEL_API bool doppel_text_chunker_next(struct doppel_text_chunker *chunker,
                                         struct doppel_text_chunk *out);

#ifdef __cplusplus
}
#endif
#endif
