/* What texts will take, and what they have cost. */
#include <string.h>

#include "embed/embedder_internal.h"

enum { BYTES_OF_TOKEN = 4 }; /* of English, about */

static double price_of_tokens(const struct doppel_embedder *embedder, uint64_t tokens)
{
    return (double)tokens * embedder->price / 1e6;
}

static void foresee_text(struct doppel_embedder *embedder, const char *text, size_t size,
                         struct doppel_embedder_estimate *estimate)
{
    float row[DOPPEL_MODEL_MAX_DIMENSION];
    estimate->texts++;
    if (!embedder->endpoint) {
        estimate->wanted++;
        estimate->bytes += size + strlen(embedder->identity.prefix);
        return;
    }
    if (!endpoint_takes_text(embedder->endpoint, text, size)) {
        estimate->too_short++;
        return;
    }
    const struct doppel_digest digest = embedder_text_digest(text, size);
    if (embedder_find_cached(embedder, &digest, row)) {
        estimate->cached++;
        return;
    }
    estimate->wanted++;
    estimate->bytes += size + strlen(embedder->identity.prefix);
}

enum doppel_status doppel_embedder_foresee(struct doppel_embedder *embedder,
                                           const struct doppel_model_texts *texts,
                                           struct doppel_embedder_estimate *estimate,
                                           struct doppel_error *error)
{
    (void)error;
    for (size_t i = 0; i < texts->count; i++)
        foresee_text(embedder, texts->texts[i], size_of_text(texts, i), estimate);
    if (embedder->endpoint)
        estimate->tokens = (estimate->bytes + BYTES_OF_TOKEN - 1) / BYTES_OF_TOKEN;
    estimate->cost = price_of_tokens(embedder, estimate->tokens);
    return DOPPEL_OK;
}

enum doppel_status doppel_embedder_check_cost(const struct doppel_embedder *embedder,
                                              const struct doppel_embedder_estimate *estimate,
                                              struct doppel_error *error)
{
    if (embedder->max_cost <= 0 || estimate->cost <= embedder->max_cost)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_LIMIT,
                       "about %llu tokens would cost about %.4g, and no more than %.4g is to be "
                       "spent: no text was sent",
                       (unsigned long long)estimate->tokens, estimate->cost, embedder->max_cost);
}

enum doppel_status embedder_check_spent(const struct doppel_embedder *embedder,
                                        struct doppel_error *error)
{
    const uint64_t counted = doppel_endpoint_info(embedder->endpoint)->tokens;
    const uint64_t answered = embedder->sent_bytes - embedder->flying_bytes;
    const uint64_t flying = embedder->flying_bytes / BYTES_OF_TOKEN;
    const double tokens_a_byte = answered ? (double)counted / (double)answered : 0;
    const uint64_t by_count = (uint64_t)((double)embedder->flying_bytes * tokens_a_byte);
    const uint64_t tokens = counted ? counted + (by_count > flying ? by_count : flying)
                                    : embedder->sent_bytes / BYTES_OF_TOKEN;
    if (embedder->max_cost <= 0 || price_of_tokens(embedder, tokens) <= embedder->max_cost)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_LIMIT,
                       "%s%llu tokens have cost %.4g, and no more than %.4g is to be spent",
                       counted ? "" : "about ", (unsigned long long)tokens,
                       price_of_tokens(embedder, tokens), embedder->max_cost);
}
