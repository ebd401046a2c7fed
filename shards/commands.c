/* Commands to the nodes of a cluster: sent together, answered in order, and sent again where a node
 * is away or a shard has moved. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/try.h"
#include "shards/shards_internal.h"

/* ---- making ---- */

struct shards_command *commands_add(struct shards_commands *commands, uint32_t shard, size_t words)
{
    const struct shards_command command = {.shard = shard, .ask_node = NO_NODE};
    if (!array_push(&commands->list, command))
        return NULL;
    struct shards_command *added = &commands->list.items[commands->list.count - 1];
    redis_begin(&added->bytes, words);
    return added;
}

static void forget_reply(struct shards_command *command)
{
    if (command->reply)
        freeReplyObject(command->reply);
    command->reply = NULL;
}

void commands_free(struct shards_commands *commands)
{
    for (size_t i = 0; i < commands->list.count; i++) {
        doppel_json_free(&commands->list.items[i].bytes);
        forget_reply(&commands->list.items[i]);
    }
    array_free(&commands->list);
}

void command_word(struct shards_command *command, const char *word)
{
    redis_word(&command->bytes, word);
}

void command_bytes(struct shards_command *command, const void *bytes, size_t size)
{
    redis_bytes(&command->bytes, bytes, size);
}

void command_number(struct shards_command *command, uint64_t number)
{
    redis_number(&command->bytes, number);
}

void command_key(struct shards_command *command, const struct doppel_shards *shards,
                 const char *suffix)
{
    char key[512];
    snprintf(key, sizeof key, "%s:{%u}:%s", shards->addresses.name, command->shard, suffix);
    command_word(command, key);
}

/* ---- answers ---- */

uint64_t reply_number(const redisReply *reply, size_t at)
{
    return reply->type == REDIS_REPLY_ARRAY && at < reply->elements &&
                   reply->element[at]->type == REDIS_REPLY_INTEGER
               ? (uint64_t)reply->element[at]->integer
               : 0;
}

bool reply_is_error(const redisReply *reply, const char *prefix)
{
    return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, prefix, strlen(prefix)) == 0;
}

/* "MOVED 3999 127.0.0.1:6381", "ASK …": the node that is named. */
static uint32_t node_named(struct doppel_shards *shards, const char *text, uint32_t asked)
{
    const char *place = strrchr(text, ' ');
    const char *colon = place ? strrchr(place, ':') : NULL;
    if (!colon)
        return NO_NODE;
    place++;
    return colon > place ? node_at(shards, place, (size_t)(colon - place), colon + 1)
                         : node_at(shards, shards->nodes.items[asked]->host,
                                   strlen(shards->nodes.items[asked]->host), colon + 1);
}

/* What is better a moment later. */
static bool passes_away(const redisReply *reply)
{
    static const char *const errors[] = {"TRYAGAIN",   "CLUSTERDOWN", "LOADING",
                                         "MASTERDOWN", "READONLY",    "BUSY ",
                                         "UNBLOCKED",  "NOREPLICAS",  "FAILOVER"};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (reply_is_error(reply, errors[i]))
            return true;
    return false;
}

/* @return whether a moment is to pass before the command is sent again */
static bool take_reply(struct doppel_shards *shards, struct shards_command *command, uint32_t asked,
                       redisReply *reply)
{
    const bool moved = reply_is_error(reply, "MOVED "), asks = reply_is_error(reply, "ASK ");
    const bool later = passes_away(reply);
    command->ask_node = NO_NODE;
    if (!moved && !asks && !later) {
        command->reply = reply;
        return false;
    }
    if (moved) { /* the rest of the map is as old */
        const uint32_t owner = node_named(shards, reply->str, asked);
        shards->owners[command->shard] = owner != NO_NODE ? owner : shards->owners[command->shard];
    }
    if (asks)
        command->ask_node = node_named(shards, reply->str, asked);
    shards->map_is_old |= moved || later;
    freeReplyObject(reply);
    return later;
}

/* ---- one round ---- */

enum { TRY_MS = 3000, REPLICA_MS = 1000, WAITING = UINT32_MAX };

/* Nobody sends a command to a node that is not there. @return false: no memory */
static bool queue_command(struct doppel_shards *shards, struct shards_commands *commands, size_t at,
                          int64_t end_ms)
{
    struct shards_command *command = &commands->list.items[at];
    const uint32_t number =
        command->ask_node != NO_NODE
            ? command->ask_node
            : node_for(shards, command->shard, commands->reads && !commands->of_masters);
    struct doppel_error error;
    shards->map_is_old |= shards->owners[command->shard] == NO_NODE;
    if (number == NO_NODE || node_connect(shards, number, end_ms, &error))
        return true;
    struct shards_node *node = shards->nodes.items[number];
    struct doppel_json *out = &node->connection.out;
    if (command->ask_node != NO_NODE) {
        redis_begin(out, 1);
        redis_word(out, "ASKING");
    }
    doppel_json_append(out, command->bytes.bytes, command->bytes.size);
    return array_push(&node->queue, (uint32_t)at) && !command->bytes.failed;
}

/* Behind changes: how many replicas have them. */
static bool queue_waiting(struct shards_node *node)
{
    struct doppel_json *out = &node->connection.out;
    redis_begin(out, 3);
    redis_word(out, "WAIT");
    redis_number(out, 1);
    redis_number(out, REPLICA_MS);
    return array_push(&node->queue, WAITING);
}

static enum doppel_status queue_all(struct doppel_shards *shards, struct shards_commands *commands,
                                    int64_t end_ms, struct doppel_error *error)
{
    bool memory = true;
    for (size_t i = 0; i < commands->list.count && memory; i++)
        if (!commands->list.items[i].reply)
            memory = queue_command(shards, commands, i, end_ms);
    for (size_t i = 0; shards->options.durable && !commands->reads && i < shards->nodes.count; i++)
        if (shards->nodes.items[i]->queue.count)
            memory = memory && queue_waiting(shards->nodes.items[i]);
    return memory ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands");
}

static void lose_node(struct doppel_shards *shards, uint32_t number, int64_t end_ms)
{
    redis_close(&shards->nodes.items[number]->connection);
    node_failed(shards, number, end_ms);
}

static void send_queue(struct doppel_shards *shards, uint32_t number, uint32_t patience_ms)
{
    struct shards_node *node = shards->nodes.items[number];
    struct doppel_error error;
    const int64_t end_ms = monotonic_ms() + patience_ms;
    node->connection.answer_ms = patience_ms;
    if (!redis_send(&node->connection, &error))
        return;
    lose_node(shards, number, end_ms);
    node->queue.count = 0;
}

/* What no replica has is done again. */
static bool take_waited(struct shards_commands *commands, const struct shards_node *node,
                        redisReply *reply)
{
    const bool is_copied = reply->type == REDIS_REPLY_INTEGER && reply->integer > 0;
    freeReplyObject(reply);
    for (size_t i = 0; !is_copied && i < node->queue.count; i++)
        if (node->queue.items[i] != WAITING)
            forget_reply(&commands->list.items[node->queue.items[i]]);
    return !is_copied;
}

/* The answer to ASKING says nothing. */
static bool skip_answer(struct shards_node *node)
{
    redisReply *reply;
    struct doppel_error error;
    const bool here = redis_reply(&node->connection, &reply, &error) == DOPPEL_OK;
    if (here)
        freeReplyObject(reply);
    return here;
}

/* What came of a round. */
struct shards_round {
    bool any;   /* something was answered: nodes are alive */
    bool later; /* wait before the next one */
};

/* Each answer may take as long as the patience is: a node that answers is waited for. */
static void take_node_answers(struct doppel_shards *shards, struct shards_commands *commands,
                              uint32_t number, uint32_t patience_ms, struct shards_round *round)
{
    struct shards_node *node = shards->nodes.items[number];
    node->connection.answer_ms = patience_ms;
    for (size_t i = 0; i < node->queue.count; i++) {
        const uint32_t at = node->queue.items[i];
        struct shards_command *command = at == WAITING ? NULL : &commands->list.items[at];
        const bool asks = command && command->ask_node != NO_NODE;
        const int64_t end_ms = monotonic_ms() + patience_ms;
        struct doppel_error error;
        redisReply *reply = NULL;
        if ((asks && !skip_answer(node)) || redis_reply(&node->connection, &reply, &error)) {
            /* changes of this round may be on no replica */
            for (size_t j = 0; shards->options.durable && !commands->reads && j < i; j++)
                forget_reply(&commands->list.items[node->queue.items[j]]);
            lose_node(shards, number, end_ms);
            break;
        }
        round->later |= command ? take_reply(shards, command, number, reply)
                                : take_waited(commands, node, reply);
        round->any |= command && command->reply;
    }
    node->queue.count = 0;
}

/* Searches do not wait for nodes that hang once it is known that they do. */
static bool only_hanging_are_left(const struct doppel_shards *shards,
                                  const struct shards_commands *commands)
{
    for (size_t i = 0; i < commands->list.count; i++)
        if (!commands->list.items[i].reply &&
            (!commands->reads || !node_hangs(shards, commands->list.items[i].shard)))
            return false;
    return true;
}

static bool all_are_answered(const struct shards_commands *commands)
{
    for (size_t i = 0; i < commands->list.count; i++)
        if (!commands->list.items[i].reply)
            return false;
    return true;
}

static enum doppel_status run_round(struct doppel_shards *shards, struct shards_commands *commands,
                                    uint32_t patience_ms, struct shards_round *round,
                                    struct doppel_error *error)
{
    const int64_t end_ms = monotonic_ms() + patience_ms;
    const enum doppel_status status = queue_all(shards, commands, end_ms, error);
    bool sent = false;
    *round = (struct shards_round){0};
    for (uint32_t i = 0; i < shards->nodes.count; i++)
        if (shards->nodes.items[i]->queue.count)
            send_queue(shards, i, patience_ms);
    for (uint32_t i = 0; i < shards->nodes.count; i++) {
        sent |= shards->nodes.items[i]->queue.count > 0;
        take_node_answers(shards, commands, i, patience_ms, round);
    }
    round->later |= !sent; /* nobody could be asked */
    return status;
}

/* A try ends early, so that where a node hangs another one can be asked; a second search may take
 * all the time that is left. */
static uint32_t patience_of_try(const struct shards_commands *commands, uint32_t tries,
                                int64_t end_ms)
{
    const int64_t left_ms = end_ms - monotonic_ms();
    const int64_t try_ms = left_ms * 6 / 10 < TRY_MS ? left_ms * 6 / 10 : TRY_MS;
    const int64_t patience_ms = commands->reads && tries ? left_ms : try_ms;
    return patience_ms > 1 ? (uint32_t)patience_ms : 1;
}

enum doppel_status commands_run(struct doppel_shards *shards, struct shards_commands *commands,
                                uint32_t limit_ms, struct doppel_error *error)
{
    enum { MOVES = 4 }; /* that are followed at once: nodes may send in circles */
    int64_t end_ms = monotonic_ms() + limit_ms;
    uint32_t pause_ms = 10, tries = 0;
    enum doppel_status status = DOPPEL_OK;
    for (; !all_are_answered(commands) && (!tries || monotonic_ms() < end_ms); tries++) {
        struct shards_round round;
        if (shards->map_is_old)
            status = nodes_learn(shards, end_ms, error);
        if (status == DOPPEL_E_BUSY)
            return DOPPEL_OK; /* until the end nobody knows */
        TRY(status);
        TRY(run_round(shards, commands, patience_of_try(commands, tries, end_ms), &round, error));
        if (round.later && only_hanging_are_left(shards, commands))
            break;
        round.later |= tries >= MOVES;
        if (commands->reads && round.any &&
            tries < MOVES) /* those that are left have all the time again */
            end_ms = monotonic_ms() + limit_ms;
        if (doppel_run_cancelled(shards->run) || (round.later && !shards_pause(shards, pause_ms)))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "cancelled");
        pause_ms = round.later && pause_ms < 200 ? 2 * pause_ms : pause_ms;
    }
done:
    return status;
}

/* ---- changes ---- */

enum doppel_status reply_failure_of(const redisReply *reply, struct doppel_error *error)
{
    if (!reply)
        return doppel_fail(error, DOPPEL_E_BUSY, "the cluster did not answer in time");
    if (reply->type != REDIS_REPLY_ERROR)
        return DOPPEL_OK;
    if (strstr(reply->str, "no such shard"))
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "a table of the library is missing");
    if (reply_is_error(reply, "OOM") || strstr(reply->str, "OOM command not allowed"))
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "a node of the cluster has no memory left (maxmemory): add nodes, or "
                           "raise it");
    if (reply_is_error(reply, "NOPERM") || reply_is_error(reply, "NOAUTH"))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "Redis refuses: %s", reply->str);
    if (reply_is_error(reply, "ERR unknown command"))
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                           "a node of the cluster lacks the module doppel.so (loadmodule)");
    return doppel_fail(error, DOPPEL_E_IO, "Redis: %s", reply->str);
}

enum doppel_status commands_run_all(struct doppel_shards *shards, struct shards_commands *commands,
                                    struct doppel_error *error)
{
    enum doppel_status status;
    TRY(commands_run(shards, commands, shards->options.write_ms, error));
    for (size_t i = 0; i < commands->list.count; i++)
        TRY(commands->list.items[i].reply || !shards->options.durable
                ? reply_failure_of(commands->list.items[i].reply, error)
                : doppel_fail(error, DOPPEL_E_BUSY,
                              "the cluster did not answer in time, or no replica did, which "
                              "--durable waits for"));
done:
    return status;
}
