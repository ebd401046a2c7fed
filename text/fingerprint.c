/* Results of reading as fingerprints, the form in which they are stored and compared. */
#include <doppel/text.h>

enum { LANE_BITS = 16, LANES_A_WORD = 4, LANES_A_CODE = 16, MINHASH_CODE_BITS = 256 };

static enum doppel_status from_simhash(const struct doppel_scheme *scheme, uint64_t simhash,
                                       struct doppel_fingerprint *out, struct doppel_error *error)
{
    enum doppel_status status = doppel_fingerprint_make(scheme, 64, 1, out, error);
    if (!status)
        out->codes[0].word[0] = simhash;
    return status;
}

static enum doppel_status from_lanes(const struct doppel_scheme *scheme, const uint16_t *lanes,
                                     uint32_t count, struct doppel_fingerprint *out,
                                     struct doppel_error *error)
{
    enum doppel_status status =
        doppel_fingerprint_make(scheme, MINHASH_CODE_BITS, count / LANES_A_CODE, out, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < count / LANES_A_CODE; i++)
        out->positions[i] = i;
    for (uint32_t i = 0; i < count; i++)
        out->codes[i / LANES_A_CODE].word[i / LANES_A_WORD % 4] |=
            (uint64_t)lanes[i] << LANE_BITS * (i % LANES_A_WORD);
    return DOPPEL_OK;
}

/* The number of its word lies above a key, so that a passage can be told by words, too. */
static enum doppel_status from_keys(const struct doppel_scheme *scheme,
                                    const struct doppel_text_result *result,
                                    struct doppel_fingerprint *out, struct doppel_error *error)
{
    if (!result->places || result->key_count > UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a text read without its keys");
    enum doppel_status status =
        doppel_fingerprint_make(scheme, 64, (uint32_t)result->key_count, out, error);
    for (size_t i = 0; i < result->key_count && !status; i++) {
        const struct doppel_text_key *key = &result->keys[i];
        out->codes[i].word[0] = (uint64_t)key->word << 32 | key->key;
        out->positions[i] = result->places[key->word].start;
    }
    return status;
}

enum doppel_status doppel_text_fingerprint(enum doppel_scheme_id scheme,
                                           const struct doppel_text_options *options,
                                           const struct doppel_text_result *result,
                                           struct doppel_fingerprint *out,
                                           struct doppel_error *error)
{
    struct doppel_text_options defaults = doppel_text_options_default();
    options = options ? options : &defaults;
    const struct doppel_scheme *known = doppel_scheme_by_id(scheme);
    struct doppel_scheme made = {.id = scheme};
    if (known)
        made.version = doppel_text_version(known->version, options);
    uint32_t lanes = scheme == DOPPEL_SCHEME_MINHASH128   ? 128
                     : scheme == DOPPEL_SCHEME_MINHASH256 ? 256
                                                          : 0;
    if (scheme == DOPPEL_SCHEME_WINNOW32)
        return from_keys(&made, result, out, error);
    if (scheme == DOPPEL_SCHEME_SIMHASH64)
        return from_simhash(&made, result->simhash, out, error);
    if (!lanes || lanes != options->lanes)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "a text read with %u lanes has no fingerprint of scheme %d",
                           options->lanes, (int)scheme);
    return from_lanes(&made, result->lanes, lanes, out, error);
}
