/* Codes of queries, asked of all shards. */
#include "shards/ask.h"

#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/try.h"

enum { NODE_ROUNDS = 3 };

/* ---- what is asked ---- */

void asks_free(struct shards_asks *asks)
{
    for (size_t i = 0; i < asks->list.count; i++) {
        doppel_json_free(&asks->list.items[i].bytes);
        array_free(&asks->list.items[i].queries);
        array_free(&asks->list.items[i].sizes);
    }
    array_free(&asks->list);
}

/* The last one of a table that has room for more. NULL: no memory */
static struct shards_ask *ask_with_room(struct shards_asks *asks, const struct shards_ask *wanted)
{
    const size_t most = wanted->looks ? ASK_QUESTIONS : ASK_CODES;
    for (size_t i = asks->list.count; i-- > 0;) {
        struct shards_ask *ask = &asks->list.items[i];
        if (ask->table == wanted->table && ask->scheme == wanted->scheme &&
            ask->radius == wanted->radius)
            return ask->queries.count < most          ? ask
                   : array_push(&asks->list, *wanted) ? &asks->list.items[asks->list.count - 1]
                                                      : NULL;
    }
    return array_push(&asks->list, *wanted) ? &asks->list.items[asks->list.count - 1] : NULL;
}

static bool put_asked(struct shards_asks *asks, const struct shards_ask *wanted, uint32_t number,
                      const void *bytes, size_t size)
{
    struct shards_ask *ask = ask_with_room(asks, wanted);
    if (!ask)
        return false;
    doppel_json_append(&ask->bytes, bytes, size);
    return !ask->bytes.failed && array_push(&ask->queries, number) &&
           (!ask->looks || array_push(&ask->sizes, (uint32_t)size));
}

static bool ask_digests(struct shards_asks *asks, const struct doppel_record *record,
                        uint32_t number)
{
    const struct shards_ask wanted = {.table = TABLE_DIGESTS};
    return (digest_is_none(&record->digest) ||
            put_asked(asks, &wanted, number, &record->digest, sizeof record->digest)) &&
           (digest_is_none(&record->pixels) ||
            put_asked(asks, &wanted, number, &record->pixels, sizeof record->pixels));
}

static bool ask_views(struct shards_asks *asks, const struct doppel_record *record,
                      const struct doppel_match_options *options, uint32_t number)
{
    const struct shards_ask wanted = {
        .scheme = record->scheme, .table = TABLE_CODES, .looks = true};
    uint8_t question[DOPPEL_IMAGE_QUESTION_BYTES];
    const size_t size = doppel_image_question_pack(&record->fingerprint, options, question);
    return !size || put_asked(asks, &wanted, number, question, size);
}

static bool ask_codes(struct shards_asks *asks, const struct doppel_match_item *query,
                      const struct doppel_match_options *options, uint32_t number)
{
    struct shards_ask wanted = {.scheme = query->fingerprint->scheme, .table = TABLE_CODES};
    uint64_t codes[DOPPEL_IMAGE_TABLE_WORDS];
    const size_t words = doppel_scheme_by_id(wanted.scheme)->code_bits / 64;
    const size_t count = doppel_image_lookups(query, options, codes, &wanted.radius);
    bool memory = true;
    for (size_t i = 0; i < count && memory; i++)
        memory = put_asked(asks, &wanted, number, codes + i * words, words * sizeof *codes);
    return memory;
}

static bool ask_full(struct shards_asks *asks, const struct doppel_match_item *query,
                     const struct doppel_match_options *options, uint32_t number)
{
    struct shards_ask wanted = {.scheme = query->fingerprint->scheme, .table = TABLE_FULL};
    uint64_t code[4];
    return !doppel_image_full_lookup(query, options, code, &wanted.radius) ||
           put_asked(asks, &wanted, number, code, sizeof code);
}

enum doppel_status asks_add(struct shards_asks *asks, const struct doppel_record *record,
                            const struct doppel_match_options *options, uint32_t number,
                            struct doppel_error *error)
{
    const struct doppel_match_item query = {&record->fingerprint, record->quality};
    bool memory = ask_digests(asks, record, number);
    if (record->kind == DOPPEL_KIND_IMAGE && record->fingerprint.count) {
        if (record->quality >= DOPPEL_IMAGE_MIN_QUALITY)
            memory = memory && (record->scheme == DOPPEL_SCHEME_PHASH64
                                    ? ask_views(asks, record, options, number)
                                    : ask_codes(asks, &query, options, number));
        memory = memory && ask_full(asks, &query, options, number);
    }
    return memory ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a search");
}

/* ---- asking ---- */

static enum doppel_status ask_shard(const struct doppel_shards *shards,
                                    const struct shards_ask *ask, uint32_t shard, bool whole_node,
                                    struct shards_commands *commands, struct doppel_error *error)
{
    char suffix[64];
    const size_t words = ask->looks ? 2 + ask->sizes.count : 6;
    struct shards_command *command = commands_add(commands, shard, words + whole_node);
    if (!command)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands");
    table_suffix(ask->scheme, ask->table, suffix);
    command_word(command, ask->looks ? "DOPPEL.LOOK" : "DOPPEL.SEARCH");
    command_key(command, shards, suffix);
    if (!ask->looks) {
        command_word(command, "RADIUS");
        command_number(command, ask->radius);
    }
    if (whole_node)
        command_word(command, "NODE");
    if (!ask->looks) {
        command_word(command, "PACKED");
        command_bytes(command, ask->bytes.bytes, ask->bytes.size);
    }
    for (size_t i = 0, at = 0; ask->looks && i < ask->sizes.count; at += ask->sizes.items[i++])
        command_bytes(command, ask->bytes.bytes + at, ask->sizes.items[i]);
    return doppel_json_status(&command->bytes, error);
}

/* A shard of each node that has some which were not searched. */
static enum doppel_status ask_nodes(const struct doppel_shards *shards,
                                    const struct shards_ask *ask, struct shards_commands *commands,
                                    struct doppel_error *error)
{
    bool *asked = calloc(shards->nodes.count + 1, sizeof *asked);
    enum doppel_status status = DOPPEL_OK;
    if (!asked)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands");
    for (uint32_t shard = 0; shard < DOPPEL_SHARDS && !status; shard++) {
        const uint32_t owner = shards->owners[shard];
        const size_t place = owner < shards->nodes.count ? owner : shards->nodes.count;
        if (asked[place] || has_shard(ask->searched, shard))
            continue;
        asked[place] = true;
        status = ask_shard(shards, ask, shard, true, commands, error);
    }
    free(asked);
    return status;
}

static enum doppel_status ask_each_shard(const struct doppel_shards *shards,
                                         const struct shards_ask *ask,
                                         struct shards_commands *commands,
                                         struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t shard = 0; shard < DOPPEL_SHARDS && !status; shard++)
        if (!has_shard(ask->searched, shard))
            status = ask_shard(shards, ask, shard, false, commands, error);
    return status;
}

/* ---- answers ---- */

/* Which numbers of an answer are what, of one hit. */
struct hit_layout {
    size_t each, payload, shard; /* shard 0: it is that of the command */
};

static struct hit_layout layout_of(const struct shards_ask *ask, bool whole_node)
{
    return ask->looks ? (struct hit_layout){2 + whole_node, 1, whole_node ? 2 : 0}
                      : (struct hit_layout){3 + whole_node, 1, whole_node ? 3 : 0};
}

static void take_table_hits(const struct shards_ask *ask, const redisReply *hits,
                            const struct hit_layout *layout, uint32_t shard,
                            struct shards_candidates *out)
{
    for (size_t at = 0; at + layout->each <= hits->elements; at += layout->each) {
        const uint64_t asked = reply_number(hits, at);
        const uint64_t payload = reply_number(hits, at + layout->payload);
        const uint64_t from = layout->shard ? reply_number(hits, at + layout->shard) : shard;
        const uint64_t number = ask->looks || ask->table == TABLE_DIGESTS
                                    ? payload
                                    : doppel_image_table_id(ask->scheme, payload);
        if (asked >= ask->queries.count || from >= DOPPEL_SHARDS)
            continue;
        const struct shards_candidate one = {ask->queries.items[asked],
                                             number * DOPPEL_SHARDS + from};
        out->no_memory |= !array_push(&out->list, one);
    }
}

static void note_searched(struct shards_ask *ask, const redisReply *bits)
{
    for (size_t i = 0; i < (size_t)bits->len && i < sizeof ask->searched; i++)
        ask->searched[i] |= (uint8_t)bits->str[i];
}

/* Numbers, so many a hit. */
static bool are_hits(const redisReply *reply, const struct hit_layout *layout)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements % layout->each)
        return false;
    for (size_t i = 0; i < reply->elements; i++)
        if (reply->element[i]->type != REDIS_REPLY_INTEGER)
            return false;
    return true;
}

enum doppel_status ask_take_answer(struct shards_ask *ask, const struct shards_command *command,
                                   bool whole_node, struct shards_candidates *out,
                                   struct doppel_error *error)
{
    const redisReply *reply = command->reply;
    const struct hit_layout layout = layout_of(ask, whole_node);
    if (!reply)
        return DOPPEL_OK; /* it stays not searched */
    if (reply->type == REDIS_REPLY_ERROR && strstr(reply->str, "no such shard")) {
        if (!whole_node)
            set_shard(ask->searched, command->shard); /* nothing is in it */
        return DOPPEL_OK;
    }
    if (reply->type == REDIS_REPLY_ERROR)
        return reply_failure_of(reply, error);
    if (!whole_node && are_hits(reply, &layout)) {
        take_table_hits(ask, reply, &layout, command->shard, out);
        set_shard(ask->searched, command->shard);
    } else if (whole_node && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
               reply->element[0]->type == REDIS_REPLY_STRING &&
               are_hits(reply->element[1], &layout)) {
        note_searched(ask, reply->element[0]);
        take_table_hits(ask, reply->element[1], &layout, command->shard, out);
    }
    return out->no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for candidates")
                          : DOPPEL_OK;
}

/* ---- all of it ---- */

struct ask_round {
    bool of_masters;
    bool nodes;  /* these are asked; else each shard that is left */
    bool silent; /* a node did not answer: to ask again would take as long */
};

static enum doppel_status ask_once(struct doppel_shards *shards, struct shards_asks *asks,
                                   struct ask_round *round, struct shards_candidates *out,
                                   struct doppel_error *error)
{
    struct shards_commands commands = {.reads = true, .of_masters = round->of_masters};
    size_t *ends = calloc(asks->list.count + 1, sizeof *ends);
    enum doppel_status status = DOPPEL_OK;
    if (!ends)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for commands");
    for (size_t i = 0; i < asks->list.count; i++) {
        TRY((round->nodes ? ask_nodes : ask_each_shard)(shards, &asks->list.items[i], &commands,
                                                        error));
        ends[i] = commands.list.count;
    }
    TRY(commands_run(shards, &commands, shards->options.search_ms, error));
    for (size_t i = 0, at = 0; i < commands.list.count; i++) {
        while (i >= ends[at])
            at++;
        round->silent |= !commands.list.items[i].reply;
        TRY(ask_take_answer(&asks->list.items[at], &commands.list.items[i], round->nodes, out,
                            error));
    }
done:
    free(ends);
    commands_free(&commands);
    return status;
}

/* Shards that were not asked all. */
static void find_missing(const struct shards_asks *asks, uint8_t missing[static SHARD_BYTES])
{
    for (size_t i = 0; i < asks->list.count; i++)
        for (size_t j = 0; j < SHARD_BYTES; j++)
            missing[j] |= (uint8_t)~asks->list.items[i].searched[j];
}

static bool any_is_missing(const struct shards_asks *asks)
{
    uint8_t missing[SHARD_BYTES] = {0};
    find_missing(asks, missing);
    return any_shard(missing);
}

static int compare_candidates(const void *left, const void *right)
{
    const struct shards_candidate *a = left, *b = right;
    const int order = (a->query > b->query) - (a->query < b->query);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

static void sort_candidates(struct shards_candidates *out)
{
    size_t count = 0;
    if (out->list.count)
        qsort(out->list.items, out->list.count, sizeof *out->list.items, compare_candidates);
    for (size_t i = 0; i < out->list.count; i++)
        if (!i || compare_candidates(&out->list.items[i], &out->list.items[i - 1]) != 0)
            out->list.items[count++] = out->list.items[i];
    out->list.count = count;
}

enum doppel_status asks_run(struct doppel_shards *shards, struct shards_asks *asks, bool of_masters,
                            struct shards_candidates *out, uint8_t missing[static SHARD_BYTES],
                            struct doppel_error *error)
{
    struct ask_round round = {.of_masters = of_masters};
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i <= NODE_ROUNDS && !status && !round.silent && any_is_missing(asks); i++) {
        round.nodes = i < NODE_ROUNDS;
        /* of a shard that is on its way, or has not come yet, a replica says that there is none */
        round.of_masters |= !round.nodes;
        status = ask_once(shards, asks, &round, out, error);
    }
    find_missing(asks, missing);
    sort_candidates(out);
    return status;
}
