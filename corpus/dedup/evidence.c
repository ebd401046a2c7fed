/* Shingles of records: from their lines, read again, or as they were kept. */
#include "corpus/dedup/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "corpus/dedup/library_leaders.h"
#include "corpus/read/record_text.h"
#include "corpus/read/temporary.h"

enum { CACHE_SLOTS = 1 << 13, CACHE_WAYS = 4 };

struct shingles {
    uint32_t number; /* NO_RECORD: none */
    bool known;      /* else there is none to be had */
    bool kept;       /* they were, and not computed just now */
    bool used;       /* since the hand went by */
    size_t count, capacity;
    uint32_t *items;
};

struct evidence {
    struct dedup *dedup;
    struct parser *parser;
    struct doppel_text *text;
    struct file_text file;
    char *line;
    size_t line_capacity;

    struct shingles record;
    size_t cache_bytes, cache_limit, hand;
    struct shingles cache[CACHE_SLOTS];
};

enum doppel_status evidence_new(struct dedup *dedup, size_t cache_bytes, struct evidence **out,
                                struct doppel_error *error)
{
    struct evidence *evidence = calloc(1, sizeof *evidence);
    if (!evidence)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    evidence->dedup = dedup;
    evidence->cache_limit = cache_bytes;
    evidence->record.number = NO_RECORD;
    for (size_t i = 0; i < CACHE_SLOTS; i++)
        evidence->cache[i].number = NO_RECORD;
    evidence->parser = parser_new(&dedup->options->fields);
    enum doppel_status status = evidence->parser
                                    ? doppel_text_new(&dedup->options->text, &evidence->text, error)
                                    : doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    if (status) {
        evidence_free(evidence);
        return status;
    }
    *out = evidence;
    return DOPPEL_OK;
}

void evidence_free(struct evidence *evidence)
{
    if (!evidence)
        return;
    for (size_t i = 0; i < CACHE_SLOTS; i++)
        free(evidence->cache[i].items);
    free(evidence->record.items);
    free(evidence->line);
    file_text_free(&evidence->file);
    doppel_text_free(evidence->text);
    parser_free(evidence->parser);
    free(evidence);
}

/* ---- sizes: the same whoever finds them, so that threads need not agree ---- */

uint32_t shingles_of(const struct dedup *dedup, uint32_t number)
{
    return __atomic_load_n(&dedup_facts_of(dedup, number)->shingles, __ATOMIC_RELAXED);
}

static void set_shingles_of(const struct dedup *dedup, uint32_t number, size_t count)
{
    __atomic_store_n(&dedup_facts_of(dedup, number)->shingles, (uint32_t)count, __ATOMIC_RELAXED);
}

/* ---- loading ---- */

/* Also for none: no shingles are not the same as unknown ones. */
static bool make_room_shingles(struct shingles *shingles, size_t count)
{
    if (count < shingles->capacity)
        return true;
    uint32_t *grown = realloc(shingles->items, (count + 1) * sizeof *grown);
    if (!grown)
        return false;
    shingles->items = grown;
    shingles->capacity = count + 1;
    return true;
}

/* In place of what was there. */
static bool set_items(struct shingles *shingles, const uint32_t *items, size_t count)
{
    if (!make_room_shingles(shingles, count))
        return false;
    if (count)
        memcpy(shingles->items, items, count * sizeof *items);
    shingles->count = count;
    shingles->known = true;
    return true;
}

static bool make_line_room(struct evidence *evidence, size_t size)
{
    if (size + PARSE_SLACK <= evidence->line_capacity)
        return true;
    char *grown = realloc(evidence->line, size + PARSE_SLACK);
    if (!grown)
        return false;
    evidence->line = grown;
    evidence->line_capacity = size + PARSE_SLACK;
    return true;
}

static enum doppel_status read_text_evidence(struct evidence *evidence, uint32_t number,
                                             struct doppel_text_result *out,
                                             struct doppel_error *error)
{
    const struct dedup *dedup = evidence->dedup;
    const struct facts *facts = dedup_facts_of(dedup, number);
    struct doppel_corpus_record record;
    const char *bytes;
    size_t size;
    if (!make_line_room(evidence, facts->size))
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    const struct reread_part part = {facts->place, facts->size, evidence->line, true};
    uint32_t file = file_of(dedup, number);
    enum doppel_status status = reader_rewind(dedup->reader, file, &part, error);
    if (status)
        return status;
    parser_take_rows(evidence->parser, reader_file_layout(dedup->reader, file));
    parser_line(evidence->parser, evidence->line, facts->size, &record);
    if (record.error.status)
        return doppel_fail(error, DOPPEL_E_CHANGED, "%s", record.error.message);
    TRY(record_text(&record, &dedup->options->fields, reader_file_path(dedup->reader, file),
                    dedup->options->files.max_line_bytes, &evidence->file, &bytes, &size, error));
    TRY(doppel_text_read(evidence->text, bytes, size, DOPPEL_TEXT_SHINGLES | DOPPEL_TEXT_DIGEST,
                         out, error));
    if (digest_head(&out->digest) != facts->digest_head)
        return doppel_fail(error, DOPPEL_E_CHANGED, "the text is not what it was");
done:
    return status;
}

static enum doppel_status reload_text(struct evidence *evidence, uint32_t number,
                                      struct shingles *out, struct doppel_error *error)
{
    struct doppel_text_result result;
    enum doppel_status status = read_text_evidence(evidence, number, &result, error);
    if (status)
        return status;
    if (!set_items(out, result.shingles, result.shingle_count))
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    set_shingles_of(evidence->dedup, number, out->count);
    return DOPPEL_OK;
}

static enum doppel_status load_kept(struct evidence *evidence, uint32_t number,
                                    struct shingles *out, struct doppel_error *error)
{
    const struct dedup *dedup = evidence->dedup;
    const struct facts *facts = dedup_facts_of(dedup, number);
    if (!make_room_shingles(out, facts->shingles))
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    out->count = facts->shingles;
    return temporary_read(dedup->folder, dedup->kept, out->items,
                          facts->shingles * sizeof *out->items, facts->place, error);
}

static enum doppel_status load_library(struct evidence *evidence, uint32_t number,
                                       struct shingles *out, struct doppel_error *error)
{
    struct dedup *dedup = evidence->dedup;
    const struct leader *leader;
    pthread_mutex_lock(&dedup->against_lock);
    enum doppel_status status;
    TRY(leaders_get(dedup->against, dedup_facts_of(dedup, number)->place, true, &leader, error));
    if (!leader->shingles)
        TRY(DOPPEL_E_NOT_FOUND);
    if (!set_items(out, leader->shingles, leader->shingle_count))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory"));
    out->kept = leader->shingles_kept;
    set_shingles_of(dedup, number, out->count);
done:
    pthread_mutex_unlock(&dedup->against_lock);
    return status;
}

/* A line that has changed or is gone leaves its signature. */
static enum doppel_status load_evidence(struct evidence *evidence, uint32_t number,
                                        struct shingles *out, struct doppel_error *error)
{
    uint32_t flags = dedup_facts_of(evidence->dedup, number)->flags;
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    out->number = NO_RECORD;
    out->kept = flags & FACT_KEPT;
    if (flags & FACT_LIBRARY)
        status = load_library(evidence, number, out, error);
    else if (flags & FACT_PLAIN)
        status = reload_text(evidence, number, out, error);
    else if (flags & FACT_KEPT)
        status = load_kept(evidence, number, out, error);
    if (status == DOPPEL_E_MEMORY)
        return status;
    out->known = status == DOPPEL_OK;
    out->number = number;
    return DOPPEL_OK;
}

static void describe_evidence(const struct evidence *evidence, const struct shingles *shingles,
                              struct doppel_text_evidence *out)
{
    const struct dedup *dedup = evidence->dedup;
    *out = (struct doppel_text_evidence){
        .lanes = dedup_lanes_of(dedup, shingles->number),
        .lane_count = dedup->lanes,
        .shingles = shingles->known ? shingles->items : NULL,
        .shingle_count = shingles->known ? shingles->count : shingles_of(dedup, shingles->number),
        .too_short = dedup_facts_of(dedup, shingles->number)->flags & FACT_TOO_SHORT,
        .shingles_kept = shingles->kept,
    };
    /* Contents are known to differ: their numbers stand for them. */
    memcpy(out->content.bytes, &shingles->number, sizeof shingles->number);
    out->content.bytes[15] = 1;
}

enum doppel_status evidence_of_record(struct evidence *evidence, uint32_t number,
                                      struct doppel_text_evidence *out, struct doppel_error *error)
{
    if (evidence->record.number != number) {
        enum doppel_status status = load_evidence(evidence, number, &evidence->record, error);
        if (status)
            return status;
    }
    describe_evidence(evidence, &evidence->record, out);
    return DOPPEL_OK;
}

/* ---- cache ---- */

static struct shingles *ways_of(struct evidence *evidence, uint32_t number)
{
    size_t set = number * UINT32_C(2654435761) >> 21; /* 11 bits */
    return evidence->cache + set * CACHE_WAYS;
}

static void evict(struct evidence *evidence, struct shingles *slot)
{
    evidence->cache_bytes -= slot->capacity * sizeof *slot->items;
    free(slot->items);
    *slot = (struct shingles){.number = NO_RECORD};
}

static struct shingles *find_cached(struct evidence *evidence, uint32_t number)
{
    struct shingles *ways = ways_of(evidence, number);
    for (size_t i = 0; i < CACHE_WAYS; i++)
        if (ways[i].number == number) {
            ways[i].used = true;
            return &ways[i];
        }
    return NULL;
}

/* An empty slot for a number. */
static struct shingles *free_slot(struct evidence *evidence, uint32_t number)
{
    struct shingles *ways = ways_of(evidence, number), *slot = &ways[number % CACHE_WAYS];
    for (size_t i = 0; i < CACHE_WAYS; i++)
        if (ways[i].number == NO_RECORD || (slot->used && !ways[i].used))
            slot = &ways[i];
    for (size_t i = 0; i < CACHE_WAYS; i++)
        ways[i].used = false;
    evict(evidence, slot);
    return slot;
}

/* Second chance, but not over the one that was just put. */
static void shrink_cache(struct evidence *evidence, const struct shingles *spared)
{
    while (evidence->cache_bytes > evidence->cache_limit) {
        size_t start = evidence->hand;
        struct shingles *slot = &evidence->cache[evidence->hand];
        evidence->hand = (start + 1) % CACHE_SLOTS;
        if (slot->used && slot != spared)
            slot->used = false;
        else if (slot != spared)
            evict(evidence, slot);
        else if (evidence->cache_bytes == slot->capacity * sizeof *slot->items)
            return;
    }
}

enum doppel_status evidence_of_leader(struct evidence *evidence, uint32_t number,
                                      struct doppel_text_evidence *out, struct doppel_error *error)
{
    struct shingles *slot = find_cached(evidence, number);
    if (!slot) {
        slot = free_slot(evidence, number);
        enum doppel_status status = load_evidence(evidence, number, slot, error);
        evidence->cache_bytes += slot->capacity * sizeof *slot->items;
        if (status)
            return status;
        shrink_cache(evidence, slot);
    }
    describe_evidence(evidence, slot, out);
    return DOPPEL_OK;
}

void evidence_promote(struct evidence *evidence, uint32_t number)
{
    const struct shingles *record = &evidence->record;
    if (record->number != number || !record->known || find_cached(evidence, number))
        return;
    struct shingles *slot = free_slot(evidence, number);
    if (!set_items(slot, record->items, record->count))
        return;
    slot->number = number;
    slot->kept = record->kept;
    evidence->cache_bytes += slot->capacity * sizeof *slot->items;
    shrink_cache(evidence, slot);
}
