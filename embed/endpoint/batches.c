/* Any number of texts to vectors, in batches that a service takes. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "embed/endpoint/endpoint.h"
#include "embed/tokenizer/points.h"

struct embedding {
    struct doppel_endpoint *endpoint;
    const struct doppel_model_texts *texts;
    float *rows;
    enum doppel_status *each; /* may be NULL */
    size_t *wanted;           /* places of the texts that are sent */
    size_t wanted_count, done;
    struct endpoint_vectors vectors; /* of the last answer */
};

/* ---- which texts ---- */

bool endpoint_takes_text(const struct doppel_endpoint *endpoint, const char *text, size_t size)
{
    const uint32_t wanted = endpoint->options.min_letters;
    uint32_t letters = 0;
    for (size_t at = 0; at < size && letters < wanted;)
        letters += point_is_letter(point_next(text, size, &at));
    return size && letters >= wanted;
}

static void choose_texts(struct embedding *work)
{
    const struct doppel_model_texts *texts = work->texts;
    for (size_t i = 0; i < texts->count; i++) {
        bool enough = endpoint_takes_text(work->endpoint, texts->texts[i], size_of_text(texts, i));
        if (enough)
            work->wanted[work->wanted_count++] = i;
        if (work->each)
            work->each[i] = enough ? DOPPEL_OK : DOPPEL_E_TOO_SHORT;
    }
}

/* How many of those from `first` on go together. */
static size_t count_batch(const struct embedding *work, size_t first)
{
    size_t count = 0, bytes = 0, left = work->wanted_count - first;
    size_t most = left < work->endpoint->most_texts ? left : work->endpoint->most_texts;
    while (count < most) {
        bytes += size_of_text(work->texts, work->wanted[first + count]);
        if (count && bytes > work->endpoint->options.most_bytes)
            break;
        count++;
    }
    return count;
}

/* ---- one batch ---- */

/* A text has no vector. */
static void refuse_text(struct embedding *work, size_t place, const struct doppel_error *reason)
{
    const struct doppel_endpoint_options *options = &work->endpoint->options;
    if (work->each)
        work->each[place] = reason->status;
    if (options->on_refused)
        options->on_refused(options->context, place, reason);
}

static void take_vectors(struct embedding *work, size_t first)
{
    const struct doppel_endpoint *endpoint = work->endpoint;
    const struct endpoint_vectors *vectors = &work->vectors;
    size_t row = vectors->dimension;
    for (size_t i = 0; i < vectors->count; i++) {
        size_t place = work->wanted[first + i];
        struct doppel_error reason;
        memcpy(work->rows + place * row, vectors->rows + i * row, row * sizeof *work->rows);
        if (!vectors->each[i])
            continue;
        doppel_fail(&reason, vectors->each[i],
                    "%.200s: the vector of this text is zero, or has what is no number",
                    endpoint->place);
        refuse_text(work, place, &reason);
    }
}

/* Where a text alone makes the service fail, whether it is well otherwise is looked at first. */
static enum doppel_status ask_for_batch(struct doppel_endpoint *endpoint,
                                        const struct endpoint_batch *batch,
                                        enum doppel_status *out_refusal,
                                        struct doppel_error *reason, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(endpoint_ask(endpoint, batch, out_refusal, reason, error));
    if (*out_refusal != DOPPEL_E_BUSY || batch->count > 1)
        return DOPPEL_OK;
    TRY(endpoint_ask_probe(endpoint, error));
    TRY(endpoint_ask(endpoint, batch, out_refusal, reason, error));
    if (*out_refusal == DOPPEL_E_BUSY)
        reason->status = DOPPEL_E_FORMAT;
done:
    return status;
}

/* @param out_whole whether the service took all of them as one */
static enum doppel_status embed_batch(struct embedding *work, size_t first, size_t count,
                                      bool *out_whole, struct doppel_error *error)
{
    struct doppel_endpoint *endpoint = work->endpoint;
    const struct endpoint_batch batch = {work->texts, work->wanted + first, count, false};
    enum doppel_status status, refusal;
    struct doppel_error reason;
    bool halves[2];
    TRY(ask_for_batch(endpoint, &batch, &refusal, &reason, error));
    *out_whole = !refusal;
    if (!refusal) {
        TRY(endpoint_take_answer(endpoint, count, endpoint->info.dimension, &work->vectors, error));
        take_vectors(work, first);
    } else if (count > 1) {
        size_t half = count - count / 2;
        TRY(embed_batch(work, first, half, &halves[0], error));
        TRY(embed_batch(work, first + half, count - half, &halves[1], error));
        if (halves[0] && halves[1] && half < endpoint->most_texts) /* no text was at fault */
            endpoint->most_texts = half;
        return DOPPEL_OK;
    } else {
        refuse_text(work, work->wanted[first], &reason);
    }
    work->done = first + count;
done:
    return status;
}

/* ---- all ---- */

enum doppel_status doppel_endpoint_embed(struct doppel_endpoint *endpoint,
                                         const struct doppel_model_texts *texts, float *rows,
                                         enum doppel_status *each, struct doppel_error *error)
{
    struct embedding work = {.endpoint = endpoint, .texts = texts, .rows = rows, .each = each};
    enum doppel_status status = DOPPEL_OK;
    bool whole;
    memset(rows, 0, texts->count * endpoint->info.dimension * sizeof *rows);
    for (size_t i = 0; each && i < texts->count; i++)
        each[i] = DOPPEL_E_MEMORY;
    work.wanted = malloc((texts->count + 1) * sizeof *work.wanted);
    if (!work.wanted)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory"));
    choose_texts(&work);
    for (size_t at = 0, count; at < work.wanted_count; at += count) {
        count = count_batch(&work, at);
        TRY(embed_batch(&work, at, count, &whole, error));
    }
done:
    for (size_t i = work.done; each && i < work.wanted_count; i++)
        each[work.wanted[i]] = status;
    endpoint_vectors_free(&work.vectors);
    free(work.wanted);
    return status;
}
