/* A library in a cluster: opened, read, counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/order.h"
#include "core/try.h"
#include "shards/items.h"
#include "shards/slots.h"

enum { SEARCH_MS = 5000, WRITE_MS = 30000, EACH_ITEMS = 512 };

/* ---- opening ---- */

static enum doppel_status copy_option(const char *text, char **out, struct doppel_error *error)
{
    *out = text ? strdup(text) : NULL;
    return text && !*out ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an address")
                         : DOPPEL_OK;
}

static enum doppel_status take_shards_options(struct doppel_shards *shards,
                                              const struct doppel_shards_options *options,
                                              struct doppel_error *error)
{
    enum doppel_status status;
    shards->options = *options;
    if (!options->search_ms)
        shards->options.search_ms = SEARCH_MS;
    if (!options->write_ms)
        shards->options.write_ms = WRITE_MS;
    TRY(copy_option(options->address, &shards->address, error));
    TRY(copy_option(options->password, &shards->password, error));
    TRY(copy_option(options->authority, &shards->authority, error));
    TRY(redis_addresses_parse(shards->address, &shards->addresses, error));
    shards->options.address = shards->address;
    shards->options.password = shards->password;
    shards->options.authority = shards->authority;
    if (shards->addresses.tls)
        TRY(redis_tls_new(shards->authority, "--library-ca", &shards->tls, error));
    for (size_t i = 0; i < shards->addresses.count; i++) {
        const char *host = shards->addresses.hosts[i];
        if (node_at(shards, host, strlen(host), shards->addresses.ports[i]) == NO_NODE)
            TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an address"));
    }
done:
    return status;
}

enum doppel_status doppel_shards_open(struct doppel_run *run,
                                      const struct doppel_shards_options *options,
                                      struct doppel_shards **out, struct doppel_error *error)
{
    struct doppel_shards *shards = calloc(1, sizeof *shards);
    enum doppel_status status;
    if (!shards)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a library");
    shards->run = run;
    shards->random = ((uint64_t)monotonic_ns() ^ (uintptr_t)shards) | 1;
    TRY(take_shards_options(shards, options, error));
    TRY(nodes_learn(shards, monotonic_ms() + shards->options.search_ms, error));
    *out = shards;
    return DOPPEL_OK;
done:
    doppel_shards_close(shards);
    return status;
}

void doppel_shards_close(struct doppel_shards *shards)
{
    if (!shards)
        return;
    nodes_free(shards);
    redis_tls_free(shards->tls);
    redis_addresses_free(&shards->addresses);
    if (shards->password)
        explicit_bzero(shards->password, strlen(shards->password));
    free(shards->address);
    free(shards->password);
    free(shards->authority);
    free(shards);
}

/* ---- items ---- */

enum doppel_status doppel_shards_get(struct doppel_shards *shards, uint64_t id,
                                     struct doppel_shards_item *out, struct doppel_error *error)
{
    struct stored_items items = {0};
    uint8_t missing[SHARD_BYTES] = {0};
    enum doppel_status status;
    TRY(items_fetch(shards, &id, 1, false, &items, missing, error));
    struct stored_item *item = stored_items_find(&items, id);
    if (item && !item->pending) {
        *out = item->item;
        item->item = (struct doppel_shards_item){0};
    } else {
        status = any_shard(missing)
                     ? doppel_fail(error, DOPPEL_E_BUSY, "the node of item %llu does not answer",
                                   (unsigned long long)id)
                     : doppel_fail(error, DOPPEL_E_NOT_FOUND, "there is no item %llu",
                                   (unsigned long long)id);
    }
done:
    stored_items_free(&items);
    return status;
}

enum doppel_status doppel_shards_get_id(struct doppel_shards *shards, const char *external_id,
                                        uint64_t *out, struct doppel_error *error)
{
    const struct doppel_shards_item named = {.about = {.external_id = (char *)external_id}};
    struct shards_commands commands = {.reads = true};
    char *name = NULL;
    enum doppel_status status;
    if (!*external_id)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "no item has an empty id");
    TRY(item_shard_name(&named, &name, error));
    struct shards_command *command = commands_add(&commands, shard_of_name(name), 3);
    if (!command)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands"));
    command_word(command, "HGET");
    command_key(command, shards, "names");
    command_word(command, name);
    TRY(commands_run(shards, &commands, shards->options.search_ms, error));
    const redisReply *reply = commands.list.items[0].reply;
    TRY(reply_failure_of(reply, error));
    if (reply->type != REDIS_REPLY_STRING)
        TRY(doppel_fail(error, DOPPEL_E_NOT_FOUND, "no item has the id %s", external_id));
    *out = strtoull(reply->str, NULL, 10);
done:
    commands_free(&commands);
    free(name);
    return status;
}

/* @param out given (free), in order */
static enum doppel_status ids_of_shard(struct doppel_shards *shards, uint32_t shard, uint64_t **out,
                                       size_t *out_count, struct doppel_error *error)
{
    struct shards_commands commands = {.reads = true};
    enum doppel_status status;
    struct shards_command *command = commands_add(&commands, shard, 2);
    if (!command)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands");
    command_word(command, "HKEYS");
    command_key(command, shards, "items");
    TRY(commands_run(shards, &commands, shards->options.search_ms, error));
    const redisReply *reply = commands.list.items[0].reply;
    TRY(reply_failure_of(reply, error));
    *out_count = 0;
    *out = calloc(reply->elements + 1, sizeof **out);
    if (!*out)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for items"));
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++)
        if (reply->element[i]->type == REDIS_REPLY_STRING) {
            const uint64_t id = strtoull(reply->element[i]->str, NULL, 10);
            (*out)[*out_count] = id;
            *out_count += shard_of_id(id) == shard;
        }
    qsort(*out, *out_count, sizeof **out, compare_u64);
done:
    commands_free(&commands);
    return status;
}

static enum doppel_status visit_items(struct doppel_shards *shards, const uint64_t *ids,
                                      size_t count, doppel_shards_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    struct stored_items items = {0};
    uint8_t missing[SHARD_BYTES] = {0};
    enum doppel_status status;
    TRY(items_fetch(shards, ids, count, false, &items, missing, error));
    if (any_shard(missing))
        TRY(doppel_fail(error, DOPPEL_E_BUSY, "a node of the cluster does not answer"));
    for (size_t i = 0; i < items.list.count; i++)
        if (!items.list.items[i].pending && !visitor(context, &items.list.items[i].item))
            TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "ended by its caller"));
done:
    stored_items_free(&items);
    return status;
}

/* A server without the module has no items, which is not to be told as an empty library. */
static enum doppel_status ask_for_module(const struct doppel_shards *shards,
                                         struct shards_commands *commands,
                                         struct doppel_error *error)
{
    struct shards_command *command = commands_add(commands, 0, 2);
    if (!command)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands");
    command_word(command, "DOPPEL.INFO");
    command_key(command, shards, "digests");
    return DOPPEL_OK;
}

static enum doppel_status check_module(const redisReply *reply, struct doppel_error *error)
{
    const enum doppel_status status = reply_failure_of(reply, error);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status; /* nothing was added yet */
}

/* How many each shard has. */
static enum doppel_status count_shards_items(struct doppel_shards *shards,
                                             uint64_t out[static DOPPEL_SHARDS],
                                             struct doppel_error *error)
{
    struct shards_commands commands = {.reads = true};
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t shard = 0; shard < DOPPEL_SHARDS; shard++) {
        struct shards_command *command = commands_add(&commands, shard, 2);
        if (!command)
            TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands"));
        command_word(command, "HLEN");
        command_key(command, shards, "items");
    }
    TRY(ask_for_module(shards, &commands, error));
    TRY(commands_run(shards, &commands, shards->options.search_ms, error));
    TRY(check_module(commands.list.items[DOPPEL_SHARDS].reply, error));
    for (size_t i = 0; i < DOPPEL_SHARDS; i++) {
        const redisReply *reply = commands.list.items[i].reply;
        TRY(reply_failure_of(reply, error));
        out[i] = reply->type == REDIS_REPLY_INTEGER ? (uint64_t)reply->integer : 0;
    }
done:
    commands_free(&commands);
    return status;
}

enum doppel_status doppel_shards_each(struct doppel_shards *shards, doppel_shards_visitor *visitor,
                                      void *context, struct doppel_error *error)
{
    uint64_t counts[DOPPEL_SHARDS];
    enum doppel_status status = count_shards_items(shards, counts, error);
    for (uint32_t shard = 0; shard < DOPPEL_SHARDS && !status; shard++) {
        uint64_t *ids = NULL;
        size_t count = 0;
        if (!counts[shard])
            continue;
        status = ids_of_shard(shards, shard, &ids, &count, error);
        for (size_t at = 0; at < count && !status; at += EACH_ITEMS)
            status =
                visit_items(shards, ids + at, count - at < EACH_ITEMS ? count - at : EACH_ITEMS,
                            visitor, context, error);
        free(ids);
    }
    return status;
}

/* ---- nodes ---- */

bool doppel_shards_node_of(const struct doppel_shards *shards, uint32_t shard,
                           char out[DOPPEL_SHARDS_NODE_BYTES])
{
    out[0] = '\0';
    if (shard >= DOPPEL_SHARDS || shards->owners[shard] == NO_NODE)
        return false;
    const struct shards_node *node = shards->nodes.items[shards->owners[shard]];
    snprintf(out, DOPPEL_SHARDS_NODE_BYTES, "%s:%s", node->host, node->port);
    return true;
}

/* ---- counts ---- */

enum doppel_status doppel_shards_get_stats(struct doppel_shards *shards,
                                           struct doppel_shards_stats *out,
                                           struct doppel_error *error)
{
    uint64_t counts[DOPPEL_SHARDS];
    const enum doppel_status status = count_shards_items(shards, counts, error);
    if (status)
        return status;
    *out = (struct doppel_shards_stats){0};
    for (uint32_t shard = 0; shard < DOPPEL_SHARDS; shard++)
        out->items += counts[shard];
    for (uint32_t i = 0; i < shards->nodes.count; i++) {
        const struct shards_node *node = shards->nodes.items[i];
        out->nodes += node->in_map && node->master == i;
        out->replicas += node->in_map && node->master != i;
    }
    return DOPPEL_OK;
}
