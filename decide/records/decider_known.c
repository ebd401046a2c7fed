/* What a decider knows of the records before. */
#include "decide/records/decider_internal.h"

#include <stdlib.h>
#include <string.h>

enum doppel_status decider_new(const struct decider_host *host, enum doppel_same_id on_same_id,
                               struct decider **out, struct doppel_error *error)
{
    struct decider *decider = calloc(1, sizeof *decider);
    if (!decider)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to decide of records");
    decider->host = *host;
    decider->on_same_id = on_same_id;
    *out = decider;
    return DOPPEL_OK;
}

void decider_free(struct decider *decider)
{
    if (!decider)
        return;
    array_free(&decider->contents);
    array_free(&decider->ids);
    array_free(&decider->leaders);
    array_free(&decider->flags);
    array_free(&decider->apart);
    number_map_free(&decider->by_content);
    number_map_free(&decider->by_id);
    free(decider);
}

bool decider_leads(const struct decider *decider, uint32_t number)
{
    return (decider->flags.items[number] & FLAG_LEADS) != 0;
}

uint32_t decider_leader(const struct decider *decider, uint32_t number)
{
    return decider->leaders.items[number];
}

/* ---- what is known ---- */

struct doppel_digest decider_id_digest(const char *id)
{
    return id ? doppel_digest_bytes(id, strlen(id)) : (struct doppel_digest){0};
}

enum doppel_status decider_push(struct decider *decider, const char *id,
                                const struct doppel_digest *content, struct doppel_error *error)
{
    struct doppel_digest digest = decider_id_digest(id);
    if (decider->count >= NO_NUMBER - 1)
        return doppel_fail(error, DOPPEL_E_LIMIT, "more than 2^32 records");
    uint32_t number = (uint32_t)decider->count;
    decider->contents.count = decider->ids.count = number;
    decider->leaders.count = decider->flags.count = number;
    if (!array_push(&decider->contents, *content) || !array_push(&decider->ids, digest) ||
        !array_push(&decider->leaders, number) || !array_push(&decider->flags, 0))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for another record");
    decider->count++;
    return DOPPEL_OK;
}

enum doppel_list_state decider_state_of(const struct decider *decider, uint32_t earlier)
{
    const struct decider_host *host = &decider->host;
    return host->state ? host->state(host->context, earlier) : DOPPEL_LIST_ACTIVE;
}

uint32_t decider_find(const struct decider *decider, const struct doppel_digest *content)
{
    return number_map_find(&decider->by_content, decider->contents.items, content);
}

uint32_t decider_find_content(const struct decider *decider, const struct doppel_digest *content)
{
    uint32_t earlier = decider_find(decider, content);
    if (earlier == NO_NUMBER)
        return earlier;
    uint32_t leader = decider->leaders.items[earlier];
    bool gone = decider->flags.items[leader] & FLAG_REPLACED ||
                decider_state_of(decider, earlier) == DOPPEL_LIST_DISABLED;
    return gone ? (uint32_t)NO_NUMBER : earlier;
}

uint32_t decider_find_id(const struct decider *decider, const struct doppel_digest *digest,
                         const char *id)
{
    return id ? number_map_find(&decider->by_id, decider->ids.items, digest) : (uint32_t)NO_NUMBER;
}

void decider_replace(struct decider *decider, uint32_t number)
{
    decider->flags.items[number] = FLAG_REPLACED;
}

enum doppel_status decider_remember(struct decider *decider, uint32_t number, const char *id,
                                    struct doppel_error *error)
{
    const struct doppel_digest *contents = decider->contents.items, *ids = decider->ids.items;
    bool first = decider_find_content(decider, &contents[number]) == NO_NUMBER;
    if ((first && !number_map_put(&decider->by_content, contents, number)) ||
        (id && !number_map_put(&decider->by_id, ids, number)))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for another record");
    return DOPPEL_OK;
}

enum doppel_status decider_restore(struct decider *decider, const struct decider_past *past,
                                   uint32_t *out_number, struct doppel_error *error)
{
    enum doppel_status status = decider_push(decider, past->id, &past->content, error);
    if (status)
        return status;
    uint32_t number = (uint32_t)decider->count - 1;
    uint32_t former = decider_find_id(decider, &decider->ids.items[number], past->id);
    if (former != NO_NUMBER)
        decider_replace(decider, former);
    status = decider_remember(decider, number, past->id, error);
    if (status)
        return status;
    if (past->leader != NO_NUMBER)
        decider->leaders.items[number] = past->leader;
    decider->flags.items[number] = past->leads ? FLAG_LEADS : 0;
    if (out_number)
        *out_number = number;
    return DOPPEL_OK;
}

void decider_regroup(struct decider *decider, uint32_t number, uint32_t leader, bool leads)
{
    uint8_t *flags = &decider->flags.items[number];
    decider->leaders.items[number] = leader;
    *flags = (uint8_t)((*flags & ~FLAG_LEADS) | (leads ? FLAG_LEADS : 0));
}
