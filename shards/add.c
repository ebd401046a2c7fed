/* Items written to their shards, and taken from them. */
#include "shards/add.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/digest.h"
#include "core/try.h"

enum { UPDATE_TRIES = 64, PENDING_PAUSE_MS = 50 };

/* ---- numbers ---- */

/* Payloads of phash64 have so many bits for them. */
static const uint64_t most_items = UINT64_C(1) << 33;

/* Numbers of items that nobody else gets: so many from `*out_first` on. */
static enum doppel_status shards_take_numbers(struct doppel_shards *shards, size_t count,
                                              uint64_t *out_first, struct doppel_error *error)
{
    struct shards_commands commands = {0};
    enum doppel_status status = DOPPEL_OK;
    struct shards_command *command = commands_add(&commands, 0, 3);
    if (!command)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands");
    command_word(command, "INCRBY");
    command_key(command, shards, "numbers");
    command_number(command, count);
    TRY(commands_run_all(shards, &commands, error));
    if (commands.list.items[0].reply->type != REDIS_REPLY_INTEGER)
        TRY(doppel_fail(error, DOPPEL_E_IO, "Redis: a counter gave no number"));
    const uint64_t last = (uint64_t)commands.list.items[0].reply->integer;
    *out_first = last - count + 1;
    if (last >= most_items || last < count)
        TRY(doppel_fail(error, DOPPEL_E_LIMIT, "the library is full: it has had %llu items",
                        (unsigned long long)last));
done:
    commands_free(&commands);
    return status;
}

/* ---- what is written ---- */

void shards_written_clear(struct shards_written *written)
{
    free(written->name);
    doppel_json_free(&written->json);
    stored_item_free(&written->other);
}

void shards_written_free(struct shards_written *written, size_t count)
{
    for (size_t i = 0; written && i < count; i++)
        shards_written_clear(&written[i]);
    free(written);
}

static enum doppel_status prepare_item(const struct doppel_shards_item *item, uint64_t number,
                                       struct shards_written *out, struct doppel_error *error)
{
    struct doppel_shards_item numbered = *item;
    const char *obstacle = doppel_shards_obstacle(&item->item.record);
    enum doppel_status status;
    if (obstacle)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "%s", obstacle);
    free(out->name);
    out->name = NULL;
    TRY(item_shard_name(item, &out->name, error));
    out->id = number * DOPPEL_SHARDS + shard_of_name(out->name);
    numbered.item.id = out->id;
    doppel_json_clear(&out->json);
    TRY(item_write(&numbered, &out->json, error));
    doppel_json_append(&out->json, "", 1); /* ends it as a string */
    TRY(doppel_json_status(&out->json, error));
done:
    return status;
}

/* Numbers are given again where a node failed with the latest: what has the id may be another's. */
static bool is_as_written(const struct shards_written *written, const char *text)
{
    const char *space = *text == PENDING_MARK ? strchr(text, ' ') : NULL;
    return written->json.bytes && strcmp(space ? space + 1 : text, written->json.bytes) == 0;
}

enum doppel_status shards_take_written(const redisReply *reply, struct shards_written *out,
                                       struct doppel_error *error)
{
    const bool has_item = reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 &&
                          reply->element[1]->type == REDIS_REPLY_STRING &&
                          reply->element[2]->type == REDIS_REPLY_STRING && reply->element[2]->len;
    const uint64_t id = has_item ? strtoull(reply->element[1]->str, NULL, 10) : 0;
    out->state = WRITTEN_AGAIN;
    if (!has_item)
        return DOPPEL_OK; /* its number is another one's, or somebody changed it meanwhile */
    const redisReply *text = reply->element[2];
    out->state = id == out->id && is_as_written(out, text->str) ? WRITTEN_HERE : WRITTEN_OTHER;
    stored_item_free(&out->other);
    return item_read(id, text->str, text->len, &out->other, error);
}

static enum doppel_status write_once(struct doppel_shards *shards,
                                     const struct doppel_shards_item *const *items, bool pending,
                                     struct shards_written *written, size_t count,
                                     struct doppel_error *error)
{
    struct shards_commands commands = {0};
    struct table_codes *codes = malloc(sizeof *codes);
    uint64_t first = 0;
    enum doppel_status status = DOPPEL_OK;
    if (!codes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for items");
    TRY(shards_take_numbers(shards, count, &first, error));
    for (size_t i = 0; i < count; i++) {
        TRY(shards_make_tables(shards, items[i]->item.record.scheme, error));
        TRY(prepare_item(items[i], first + i, &written[i], error));
        table_codes_make(&items[i]->item.record, first + i, codes);
        const struct shards_change change = {.id = written[i].id,
                                             .name = written[i].name,
                                             .json = written[i].json.bytes,
                                             .pending = pending,
                                             .was = "",
                                             .after = codes};
        TRY(script_change(shards, &commands, &change, error));
    }
    TRY(commands_run_all(shards, &commands, error));
    for (size_t i = 0; i < count; i++)
        TRY(shards_take_written(commands.list.items[i].reply, &written[i], error));
done:
    commands_free(&commands);
    free(codes);
    return status;
}

enum doppel_status shards_write(struct doppel_shards *shards,
                                const struct doppel_shards_item *const *items, bool pending,
                                struct shards_written *written, size_t count,
                                struct doppel_error *error)
{
    enum doppel_status status = write_once(shards, items, pending, written, count, error);
    if (status != DOPPEL_E_NOT_FOUND)
        return status;
    shards->tables_made = 0; /* somebody emptied the cluster: they are made again */
    return write_once(shards, items, pending, written, count, error);
}

/* ---- taking away ---- */

enum doppel_status shards_take_away(struct doppel_shards *shards,
                                    const struct stored_item *const *items, size_t count,
                                    struct doppel_error *error)
{
    struct shards_commands commands = {0};
    struct table_codes *codes = malloc(sizeof *codes);
    enum doppel_status status = DOPPEL_OK;
    if (!codes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for items");
    for (size_t i = 0; i < count; i++) {
        const struct doppel_item *item = &items[i]->item.item;
        char *name;
        TRY(item_shard_name(&items[i]->item, &name, error));
        table_codes_make(&item->record, item->id / DOPPEL_SHARDS, codes);
        const struct shards_change change = {
            .id = item->id, .name = name, .was = items[i]->text, .before = codes};
        status = script_change(shards, &commands, &change, error);
        free(name);
        TRY(status);
    }
    TRY(commands_run_all(shards, &commands, error));
done:
    commands_free(&commands);
    free(codes);
    return status;
}

/* @param out_there whether it was there; DOPPEL_OK also when others have changed it */
static enum doppel_status remove_once(struct doppel_shards *shards, uint64_t id, bool *out_there,
                                      struct doppel_error *error)
{
    struct stored_items items = {0};
    uint8_t missing[SHARD_BYTES] = {0};
    enum doppel_status status;
    TRY(items_fetch(shards, &id, 1, true, &items, missing, error));
    if (any_shard(missing))
        TRY(doppel_fail(error, DOPPEL_E_BUSY, "the cluster did not answer in time"));
    const struct stored_item *item = stored_items_find(&items, id);
    *out_there = item != NULL;
    if (item)
        TRY(shards_take_away(shards, &item, 1, error));
done:
    stored_items_free(&items);
    return status;
}

/* Until it is gone: what others change meanwhile is read again. */
enum doppel_status doppel_shards_remove(struct doppel_shards *shards, uint64_t id,
                                        struct doppel_error *error)
{
    bool there = true;
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < UPDATE_TRIES; i++) {
        TRY(remove_once(shards, id, &there, error));
        if (!there && !i)
            TRY(doppel_fail(error, DOPPEL_E_NOT_FOUND, "there is no item %llu",
                            (unsigned long long)id));
        if (!there)
            return DOPPEL_OK;
    }
    status = doppel_fail(error, DOPPEL_E_BUSY, "an item is changed by others all the time");
done:
    return status;
}

/* ---- adding ---- */

bool shards_same_content(const struct doppel_record *a, const struct doppel_record *b)
{
    if (!digest_is_none(&a->digest) || !digest_is_none(&b->digest))
        return memcmp(&a->digest, &b->digest, sizeof a->digest) == 0;
    return a->scheme == b->scheme && a->fingerprint.count && b->fingerprint.count &&
           memcmp(&a->fingerprint.codes[0], &b->fingerprint.codes[0],
                  sizeof a->fingerprint.codes[0]) == 0;
}

/* In one step, under the id that is there. */
static enum doppel_status replace_item(struct doppel_shards *shards,
                                       const struct doppel_shards_item *item,
                                       struct shards_written *written, struct doppel_error *error)
{
    struct shards_commands commands = {0};
    struct table_codes *codes = malloc(2 * sizeof *codes);
    const struct doppel_item *was = &written->other.item.item;
    const uint64_t number = was->id / DOPPEL_SHARDS;
    enum doppel_status status = DOPPEL_OK;
    if (!codes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for items");
    TRY(prepare_item(item, number, written, error));
    table_codes_make(&was->record, number, &codes[0]);
    table_codes_make(&item->item.record, number, &codes[1]);
    const struct shards_change change = {.id = written->id,
                                         .name = written->name,
                                         .json = written->json.bytes,
                                         .was = written->other.text,
                                         .before = &codes[0],
                                         .after = &codes[1]};
    TRY(script_change(shards, &commands, &change, error));
    TRY(commands_run_all(shards, &commands, error));
    TRY(shards_take_written(commands.list.items[0].reply, written, error));
done:
    commands_free(&commands);
    free(codes);
    return status;
}

/* What has the name goes, or is decided about and may go; the item takes its place. */
static enum doppel_status write_in_place(struct doppel_shards *shards,
                                         const struct doppel_shards_item *item,
                                         struct shards_written *written, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < UPDATE_TRIES && written->state != WRITTEN_HERE; i++) {
        const struct stored_item *other = &written->other;
        const bool is_other = written->state == WRITTEN_OTHER;
        const bool stays = is_other && other->pending && i < UPDATE_TRIES / 2;
        if (stays && !shards_pause(shards, PENDING_PAUSE_MS))
            TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "cancelled"));
        if (is_other && !stays && other->item.item.record.scheme == item->item.record.scheme) {
            TRY(replace_item(shards, item, written, error));
            continue;
        }
        if (is_other && !stays) /* its codes lie in other tables */
            TRY(shards_take_away(shards, &other, 1, error));
        TRY(shards_write(shards, &item, false, written, 1, error));
    }
    if (written->state != WRITTEN_HERE)
        status = doppel_fail(error, DOPPEL_E_BUSY, "an item is changed by others all the time");
done:
    return status;
}

enum doppel_status shards_end_adding(struct doppel_shards *shards,
                                     const struct doppel_shards_item *item,
                                     struct shards_written *written,
                                     struct doppel_shards_added *out, struct doppel_error *error)
{
    const bool other = written->state == WRITTEN_OTHER;
    const bool same =
        other && shards_same_content(&written->other.item.item.record, &item->item.record);
    enum doppel_status status = DOPPEL_OK;
    if (same && !written->other.pending) {
        *out = (struct doppel_shards_added){DOPPEL_ADDED_UNCHANGED, written->other.item.item.id};
        return DOPPEL_OK;
    }
    if (written->state != WRITTEN_HERE)
        status = write_in_place(shards, item, written, error);
    *out = (struct doppel_shards_added){other && !same ? DOPPEL_ADDED_UPDATED : DOPPEL_ADDED_NEW,
                                        written->id};
    return status;
}

enum doppel_status doppel_shards_add(struct doppel_shards *shards,
                                     const struct doppel_shards_item *items, size_t count,
                                     struct doppel_shards_added *out, struct doppel_error *error)
{
    struct shards_written *written = calloc(count + 1, sizeof *written);
    const struct doppel_shards_item **all = calloc(count + 1, sizeof *all);
    enum doppel_status status = DOPPEL_OK;
    if (!written || !all)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for items"));
    if (count > DOPPEL_SHARDS_BATCH)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "a batch has up to %d items",
                        DOPPEL_SHARDS_BATCH));
    for (size_t i = 0; i < count; i++)
        all[i] = &items[i];
    if (count)
        TRY(shards_write(shards, all, false, written, count, error));
    for (size_t i = 0; i < count; i++)
        TRY(shards_end_adding(shards, &items[i], &written[i], &out[i], error));
done:
    shards_written_free(written, count);
    free(all);
    return status;
}
