/* Texts read as a preset says, and the candidates that bands of their signatures give. */
#ifndef TESTS_BENCH_TEXT_SEARCH_H
#define TESTS_BENCH_TEXT_SEARCH_H

#include "readings.h"

/* How texts are read and searched. */
struct setup {
    const char *name;
    struct doppel_text_options options;
    struct doppel_text_limits limits;
    uint32_t bands, rows;
};

/* As a preset says, for HTML where a text begins like it. */
struct setup setup_of(const char *preset_name);

struct candidates {
    uint32_t *items;
    size_t count, capacity;
};

/* What shares a band with the query, in place of what `out` has. */
void search_bands(const struct doppel_index *index, const struct reading *query, uint32_t lanes,
                  struct candidates *out);
bool has_candidate(const struct candidates *candidates, size_t wanted);

#endif
