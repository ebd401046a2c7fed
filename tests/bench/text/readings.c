/* Texts as doppel reads them, and an index of their signatures. */
#include "readings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WANT = DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SIMHASH | DOPPEL_TEXT_SHINGLES
};

struct reader {
    struct doppel_text *text;
    uint32_t lanes;
};

void check(enum doppel_status status, const struct doppel_error *error)
{
    if (status == DOPPEL_OK)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(2);
}

struct reader *reader_new(const struct doppel_text_options *options)
{
    struct doppel_error error;
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        abort();
    reader->lanes = options->lanes;
    check(doppel_text_new(options, &reader->text, &error), &error);
    return reader;
}

void reader_free(struct reader *reader)
{
    doppel_text_free(reader->text);
    free(reader);
}

void reader_read(struct reader *reader, const char *text, size_t size, struct reading *out)
{
    static struct doppel_text_result result;
    struct doppel_error error;
    check(doppel_text_read(reader->text, text, size, WANT, &result, &error), &error);
    *out = (struct reading){.simhash = result.simhash};
    out->shingles = malloc((result.shingle_count + 1) * sizeof *out->shingles);
    if (!out->shingles)
        abort();
    if (result.shingle_count)
        memcpy(out->shingles, result.shingles, result.shingle_count * sizeof *out->shingles);
    memcpy(out->lanes, result.lanes, sizeof out->lanes);
    out->evidence = (struct doppel_text_evidence){.content = result.digest,
                                                  .too_short = result.too_short,
                                                  .lane_count = reader->lanes,
                                                  .shingles = out->shingles,
                                                  .shingle_count = result.shingle_count};
}

void reading_free(struct reading *reading)
{
    free(reading->shingles);
}

struct readings readings_of(const struct documents *documents,
                            const struct doppel_text_options *options)
{
    struct readings readings = {calloc(documents->count, sizeof(struct reading)), documents->count};
    struct reader *reader = reader_new(options);
    for (size_t i = 0; i < documents->count; i++) {
        reader_read(reader, documents->items[i].text, documents->items[i].size, &readings.items[i]);
        readings.items[i].evidence.lanes = readings.items[i].lanes;
    }
    reader_free(reader);
    return readings;
}

void readings_free(struct readings *readings)
{
    for (size_t i = 0; i < readings->count; i++)
        reading_free(&readings->items[i]);
    free(readings->items);
}

struct doppel_index *index_of(const struct readings *readings, uint32_t lanes, uint32_t bands,
                              uint32_t rows)
{
    struct doppel_index_options options = doppel_index_options_default();
    struct doppel_index *index;
    struct doppel_error error;
    options.table = DOPPEL_INDEX_BANDS;
    options.lanes = lanes;
    options.bands = bands;
    options.rows = rows;
    check(doppel_index_new(&options, &index, &error), &error);
    for (size_t i = 0; i < readings->count; i++) {
        uint64_t code[DOPPEL_TEXT_MAX_LANES / 4];
        memcpy(code, readings->items[i].lanes, sizeof code);
        if (!readings->items[i].evidence.too_short)
            check(doppel_index_insert(index, code, &(uint64_t){i}, 1, &error), &error);
    }
    return index;
}
