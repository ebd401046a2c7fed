/* Short texts to vectors without what all have in common. */
#include "made_vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/embed.h>

#include "../bench.h"
#include "../debian_text.h"
#include "core/bytes.h"
#include "core/number_map.h"

enum { RECORD = 156, MOST_BYTES = 1 << 30 };

/* The next record's size; 0: there is no more of this document. */
static size_t record_size(const char *text, size_t left)
{
    size_t size = RECORD;
    while (size < left && text[size] != ' ' && text[size] != '\n')
        size++;
    return size < left ? size : 0;
}

static bool is_first_of_its_kind(struct number_map *seen, const char *text, size_t size)
{
    if (!number_map_reserve(seen, 1))
        abort();
    uint64_t *place =
        number_map_place(seen, get_u64(doppel_digest_bytes(text, size).bytes) | UINT64_C(1));
    const bool first = !*place;
    *place = 1;
    return first;
}

/* @return how many there are */
static size_t embed_records(const struct doppel_model *model, const struct debian_text *text,
                            size_t most, float *rows)
{
    const uint32_t dimension = doppel_model_info(model)->dimension;
    struct number_map seen = {0};
    struct doppel_error error;
    size_t count = 0;
    for (size_t i = 0; i < text->count && count < most; i++)
        for (size_t at = text->starts[i], end = text->starts[i + 1], size;
             count < most && (size = record_size(text->bytes + at, end - at)); at += size + 1) {
            const char *record = text->bytes + at;
            const struct doppel_model_texts one = {&record, &size, 1};
            enum doppel_status each;
            if (!is_first_of_its_kind(&seen, record, size))
                continue;
            bench_must(doppel_model_embed(model, &one, rows + count * dimension, &each, &error),
                       &error);
            count += each == DOPPEL_OK;
        }
    number_map_free(&seen);
    return count;
}

static void centre_rows(float *rows, size_t count, uint32_t dimension)
{
    double *mean = calloc(dimension, sizeof *mean);
    for (size_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < dimension; j++)
            mean[j] += (double)rows[i * dimension + j] / (double)count;
    for (size_t i = 0; i < count; i++) {
        double squares = 0;
        float *row = rows + i * dimension;
        for (uint32_t j = 0; j < dimension; j++) {
            row[j] -= (float)mean[j];
            squares += (double)row[j] * (double)row[j];
        }
        for (uint32_t j = 0; j < dimension && squares > 0; j++)
            row[j] /= (float)sqrt(squares);
    }
    free(mean);
}

float *made_vectors(const char *models, const char *model, size_t *count, uint32_t *dimension)
{
    const struct doppel_model_open_options open = {models, model, false};
    struct doppel_model *opened;
    struct doppel_error error;
    struct debian_text text = {0};
    bench_must(doppel_model_open(&open, &opened, &error), &error);
    *dimension = doppel_model_info(opened)->dimension;
    debian_text_find(&text, "/usr/share/doc", MOST_BYTES, 2);
    debian_text_find(&text, "/usr/share/man", MOST_BYTES, 2);
    float *rows = malloc((*count + 1) * *dimension * sizeof *rows);
    if (!rows)
        abort();
    *count = embed_records(opened, &text, *count, rows);
    centre_rows(rows, *count, *dimension);
    debian_text_free(&text);
    doppel_model_free(opened);
    return rows;
}
