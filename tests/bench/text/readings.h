/* Texts as doppel reads them, an index of their signatures, and the pairs that it finds. */
#ifndef TESTS_BENCH_TEXT_READINGS_H
#define TESTS_BENCH_TEXT_READINGS_H

#include <doppel/index.h>
#include <doppel/match.h>
#include <doppel/text.h>

#include "documents.h"

struct reading {
    struct doppel_text_evidence evidence; /* its arrays are `lanes` and `shingles` */
    uint16_t lanes[DOPPEL_TEXT_MAX_LANES];
    uint32_t *shingles;
    uint64_t simhash;
};

struct readings {
    struct reading *items;
    size_t count;
};

struct reader;
struct reader *reader_new(const struct doppel_text_options *options);
void reader_free(struct reader *reader);

void reader_read(struct reader *reader, const char *text, size_t size, struct reading *out);
void reading_free(struct reading *reading);

struct readings readings_of(const struct documents *documents,
                            const struct doppel_text_options *options);
void readings_free(struct readings *readings);

/* An index of bands; the payload is the number of the reading. */
struct doppel_index *index_of(const struct readings *readings, uint32_t lanes, uint32_t bands,
                              uint32_t rows);

/* Ends the program with the error's sentence if there is one. */
void check(enum doppel_status status, const struct doppel_error *error);

#endif
