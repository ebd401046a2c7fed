/* The texts of a library, to be found by their words and shingles. */
#include "search/texts.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/digest_map.h"

struct known_words {
    struct doppel_digest content;
    uint64_t id;
    uint32_t next; /* number + 1 of another one with them; 0: none */
};

struct search_texts {
    const struct doppel_compare_options *compare;
    struct doppel_library *library;
    struct text_set *set;
    struct doppel_passages *passages; /* of winnow32; else NULL */
    struct text_view last;            /* whose keys were loaded last */
    ARRAY(struct known_words) words;  /* of texts that have any; ordered by id */
    struct digest_map by_words;       /* to the first of those with the same */
};

/* What is left to be visited, once those of the same words were. */
struct text_visit {
    const struct search_texts *texts;
    const struct text_view *query;
    text_visitor *visitor;
    void *context;
};

struct loading {
    struct text_view *out;
    enum doppel_status status;
};

static bool take_loaded_text(void *context, const struct doppel_library_text *text)
{
    struct loading *loading = context;
    loading->status = text->error.status                        ? text->error.status
                      : text_view_of_record(text, loading->out) ? DOPPEL_OK
                                                                : DOPPEL_E_MEMORY;
    return true;
}

static enum doppel_status load_text_record(const struct search_texts *texts, uint64_t id,
                                           struct text_view *out)
{
    const struct doppel_text_query query = {.first = id, .last = id, .shingles = true};
    struct loading loading = {out, DOPPEL_E_NOT_FOUND};
    (void)doppel_library_each_text(texts->library, &query, take_loaded_text, &loading, NULL);
    return loading.status;
}

/* An item or a record of the library. @param out given (text_view_free) */
static enum doppel_status load_library_text(const struct search_texts *texts, uint64_t id,
                                            struct text_view *out)
{
    struct doppel_item item;
    if (doppel_library_get(texts->library, id, true, &item, NULL))
        return load_text_record(texts, id, out);
    enum doppel_status status = text_view_load(&item.record, &texts->compare->text, out, NULL);
    if (!status)
        out->kept = true;
    doppel_item_free(&item);
    return status;
}

static bool load_candidate(void *context, uint64_t id, struct text_view *out)
{
    return load_library_text(context, id, out) == DOPPEL_OK;
}

enum doppel_status search_texts_new(const struct doppel_compare_options *compare,
                                    struct doppel_library *library, struct search_texts **out,
                                    struct doppel_error *error)
{
    struct search_texts *texts = calloc(1, sizeof *texts);
    if (!texts)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the library");
    texts->compare = compare;
    texts->library = library;
    enum doppel_status status = text_set_new(compare, load_candidate, texts, &texts->set, error);
    if (!status && doppel_compare_scheme(compare, DOPPEL_KIND_TEXT)->id == DOPPEL_SCHEME_WINNOW32)
        status = doppel_passages_new(&texts->passages, error);
    if (status)
        search_texts_free(texts);
    else
        *out = texts;
    return status;
}

void search_texts_free(struct search_texts *texts)
{
    if (!texts)
        return;
    text_set_free(texts->set);
    doppel_passages_free(texts->passages);
    text_view_free(&texts->last);
    array_free(&texts->words);
    digest_map_free(&texts->by_words);
    free(texts);
}

static const struct doppel_digest *words_at(const void *context, uint32_t number)
{
    const struct search_texts *texts = context;
    return &texts->words.items[number].content;
}

static enum doppel_status keep_words(struct search_texts *texts, uint64_t id,
                                     const struct doppel_text_extra *extra,
                                     struct doppel_error *error)
{
    struct known_words words = {.content = extra->content, .id = id};
    uint32_t number = (uint32_t)texts->words.count;
    if (!extra->words)
        return DOPPEL_OK;
    if (texts->words.count >= UINT32_MAX - 1 || !array_push(&texts->words, words))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the library");
    uint32_t first = digest_map_put(&texts->by_words, number, words_at, texts);
    if (first == number)
        return DOPPEL_OK;
    texts->words.items[number].next = texts->words.items[first].next;
    texts->words.items[first].next = number + 1;
    return DOPPEL_OK;
}

enum doppel_status search_texts_add(struct search_texts *texts, const struct doppel_item *item,
                                    bool leads, struct doppel_run *run, struct doppel_error *error)
{
    struct text_view view;
    enum doppel_status status = load_library_text(texts, item->id, &view);
    if (status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "no memory for the library");
    if (status) {
        doppel_run_fail_input(run, item->path, "what the library keeps of it is damaged");
        return DOPPEL_OK;
    }
    status = keep_words(texts, item->id, &view.extra, error);
    if (!status && leads)
        status = text_set_add(texts->set, item->id, &view, error);
    if (!status && leads && texts->passages && view.key_count) {
        struct doppel_passage_text text = passage_text_of(&view);
        status = doppel_passages_add(texts->passages, item->id, &text, error);
    }
    text_view_free(&view);
    return status;
}

enum doppel_status search_texts_add_record(struct search_texts *texts,
                                           const struct doppel_library_text *text, bool leads,
                                           struct doppel_error *error)
{
    struct text_view view;
    if (!text_view_of_record(text, &view))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the library");
    enum doppel_status status = keep_words(texts, text->id, &view.extra, error);
    if (!status && leads)
        status = text_set_add(texts->set, text->id, &view, error);
    text_view_free(&view);
    return status;
}

static bool has_words_of(const struct known_words *words, const struct text_view *query)
{
    return query->extra.words && memcmp(words->content.bytes, query->extra.content.bytes,
                                        sizeof words->content.bytes) == 0;
}

static int by_text_id(const void *left, const void *right)
{
    const struct known_words *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool visit_other(void *context, uint64_t id, const struct doppel_match *match)
{
    const struct text_visit *visit = context;
    struct known_words wanted = {.id = id};
    const struct known_words *words = bsearch(&wanted, visit->texts->words.items,
                                              visit->texts->words.count, sizeof wanted, by_text_id);
    if (words && has_words_of(words, visit->query))
        return true;
    return visit->visitor(visit->context, id, match);
}

/* ---- passages ---- */

static bool load_keys(void *context, uint64_t id, struct doppel_passage_text *out)
{
    struct search_texts *texts = context;
    text_view_free(&texts->last);
    texts->last = (struct text_view){0};
    if (!load_candidate(texts, id, &texts->last))
        return false;
    *out = passage_text_of(&texts->last);
    return true;
}

static bool visit_passages(void *context, const struct doppel_found *found)
{
    return visit_other(context, found->id, &found->match);
}

static enum doppel_status find_passages(struct search_texts *texts, const struct text_view *query,
                                        struct text_visit *visit, struct doppel_error *error)
{
    struct doppel_passage_text text = passage_text_of(query);
    struct doppel_passage_request request = doppel_passage_request_default(&text);
    if (!text.key_count)
        return DOPPEL_OK;
    request.source = load_keys;
    request.source_context = texts;
    return doppel_passages_find(texts->passages, &request, visit_passages, visit, error);
}

enum doppel_status search_texts_find(struct search_texts *texts, const struct text_view *query,
                                     text_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    struct text_visit visit = {texts, query, visitor, context};
    uint32_t at = query->extra.words
                      ? digest_map_find(&texts->by_words, &query->extra.content, words_at, texts)
                      : UINT32_MAX;
    for (; at != UINT32_MAX; at = texts->words.items[at].next - 1) {
        struct doppel_match match;
        (void)texts_match(texts->compare, query, query, &match); /* the same words */
        if (!visitor(context, texts->words.items[at].id, &match))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    }
    return texts->passages ? find_passages(texts, query, &visit, error)
                           : text_set_find(texts->set, query, visit_other, &visit, error);
}
