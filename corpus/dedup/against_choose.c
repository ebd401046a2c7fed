/* Which texts of a library can matter to the records of a corpus: looked up in its indexes. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "corpus/dedup/against.h"

enum {
    /* A look-up takes as long as to read so many texts one after the other. */
    TEXTS_A_LOOKUP = 8,
    /* Other bands than the index has cost a look at every signature. */
    LOOKUPS_BY_OTHER_BANDS = 16,
    LOOKUPS_A_TELLING = 1024,
    IDS_BEFORE_SORTING = 1 << 20
};

struct choosing {
    struct dedup *dedup;
    struct chosen_texts *chosen;
    struct doppel_text_lookup lookup;
    uint64_t code[DOPPEL_TEXT_MAX_LANES / 4];
    size_t sorted; /* of the chosen ones, so many ascend, each once */
};

static int compare_text_ids(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void sort_chosen(struct choosing *choosing)
{
    struct chosen_texts *chosen = choosing->chosen;
    size_t kept = 0;
    if (chosen->count)
        qsort(chosen->items, chosen->count, sizeof *chosen->items, compare_text_ids);
    for (size_t i = 0; i < chosen->count; i++)
        if (!kept || chosen->items[kept - 1] != chosen->items[i])
            chosen->items[kept++] = chosen->items[i];
    chosen->count = choosing->sorted = kept;
}

/* Many records find the same texts. */
static bool choose_text(struct choosing *choosing, uint64_t id)
{
    const struct chosen_texts *chosen = choosing->chosen;
    if (chosen->count > IDS_BEFORE_SORTING && chosen->count > 2 * choosing->sorted)
        sort_chosen(choosing);
    return array_push(choosing->chosen, id);
}

static bool choose_candidate(void *context, uint64_t id, uint32_t distance)
{
    (void)distance;
    return choose_text(context, id);
}

/* ---- what a record finds ---- */

static enum doppel_status no_room_for_texts(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the texts of the library");
}

static enum doppel_status choose_called(struct choosing *choosing, const char *record_id,
                                        struct doppel_error *error)
{
    uint64_t last = 0;
    enum doppel_status status =
        doppel_library_record_called(choosing->dedup->options->against, record_id, &last, error);
    if (!status && last && !choose_text(choosing, last))
        status = no_room_for_texts(error);
    return status;
}

static enum doppel_status choose_near(struct choosing *choosing, uint32_t number,
                                      struct doppel_error *error)
{
    const uint16_t *lanes = dedup_lanes_of(choosing->dedup, number);
    memset(choosing->code, 0, sizeof choosing->code);
    for (uint32_t i = 0; i < choosing->dedup->lanes; i++)
        choosing->code[i / 4] |= (uint64_t)lanes[i] << 16 * (i % 4);
    return doppel_library_near_texts(choosing->dedup->options->against, &choosing->lookup,
                                     choose_candidate, choosing, error);
}

static enum doppel_status choose_for_record(struct choosing *choosing, uint32_t number,
                                            struct doppel_error *error)
{
    struct dedup *dedup = choosing->dedup;
    const struct facts *facts = dedup_facts_of(dedup, number);
    enum doppel_status status = DOPPEL_OK;
    if (facts->flags & FACT_UNREADABLE)
        return DOPPEL_OK;
    if (facts->flags & FACT_ID)
        TRY(choose_called(choosing, string_of(dedup, facts, FACT_ID), error));
    TRY(doppel_library_texts_of(dedup->options->against, dedup_digest_of(dedup, number), 0,
                                choose_candidate, choosing, error));
    if (!(facts->flags & FACT_TOO_SHORT))
        TRY(choose_near(choosing, number, error));
done:
    return status == DOPPEL_E_CANCELLED ? no_room_for_texts(error) : status;
}

static enum doppel_status choose_for_all(struct choosing *choosing, struct doppel_error *error)
{
    struct dedup *dedup = choosing->dedup;
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t i = 0; i < dedup->count && !status; i++) {
        status = choose_for_record(choosing, i, error);
        if (!status && i % LOOKUPS_A_TELLING == 0 && !dedup->cancelled &&
            !dedup_goes_on(dedup, "records looked up", i, dedup->count))
            status =
                doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted while comparing: none is told");
    }
    return status;
}

/* ---- what those hang on ---- */

struct followed {
    struct choosing *choosing;
    struct doppel_error *error;
    enum doppel_status status;
};

/* Whom a text follows, and the last one with its id, which took its place. */
static bool choose_followed(void *context, const struct doppel_library_text *text)
{
    struct followed *followed = context;
    if (text->error.status)
        return true;
    if (text->leader && !choose_text(followed->choosing, text->leader))
        followed->status = no_room_for_texts(followed->error);
    if (!followed->status && text->record_id)
        followed->status = choose_called(followed->choosing, text->record_id, followed->error);
    return !followed->status;
}

/* Of some texts. @param ids copied: what is chosen moves */
static enum doppel_status follow_texts(struct choosing *choosing, const struct chosen_texts *ids,
                                       struct doppel_error *error)
{
    struct followed followed = {.choosing = choosing, .error = error};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < ids->count && !status; i++) {
        const struct doppel_text_query one = {.first = ids->items[i], .last = ids->items[i]};
        status = doppel_library_each_text(choosing->dedup->options->against, &one, choose_followed,
                                          &followed, error);
        if (followed.status)
            status = followed.status;
    }
    return status;
}

/* Those of `all` that are not in `known`, both ascending. False without memory. */
static bool list_new(const struct chosen_texts *all, const struct chosen_texts *known,
                     struct chosen_texts *out)
{
    size_t at = 0;
    out->count = 0;
    for (size_t i = 0; i < all->count; i++) {
        while (at < known->count && known->items[at] < all->items[i])
            at++;
        bool is_known = at < known->count && known->items[at] == all->items[i];
        if (!is_known && !array_push(out, all->items[i]))
            return false;
    }
    return true;
}

static enum doppel_status follow_chosen(struct choosing *choosing, struct doppel_error *error)
{
    struct chosen_texts known = {0}, fresh = {0};
    const struct chosen_texts *chosen = choosing->chosen;
    enum doppel_status status = DOPPEL_OK;
    for (;;) {
        sort_chosen(choosing);
        if (!list_new(chosen, &known, &fresh))
            TRY(no_room_for_texts(error));
        if (!fresh.count)
            break;
        known.count = 0;
        for (size_t i = 0; i < chosen->count; i++)
            if (!array_push(&known, chosen->items[i]))
                TRY(no_room_for_texts(error));
        TRY(follow_texts(choosing, &fresh, error));
    }
done:
    array_free(&known);
    array_free(&fresh);
    return status;
}

/* ---- all of it ---- */

/* Whether the index is likely to have the bands that are wanted. */
static bool has_usual_bands(const struct dedup *dedup)
{
    uint32_t bands = 0, rows = 0;
    const struct doppel_text_limits usual = doppel_text_limits_default();
    (void)doppel_index_bands_choose(dedup->lanes, usual.min_similarity, DOPPEL_INDEX_BANDS_USUAL,
                                    &bands, &rows, NULL);
    return dedup->bands == bands && dedup->rows_a_band == rows;
}

static enum doppel_status is_all_less_work(const struct dedup *dedup, bool *out,
                                           struct doppel_error *error)
{
    uint64_t texts = 0;
    enum doppel_status status =
        doppel_library_records_at_most(dedup->options->against, &texts, error);
    *out = texts / TEXTS_A_LOOKUP <= dedup->count ||
           (dedup->count > LOOKUPS_BY_OTHER_BANDS && !has_usual_bands(dedup));
    return status;
}

/* A record may follow a file: then it leads here, where files are no texts. */
static bool may_follow_files(const struct dedup *dedup, enum doppel_scheme_id scheme)
{
    return doppel_library_has_scheme(dedup->options->against, scheme);
}

enum doppel_status texts_choose(struct dedup *dedup, struct chosen_texts *out, bool *out_all,
                                struct doppel_error *error)
{
    const enum doppel_scheme_id scheme =
        dedup->lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128;
    struct choosing choosing = {.dedup = dedup, .chosen = out};
    choosing.lookup = (struct doppel_text_lookup){.scheme = scheme,
                                                  .code = choosing.code,
                                                  .radius = dedup->lanes,
                                                  .bands = dedup->bands,
                                                  .rows = dedup->rows_a_band,
                                                  .followers = may_follow_files(dedup, scheme)};
    enum doppel_status status;
    TRY(is_all_less_work(dedup, out_all, error));
    if (*out_all)
        return DOPPEL_OK;
    TRY(choose_for_all(&choosing, error));
    TRY(follow_chosen(&choosing, error));
done:
    return status;
}
