/* A text to the tokens of a model. */
#ifndef DOPPEL_EMBED_TOKENIZER_TOKENIZER_H
#define DOPPEL_EMBED_TOKENIZER_TOKENIZER_H

#include "embed/model.h"
#include "embed/tokenizer/normalize.h"
#include "embed/rows.h"
#include "embed/tokenizer/trie.h"

enum byte_class {
    BYTE_SPACE, /* between words */
    BYTE_WORD,
    BYTE_DIGIT, /* of a list of words: runs of these are words of their own */
    BYTE_ALONE, /* a word by itself */
    BYTE_SLOW   /* what is no ASCII, or removed: the characters up to the next space are decoded */
};

enum { TOKENS_AT_ONCE = 256, MOST_SPLITS = 16, MOST_WORD = 1000 };

/* Of Unigram: the best way to the end of a byte of a text. */
struct best_way {
    double score;
    uint32_t begin; /* of its last piece */
    uint32_t token; /* 1 + its token; 0: there is no way, or it is not known */
};

/* What a thread works with. Zero-initialised but for the model it is ready. */
struct tokenizing {
    const struct doppel_model *model;
    float *sum;    /* of the rows, `stride` numbers; NULL: tokens are wanted, not rows */
    uint32_t *ids; /* where there is no sum */
    size_t room;   /* for ids */

    size_t all, taken, known; /* tokens of the text, of these in the mean, and known to the model */
    bool full;                /* the model looks at no more */
    bool damaged, failed;     /* the file; no memory */

    uint32_t rows[TOKENS_AT_ONCE]; /* that wait to be added */
    float weights[TOKENS_AT_ONCE];
    size_t waiting;

    struct normalizing normalizing;
    struct embed_text spaced[MOST_SPLITS]; /* by depth: what Metaspace makes of a text */
    struct best_way *ways;                 /* given */
    size_t way_capacity;
};

void tokenizing_free(struct tokenizing *work);

/* Take a text apart; what was taken before is forgotten, but not the sum. */
void tokenize(struct tokenizing *work, const char *text, size_t size);

/* Add the rows that wait. */
void add_waiting_rows(struct tokenizing *work);

/* A word that is normalised. @return false: it has a part that is not known */
void look_up_word_pieces(struct tokenizing *work, const char *word, size_t size);
void look_up_whole_word(struct tokenizing *work, const char *word, size_t size);

/* The likeliest pieces of a text. */
void look_up_unigram(struct tokenizing *work, const char *text, size_t size);

/* Words of a segment, ASCII as it comes. */
void tokenize_by_bytes(struct tokenizing *work, const char *text, size_t size);

/* Split a normalised segment, and look up what comes of it. */
void split_and_look_up(struct tokenizing *work, const struct text_step *steps, const char *text,
                       size_t size, unsigned depth, bool first);

/* ---- taking tokens ---- */

static inline void queue_row(struct tokenizing *work, uint32_t id)
{
    const struct doppel_model *model = work->model;
    uint32_t number = model->mapping ? model->mapping[id] : id;
    if (number >= model->head.rows) {
        work->damaged = true;
        return;
    }
    size_t at = (size_t)number * model->head.stride;
    size_t bytes = model->exact ? model->head.stride * sizeof(float) : model->head.stride;
    const char *row = model->exact ? (const char *)(model->float_rows + at)
                                   : (const char *)(model->int8_rows + at);
    for (size_t i = 0; i < bytes && i < 1024; i += 64)
        __builtin_prefetch(row + i);
    work->rows[work->waiting] = number;
    work->weights[work->waiting] = (model->exact ? model->weights : model->int8_weights)[id];
    if (++work->waiting == TOKENS_AT_ONCE)
        add_waiting_rows(work);
}

/* @param token 1 + a token of the trie */
static inline void use_token(struct tokenizing *work, uint32_t token)
{
    const struct model_head *head = &work->model->head;
    if (work->full)
        return;
    work->all++;
    work->full = work->all == head->max_all_tokens;
    bool unknown = token == head->unknown;
    if (unknown && !head->keep_unknown)
        return;
    if (token > head->tokens || !token) {
        work->damaged |= token != 0;
        return;
    }
    if (work->sum)
        queue_row(work, token - 1);
    else if (work->taken < work->room)
        work->ids[work->taken] = token - 1;
    work->known += !unknown;
    work->taken++;
    work->full |= work->taken == head->max_tokens;
}

#endif
