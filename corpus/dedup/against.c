/* The texts of a library as the first records, which lead as they do there: those that have the
 * content or the id of a record of the corpus, or share a band with one and lead; and whom they
 * follow, and who took their places. No other text can change what is decided. */
#include <string.h>

#include "core/try.h"
#include "corpus/dedup/against.h"
#include "corpus/dedup/library_leaders.h"

/* ---- taking texts in ---- */

struct text_load {
    struct dedup *dedup;
    struct doppel_error *error;
    enum doppel_status status;
};

/* The number of a text's id: they ascend together. */
static uint32_t number_of(const struct dedup *dedup, uint64_t id)
{
    uint32_t low = 0, high = dedup->first;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (dedup_facts_of(dedup, middle)->place < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < dedup->first && dedup_facts_of(dedup, low)->place == id ? low : NO_RECORD;
}

static enum doppel_status add_string_dedup(struct dedup *dedup, struct facts *facts,
                                           const char *string, uint32_t flag,
                                           struct doppel_error *error)
{
    uint64_t at;
    if (!string)
        return DOPPEL_OK;
    enum doppel_status status =
        arena_add(&dedup->strings, &dedup->space, string, strlen(string) + 1, &at, error);
    facts->flags |= flag;
    return status;
}

/* All strings of a record lie together. */
static enum doppel_status add_strings(struct dedup *dedup, struct facts *facts,
                                      const struct doppel_library_text *text,
                                      struct doppel_error *error)
{
    const struct {
        const char *string;
        uint32_t flag;
    } strings[] = {{text->record_id, FACT_ID},
                   {text->origin.source, FACT_SOURCE},
                   {text->origin.date, FACT_DATE},
                   {text->path, FACT_PATH}};
    enum { COUNT = sizeof strings / sizeof *strings };
    size_t size = 0;
    for (size_t i = 0; i < COUNT; i++)
        size += strings[i].string ? strlen(strings[i].string) + 1 : 0;
    enum doppel_status status =
        arena_reserve(&dedup->strings, &dedup->space, size, &facts->strings, error);
    for (size_t i = 0; i < COUNT && !status; i++)
        status = add_string_dedup(dedup, facts, strings[i].string, strings[i].flag, error);
    return status;
}

/* One whose representative was removed leads, if it can. */
static enum doppel_status add_text_dedup(struct dedup *dedup,
                                         const struct doppel_library_text *text,
                                         struct doppel_error *error)
{
    uint32_t number = dedup->first;
    enum doppel_status status = dedup_reserve_records(dedup, (size_t)dedup->count + 1, error);
    struct facts facts = {
        .place = text->id,
        .line = text->line,
        .shingles = text->shingle_total < UINT32_MAX ? (uint32_t)text->shingle_total : UINT32_MAX,
        .content = number,
        .parent = number,
        .holder = NO_RECORD,
        .former = text->leader ? number_of(dedup, text->leader) : NO_RECORD,
        .flags = FACT_LIBRARY};
    if (!status)
        status = add_strings(dedup, &facts, text, error);
    if (status)
        return status;
    if (text->too_short)
        facts.flags |= FACT_TOO_SHORT;
    else if (text->leads || facts.former == NO_RECORD)
        facts.flags |= FACT_LEADER;
    dedup->first++;
    dedup->count++;
    *dedup_facts_of(dedup, number) = facts;
    *dedup_digest_of(dedup, number) = text->content;
    memcpy(dedup_lanes_of(dedup, number), text->lanes, dedup->lanes_of.row_bytes);
    return DOPPEL_OK;
}

static bool take_library_text(void *context, const struct doppel_library_text *text)
{
    struct text_load *load = context;
    if (!text->error.status && text->lane_count == load->dedup->lanes)
        load->status = add_text_dedup(load->dedup, text, load->error);
    return load->status == DOPPEL_OK;
}

static enum doppel_status check_options_dedup_options(const struct doppel_dedup_options *options,
                                                      struct doppel_error *error)
{
    struct doppel_text_options library;
    enum doppel_status status =
        doppel_library_text_options(options->against, &library, NULL, error);
    if (status)
        return status;
    bool same = library.lanes == options->text.lanes &&
                doppel_text_version(1, &library) == doppel_text_version(1, &options->text);
    return same ? DOPPEL_OK
                : doppel_fail(error, DOPPEL_E_VERSION,
                              "the library's texts were read with other options: give the same");
}

enum doppel_status dedup_begin_against(struct dedup *dedup, struct doppel_error *error)
{
    const struct doppel_dedup_options *options = dedup->options;
    if (!options->against)
        return DOPPEL_OK;
    enum doppel_status status = check_options_dedup_options(options, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    dedup->against_options = doppel_ingest_options_default();
    dedup->against_options.files = options->files;
    dedup->against_options.fields = options->fields;
    dedup->against_options.text = options->text;
    return leaders_new(options->against, &dedup->against_options, &dedup->against, error);
}

/* ---- all, or those that can matter ---- */

static enum doppel_status load_all(struct text_load *load)
{
    const struct doppel_text_query all = {0};
    enum doppel_status status = doppel_library_each_text(load->dedup->options->against, &all,
                                                         take_library_text, load, load->error);
    return load->status ? load->status : status;
}

static enum doppel_status load_chosen(struct text_load *load, const uint64_t *ids, size_t count)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < count && !status && !load->status; i++) {
        const struct doppel_text_query one = {.first = ids[i], .last = ids[i]};
        status = doppel_library_each_text(load->dedup->options->against, &one, take_library_text,
                                          load, load->error);
    }
    return load->status ? load->status : status;
}

/* The records of the corpus, which were read before, have the numbers after those. */
static void count_corpus_on(struct dedup *dedup)
{
    for (uint32_t i = dedup->first; i < dedup->count; i++) {
        struct facts *facts = dedup_facts_of(dedup, i);
        facts->content += dedup->first;
        facts->parent += dedup->first;
    }
    for (size_t i = 0; i < dedup->first_of_file.count; i++)
        dedup->first_of_file.items[i] += dedup->first;
}

enum doppel_status dedup_load_against(struct dedup *dedup, struct doppel_error *error)
{
    struct text_load load = {.dedup = dedup, .error = error};
    struct chosen_texts chosen = {0};
    enum doppel_status status;
    bool all;
    if (!dedup->against || !dedup->count)
        return DOPPEL_OK;
    TRY(texts_choose(dedup, &chosen, &all, error));
    TRY(all ? load_all(&load) : load_chosen(&load, chosen.items, chosen.count));
    count_corpus_on(dedup);
done:
    array_free(&chosen);
    return status;
}
