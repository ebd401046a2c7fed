/**
 * doppel/text.h: texts to fingerprints: normalising, shingles, exact digest, MinHash, SimHash, and
 * winnowed keys for passages. Needs core, utf8proc (what a character is), gumbo (HTML) and md4c
 * (Markdown).
 *
 * A text goes through in blocks, in one pass, whatever is wanted of it:
 *
 *     bytes ─ plain text (of HTML, Markdown) ─ normalised words ─ word hashes ─ shingle hashes
 *                                                                               ├─ MinHash lanes
 *                                                                               ├─ SimHash sums
 *                                                                               └─ the set itself
 *
 * The normalised text is its words, with one space between them. Where a script is written without
 * spaces (Han, kana, Thai, Khmer, Lao, Burmese), each code point is a word.
 *
 * From the bytes on everything is integers: the same text gives the same codes everywhere.
 */
#ifndef DOPPEL_TEXT_H
#define DOPPEL_TEXT_H

#include <stdbool.h>

#include <doppel/core.h>
#include <doppel/text_chunks.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the bytes are. It is no part of the scheme: the same words are the same text. */
enum doppel_text_format {
    DOPPEL_TEXT_PLAIN,
    DOPPEL_TEXT_HTML, /**< without script, style, nav, header, footer, aside; entities decoded */
    DOPPEL_TEXT_MARKDOWN,
    DOPPEL_TEXT_AUTO, /**< HTML when it looks like it, else plain */
    /* What documents were read as before they were plain text: no format that can be chosen. */
    DOPPEL_TEXT_PDF,
    DOPPEL_TEXT_DOCX,
    DOPPEL_TEXT_PPTX,
    DOPPEL_TEXT_XLSX,
    DOPPEL_TEXT_ODT,
    DOPPEL_TEXT_ODP,
    DOPPEL_TEXT_ODS,
    DOPPEL_TEXT_EPUB,
    DOPPEL_TEXT_RTF,
    DOPPEL_TEXT_MAIL,
    DOPPEL_TEXT_PICTURE, /**< of text, by OCR */
    DOPPEL_TEXT_LAST = DOPPEL_TEXT_PICTURE
};

/** "plain", "html", "markdown"; "auto"; "pdf", "docx", …, "picture"; NULL for anything else.
 * Thread-safe. */
DOPPEL_API const char *doppel_text_format_name(enum doppel_text_format format);

enum doppel_text_unit {
    DOPPEL_TEXT_WORDS,
    DOPPEL_TEXT_CHARACTERS,
    /** Words, of which a shingle has fewer where one is written in other letters than Latin ones:
     * doppel_text_shingle_of_script. */
    DOPPEL_TEXT_BY_SCRIPT
};

enum {
    DOPPEL_TEXT_MAX_LANES = 256,
    DOPPEL_TEXT_MAX_SHINGLE = 16,
    DOPPEL_TEXT_MAX_WORD_BYTES = 1024 /**< of a normalised word; longer runs are cut into such */
};

/** How a text is normalised and shingled. All but `format`, `lanes` and `min_words` is part of the
 * scheme: signatures made with other values never meet (doppel_text_version). */
struct doppel_text_options {
    enum doppel_text_format format; /**< default plain */
    bool nfkc;                      /**< compatibility composition; default true */
    bool fold_case;                 /**< default true */
    bool drop_punctuation; /**< all but letters, marks and numbers separates words; else each of
                              them is a word of its own; default true */
    enum doppel_text_unit unit; /**< default by script */
    uint32_t shingle;           /**< words or code points of a shingle, 1 to 16; default 5 */
    uint32_t min_words; /**< a text of fewer words is too short to be told by shingles; default 10
                         */
    uint32_t lanes;     /**< of the MinHash signature: 128 (default) or 256 */
};

DOPPEL_API struct doppel_text_options doppel_text_options_default(void);

/** The version of what these options make: `base` (of struct doppel_scheme) for the defaults, and
 * different for every other choice. From base 2 on it has shingles by script; the base before it is
 * that of other units, as they were before there was this one. Thread-safe. */
DOPPEL_API uint16_t doppel_text_version(uint16_t base, const struct doppel_text_options *options);

/** So many words are a shingle of DOPPEL_TEXT_BY_SCRIPT, where `shingle` are one of Latin letters,
 * if one of its words is written in others, but for scripts without spaces: two fifths, 2 at least.
 * Words are longer there, or say more. Thread-safe. */
DOPPEL_API uint32_t doppel_text_shingle_of_script(uint32_t shingle);

/** A named choice for a kind of collection (docs/methods.md has the tables behind it). */
struct doppel_text_preset {
    const char *name; /**< "web", "news", "ocr", "code" */
    struct doppel_text_options options;
    double min_similarity; /**< limit of the Jaccard similarity */
    uint32_t bands, rows;  /**< of the candidate search */
    const char *summary;
};

/** All presets, the default first; `*out_count` of them; static storage. Thread-safe. */
DOPPEL_API const struct doppel_text_preset *doppel_text_presets(size_t *out_count);
/** The preset of this name, or NULL. Thread-safe. */
DOPPEL_API const struct doppel_text_preset *doppel_text_preset_by_name(const char *name);

/* ---- reading a text ---- */

/** The workspace of one thread, reused from text to text: some 300 KB, and up to 512 KB more where
 * many scripts are met. */
struct doppel_text;

/** @param options NULL for the defaults; copied. @param out given (doppel_text_free). DOPPEL_OK;
 * DOPPEL_E_ARGUMENT; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_text_new(const struct doppel_text_options *options,
                                              struct doppel_text **out, struct doppel_error *error);
DOPPEL_API void doppel_text_free(struct doppel_text *text);

/** What is wanted of a text, or-ed. */
enum doppel_text_want {
    DOPPEL_TEXT_DIGEST = 1 << 0,
    DOPPEL_TEXT_MINHASH = 1 << 1,
    DOPPEL_TEXT_SIMHASH = 1 << 2,
    DOPPEL_TEXT_SHINGLES = 1 << 3,
    DOPPEL_TEXT_PASSAGES = 1 << 4, /**< words with places, and winnowed keys */
    DOPPEL_TEXT_COUNT = 1 << 5,    /**< how many shingles the set has, which costs less than it */
    DOPPEL_TEXT_LOOKS = 1 << 6     /**< whether it looks like OCR */
};

/** A word and where it stands, in code points of the plain text (of HTML and Markdown: of what
 * doppel_text_plain gives); where bytes are bad, each U+FFFD they are read as is one. */
struct doppel_text_word {
    uint32_t hash;
    uint32_t start, end;
};

/** A key of `winnow32`: the hash of some words in a row, chosen by winnowing. */
struct doppel_text_key {
    uint32_t key;
    uint32_t word; /**< number of its first word */
};

/** What a text comes to. Arrays are borrowed until the next call with the same workspace. */
struct doppel_text_result {
    uint64_t words;
    uint64_t characters; /**< code points of the normalised text */
    uint64_t bad_bytes;  /**< of the plain text: U+FFFD read for what is no valid UTF-8 */
    bool too_short;      /**< fewer words than min_words, or no shingle */
    enum doppel_text_format reading; /**< what the bytes were read as: never AUTO */
    bool looks_like_ocr;             /**< LOOKS: doppel_text_looks_like_ocr of the plain text */

    struct doppel_digest digest;           /**< DIGEST: XXH3-128 of the normalised text */
    uint16_t lanes[DOPPEL_TEXT_MAX_LANES]; /**< MINHASH: zeros without a shingle */
    uint64_t simhash;                      /**< SIMHASH: 0 without a shingle */

    const uint32_t *shingles; /**< SHINGLES: low 32 bits of the hashes, ascending, each once */
    size_t shingle_count;     /**< SHINGLES and COUNT */

    const struct doppel_text_word *places; /**< PASSAGES: `words` of them */
    const struct doppel_text_key *keys;    /**< PASSAGES: by word */
    size_t key_count;

    /** Where the pages of a document begin, in code points of the plain text, ascending. Not filled
     * by doppel_text_read, but by who knows; borrowed by doppel_text_attachment_write. */
    const uint32_t *pages;
    size_t page_count;

    /** Of a document without text its pages, as doppel_pages_write writes them; likewise. */
    const uint8_t *drawn;
    size_t drawn_size;
};

/**
 * Read a text.
 *
 * @param bytes any; NULs and all; borrowed
 * @param want  or-ed enum doppel_text_want
 * @param out   filled for what is wanted; zero elsewhere
 * @return DOPPEL_OK; DOPPEL_E_LIMIT (HTML nested too deeply; PASSAGES or SHINGLES of 2^32 words and
 * more); DOPPEL_E_MEMORY. Bad UTF-8 is no failure: see bad_bytes.
 *
 * Sources: docs/methods.md.
 */
DOPPEL_API enum doppel_status doppel_text_read(struct doppel_text *text, const void *bytes,
                                               size_t size, unsigned want,
                                               struct doppel_text_result *out,
                                               struct doppel_error *error);

/** The plain text of HTML or Markdown, in the workspace's format; of plain text the bytes
 * themselves. UTF-16 with a byte order mark is read as UTF-8 of the same. @param out borrowed until
 * the next call. As doppel_text_read. */
DOPPEL_API enum doppel_status doppel_text_plain(struct doppel_text *text, const void *bytes,
                                                size_t size, const char **out, size_t *out_size,
                                                struct doppel_error *error);

/**
 * Whether a plain text looks like the output of OCR with many errors: of its words a share of
 * DOPPEL_TEXT_OCR_PERCENT and more are written as words of 18 languages in Latin letters hardly
 * ever are, by three letters in a row that they do not have, or a digit or an odd sign among
 * letters; each such word counts once. Only a beginning of 16 KB is looked at.
 *
 * @param bytes any; borrowed
 * @return false too where fewer than 50 words in Latin letters without accents, or fewer than two
 * fifths of all, are there: of code, of tables and of other scripts nothing is known
 *
 * Thread-safe. Source: docs/methods.md, where it is calibrated.
 */
DOPPEL_API bool doppel_text_looks_like_ocr(const void *bytes, size_t size);

enum { DOPPEL_TEXT_OCR_PERCENT = 9 /**< of the words, see above */ };

/** What some texts of many look like. */
struct doppel_text_looks {
    uint64_t texts, ocr; /**< how many were looked at, and how many of these look like OCR */
};

/** A sentence on texts of which a twentieth and more look like OCR: with fewer, these may be errors
 * of doppel_text_looks_like_ocr. @return false: there is nothing to say. Thread-safe. */
DOPPEL_API bool doppel_text_looks_hint(const struct doppel_text_looks *looks, char *out,
                                       size_t size);

/** The normalised text. @param out borrowed until the next call. As doppel_text_read. */
DOPPEL_API enum doppel_status doppel_text_normalise(struct doppel_text *text, const void *bytes,
                                                    size_t size, const char **out, size_t *out_size,
                                                    struct doppel_error *error);

/* ---- fingerprints ---- */

/** The fingerprint of a result read with MINHASH (`minhash128`; `minhash256` with 256 lanes),
 * SIMHASH (`simhash64`) or PASSAGES (`winnow32`: a code a key, in its low 32 bits, above it the
 * number of its first word; position = where that starts). Lanes are cut into codes of 256 bits, 16
 * lanes each, lane i in bits 16 × (i % 4) on of word i / 4 % 4 of code i / 16; position = number of
 * the code.
 * @param out given (doppel_fingerprint_free). DOPPEL_OK; DOPPEL_E_ARGUMENT; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_text_fingerprint(enum doppel_scheme_id scheme,
                                                      const struct doppel_text_options *options,
                                                      const struct doppel_text_result *result,
                                                      struct doppel_fingerprint *out,
                                                      struct doppel_error *error);

/** What is kept of a text beside its fingerprint. */
struct doppel_text_extra {
    uint64_t words, characters, bad_bytes; /**< as in the result */
    struct doppel_digest content;          /**< of the normalised text */
    uint64_t simhash;                      /**< of the shingles; 0: none, or it was not computed */
    uint64_t shingle_total; /**< how many it has; 0 also when they were not counted */
    uint32_t *shingles;     /**< the lowest of them, ascending: all, or a sample */
    size_t shingle_count;
    struct doppel_text_word *places; /**< of all words; none unless they were asked for */
    size_t place_count;
    struct doppel_text_key *keys; /**< by word, below place_count; with the places */
    size_t key_count;
    uint32_t *pages; /**< as in the result; none of what has no pages */
    size_t page_count;
    uint8_t *drawn; /**< as in the result; read by doppel_pages_read */
    size_t drawn_size;
    enum doppel_text_format reading; /**< as in the result; AUTO: it was not noted */
    bool looks_like_ocr;             /**< as in the result; false also where it was not noted */
};

/** Shingles below it, an eighth of all, stand for a text where one looks for what holds it. */
#define DOPPEL_TEXT_HELD_BELOW (UINT32_MAX / 8)

/** So many shingles are kept of a text at most: of more, the lowest. */
enum { DOPPEL_TEXT_KEPT_SHINGLES = 15000 };

/** Bytes that doppel_text_attachment_write needs for a result. */
DOPPEL_API size_t doppel_text_attachment_size(const struct doppel_text_result *result);

/** Write the portable form (docs/formats.md) of what is kept of a result read with DIGEST: with
 * the shingles, with the places and keys, and with the SimHash, that it has, and its reading.
 * @param out room for doppel_text_attachment_size bytes */
DOPPEL_API void doppel_text_attachment_write(const struct doppel_text_result *result, uint8_t *out);

/** Read the portable form; all lengths, the order of the shingles, and that places and keys are of
 * the text, are checked.
 * @param out given (doppel_text_extra_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_text_attachment_read(const uint8_t *data, size_t size,
                                                          struct doppel_text_extra *out);
DOPPEL_API void doppel_text_extra_free(struct doppel_text_extra *extra);

/** Of the portable form the numbers and the digest alone: all arrays stay empty, and nothing is to
 * be freed. False, with `*out` untouched, when the lengths are not right. */
DOPPEL_API bool doppel_text_attachment_head(const uint8_t *data, size_t size,
                                            struct doppel_text_extra *out);

/** Whether a text of so many words and characters is too short to be recognised by its shingles:
 * the `too_short` of a result, for another min_words than it was read with. Thread-safe. */
DOPPEL_API bool doppel_text_is_short(const struct doppel_text_options *options, uint64_t words,
                                     uint64_t characters);

/** An estimate and its standard error. */
struct doppel_estimate {
    double value, standard_error;
};

/** The Jaccard similarity of two sets, from `lanes` lanes of each. Thread-safe. Source: Li, Owen
 * and Zhang, "One Permutation Hashing" (2012); lanes agree by chance at 2^-16, which is taken off.
 */
DOPPEL_API struct doppel_estimate doppel_minhash_similarity(const uint16_t *a, const uint16_t *b,
                                                            uint32_t lanes);

/** The cosine similarity of two weighted sets from the bits in which their SimHashes differ.
 * Thread-safe. Source: Charikar, "Similarity Estimation Techniques" (2002). */
DOPPEL_API struct doppel_estimate doppel_simhash_similarity(uint64_t a, uint64_t b);

/* ---- SimHash of a caller's own hashes ---- */

/** Zero-initialised it is empty. */
struct doppel_simhash {
    int64_t sums[64]; /**< of bit i: weights of hashes that have it less those that have not */
};

/** Add `count` hashes. @param weights count of them, or NULL: 1 each. Sums beyond int64 are the
 * caller's to avoid. */
DOPPEL_API void doppel_simhash_add(struct doppel_simhash *simhash, const uint64_t *hashes,
                                   const int32_t *weights, size_t count);
/** Bit i is set where sums[i] > 0. Thread-safe while nobody adds. */
DOPPEL_API uint64_t doppel_simhash_get(const struct doppel_simhash *simhash);

/* ---- datasketch's MinHash, for those who have its signatures ---- */

/** Signatures bit-equal to datasketch's MinHash(num_perm, seed) with its default hash function. */
struct doppel_datasketch;

/** @param permutations 1 to 4096. @param out given. DOPPEL_OK; DOPPEL_E_ARGUMENT; _MEMORY. */
DOPPEL_API enum doppel_status doppel_datasketch_new(uint32_t permutations, uint32_t seed,
                                                    struct doppel_datasketch **out,
                                                    struct doppel_error *error);
DOPPEL_API void doppel_datasketch_free(struct doppel_datasketch *sketch);
/** `permutations` values of an empty set. */
DOPPEL_API void doppel_datasketch_clear(const struct doppel_datasketch *sketch, uint64_t *values);
/** What update() does with the bytes of one token. Thread-safe. */
DOPPEL_API void doppel_datasketch_update(const struct doppel_datasketch *sketch, const void *token,
                                         size_t size, uint64_t *values);

enum { DOPPEL_DATASKETCH_VALUES = 128 /**< of scheme `datasketch`; its seed is 1 */ };

/** The signature of a text: update() with each of its shingles, as the bytes of the normalised text
 * (words with one space between, or code points), in the workspace's options.
 * @param values `permutations` of them, filled: those of an empty set without a shingle
 * @return as doppel_text_normalise */
DOPPEL_API enum doppel_status doppel_datasketch_text(const struct doppel_datasketch *sketch,
                                                     struct doppel_text *text, const void *bytes,
                                                     size_t size, uint64_t *values,
                                                     struct doppel_error *error);

/** The fingerprint of scheme `datasketch`: DOPPEL_DATASKETCH_VALUES values of 32 bits, value i in
 * the high (i even) or low half of word i / 2 % 4 of code i / 8, so that their hex stands in order.
 * @param out given (doppel_fingerprint_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_datasketch_fingerprint(
    const struct doppel_text_options *options, const uint64_t *values,
    struct doppel_fingerprint *out, struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
