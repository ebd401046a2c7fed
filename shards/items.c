/* Items as their shards have them: one line of JSON each, as `export` writes them. */
#include "shards/items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/digest.h"
#include "core/order.h"
#include "core/try.h"
#include "exchange/model_read.h"
#include "exchange/model_write.h"
#include "shards/scripts.h"

void stored_item_free(struct stored_item *item)
{
    doppel_shards_item_free(&item->item);
    free(item->text);
    item->text = NULL;
}

void stored_items_free(struct stored_items *items)
{
    for (size_t i = 0; i < items->list.count; i++)
        stored_item_free(&items->list.items[i]);
    array_free(&items->list);
}

/* ---- names ---- */

enum doppel_status item_shard_name(const struct doppel_shards_item *item, char **out,
                                   struct doppel_error *error)
{
    const struct doppel_record *record = &item->item.record;
    const char *external = item->about.external_id;
    char code[2 * sizeof(struct doppel_code) + 64];
    char hex[2 * sizeof record->digest.bytes + 1];
    int size = -1;
    *out = NULL;
    if (external && *external) {
        size = asprintf(out, "i%s", external);
    } else if (!digest_is_none(&record->digest)) {
        doppel_hex_encode(record->digest.bytes, sizeof record->digest.bytes, hex);
        size = asprintf(out, "d%s", hex);
    } else if (record->fingerprint.count) {
        doppel_code_to_hex(&record->fingerprint.codes[0], record->fingerprint.code_bits, code);
        size = asprintf(out, "c%s:%s", doppel_scheme_by_id(record->scheme)->name, code);
    } else {
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "an item has an external id, a digest or a code");
    }
    if (size >= 0)
        return DOPPEL_OK;
    *out = NULL;
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an item");
}

/* ---- JSON ---- */

enum doppel_status item_write(const struct doppel_shards_item *item, struct doppel_json *out,
                              struct doppel_error *error)
{
    char none[] = "";
    struct exchange_item carried = {.item = item->item, .about = item->about};
    struct doppel_record *record = &carried.item.record;
    struct doppel_json pixels = {0};
    carried.item.path = carried.item.path ? carried.item.path : none;
    record->attachment = NULL; /* large, and nothing is compared by it here */
    record->attachment_size = 0;
    write_item(out, &carried);
    if (!digest_is_none(&record->pixels) && out->size) { /* exports have it in the attachment */
        char hex[2 * sizeof record->pixels.bytes + 1];
        doppel_hex_encode(record->pixels.bytes, sizeof record->pixels.bytes, hex);
        out->size--; /* the brace */
        doppel_json_append(&pixels, ",\"pixels\":\"", 11);
        doppel_json_append(&pixels, hex, strlen(hex));
        doppel_json_append(&pixels, "\"}", 2);
        doppel_json_append(out, pixels.bytes, pixels.size);
        out->failed |= pixels.failed;
        doppel_json_free(&pixels);
    }
    return doppel_json_status(out, error);
}

/* The sink of exchange's reader: takes the item over. */
static enum doppel_status keep_read_item(void *context, const struct exchange_item *carried,
                                         struct doppel_error *error)
{
    struct doppel_shards_item *out = context;
    struct exchange_item *given = (struct exchange_item *)carried;
    (void)error;
    out->item = given->item;
    out->about = given->about;
    given->item = (struct doppel_item){0};
    given->about = (struct doppel_metadata){0};
    return DOPPEL_OK;
}

static enum doppel_status read_item_text(const char *text, size_t size,
                                         struct doppel_shards_item *out, struct doppel_error *error)
{
    const struct exchange_sink sink = {.context = out, .item = keep_read_item};
    json_t *object = json_loadb(text, size, 0, NULL);
    struct fields fields = {object, error, DOPPEL_OK};
    enum doppel_status status;
    if (!json_is_object(object)) {
        json_decref(object);
        return doppel_fail(error, DOPPEL_E_CORRUPT, "it is no object in JSON");
    }
    TRY(read_item(&fields, &sink));
    field_digest(&fields, "pixels", &out->item.record.pixels);
    status = fields.status;
done:
    json_decref(object);
    return status;
}

enum doppel_status item_read(uint64_t id, const char *text, size_t size, struct stored_item *out,
                             struct doppel_error *error)
{
    struct doppel_error reason;
    *out = (struct stored_item){.pending = size && *text == PENDING_MARK};
    const char *space = out->pending ? memchr(text, ' ', size) : NULL;
    const char *json = out->pending ? (space ? space + 1 : text + size) : text;
    enum doppel_status status =
        read_item_text(json, (size_t)(text + size - json), &out->item, &reason);
    out->text = status ? NULL : strndup(text, size);
    if (!status && !out->text)
        status = doppel_fail(&reason, DOPPEL_E_MEMORY, "no memory for an item");
    out->item.item.id = id;
    if (!status)
        return DOPPEL_OK;
    stored_item_free(out);
    return doppel_fail(error, status == DOPPEL_E_MEMORY ? status : DOPPEL_E_CORRUPT,
                       "what the cluster keeps of it is damaged: %s", reason.message);
}

/* ---- fetching ---- */

static int compare_by_shard(const void *left, const void *right)
{
    const struct item_by_shard *a = left, *b = right;
    const int order = (a->shard > b->shard) - (a->shard < b->shard);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

static int compare_stored(const void *left, const void *right)
{
    const struct stored_item *a = left, *b = right;
    return (a->item.item.id > b->item.item.id) - (a->item.item.id < b->item.item.id);
}

/* One command each shard, for its items. @param sorted by shard */
static enum doppel_status ask_for_items(struct doppel_shards *shards,
                                        const struct item_by_shard *sorted, size_t count,
                                        struct shards_commands *commands,
                                        struct doppel_error *error)
{
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && sorted[end].shard == sorted[first].shard;)
            end++;
        struct shards_command *command =
            commands_add(commands, sorted[first].shard, 2 + end - first);
        if (!command)
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands");
        command_word(command, "HMGET");
        command_key(command, shards, "items");
        for (size_t i = first; i < end; i++)
            command_number(command, sorted[i].id);
    }
    return DOPPEL_OK;
}

static enum doppel_status take_stored_item(struct doppel_shards *shards, uint64_t id,
                                           const redisReply *reply, struct stored_items *out,
                                           struct doppel_error *error)
{
    struct stored_item item;
    struct doppel_error reason;
    char name[32];
    if (reply->type != REDIS_REPLY_STRING)
        return DOPPEL_OK; /* it is gone */
    const enum doppel_status status = item_read(id, reply->str, reply->len, &item, &reason);
    if (status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "%s", reason.message);
    if (status) {
        snprintf(name, sizeof name, "item %llu", (unsigned long long)id);
        doppel_run_failed(shards->run, name, &reason);
        return DOPPEL_OK;
    }
    if (array_push(&out->list, item))
        return DOPPEL_OK;
    stored_item_free(&item);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for items");
}

enum doppel_status items_take(struct doppel_shards *shards, const struct item_by_shard *sorted,
                              const struct shards_commands *commands, struct stored_items *out,
                              uint8_t missing[static SHARD_BYTES], struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    size_t at = 0;
    for (size_t i = 0; i < commands->list.count; i++) {
        const struct shards_command *command = &commands->list.items[i];
        const redisReply *reply = command->reply;
        size_t asked = 0;
        while (sorted[at + asked].shard == command->shard)
            asked++;
        const bool is_list = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == asked;
        if (!is_list)
            set_shard(missing, command->shard);
        for (size_t j = 0; is_list && j < reply->elements && !status; j++)
            status = take_stored_item(shards, sorted[at + j].id, reply->element[j], out, error);
        at += asked;
    }
    return status;
}

enum doppel_status items_fetch(struct doppel_shards *shards, const uint64_t *ids, size_t count,
                               bool of_masters, struct stored_items *out,
                               uint8_t missing[static SHARD_BYTES], struct doppel_error *error)
{
    struct shards_commands commands = {.reads = true, .of_masters = of_masters};
    struct item_by_shard *sorted = calloc(count + 1, sizeof *sorted); /* the last one ends it */
    enum doppel_status status;
    if (!sorted)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for items");
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct item_by_shard){shard_of_id(ids[i]), ids[i]};
    sorted[count].shard = DOPPEL_SHARDS;
    qsort(sorted, count, sizeof *sorted, compare_by_shard);
    TRY(ask_for_items(shards, sorted, count, &commands, error));
    TRY(commands_run(shards, &commands, shards->options.search_ms, error));
    TRY(items_take(shards, sorted, &commands, out, missing, error));
    if (out->list.count)
        qsort(out->list.items, out->list.count, sizeof *out->list.items, compare_stored);
done:
    commands_free(&commands);
    free(sorted);
    return status;
}

struct stored_item *stored_items_find(const struct stored_items *items, uint64_t id)
{
    const struct stored_item key = {.item.item.id = id};
    return items->list.count
               ? bsearch(&key, items->list.items, items->list.count, sizeof key, compare_stored)
               : NULL;
}
