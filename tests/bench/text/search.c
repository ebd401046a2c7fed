/* Texts read as a preset says, and the candidates that bands of their signatures give. */
#include "search.h"

#include <stdlib.h>
#include <string.h>

struct setup setup_of(const char *preset_name)
{
    const struct doppel_text_preset *preset = doppel_text_preset_by_name(preset_name);
    struct setup setup = {preset_name, preset->options, doppel_text_limits_default(), preset->bands,
                          preset->rows};
    setup.limits.min_similarity = preset->min_similarity;
    setup.options.format = DOPPEL_TEXT_AUTO;
    return setup;
}

static bool collect(void *context, const struct doppel_index_hit *hit)
{
    struct candidates *candidates = context;
    if (candidates->count == candidates->capacity) {
        candidates->capacity = 2 * candidates->capacity + 64;
        candidates->items =
            realloc(candidates->items, candidates->capacity * sizeof *candidates->items);
        if (!candidates->items)
            abort();
    }
    candidates->items[candidates->count++] = (uint32_t)hit->payload;
    return true;
}

void search_bands(const struct doppel_index *index, const struct reading *query, uint32_t lanes,
                  struct candidates *out)
{
    uint64_t code[DOPPEL_TEXT_MAX_LANES / 4];
    struct doppel_error error;
    memcpy(code, query->lanes, sizeof code);
    struct doppel_index_request request = {.queries = code, .count = 1, .radius = lanes};
    out->count = 0;
    if (!query->evidence.too_short)
        check(doppel_index_search(index, &request, collect, out, &error), &error);
}

bool has_candidate(const struct candidates *candidates, size_t wanted)
{
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->items[i] == wanted)
            return true;
    return false;
}
