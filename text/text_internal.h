/* The text room from the inside: how a text flows from the normaliser through the shingler to the
 * sketches, block by block. */
#ifndef DOPPEL_TEXT_INTERNAL_H
#define DOPPEL_TEXT_INTERNAL_H

#include <doppel/text.h>

enum {
    BLOCK_BYTES = 8192,                       /* of the source: fits the first cache */
    BLOCK_MAX_BYTES = 4 * BLOCK_BYTES + 4096, /* normalised: NFKC lengthens */
    BLOCK_MAX_WORDS = BLOCK_MAX_BYTES / 2 + 64,
    BLOCK_SLACK = 64 /* readable bytes before the first word's last 16, and after the end */
};

/* Whole words of the normalised text: word i is bytes[ends[i-1]+1 .. ends[i]) (the first begins at
 * 0), and bytes[ends[i]] is a space. BLOCK_SLACK bytes after `size` may be read. */
struct text_block {
    const uint8_t *bytes;
    const uint32_t *ends;
    size_t size; /* with the space after the last word */
    size_t words;
    bool last;
};

struct normaliser; /* of one thread */

enum doppel_status normaliser_new(const struct doppel_text_options *options,
                                  struct normaliser **out, struct doppel_error *error);
void normaliser_free(struct normaliser *normaliser);

/** Begin a plain text; borrowed until the last block is out. */
void normaliser_begin(struct normaliser *normaliser, const void *bytes, size_t size);

/** The next block, borrowed until the next call; false at the end. */
bool normaliser_next(struct normaliser *normaliser, struct text_block *out);

/** Of the text so far. */
uint64_t normaliser_bad_bytes(const struct normaliser *normaliser);

/* Words with places: a slower way through the same rules, for passages. The words and their order
 * are those of normaliser_next. */
typedef bool placed_word_visitor(void *context, const uint8_t *word, size_t size, uint32_t start,
                                 uint32_t end);
/** DOPPEL_OK; DOPPEL_E_LIMIT; DOPPEL_E_CANCELLED when the visitor returned false; _MEMORY. */
enum doppel_status normaliser_places(struct normaliser *normaliser, const void *bytes, size_t size,
                                     placed_word_visitor *visitor, void *context,
                                     struct doppel_error *error);

/** Plain text of HTML and of Markdown, appended to a buffer that the caller frees. */
struct plain_text {
    char *bytes;
    size_t size, capacity;
};

/** Append bytes; false when there is no memory. */
bool plain_text_append(struct plain_text *text, const void *bytes, size_t size);

enum doppel_status html_to_text(const void *bytes, size_t size, struct plain_text *out,
                                struct doppel_error *error);
enum doppel_status markdown_to_text(const void *bytes, size_t size, struct plain_text *out,
                                    struct doppel_error *error);
/** Whether bytes begin with the byte order mark of UTF-16. */
bool is_utf16(const void *bytes, size_t size);
/** Such bytes as UTF-8, appended as above; a byte FF, which is bad, for what is no character. */
enum doppel_status utf16_to_text(const void *bytes, size_t size, struct plain_text *out,
                                 struct doppel_error *error);
/** Whether bytes begin like HTML. */
bool looks_like_html(const void *bytes, size_t size);

/* What DOPPEL_TEXT_PASSAGES fills: the workspace of one thread, made at the first text that wants
 * it.
 */
struct passages;

enum doppel_status passages_new(struct passages **out, struct doppel_error *error);
void passages_free(struct passages *passages);

/** Fill places, keys and key_count from a plain text. Called by doppel_text_read, when nothing else
 * uses the normaliser; arrays are borrowed until the next call. */
enum doppel_status passages_read(struct passages *passages, struct normaliser *normaliser,
                                 const void *bytes, size_t size, struct doppel_text_result *out,
                                 struct doppel_error *error);

/** The options of a workspace; borrowed. */
const struct doppel_text_options *text_options(const struct doppel_text *text);

/** The hash of a word, 64 bits: what shingles, and places (low 32 bits), are made of. Up to 16
 * bytes before `word` and after its end may be read. */
uint64_t word_hash(const uint8_t *word, size_t size);

#endif
