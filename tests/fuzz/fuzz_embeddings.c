/* Fuzz target: an answer of a service that embeds. What is taken for vectors has length 1. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "embed/endpoint/endpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_vectors(const struct endpoint_vectors *vectors)
{
    for (size_t i = 0; i < vectors->count; i++) {
        const float *row = vectors->rows + i * vectors->dimension;
        double squares = 0;
        for (uint32_t j = 0; j < vectors->dimension; j++)
            squares += (double)row[j] * (double)row[j];
        if (fabs(squares - (vectors->each[i] ? 0 : 1)) > 1e-4)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct post_answer answer = {.status = 200, .body = (char *)data, .size = size};
    struct endpoint_vectors vectors = {0};
    struct doppel_error error = {0};
    for (uint32_t dimension = 0; dimension < 3; dimension += 2)
        for (size_t count = 1; count <= 3; count++) {
            enum doppel_status status =
                endpoint_vectors_read(&answer, count, dimension, &vectors, &error);
            if (status ? !error.message[0] : vectors.count != count || !vectors.dimension)
                abort();
            if (!status)
                check_vectors(&vectors);
        }
    endpoint_vectors_free(&vectors);
    return 0;
}
