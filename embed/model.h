/* An open model: the sections of its file, and what is decided about tokens by them. The file's
 * layout stands in docs/formats.md. */
#ifndef DOPPEL_EMBED_MODEL_H
#define DOPPEL_EMBED_MODEL_H

#include <doppel/embed.h>

enum {
    MODEL_VERSION = 1,
    MODEL_HEAD_BYTES = 512,
    MODEL_PAGE = 4096,               /* sections begin at multiples of it */
    MODEL_BLOCK = 64,                /* rows are padded to multiples of so many numbers */
    MODEL_MAX_TOKENS = (1 << 24) - 2 /* a cell of the trie has 24 bits for 1 + a token */
};

enum model_section {
    SECTION_CELLS,        /* the trie: 8 bytes a cell */
    SECTION_MAPPING,      /* of a token to its row, 32 bits; empty: a row each */
    SECTION_WEIGHTS,      /* of the float row: a float a token */
    SECTION_INT8_WEIGHTS, /* the same times the scale of the row */
    SECTION_SCORES,       /* of Unigram: 64 bits a token */
    SECTION_INT8_ROWS,    /* stride bytes a row */
    SECTION_FLOAT_ROWS,   /* stride floats a row */
    SECTION_STEPS,        /* what the tokenizer does with a text */
    SECTION_ADDED,        /* struct model_added, one an added token */
    SECTION_CHARSMAP,     /* of sentencepiece, as it comes */
    SECTION_PREFIX,       /* UTF-8 */
    SECTION_COUNT
};

/* Where the walks through the trie begin. */
enum model_root {
    ROOT_WORD,             /* pieces that a word begins with; of Unigram all */
    ROOT_CONTINUED,        /* pieces that follow in a word, without their "##" */
    ROOT_ADDED,            /* added tokens, in the text as it comes */
    ROOT_ADDED_NORMALIZED, /* added tokens, in the normalised text */
    ROOT_COUNT
};

enum { ADDED_SINGLE_WORD = 1, ADDED_STRIP_LEFT = 2, ADDED_STRIP_RIGHT = 4 };

struct model_added {
    uint32_t token;
    uint32_t flags;
};

/* The head of the file. */
struct model_head {
    enum doppel_model_tokens kind;
    uint32_t dimension, stride, tokens, rows, vocabulary;
    uint32_t roots[ROOT_COUNT]; /* bases, as in the cells */
    uint32_t unknown;           /* 1 + the token that stands for what is not known; 0: none */
    uint32_t keep_unknown;      /* 1: it has its row in the mean */
    uint32_t max_word;          /* of WordPiece: longer words (code points) are not known */
    uint32_t max_tokens;        /* 0: no limit */
    uint32_t max_characters;    /* of a text; 0: no limit */
    uint32_t max_all_tokens;    /* the same as max_tokens, but unknown ones count; 0: no limit */
    double unknown_score;       /* of Unigram */
    uint8_t revision[16];
    struct {
        uint64_t offset, size;
    } sections[SECTION_COUNT];
};

struct text_step;

enum { MODEL_MOST_STEPS = 256 };

struct doppel_model {
    struct doppel_model_info info;
    struct model_head head;
    const uint8_t *map;
    size_t size;

    const uint64_t *cells;
    size_t cell_count;
    const uint32_t *mapping; /* NULL: token i has row i */
    const float *weights, *int8_weights;
    const double *scores;
    const int8_t *int8_rows;
    const float *float_rows;
    const struct model_added *added;
    size_t added_count;
    const char *charsmap;
    size_t charsmap_size;

    struct text_step *normalizers, *splits; /* given; ended by STEP_END */
    bool exact;
    bool by_bytes; /* a list of words, or BertNormalizer, BertPreTokenizer and WordPiece: ASCII is
                      looked up as it comes */
    bool knows_first; /* a step does something else with the beginning of a text */
    uint8_t classes[256], lower[256];
    uint8_t added_first[2][256]; /* whether an added token begins with this byte */
    unsigned added_firsts[2];    /* how many bytes that is */
    int added_first_byte[2];     /* one of them */
    const struct embed_kernels *kernels;
};

/* ---- the head ---- */

void model_head_write(const struct model_head *head, uint8_t out[MODEL_HEAD_BYTES]);

/* @param size of the file. @return DOPPEL_OK; DOPPEL_E_FORMAT; DOPPEL_E_VERSION; DOPPEL_E_CORRUPT:
 * it is not as it was written, or states what does not fit together */
enum doppel_status model_head_read(const uint8_t *in, uint64_t size, struct model_head *out);

/* ---- files ---- */

/* FOLDER/NAME.model; given; NULL without memory. */
char *model_path(const char *folder, const char *name);
bool model_name_is_good(const char *name);

/* Map a file. @param name for its info. */
enum doppel_status model_map(const char *path, const char *name, struct doppel_model **out,
                             struct doppel_error *error);

/* Whether all bytes are those that its revision was made of. */
bool model_is_whole(const struct doppel_model *model);

/* The digest of sections, as the revision has it. */
struct doppel_digest model_revision(const struct model_head *head, const uint8_t *sections,
                                    size_t size);

#endif
