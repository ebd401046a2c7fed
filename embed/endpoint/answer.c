/* The JSON of an answer to vectors. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/bytes.h"
#include "core/text/base64.h"
#include "core/try.h"
#include "embed/endpoint/endpoint.h"

/* ---- one vector ---- */

/* Of length 1; zeros where it is zero or has what is no number. */
static enum doppel_status put_unit_vector(const double *values, uint32_t dimension, float *out)
{
    double squares = 0;
    for (uint32_t i = 0; i < dimension; i++)
        squares += values[i] * values[i];
    bool good = isfinite(squares) && squares > 0;
    for (uint32_t i = 0; i < dimension; i++)
        out[i] = good ? (float)(values[i] / sqrt(squares)) : 0;
    return good ? DOPPEL_OK : DOPPEL_E_CORRUPT;
}

/* @return how many there are; 0: none, or it is no vector, or too many */
static size_t read_floats(const char *base64, double *values)
{
    size_t size = 0;
    uint8_t *bytes = strlen(base64) / 4 * 3 <= 4 * DOPPEL_MODEL_MAX_DIMENSION + 2
                         ? (uint8_t *)base64_decode(base64, &size)
                         : NULL;
    if (!bytes || size % 4 || size / 4 > DOPPEL_MODEL_MAX_DIMENSION)
        size = 0;
    for (size_t i = 0; i < size / 4; i++)
        values[i] = get_f32(bytes + 4 * i);
    free(bytes);
    return size / 4;
}

static size_t read_number_array(const json_t *array, double *values)
{
    size_t count = json_array_size(array);
    if (count > DOPPEL_MODEL_MAX_DIMENSION)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(array, i);
        values[i] = json_number_value(number);
        if (!json_is_number(number) || fabs(values[i]) > FLT_MAX)
            values[i] = NAN;
    }
    return count;
}

static size_t read_embedding(const json_t *embedding, double *values)
{
    return json_is_string(embedding) ? read_floats(json_string_value(embedding), values)
                                     : read_number_array(embedding, values);
}

/* ---- all of them ---- */

static bool reserve_vectors(struct endpoint_vectors *out)
{
    free(out->rows);
    out->rows = calloc(out->count, out->dimension * sizeof *out->rows);
    return out->rows;
}

/* @param values room for one vector */
static enum doppel_status take_element(const json_t *element, size_t number, double *values,
                                       struct endpoint_vectors *out, struct doppel_error *error)
{
    const json_t *index = json_object_get(element, "index");
    json_int_t place = json_is_integer(index) ? json_integer_value(index) : (json_int_t)number;
    size_t dimension = read_embedding(json_object_get(element, "embedding"), values);
    if (place < 0 || (size_t)place >= out->count)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "has an index %lld of %zu texts",
                           (long long)place, out->count);
    if (out->each[place] != DOPPEL_E_CANCELLED)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "has the index %lld twice", (long long)place);
    if (!dimension)
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "has an embedding that is neither base64 of up to %d floats nor an "
                           "array of as many numbers",
                           DOPPEL_MODEL_MAX_DIMENSION);
    if (out->dimension && dimension != out->dimension)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "has a vector of %zu numbers, where others have %u", dimension,
                           out->dimension);
    out->dimension = (uint32_t)dimension;
    if (!out->rows && !reserve_vectors(out))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for vectors");
    out->each[place] =
        put_unit_vector(values, out->dimension, out->rows + (size_t)place * out->dimension);
    return DOPPEL_OK;
}

static uint64_t count_tokens(const json_t *root)
{
    const json_t *usage = json_object_get(root, "usage");
    json_int_t total = json_integer_value(json_object_get(usage, "total_tokens"));
    json_int_t prompt = json_integer_value(json_object_get(usage, "prompt_tokens"));
    return total > 0 ? (uint64_t)total : prompt > 0 ? (uint64_t)prompt : 0;
}

enum doppel_status endpoint_vectors_read(const struct post_answer *answer, size_t count,
                                         uint32_t dimension, struct endpoint_vectors *out,
                                         struct doppel_error *error)
{
    json_t *root = json_loadb(answer->body, answer->size, 0, NULL);
    const json_t *data = json_object_get(root, "data");
    double *values = malloc(DOPPEL_MODEL_MAX_DIMENSION * sizeof *values);
    enum doppel_status status = DOPPEL_OK;
    endpoint_vectors_free(out);
    out->each = malloc(count * sizeof *out->each);
    out->count = count;
    out->dimension = dimension;
    out->tokens = count_tokens(root);
    if (!values || !out->each)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for vectors"));
    if (!json_is_array(data))
        TRY(doppel_fail(error, DOPPEL_E_FORMAT, "is no JSON with embeddings"));
    if (json_array_size(data) != count)
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "has %zu vectors of %zu texts",
                        json_array_size(data), count));
    for (size_t i = 0; i < count; i++)
        out->each[i] = DOPPEL_E_CANCELLED; /* has none yet */
    for (size_t i = 0; i < count; i++)
        TRY(take_element(json_array_get(data, i), i, values, out, error));
done:
    json_decref(root);
    free(values);
    return status;
}

enum doppel_status endpoint_take_answer(struct doppel_endpoint *endpoint, size_t count,
                                        uint32_t dimension, struct endpoint_vectors *out,
                                        struct doppel_error *error)
{
    char words[ENDPOINT_WORDS];
    struct doppel_error reason;
    enum doppel_status status =
        endpoint_vectors_read(&endpoint->answer, count, dimension, out, &reason);
    endpoint->info.tokens += out->tokens;
    if (status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "%s", reason.message);
    if (!status)
        return DOPPEL_OK;
    endpoint_words(endpoint, words);
    return doppel_fail(error, status,
                       "%.150s answers %u, but what it answers %s; it begins '%.60s'",
                       endpoint->place, endpoint->answer.status, reason.message, words);
}

void endpoint_vectors_free(struct endpoint_vectors *vectors)
{
    free(vectors->rows);
    free(vectors->each);
    *vectors = (struct endpoint_vectors){0};
}
