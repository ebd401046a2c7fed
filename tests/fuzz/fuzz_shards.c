/* Any bytes as answers of the nodes of a cluster, given to all that read them: what is taken lies
 * in memory, and within its ranges. */
#include <stdlib.h>
#include <string.h>

#include "redis/reader.h"
#include "shards/add.h"
#include "shards/ask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QUERIES = 3, IDS = 4, ANSWERS = 4 };

static void check(bool good)
{
    if (!good)
        abort();
}

static void read_as_map(const redisReply *reply)
{
    struct doppel_shards shards = {.random = 1};
    check(node_at(&shards, "h", 1, "7000") == 0);
    nodes_take_map(&shards, 0, reply);
    nodes_take_map(&shards, 0, reply);
    for (uint32_t i = 0; i < DOPPEL_SHARDS; i++)
        check(shards.owners[i] == NO_NODE || shards.owners[i] < shards.nodes.count);
    for (size_t i = 0; i < shards.nodes.count; i++)
        check(shards.nodes.items[i]->master < shards.nodes.count);
    nodes_free(&shards);
}

static void read_as_hits(redisReply *reply, bool looks, bool whole_node)
{
    struct shards_ask ask = {.scheme = looks ? DOPPEL_SCHEME_PHASH64 : DOPPEL_SCHEME_PDQ,
                             .looks = looks};
    struct shards_candidates found = {0};
    const struct shards_command command = {.shard = 5, .reply = reply};
    struct doppel_error error;
    for (uint32_t i = 0; i < QUERIES; i++)
        check(array_push(&ask.queries, i));
    const enum doppel_status status = ask_take_answer(&ask, &command, whole_node, &found, &error);
    check(!status || reply->type == REDIS_REPLY_ERROR);
    for (size_t i = 0; i < found.list.count; i++)
        check(found.list.items[i].query < QUERIES);
    array_free(&found.list);
    array_free(&ask.queries);
}

static void read_as_items(struct doppel_run *run, redisReply *reply)
{
    struct doppel_shards shards = {.run = run};
    struct shards_command commands[] = {{.shard = 0, .reply = reply}, {.shard = 5, .reply = reply}};
    struct shards_commands all = {.list = {.items = commands, .count = 2}};
    const struct item_by_shard sorted[IDS + 1] = {
        {0, 0}, {0, 1024}, {0, 2048}, {5, 5}, {DOPPEL_SHARDS, 0}};
    uint8_t missing[DOPPEL_SHARDS / 8] = {0};
    struct stored_items items = {0};
    struct doppel_error error;
    check(!items_take(&shards, sorted, &all, &items, missing, &error));
    check(items.list.count <= IDS);
    for (size_t i = 0; i < items.list.count; i++)
        check(items.list.items[i].item.item.id <= 2048 && items.list.items[i].text);
    stored_items_free(&items);
}

static void read_as_written(const redisReply *reply)
{
    struct shards_written *written = calloc(1, sizeof *written);
    struct doppel_error error;
    check(written != NULL);
    written->id = 1029;
    doppel_json_append(&written->json, "{}", 3);
    const enum doppel_status status = shards_take_written(reply, written, &error);
    check(status || written->state == WRITTEN_AGAIN || written->other.text);
    shards_written_free(written, 1);
}

static void read_as_all(struct doppel_run *run, redisReply *reply)
{
    read_as_map(reply);
    for (int i = 0; i < 4; i++)
        read_as_hits(reply, i & 1, i & 2);
    read_as_items(run, reply);
    read_as_written(reply);
    for (size_t i = 0; i < 5; i++)
        (void)reply_number(reply, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct redis_limits limits;
    struct doppel_run *run;
    struct doppel_error error;
    redisReader *reader = redis_reader_new(&limits);
    void *reply = NULL;
    check(reader && !doppel_run_new(NULL, &run, &error));
    if (redis_reader_feed(reader, &limits, (const char *)data, size) == REDIS_OK)
        for (int i = 0; i < ANSWERS; i++) {
            if (redis_reader_next(reader, &limits, &reply) != REDIS_OK || !reply)
                break;
            read_as_all(run, reply);
            freeReplyObject(reply);
        }
    redisReaderFree(reader);
    doppel_run_free(run);
    return 0;
}
