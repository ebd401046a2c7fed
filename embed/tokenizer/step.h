/* What a tokenizer does with a text before it looks tokens up: steps that change it, and steps that
 * split it, as in the section of steps of a model's file. */
#ifndef DOPPEL_EMBED_TOKENIZER_STEP_H
#define DOPPEL_EMBED_TOKENIZER_STEP_H

#include <stdbool.h>

#include "embed/embed_text.h"

/* Numbers are written to disk. */
enum step_kind {
    STEP_END = 0,

    STEP_BERT = 1, /* BertNormalizer; flags */
    STEP_LOWERCASE = 2,
    STEP_NFC = 3,
    STEP_NFD = 4,
    STEP_NFKC = 5,
    STEP_NFKD = 6,
    STEP_STRIP_ACCENTS = 7,
    STEP_STRIP = 8,           /* flags */
    STEP_REPLACE = 9,         /* each `text` becomes `content` */
    STEP_REPLACE_SPACES = 10, /* each run of white space becomes `content`; flags */
    STEP_PREPEND = 11,        /* `content`, unless the text is empty */
    STEP_NMT = 12,
    STEP_PRECOMPILED = 13, /* the map of the section of its own */

    STEP_SPLIT_BERT = 64,
    STEP_SPLIT_SPACES = 65,      /* WhitespaceSplit */
    STEP_SPLIT_WORDS = 66,       /* Whitespace: \w+|[^\w\s]+ */
    STEP_SPLIT_PUNCTUATION = 67, /* each alone */
    STEP_SPLIT_DIGITS = 68,      /* flags */
    STEP_METASPACE = 69          /* a blank becomes `content`; flags */
};

enum { BERT_CLEAN = 1, BERT_CHINESE = 2, BERT_STRIP_ACCENTS = 4, BERT_LOWERCASE = 8 };
enum { STRIP_LEFT = 1, STRIP_RIGHT = 2 };
enum { SPACES_ONLY_BLANKS = 1, SPACES_TWO_OR_MORE = 2 };
enum { DIGITS_ALONE = 1 };
enum { METASPACE_ALWAYS = 1, METASPACE_FIRST = 2, METASPACE_SPLIT = 4 };

struct text_step {
    enum step_kind kind;
    uint32_t flags;
    const char *text, *content; /* borrowed */
    uint32_t text_size, content_size;
};

enum { STEP_MAX_TEXT = 1024 /* bytes of text, and of content */ };

/* Append the form on disk. @return false: no memory */
bool text_step_write(const struct text_step *step, struct embed_text *out);

/* Read steps up to and with an end. @param in borrowed for the life of the steps. @param at moves
 * behind them. @param out given (free). @return DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_MEMORY */
enum doppel_status text_steps_read(const uint8_t *in, size_t size, size_t *at, size_t most,
                                   struct text_step **out);

#endif
