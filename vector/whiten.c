/* Whitening by the Cholesky factor of the covariance: C = L L'. What solves L y = x - mean has the
 * covariance 1, and the dot products of such are those of x - mean through the inverse of C, so
 * that it is as good as any other whitening. */
#include <doppel/vector.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "vector/rounded.h"

enum { SAMPLE_MOST = 1 << 16, COLUMNS = 64 };

/* Of the mean variance, added to that of each direction: below it a direction is noise. So is what
 * too few vectors say of it. */
static const double noise = 0.05;

struct doppel_vector_whitening {
    uint32_t dimension;
    float *mean;
    float *by; /* blocks of COLUMNS columns: out[j] is the sum of x[i] × by[i][j] */
};

struct learning {
    const struct doppel_vectors *vectors;
    size_t dimension, seen;
    double *mean, *factor; /* covariance, then L, then its inverse; lower triangles */
    float *unit;
};

static size_t sampled_count(const struct doppel_vectors *vectors)
{
    return vectors->count < SAMPLE_MOST ? vectors->count : SAMPLE_MOST;
}

/* Of length 1. @return false: it has no direction */
static enum doppel_status take_unit(struct learning *learning, size_t i, bool *out,
                                    struct doppel_error *error)
{
    const struct doppel_vectors *vectors = learning->vectors;
    const size_t row =
        (size_t)((double)i * (double)vectors->count / (double)sampled_count(vectors));
    const float *x = vectors->rows + row * vectors->dimension;
    float inverse;
    if (!vector_length(x, vectors->dimension, &inverse))
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "vector %zu holds what is no number, or too large or small a one", row);
    for (size_t j = 0; j < learning->dimension; j++)
        learning->unit[j] = x[j] * inverse;
    *out = inverse > 0;
    return DOPPEL_OK;
}

static enum doppel_status learn_mean(struct learning *learning, struct doppel_error *error)
{
    bool has_direction = false;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < sampled_count(learning->vectors); i++) {
        TRY(take_unit(learning, i, &has_direction, error));
        learning->seen += has_direction;
        for (size_t j = 0; j < learning->dimension; j++)
            learning->mean[j] += (double)learning->unit[j];
    }
    if (!learning->seen)
        TRY(doppel_fail(error, DOPPEL_E_EMPTY, "no vector has a direction"));
    for (size_t j = 0; j < learning->dimension; j++)
        learning->mean[j] /= (double)learning->seen;
done:
    return status;
}

static enum doppel_status learn_covariance(struct learning *learning, struct doppel_error *error)
{
    const size_t dimension = learning->dimension;
    bool has_direction = false;
    double trace = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < sampled_count(learning->vectors); i++) {
        TRY(take_unit(learning, i, &has_direction, error));
        if (!has_direction)
            continue;
        for (size_t j = 0; j < dimension; j++)
            learning->unit[j] -= (float)learning->mean[j];
        for (size_t j = 0; j < dimension; j++)
            for (size_t k = 0; k <= j; k++)
                learning->factor[j * dimension + k] +=
                    (double)(learning->unit[j] * learning->unit[k]);
    }
    for (size_t j = 0; j < dimension; j++)
        trace += learning->factor[j * dimension + j];
    const double share = noise + (double)dimension / (double)learning->seen;
    const double floor_of_all = share * trace / (double)dimension + 1e-12 * (double)learning->seen;
    for (size_t j = 0; j < dimension; j++)
        learning->factor[j * dimension + j] += floor_of_all;
    for (size_t j = 0; j < dimension * dimension; j++)
        learning->factor[j] /= (double)learning->seen;
done:
    return status;
}

/* In place; what was added to the diagonal keeps it positive. */
static void factorise(double *a, size_t size)
{
    for (size_t j = 0; j < size; j++)
        for (size_t i = j; i < size; i++) {
            double sum = a[i * size + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * size + k] * a[j * size + k];
            a[i * size + j] = i == j ? sqrt(sum > 1e-30 ? sum : 1e-30) : sum / a[j * size + j];
        }
}

/* Of a lower triangle, column by column. @param out zeros */
static void invert_triangle(const double *a, size_t size, double *out)
{
    for (size_t j = 0; j < size; j++)
        for (size_t i = j; i < size; i++) {
            double sum = i == j;
            for (size_t k = j; k < i; k++)
                sum -= a[i * size + k] * out[k * size + j];
            out[i * size + j] = sum / a[i * size + i];
        }
}

static size_t blocks_of(size_t dimension)
{
    return (dimension + COLUMNS - 1) / COLUMNS;
}

/* Where a number of the factor lies: of x[i], in the sum that is out[j]. */
static size_t place_in_factor(const struct doppel_vector_whitening *whitening, size_t j, size_t i)
{
    return (j / COLUMNS * whitening->dimension + i) * COLUMNS + j % COLUMNS;
}

static bool allocate_whitening(struct doppel_vector_whitening *out)
{
    const size_t size = out->dimension;
    out->mean = malloc(size * sizeof *out->mean);
    out->by = calloc(blocks_of(size) * size * COLUMNS, sizeof *out->by);
    return out->mean && out->by;
}

static void keep_factor(const double *inverse, struct doppel_vector_whitening *out)
{
    const size_t size = out->dimension;
    for (size_t j = 0; j < size; j++)
        for (size_t i = 0; i <= j; i++)
            out->by[place_in_factor(out, j, i)] = (float)inverse[j * size + i];
}

static enum doppel_status learn_whitening(struct learning *learning,
                                          struct doppel_vector_whitening *out,
                                          struct doppel_error *error)
{
    const size_t dimension = learning->dimension;
    double *inverse = NULL;
    enum doppel_status status;
    learning->mean = calloc(dimension, sizeof *learning->mean);
    learning->factor = calloc(dimension * dimension, sizeof *learning->factor);
    learning->unit = calloc(dimension, sizeof *learning->unit);
    inverse = calloc(dimension * dimension, sizeof *inverse);
    if (!learning->mean || !learning->factor || !learning->unit || !inverse ||
        !allocate_whitening(out))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to whiten vectors"));
    TRY(learn_mean(learning, error));
    TRY(learn_covariance(learning, error));
    factorise(learning->factor, dimension);
    invert_triangle(learning->factor, dimension, inverse);
    keep_factor(inverse, out);
    for (size_t j = 0; j < dimension; j++)
        out->mean[j] = (float)learning->mean[j];
done:
    free(inverse);
    return status;
}

static enum doppel_status begin_whitening(uint32_t dimension, struct doppel_vector_whitening **out,
                                          struct doppel_error *error)
{
    if (!dimension || dimension > DOPPEL_VECTOR_DIMENSION_MAX)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "vectors have 1 to %d dimensions, not %u",
                           (int)DOPPEL_VECTOR_DIMENSION_MAX, dimension);
    struct doppel_vector_whitening *whitening = calloc(1, sizeof *whitening);
    if (!whitening)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to whiten vectors");
    whitening->dimension = dimension;
    *out = whitening;
    return DOPPEL_OK;
}

enum doppel_status doppel_vector_whitening_make(const struct doppel_vectors *vectors,
                                                struct doppel_vector_whitening **out,
                                                struct doppel_error *error)
{
    struct learning learning = {.vectors = vectors, .dimension = vectors->dimension};
    struct doppel_vector_whitening *whitening = NULL;
    enum doppel_status status = begin_whitening(vectors->dimension, &whitening, error);
    if (status)
        return status;
    status = learn_whitening(&learning, whitening, error);
    free(learning.mean);
    free(learning.factor);
    free(learning.unit);
    if (status)
        doppel_vector_whitening_free(whitening);
    else
        *out = whitening;
    return status;
}

void doppel_vector_whitening_free(struct doppel_vector_whitening *whitening)
{
    if (!whitening)
        return;
    free(whitening->mean);
    free(whitening->by);
    free(whitening);
}

bool doppel_vector_whiten(const struct doppel_vector_whitening *whitening, const float *row,
                          float *out)
{
    const size_t size = whitening->dimension, blocks = blocks_of(size);
    float inverse;
    if (!vector_length(row, size, &inverse) || !(inverse > 0)) {
        memmove(out, row, size * sizeof *out);
        return true;
    }
    float *centred = malloc((size + blocks * COLUMNS) * sizeof *centred);
    if (!centred)
        return false;
    for (size_t j = 0; j < size; j++)
        centred[j] = row[j] * inverse - whitening->mean[j];
    float *whitened = centred + size;
    for (size_t block = 0; block < blocks; block++)
        vector_kernels_get()->project(centred, size, whitening->by + block * size * COLUMNS,
                                      COLUMNS, whitened + block * COLUMNS);
    memcpy(out, whitened, size * sizeof *out);
    free(centred);
    return true;
}

/* ---- its numbers ---- */

size_t doppel_vector_whitening_size(uint32_t dimension)
{
    return (size_t)dimension * ((size_t)dimension + 3) / 2;
}

void doppel_vector_whitening_get(const struct doppel_vector_whitening *whitening, float *out)
{
    const size_t size = whitening->dimension;
    memcpy(out, whitening->mean, size * sizeof *out);
    out += size;
    for (size_t j = 0; j < size; j++)
        for (size_t i = 0; i <= j; i++)
            *out++ = whitening->by[place_in_factor(whitening, j, i)];
}

static void take_numbers_of(const float *numbers, struct doppel_vector_whitening *out)
{
    const size_t size = out->dimension;
    memcpy(out->mean, numbers, size * sizeof *numbers);
    numbers += size;
    for (size_t j = 0; j < size; j++)
        for (size_t i = 0; i <= j; i++)
            out->by[place_in_factor(out, j, i)] = *numbers++;
}

enum doppel_status doppel_vector_whitening_set(const float *numbers, uint32_t dimension,
                                               struct doppel_vector_whitening **out,
                                               struct doppel_error *error)
{
    const size_t count = doppel_vector_whitening_size(dimension);
    struct doppel_vector_whitening *whitening = NULL;
    enum doppel_status status;
    TRY(begin_whitening(dimension, &whitening, error));
    if (!allocate_whitening(whitening))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory to whiten vectors"));
    for (size_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            TRY(doppel_fail(error, DOPPEL_E_FORMAT, "number %zu of a whitening is none", i));
    take_numbers_of(numbers, whitening);
    *out = whitening;
    whitening = NULL;
done:
    doppel_vector_whitening_free(whitening);
    return status;
}
