/* Texts of the library that a record asks for. */
#include "decide/records/ingest_internal.h"

#include <string.h>

#include "core/try.h"

enum { LANES_A_WORD = 4, FIRST_CONTENTS = 16 };

static enum doppel_status is_replaced(struct ingest *ingest, uint64_t id, bool *out,
                                      struct doppel_error *error)
{
    if (id == ingest->replaced)
        return *out = true, DOPPEL_OK;
    return leaders_is_replaced(ingest->leaders, id, out, error);
}

enum doppel_status earlier_get(struct ingest *ingest, uint64_t id, struct earlier *out,
                               struct doppel_error *error)
{
    const struct leader *text;
    bool replaced;
    *out = (struct earlier){0};
    enum doppel_status status;
    TRY(leaders_get(ingest->leaders, id, false, &text, error));
    if (text->missing || text->lane_count != ingest->options.text.lanes)
        return DOPPEL_OK;
    struct earlier earlier = {
        .id = id, .content = text->content, .leader = text->leader, .leads = text->leads};
    bool too_short = text->too_short;
    TRY(leaders_has(ingest->leaders, earlier.leader, &text, error));
    if (!text) { /* one whose representative was removed leads, if it can */
        earlier.leader = id;
        earlier.leads |= !too_short;
    }
    TRY(is_replaced(ingest, id, &replaced, error));
    earlier.leads &= !replaced;
    *out = earlier;
done:
    return status;
}

/* ---- by content ---- */

struct content_search {
    struct ingest *ingest;
    const struct doppel_digest *content;
    uint64_t first, there; /* with the content; and whose text is there still */
    size_t seen;
    enum doppel_status status;
    struct doppel_error *error;
};

static enum doppel_status is_text_there(struct ingest *ingest, const struct earlier *earlier,
                                        bool *out, struct doppel_error *error)
{
    bool replaced = false;
    enum doppel_status status = is_replaced(ingest, earlier->leader, &replaced, error);
    *out = !status && !replaced && people_state(ingest, earlier->id) != DOPPEL_LIST_DISABLED;
    return status;
}

static bool take_with_content(void *context, uint64_t id, uint32_t distance)
{
    struct content_search *search = context;
    struct earlier earlier;
    bool there = false;
    (void)distance;
    search->seen++;
    search->status = earlier_get(search->ingest, id, &earlier, search->error);
    if (search->status || !earlier.id ||
        memcmp(&earlier.content, search->content, sizeof earlier.content) != 0)
        return !search->status;
    if (!search->first)
        search->first = id;
    search->status = is_text_there(search->ingest, &earlier, &there, search->error);
    if (there)
        search->there = id;
    return !search->status && !there;
}

/* Mostly the first will do: of what was sent a thousand times, not all are asked for. */
enum doppel_status earlier_with_content(struct ingest *ingest, const struct doppel_digest *content,
                                        bool any, uint64_t *out, struct doppel_error *error)
{
    struct content_search search = {.ingest = ingest, .content = content, .error = error};
    enum doppel_status status = doppel_library_texts_of(ingest->library, content, FIRST_CONTENTS,
                                                        take_with_content, &search, error);
    if (!status && search.seen == FIRST_CONTENTS)
        status =
            doppel_library_texts_of(ingest->library, content, 0, take_with_content, &search, error);
    *out = search.there ? search.there : any ? search.first : 0;
    return search.status ? search.status : status == DOPPEL_E_CANCELLED ? DOPPEL_OK : status;
}

/* ---- by id ---- */

enum doppel_status earlier_called(struct ingest *ingest, struct earlier *out,
                                  struct doppel_error *error)
{
    const char *name = pool_string(&ingest->batch->strings, ingest->record->id);
    uint64_t id = 0;
    *out = (struct earlier){0};
    enum doppel_status status =
        name ? doppel_library_record_called(ingest->library, name, &id, error) : DOPPEL_OK;
    return status || !id ? status : earlier_get(ingest, id, out, error);
}

/* ---- by signature ---- */

static bool take_near(void *context, uint64_t id, uint32_t distance)
{
    struct ingest *ingest = context;
    const struct near_text near = {id, distance};
    return array_push(&ingest->near, near);
}

enum doppel_status earlier_find_near(struct ingest *ingest, struct doppel_error *error)
{
    const uint16_t *lanes = ingest_lanes(ingest);
    uint64_t code[DOPPEL_TEXT_MAX_LANES / LANES_A_WORD] = {0};
    const struct doppel_text_lookup lookup = {
        .scheme =
            ingest->options.text.lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128,
        .code = code,
        .radius = ingest->options.text.lanes,
        .bands = ingest->bands,
        .rows = ingest->rows,
    };
    for (uint32_t i = 0; i < ingest->options.text.lanes; i++)
        code[i / LANES_A_WORD] |= (uint64_t)lanes[i] << 16 * (i % LANES_A_WORD);
    ingest->near.count = 0;
    enum doppel_status status =
        doppel_library_near_texts(ingest->library, &lookup, take_near, ingest, error);
    return status == DOPPEL_E_CANCELLED
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the texts near to a record")
               : status;
}

struct doppel_origin earlier_origin(struct ingest *ingest, uint64_t id)
{
    const struct leader *text;
    if (leaders_get(ingest->leaders, id, false, &text, NULL))
        return (struct doppel_origin){0};
    return (struct doppel_origin){text->source, text->date};
}
