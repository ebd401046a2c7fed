/* Principal directions by subspace iteration: a few of them, of as many dimensions as there are. */
#include "vector/basis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "vector/kernels.h"
#include "vector/numbers.h"

enum {
    ITERATIONS = 4,
    SAMPLE_NUMBERS = 4 << 20, /* of all sampled vectors */
    SAMPLE_MOST = 32768,
    SAMPLE_LEAST = 512
};

/* Between -1 and 1. */
static double scattered(uint64_t number)
{
    return (double)(int64_t)chance_bits(number) / 9223372036854775808.0;
}

/* Make columns orthogonal and of length 1; one that depends on those before it becomes zeros. */
static void orthonormalise(double *columns, size_t size, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        double before = 0, length = 0;
        for (size_t i = 0; i < size; i++)
            before += columns[i * width + j] * columns[i * width + j];
        for (int twice = 0; twice < 2; twice++)
            for (size_t k = 0; k < j; k++) {
                double dot = 0;
                for (size_t i = 0; i < size; i++)
                    dot += columns[i * width + j] * columns[i * width + k];
                for (size_t i = 0; i < size; i++)
                    columns[i * width + j] -= dot * columns[i * width + k];
            }
        for (size_t i = 0; i < size; i++)
            length += columns[i * width + j] * columns[i * width + j];
        const double by = length > before * 1e-18 ? 1 / sqrt(length) : 0;
        for (size_t i = 0; i < size; i++)
            columns[i * width + j] *= by;
    }
}

static size_t sample_size(const struct doppel_vectors *vectors)
{
    size_t size = SAMPLE_NUMBERS / vectors->dimension;
    size = size > SAMPLE_MOST ? SAMPLE_MOST : size < SAMPLE_LEAST ? SAMPLE_LEAST : size;
    return size < vectors->count ? size : vectors->count;
}

static const float *sampled_row(const struct doppel_vectors *vectors, size_t i, size_t size)
{
    const size_t row = (size_t)((double)i * (double)vectors->count / (double)size);
    return vectors->rows + row * vectors->dimension;
}

/* sums += x × (what x has along the columns), for each x of the sample, of length 1. */
static void multiply_by_sample(const struct doppel_vectors *vectors, const double *columns,
                               float *narrow, size_t width, double *sums)
{
    const struct vector_kernels *kernels = vector_kernels_get();
    const size_t dimension = vectors->dimension, size = sample_size(vectors);
    float along[PREFIX_DIMENSIONS_MAX];
    for (size_t i = 0; i < dimension * width; i++)
        narrow[i] = (float)columns[i];
    memset(sums, 0, dimension * width * sizeof *sums);
    for (size_t s = 0; s < size; s++) {
        const float *x = sampled_row(vectors, s, size);
        const double square = (double)kernels->dot_floats(x, x, dimension);
        if (!(square > 0 && square < 1e30)) /* such are refused, later, by name */
            continue;
        kernels->project(x, dimension, narrow, width, along);
        for (size_t i = 0; i < dimension; i++)
            for (size_t j = 0; j < width; j++)
                sums[i * width + j] += (double)(x[i] * along[j]) / square;
    }
}

/* Of PREFIX_HEAD components that vary about as much each becomes a sum of all, some negative
 * (Hadamard), so that none is much larger than others. Dot products stay. */
static void mix_columns(double *row)
{
    for (size_t j = 0; j < PREFIX_HEAD; j++)
        row[j] *= scattered(j) < 0 ? -1 : 1;
    for (size_t half = 1; half < PREFIX_HEAD; half *= 2)
        for (size_t at = 0; at < PREFIX_HEAD; at += 2 * half)
            for (size_t j = at; j < at + half; j++) {
                const double a = row[j], b = row[j + half];
                row[j] = a + b;
                row[j + half] = a - b;
            }
    for (size_t j = 0; j < PREFIX_HEAD; j++)
        row[j] /= sqrt(PREFIX_HEAD);
}

static void find_directions(const struct doppel_vectors *vectors, size_t width, double *columns,
                            double *sums, float *narrow)
{
    const size_t numbers = vectors->dimension * width;
    for (size_t i = 0; i < numbers; i++)
        columns[i] = scattered(i);
    orthonormalise(columns, vectors->dimension, width);
    for (int turn = 0; turn < ITERATIONS; turn++) {
        multiply_by_sample(vectors, columns, narrow, width, sums);
        memcpy(columns, sums, numbers * sizeof *columns);
        orthonormalise(columns, vectors->dimension, width);
    }
}

enum doppel_status vector_basis_make(const struct doppel_vectors *vectors, uint32_t width,
                                     struct vector_basis *out, struct doppel_error *error)
{
    const size_t numbers = (size_t)vectors->dimension * width;
    if (!vectors->dimension || !width)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "vectors without numbers have no directions");
    double *columns = calloc(2 * numbers, sizeof *columns);
    float *rows = calloc(numbers, sizeof *rows);
    if (!columns || !rows) {
        free(columns);
        free(rows);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a basis of vectors");
    }
    if (width == PREFIX_HEAD && vectors->dimension <= width)
        for (size_t i = 0; i < vectors->dimension; i++)
            columns[i * width + i] = 1; /* all directions */
    else
        find_directions(vectors, width, columns, columns + numbers, rows);
    for (size_t at = 0; at < numbers; at += PREFIX_HEAD)
        mix_columns(columns + at);
    for (size_t i = 0; i < numbers; i++)
        rows[i] = (float)columns[i];
    free(columns);
    *out = (struct vector_basis){vectors->dimension, width, rows};
    return DOPPEL_OK;
}

void vector_basis_free(struct vector_basis *basis)
{
    free(basis->rows);
    *basis = (struct vector_basis){0};
}
