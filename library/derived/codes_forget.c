/* The codes of an item whose payloads are more than its id are taken out of an index. */
#include "library/derived/codes.h"

#include "core/array.h"

struct payload_list {
    enum code_table which;
    uint64_t id;
    ARRAY(uint64_t) payloads;
};

static bool is_payload_of_item(void *context, uint64_t payload)
{
    const struct payload_list *list = context;
    const struct code_table_row *table = &code_tables[list->which];
    return (table->part == CODES_OF_RECORDING
                ? payload >> DOPPEL_CHROMAPRINT_PLACE_BITS
                : doppel_image_table_id(table->scheme, payload)) == list->id;
}

static bool list_payload(void *context, const struct doppel_index_hit *hit)
{
    struct payload_list *list = context;
    return array_push(&list->payloads, hit->payload);
}

/* Of an item that is damaged nothing tells which codes it has but the index: all are looked at. */
static enum doppel_status list_unread(struct doppel_store_index *kept, struct payload_list *list,
                                      struct doppel_error *error)
{
    static const uint64_t any[CODE_MAX_WORDS];
    const struct doppel_index_request request = {.queries = any,
                                                 .count = 1,
                                                 .radius = UINT32_MAX,
                                                 .every = true,
                                                 .filter = is_payload_of_item,
                                                 .filter_context = list};
    enum doppel_status status =
        doppel_index_search(doppel_store_index_get(kept), &request, list_payload, list, error);
    return status == DOPPEL_E_CANCELLED
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the codes of an item")
               : status;
}

static enum doppel_status list_payloads(struct doppel_library *library,
                                        struct doppel_store_index *kept, struct payload_list *list,
                                        struct doppel_error *error)
{
    struct doppel_item item;
    struct item_codes codes;
    enum doppel_status status = doppel_library_get(library, list->id, false, &item, NULL);
    if (status == DOPPEL_E_CORRUPT)
        return list_unread(kept, list, error);
    if (status)
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK
                                            : doppel_fail(error, status, "item %llu cannot be read",
                                                          (unsigned long long)list->id);
    status = codes_of_record(list->which, list->id, &item.record, &codes, error);
    for (size_t i = 0; i < codes.count && !status; i++)
        if (!array_push(&list->payloads, codes.payloads[i]))
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the codes of an item");
    item_codes_free(&codes);
    doppel_item_free(&item);
    return status;
}

enum doppel_status item_codes_forget(struct doppel_library *library,
                                     struct doppel_store_index *kept, enum code_table which,
                                     uint64_t id, struct doppel_error *error)
{
    struct payload_list list = {.which = which, .id = id};
    enum doppel_status status = list_payloads(library, kept, &list, error);
    if (!status && list.payloads.count)
        status = doppel_store_index_remove(kept, list.payloads.items, list.payloads.count, error);
    array_free(&list.payloads);
    return status;
}
