/* Records with the same content, and records with the same id. */
#include <stdlib.h>
#include <string.h>

#include "corpus/dedup/dedup_internal.h"

/* Numbers of records by a hash; open addressing. */
struct same_table {
    uint32_t *slots; /* NO_RECORD: empty */
    size_t mask;
};

static enum doppel_status new_same_table(struct same_table *table, uint32_t count,
                                         struct doppel_error *error)
{
    size_t slots = 16;
    while (slots < (size_t)count * 3 / 2)
        slots *= 2;
    table->mask = slots - 1;
    table->slots = malloc(slots * sizeof *table->slots);
    if (!table->slots)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    memset(table->slots, 0xff, slots * sizeof *table->slots);
    return DOPPEL_OK;
}

static bool is_readable_facts(const struct facts *facts)
{
    return !(facts->flags & FACT_UNREADABLE);
}

static uint64_t hash_string(const char *string)
{
    uint64_t hash;
    struct doppel_digest digest = doppel_digest_bytes(string, strlen(string));
    memcpy(&hash, digest.bytes, sizeof hash);
    return hash;
}

static bool same_content_dedup(const struct dedup *dedup, uint32_t a, uint32_t b)
{
    return memcmp(dedup_digest_of(dedup, a), dedup_digest_of(dedup, b),
                  sizeof(struct doppel_digest)) == 0;
}

/* The slot of an id: empty, or with the record that stands for it. */
static uint32_t *slot_of_id(const struct dedup *dedup, const struct same_table *table,
                            uint32_t number)
{
    const char *id = string_of(dedup, dedup_facts_of(dedup, number), FACT_ID);
    size_t slot = hash_string(id) & table->mask;
    for (; table->slots[slot] != NO_RECORD; slot = (slot + 1) & table->mask) {
        const struct facts *other = dedup_facts_of(dedup, table->slots[slot]);
        if (strcmp(string_of(dedup, other, FACT_ID), id) == 0)
            break;
    }
    return &table->slots[slot];
}

/* For an id stands the first record, or the last with another content; in a library the last. */
static void find_former(struct dedup *dedup, const struct same_table *table, uint32_t number)
{
    struct facts *facts = dedup_facts_of(dedup, number);
    uint32_t *slot = slot_of_id(dedup, table, number), former = *slot;
    bool library = facts->flags & FACT_LIBRARY;
    if (!library)
        facts->former = former;
    else if (former != NO_RECORD)
        dedup_facts_of(dedup, former)->flags |= FACT_REPLACED;
    bool update = dedup->options->on_same_id == DOPPEL_SAME_ID_UPDATE;
    bool replaces =
        former != NO_RECORD && (library || (update && !same_content_dedup(dedup, number, former)));
    if (former == NO_RECORD || replaces)
        *slot = number;
    dedup->replacing |= replaces;
}

static enum doppel_status find_formers(struct dedup *dedup, struct doppel_error *error)
{
    struct same_table table;
    enum doppel_status status = new_same_table(&table, dedup->count, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < dedup->count; i++) {
        const struct facts *facts = dedup_facts_of(dedup, i);
        if (is_readable_facts(facts) && facts->flags & FACT_ID)
            find_former(dedup, &table, i);
    }
    free(table.slots);
    return DOPPEL_OK;
}

static void find_content(const struct dedup *dedup, const struct same_table *table, uint32_t number)
{
    const struct doppel_digest *digest = dedup_digest_of(dedup, number);
    uint64_t hash;
    memcpy(&hash, digest->bytes, sizeof hash);
    size_t slot = hash & table->mask;
    for (; table->slots[slot] != NO_RECORD; slot = (slot + 1) & table->mask)
        if (memcmp(dedup_digest_of(dedup, table->slots[slot]), digest, sizeof *digest) == 0) {
            dedup_facts_of(dedup, number)->content = table->slots[slot];
            return;
        }
    table->slots[slot] = number;
}

/* What is skipped, or in conflict, is not known by its content afterwards. */
static bool is_remembered(const struct dedup *dedup, uint32_t number)
{
    const struct facts *facts = dedup_facts_of(dedup, number);
    return is_readable_facts(facts) &&
           (facts->former == NO_RECORD || dedup->options->on_same_id == DOPPEL_SAME_ID_UPDATE);
}

static enum doppel_status find_contents(struct dedup *dedup, struct doppel_error *error)
{
    struct same_table table;
    enum doppel_status status = new_same_table(&table, dedup->count, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < dedup->count; i++)
        if (is_remembered(dedup, i))
            find_content(dedup, &table, i);
    free(table.slots);
    return DOPPEL_OK;
}

enum doppel_status dedup_find_same(struct dedup *dedup, struct doppel_error *error)
{
    enum doppel_status status = find_formers(dedup, error);
    if (!status)
        status = find_contents(dedup, error);
    chunked_free(&dedup->digests, &dedup->space);
    return status;
}
