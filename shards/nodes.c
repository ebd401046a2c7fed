/* The nodes of a cluster: which has what, and connections to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/try.h"
#include "shards/shards_internal.h"
#include "shards/slots.h"

enum {
    CONNECT_MS = 1000,
    REST_MS = 200,        /* before a node that failed is asked again, */
    HUNG_REST_MS = 10000, /* and one that did not answer */
    LEARN_MS = 1000,      /* for one node to say which has what */
    NODES_MOST = 4096,    /* that are heard of; a cluster has up to 1000 */
    HOST_MOST = 255
};

/* ---- time ---- */

/* Source: Marsaglia, Xorshift RNGs. */
static uint64_t next_random(struct doppel_shards *shards)
{
    uint64_t x = shards->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return shards->random = x;
}

bool shards_pause(struct doppel_shards *shards, uint32_t most_ms)
{
    const uint64_t wait_ms = most_ms / 2 + next_random(shards) % (most_ms / 2 + 1);
    const int64_t end_ms = monotonic_ms() + (int64_t)wait_ms;
    for (;;) {
        const int64_t left_ms = end_ms - monotonic_ms();
        if (doppel_run_cancelled(shards->run))
            return false;
        if (left_ms <= 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000 * (left_ms < 50 ? left_ms : 50)}, NULL);
    }
}

/* ---- the list ---- */

static void free_node(struct shards_node *node)
{
    if (!node)
        return;
    redis_end(&node->connection);
    array_free(&node->queue);
    free(node->host);
    free(node->port);
    free(node);
}

void nodes_free(struct doppel_shards *shards)
{
    for (size_t i = 0; i < shards->nodes.count; i++)
        free_node(shards->nodes.items[i]);
    array_free(&shards->nodes);
}

/* Answers name hosts and ports: what cannot be one is none. */
static bool is_named_host(const char *host, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (host[i] <= ' ' || host[i] > '~')
            return false;
    return size && size <= HOST_MOST;
}

static bool is_named_port(const char *port)
{
    const size_t digits = strspn(port, "0123456789");
    const unsigned long number = strtoul(port, NULL, 10);
    return digits && digits <= 5 && !port[digits] && number && number <= UINT16_MAX;
}

uint32_t node_at(struct doppel_shards *shards, const char *host, size_t host_size, const char *port)
{
    for (size_t i = 0; i < shards->nodes.count; i++) {
        const struct shards_node *node = shards->nodes.items[i];
        if (strlen(node->host) == host_size && memcmp(node->host, host, host_size) == 0 &&
            strcmp(node->port, port) == 0)
            return (uint32_t)i;
    }
    if (!is_named_host(host, host_size) || !is_named_port(port) ||
        shards->nodes.count >= NODES_MOST)
        return NO_NODE;
    struct shards_node *node = calloc(1, sizeof *node);
    if (!node)
        return NO_NODE;
    node->connection.fd = -1;
    node->connection.run = shards->run;
    node->connection.tls = shards->tls;
    node->host = strndup(host, host_size);
    node->port = strdup(port);
    node->master = (uint32_t)shards->nodes.count;
    if (node->host && node->port && array_push(&shards->nodes, node))
        return node->master;
    free_node(node);
    return NO_NODE;
}

/* ---- connections ---- */

static uint32_t ms_until(int64_t end_ms, uint32_t most_ms)
{
    const int64_t left_ms = end_ms - monotonic_ms();
    return left_ms < 1 ? 1 : left_ms < most_ms ? (uint32_t)left_ms : most_ms;
}

/* A replica answers for the shards of its master only where it is told to. */
static enum doppel_status allow_reading(struct redis_connection *connection,
                                        struct doppel_error *error)
{
    redisReply *reply;
    redis_begin(&connection->out, 1);
    redis_word(&connection->out, "READONLY");
    enum doppel_status status = redis_send(connection, error);
    if (!status)
        status = redis_reply(connection, &reply, error);
    if (!status)
        freeReplyObject(reply); /* a server that is no cluster refuses it */
    return status;
}

enum doppel_status node_connect(struct doppel_shards *shards, uint32_t number, int64_t end_ms,
                                struct doppel_error *error)
{
    struct shards_node *node = shards->nodes.items[number];
    struct redis_connection *connection = &node->connection;
    if (connection->fd >= 0)
        return DOPPEL_OK;
    const struct redis_address address = {
        .user = shards->addresses.user, .host = node->host, .port = node->port};
    connection->answer_ms = ms_until(end_ms, CONNECT_MS);
    const int64_t connected_ms = monotonic_ms() + connection->answer_ms;
    enum doppel_status status;
    struct doppel_error reason;
    status = redis_connect(connection, &address, shards->password, &reason);
    if (status == DOPPEL_E_ARGUMENT) /* other failures name it */
        TRY(doppel_fail(error, status, "%s:%s: %s", node->host, node->port, reason.message));
    if (status)
        TRY(doppel_fail(error, status, "%s", reason.message));
    if (shards->options.replicas)
        TRY(allow_reading(connection, error));
done:
    if (status) {
        redis_close(connection);
        node_failed(shards, number, connected_ms);
    }
    return status;
}

void node_failed(struct doppel_shards *shards, uint32_t number, int64_t end_ms)
{
    struct shards_node *node = shards->nodes.items[number];
    const int64_t now_ms = monotonic_ms();
    node->hangs = now_ms >= end_ms;
    node->rest_until_ms = now_ms + (node->hangs ? HUNG_REST_MS : REST_MS);
    shards->map_is_old = true;
}

static bool rests(const struct shards_node *node)
{
    return node->rest_until_ms > monotonic_ms();
}

static uint32_t replica_of(struct doppel_shards *shards, uint32_t master)
{
    const size_t count = shards->nodes.count, first = next_random(shards) % count;
    for (size_t i = 0; i < count; i++) {
        const size_t number = (first + i) % count;
        const struct shards_node *node = shards->nodes.items[number];
        if (node->in_map && node->master == master && number != master && !rests(node))
            return (uint32_t)number;
    }
    return NO_NODE;
}

bool node_hangs(const struct doppel_shards *shards, uint32_t shard)
{
    const uint32_t owner = shards->owners[shard];
    return owner != NO_NODE && shards->nodes.items[owner]->hangs &&
           rests(shards->nodes.items[owner]);
}

uint32_t node_for(struct doppel_shards *shards, uint32_t shard, bool reads)
{
    const uint32_t owner = shards->owners[shard];
    if (owner == NO_NODE)
        return NO_NODE;
    const uint32_t replica =
        reads && shards->options.replicas ? replica_of(shards, owner) : NO_NODE;
    return replica != NO_NODE ? replica : rests(shards->nodes.items[owner]) ? NO_NODE : owner;
}

/* ---- the map ---- */

static enum doppel_status ask_map(struct doppel_shards *shards, uint32_t number, int64_t end_ms,
                                  redisReply **out, struct doppel_error *error)
{
    struct redis_connection *connection = &shards->nodes.items[number]->connection;
    enum doppel_status status;
    int64_t answered_ms = INT64_MAX;
    TRY(node_connect(shards, number, end_ms, error));
    connection->answer_ms = ms_until(end_ms, LEARN_MS);
    answered_ms = monotonic_ms() + connection->answer_ms;
    redis_begin(&connection->out, 2);
    redis_word(&connection->out, "CLUSTER");
    redis_word(&connection->out, "SLOTS");
    TRY(redis_send(connection, error));
    TRY(redis_reply(connection, out, error));
done:
    if (status) {
        redis_close(connection);
        node_failed(shards, number, answered_ms);
    }
    return status;
}

/* [host, port, …]; where the host is not said it is the one that was asked. */
static uint32_t node_of_reply(struct doppel_shards *shards, const redisReply *reply,
                              const char *asked_host)
{
    char port[24];
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2 ||
        reply->element[1]->type != REDIS_REPLY_INTEGER)
        return NO_NODE;
    const redisReply *host = reply->element[0];
    const bool is_said = host->type == REDIS_REPLY_STRING && host->len;
    snprintf(port, sizeof port, "%lld", reply->element[1]->integer);
    return node_at(shards, is_said ? host->str : asked_host,
                   is_said ? (size_t)host->len : strlen(asked_host), port);
}

/* [first slot, last slot, its master, a replica of it, …] */
static void take_slot_range(struct doppel_shards *shards, const redisReply *range,
                            const char *asked_host, uint32_t slot_owners[REDIS_SLOTS])
{
    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3)
        return;
    const uint64_t first = reply_number(range, 0), last = reply_number(range, 1);
    const uint32_t master = node_of_reply(shards, range->element[2], asked_host);
    if (master == NO_NODE)
        return;
    for (uint64_t slot = first; slot <= last && slot < REDIS_SLOTS; slot++)
        slot_owners[slot] = master;
    for (size_t i = 2; i < range->elements; i++) {
        const uint32_t node = node_of_reply(shards, range->element[i], asked_host);
        if (node == NO_NODE)
            continue;
        shards->nodes.items[node]->in_map = true;
        shards->nodes.items[node]->master = master;
    }
}

void nodes_take_map(struct doppel_shards *shards, uint32_t asked, const redisReply *reply)
{
    static const char no_cluster[] = "ERR This instance has cluster support disabled";
    uint32_t slot_owners[REDIS_SLOTS];
    const char *host = shards->nodes.items[asked]->host;
    const uint32_t all = reply_is_error(reply, no_cluster) ? asked : NO_NODE;
    for (size_t i = 0; i < REDIS_SLOTS; i++)
        slot_owners[i] = all;
    for (size_t i = 0; i < shards->nodes.count; i++)
        shards->nodes.items[i]->in_map = i == all;
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++)
        take_slot_range(shards, reply->element[i], host, slot_owners);
    for (uint32_t shard = 0; shard < DOPPEL_SHARDS; shard++)
        shards->owners[shard] = slot_owners[slot_of_shard(shard)];
    shards->map_is_old = false;
}

static bool is_map(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY || reply_is_error(reply, "ERR This instance has");
}

/* What a node answers that gives no map. */
static enum doppel_status refuse_map(const struct shards_node *node, const redisReply *reply,
                                     struct doppel_error *error)
{
    const char *text = reply->type == REDIS_REPLY_ERROR ? reply->str : "it gives no map";
    if (reply_is_error(reply, "NOAUTH"))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s:%s asks for a password", node->host,
                           node->port);
    return doppel_fail(error, reply_is_error(reply, "NOPERM") ? DOPPEL_E_ARGUMENT : DOPPEL_E_BUSY,
                       "%s:%s: Redis: %s", node->host, node->port, text);
}

/* Of those that were in the map, then of all that were ever heard of, from a random one on.
 * @param error as it was where all rest. @return DOPPEL_OK: one has answered */
static enum doppel_status learn_once(struct doppel_shards *shards, int64_t end_ms,
                                     struct doppel_error *error)
{
    const size_t count = shards->nodes.count, first = next_random(shards) % count;
    enum doppel_status status = DOPPEL_E_BUSY;
    for (size_t i = 0; i < 2 * count && monotonic_ms() < end_ms; i++) {
        const uint32_t number = (uint32_t)((first + i) % count);
        const struct shards_node *node = shards->nodes.items[number];
        redisReply *reply = NULL;
        if (rests(node) || node->in_map == (i >= count))
            continue;
        status = ask_map(shards, number, end_ms, &reply, error);
        if (status == DOPPEL_E_ARGUMENT || status == DOPPEL_E_CANCELLED ||
            status == DOPPEL_E_MEMORY)
            return status;
        const bool knows = !status && is_map(reply);
        if (knows)
            nodes_take_map(shards, number, reply);
        else if (!status)
            status = refuse_map(node, reply, error);
        freeReplyObject(reply);
        if (knows || status == DOPPEL_E_ARGUMENT)
            return status;
    }
    return status;
}

enum doppel_status nodes_learn(struct doppel_shards *shards, int64_t end_ms,
                               struct doppel_error *error)
{
    enum { PAUSE_MS = 100 };
    (void)doppel_fail(error, DOPPEL_E_BUSY, "no node of the cluster answers");
    for (;;) {
        const enum doppel_status status = learn_once(shards, end_ms, error);
        if (status != DOPPEL_E_BUSY || monotonic_ms() >= end_ms)
            return status;
        if (!shards_pause(shards, PAUSE_MS))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "cancelled");
    }
}
