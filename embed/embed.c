/* Texts to unit vectors. Source: model2vec, StaticModel.encode. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "embed/tokenizer/tokenizer.h"

/* The sum of squares, always in the same order. */
static double sum_of_squares(const float *sum, size_t count)
{
    enum { LANES = 8 };
    double lanes[LANES] = {0};
    for (size_t i = 0; i < count; i += LANES) /* of a multiple of 64, with zeros at the end */
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += (double)sum[i + lane] * (double)sum[i + lane];
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

/* What the sum of the rows of a text comes to.
 * @param given how many tokens that are known stand before every text */
static enum doppel_status take_vector(struct tokenizing *work, size_t given, float *out)
{
    const struct model_head *head = &work->model->head;
    for (uint32_t i = head->dimension; i < head->stride; i++) /* a damaged file may have more */
        work->sum[i] = 0;
    double squares = work->known > given ? sum_of_squares(work->sum, head->stride) : 0;
    if (work->failed || work->damaged || !isfinite(squares))
        return work->failed ? DOPPEL_E_MEMORY : DOPPEL_E_CORRUPT;
    float scale = squares > 0 ? (float)(1 / sqrt(squares)) : 0;
    bool is_short = squares <= 0 || !isfinite(scale);
    for (uint32_t i = 0; i < head->dimension; i++)
        out[i] = is_short ? 0 : work->sum[i] * scale;
    return is_short ? DOPPEL_E_TOO_SHORT : DOPPEL_OK;
}

/* The prefix and a text as one. @return false: no memory */
static bool put_prefix(const struct doppel_model *model, const char **text, size_t *size,
                       struct embed_text *whole)
{
    if (!model->info.prefix[0])
        return true;
    whole->size = 0;
    embed_text_append(whole, model->info.prefix, strlen(model->info.prefix));
    embed_text_append(whole, *text, *size);
    *text = whole->bytes;
    *size = whole->size;
    return !whole->failed;
}

static enum doppel_status fail_embedding(enum doppel_status status,
                                         const struct doppel_model *model,
                                         struct doppel_error *error)
{
    if (status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "no memory");
    return doppel_fail(error, status, "the model '%s' is damaged; remove it and add it again",
                       model->info.name);
}

/* How many tokens of the prefix are known. */
static size_t tokens_of_prefix(struct tokenizing *work, const struct doppel_model *model)
{
    if (!model->info.prefix[0])
        return 0;
    work->model = model;
    work->sum = NULL;
    tokenize(work, model->info.prefix, strlen(model->info.prefix));
    return work->known;
}

enum doppel_status doppel_model_embed(const struct doppel_model *model,
                                      const struct doppel_model_texts *texts, float *rows,
                                      enum doppel_status *each, struct doppel_error *error)
{
    struct tokenizing *work = calloc(1, sizeof *work);
    float *sum = aligned_alloc(64, model->head.stride * sizeof *sum);
    struct embed_text whole = {0};
    enum doppel_status status = work && sum ? DOPPEL_OK : DOPPEL_E_MEMORY;
    size_t given = status ? 0 : tokens_of_prefix(work, model);
    for (size_t i = 0; i < texts->count && !status; i++) {
        const char *text = texts->texts[i];
        size_t size = texts->sizes ? texts->sizes[i] : strlen(text);
        work->model = model;
        work->sum = sum;
        memset(sum, 0, model->head.stride * sizeof *sum);
        if (put_prefix(model, &text, &size, &whole))
            tokenize(work, text, size);
        else
            work->failed = true;
        status = take_vector(work, given, rows + i * model->head.dimension);
        if (each)
            each[i] = status;
        status = status == DOPPEL_E_TOO_SHORT ? DOPPEL_OK : status;
    }
    if (work)
        tokenizing_free(work);
    free(work);
    free(sum);
    embed_text_free(&whole);
    return status ? fail_embedding(status, model, error) : DOPPEL_OK;
}

enum doppel_status doppel_model_tokenize(const struct doppel_model *model, const char *text,
                                         size_t size, uint32_t *out, size_t room, size_t *out_count,
                                         struct doppel_error *error)
{
    struct tokenizing *work = calloc(1, sizeof *work);
    struct embed_text whole = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!work || !put_prefix(model, &text, &size, &whole)) {
        status = DOPPEL_E_MEMORY;
    } else {
        work->model = model;
        work->ids = out;
        work->room = room;
        tokenize(work, text, size);
        status = work->failed ? DOPPEL_E_MEMORY : work->damaged ? DOPPEL_E_CORRUPT : DOPPEL_OK;
        *out_count = work->taken;
    }
    if (work)
        tokenizing_free(work);
    free(work);
    embed_text_free(&whole);
    return status ? fail_embedding(status, model, error) : DOPPEL_OK;
}
