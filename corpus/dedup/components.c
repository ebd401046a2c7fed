/* Components by union-find over buckets, same contents and same ids. */
#include "corpus/dedup/components.h"

#include <stdlib.h>

static uint32_t root_of(const struct dedup *dedup, uint32_t number)
{
    struct facts *facts = dedup_facts_of(dedup, number);
    while (facts->parent != number) {
        struct facts *parent = dedup_facts_of(dedup, facts->parent);
        number = facts->parent = parent->parent;
        facts = dedup_facts_of(dedup, number);
    }
    return number;
}

/* The smaller root stays one. */
static void unite_dedup(const struct dedup *dedup, uint32_t number, uint32_t other)
{
    if (other == NO_RECORD || other == number)
        return;
    uint32_t a = root_of(dedup, number), b = root_of(dedup, other);
    if (a < b)
        dedup_facts_of(dedup, b)->parent = a;
    else if (b < a)
        dedup_facts_of(dedup, a)->parent = b;
}

static void unite_all(const struct dedup *dedup)
{
    for (uint32_t i = 0; i < dedup->count; i++) {
        const struct facts *facts = dedup_facts_of(dedup, i);
        unite_dedup(dedup, i, facts->content);
        unite_dedup(dedup, i, facts->former);
        for (uint32_t band = 0; band < dedup->bands; band++)
            unite_dedup(dedup, i, *dedup_cell_of(dedup, i, band));
        if (i % LET_GO_RECORDS == 0)
            let_go(dedup);
    }
}

/* Where the component of each root begins, counted from the sizes; `begins` moves while filling. */
static bool list_starts(const struct dedup *dedup, uint32_t *begins, struct components *out)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < dedup->count; i++)
        begins[root_of(dedup, i)]++;
    for (uint32_t i = 0; i < dedup->count; i++) {
        uint32_t size = begins[i];
        begins[i] = total;
        if (size && !array_push(&out->starts, total))
            return false;
        total += size;
    }
    return array_push(&out->starts, total);
}

enum doppel_status components_find(const struct dedup *dedup, struct components *out,
                                   struct doppel_error *error)
{
    size_t count = (size_t)dedup->count + 1;
    uint32_t *begins = calloc(count, sizeof *begins);
    *out = (struct components){.records = malloc(count * sizeof *out->records)};
    unite_all(dedup);
    if (!begins || !out->records || !list_starts(dedup, begins, out)) {
        free(begins);
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    }
    for (uint32_t i = 0; i < dedup->count; i++)
        out->records[begins[root_of(dedup, i)]++] = i;
    free(begins);
    return DOPPEL_OK;
}

void components_free(struct components *components)
{
    free(components->records);
    array_free(&components->starts);
}
