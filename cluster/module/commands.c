/* Commands on a shard: made, added to, removed from, told of. */
#include "cluster/module/commands.h"

#include <stdio.h>
#include <string.h>

#include "cluster/module/arguments.h"
#include "cluster/module/shard_type.h"
#include "core/try.h"

enum { PAYLOADS_A_CALL_MOST = 1 << 24 };
static const uint64_t payload_most = (UINT64_C(1) << NODE_PAYLOAD_BITS) - 1;

int reply_failure(struct RedisModuleCtx *context, const char *sentence)
{
    char text[600];
    snprintf(text, sizeof text, "ERR %s", sentence);
    return redis.ReplyWithError(context, text);
}

int reply_error_of(struct RedisModuleCtx *context, const struct doppel_error *error)
{
    return reply_failure(context, error->message);
}

struct shard *open_shard(struct RedisModuleCtx *context, struct RedisModuleString *name, int mode,
                         struct RedisModuleKey **out_key)
{
    struct RedisModuleKey *key = redis.OpenKey(context, name, mode);
    struct shard *shard = key ? shard_of_key(key) : NULL;
    if (shard) {
        *out_key = key;
        return shard;
    }
    if (!key || redis.KeyType(key) == REDIS_KEY_EMPTY)
        reply_failure(context, "no such shard: make it with DOPPEL.CREATE");
    else
        redis.ReplyWithError(context,
                             "WRONGTYPE Operation against a key holding the wrong kind of value");
    if (key)
        redis.CloseKey(key);
    return NULL;
}

/* ---- create ---- */

static bool take_u32(struct arguments *arguments, const char *word, uint64_t least, uint64_t most,
                     uint32_t *out, bool *good)
{
    uint64_t number;
    if (!*good || !arguments_take_word(arguments, word))
        return false;
    *good = arguments_take_number(arguments, least, most, &number);
    if (*good)
        *out = (uint32_t)number;
    return *good;
}

static bool take_family(struct arguments *arguments, struct node_family_options *options,
                        bool *good)
{
    size_t size = 0;
    if (!*good || !arguments_take_word(arguments, "FAMILY"))
        return false;
    const char *name = arguments_take(arguments, &size);
    *good = name && size <= NODE_FAMILY_NAME_MOST && !memchr(name, 0, size);
    if (*good)
        memcpy(options->name, name, size);
    return *good;
}

static bool take_table_option(struct arguments *arguments, struct node_family_options *options,
                              bool *good)
{
    struct doppel_index_options *index = &options->index;
    switch (index->table) {
    case DOPPEL_INDEX_HAMMING:
        return take_u32(arguments, "BITS", 32, 256, &index->bits, good) ||
               take_u32(arguments, "RADIUS", 0, 256, &index->design_radius, good) ||
               take_u32(arguments, "LOW", 0, NODE_LOW_MOST, &options->low, good);
    case DOPPEL_INDEX_BANDS:
        return take_u32(arguments, "LANES", 4, 1024, &index->lanes, good) ||
               take_u32(arguments, "BANDS", 1, 1024, &index->bands, good) ||
               take_u32(arguments, "ROWS", 1, 1024, &index->rows, good);
    default:
        return take_u32(arguments, "BITS", 1, 32, &index->key_bits, good);
    }
}

/* @return false: the arguments are wrong */
static bool take_options(struct arguments *arguments, struct node_family_options *options,
                         uint32_t *number)
{
    struct doppel_index_options *index = &options->index;
    bool good = true;
    *options = (struct node_family_options){.index = doppel_index_options_default()};
    *number = 0;
    if (!arguments_take_word(arguments, "TABLE"))
        return false;
    if (arguments_take_word(arguments, "BANDS"))
        index->table = DOPPEL_INDEX_BANDS;
    else if (arguments_take_word(arguments, "POSTINGS"))
        index->table = DOPPEL_INDEX_POSTINGS;
    else if (!arguments_take_word(arguments, "HAMMING"))
        return false;
    while (good && arguments_left(arguments)) {
        const bool taken = take_family(arguments, options, &good) ||
                           take_u32(arguments, "SHARD", 0, NODE_SHARDS_MOST - 1, number, &good) ||
                           take_table_option(arguments, options, &good);
        good = good && taken;
    }
    return good;
}

static bool is_made_so(const struct shard *shard, const struct node_family_options *options,
                       uint32_t number)
{
    const struct doppel_index_options *a = &shard->options.index, *b = &options->index;
    return shard->number == number && strcmp(shard->options.name, options->name) == 0 &&
           shard->options.low == options->low && a->table == b->table && a->bits == b->bits &&
           a->design_radius == b->design_radius && a->lanes == b->lanes && a->bands == b->bands &&
           a->rows == b->rows;
}

static int create_in_key(struct RedisModuleCtx *context, struct RedisModuleKey *key,
                         const struct node_family_options *options, uint32_t number)
{
    struct shard *shard = shard_of_key(key);
    struct doppel_error error;
    if (redis.KeyType(key) != REDIS_KEY_EMPTY)
        return shard && is_made_so(shard, options, number)
                   ? redis.ReplyWithSimpleString(context, "OK")
                   : reply_failure(context, "the key is there, and is not such a shard");
    if (shard_new(shard_host.node, options, number, &shard, &error))
        return reply_error_of(context, &error);
    redis.ModuleTypeSetValue(key, shard_host.type, shard);
    redis.ReplicateVerbatim(context);
    return redis.ReplyWithSimpleString(context, "OK");
}

int command_create(struct RedisModuleCtx *context, struct RedisModuleString **strings, int count)
{
    struct arguments arguments = {strings, count, 2};
    struct node_family_options options;
    uint32_t number;
    if (count < 4)
        return redis.WrongArity(context);
    if (redis.GetSelectedDb(context) != 0)
        return reply_failure(context, "shards are kept in database 0");
    if (!take_options(&arguments, &options, &number))
        return reply_failure(
            context, "wanted: key TABLE HAMMING [BITS n] [RADIUS n] [LOW n], key TABLE BANDS "
                     "[LANES n] [BANDS n] [ROWS n], or key TABLE POSTINGS [BITS n]; and "
                     "[FAMILY name] [SHARD n]");
    struct RedisModuleKey *key = redis.OpenKey(context, strings[1], REDIS_READ | REDIS_WRITE);
    create_in_key(context, key, &options, number);
    redis.CloseKey(key);
    return REDIS_OK;
}

/* ---- add ---- */

/* What a command adds, in Redis' memory. */
struct shard_addition {
    uint64_t *payloads, *codes; /* one piece of memory */
    size_t count;
};

size_t count_packed(const struct shard *shard, size_t size, size_t words_more)
{
    const size_t each = (shard->words + words_more) * sizeof(uint64_t);
    return size % each ? 0 : size / each;
}

static bool make_addition(const struct shard *shard, size_t count, struct shard_addition *out)
{
    if (!count || count > PAYLOADS_A_CALL_MOST)
        return false;
    out->payloads = redis.Alloc(count * (shard->words + 1) * sizeof *out->payloads);
    out->codes = out->payloads + count;
    out->count = count;
    return true;
}

static bool read_packed(const struct shard *shard, struct arguments *arguments,
                        struct shard_addition *out)
{
    size_t size = 0;
    const char *bytes = arguments_take(arguments, &size);
    if (!bytes || arguments_left(arguments) ||
        !make_addition(shard, count_packed(shard, size, 1), out))
        return false;
    memcpy(out->payloads, bytes, size);
    for (size_t i = 0; i < out->count; i++)
        if (out->payloads[i] > payload_most)
            return false;
    return shard_takes_codes(shard, out->codes, out->count);
}

static bool read_pairs(const struct shard *shard, struct arguments *arguments,
                       struct shard_addition *out)
{
    if (arguments_left(arguments) % 2 ||
        !make_addition(shard, (size_t)arguments_left(arguments) / 2, out))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        size_t size = 0;
        if (!arguments_take_number(arguments, 0, payload_most, &out->payloads[i]))
            return false;
        const char *code = arguments_take(arguments, &size);
        if (!shard_parse_code(shard, code, size, out->codes + i * shard->words))
            return false;
    }
    return true;
}

static enum doppel_status add_addition(struct shard *shard, const struct shard_addition *addition,
                                       bool replaces, struct doppel_error *error)
{
    enum doppel_status status;
    size_t removed;
    uint64_t *payloads = NULL;
    if (replaces) {
        payloads = redis.Alloc(addition->count * sizeof *payloads);
        memcpy(payloads, addition->payloads, addition->count * sizeof *payloads);
        TRY(shard_remove(shard, payloads, addition->count, &removed, error));
    }
    TRY(shard_add(shard, addition->codes, addition->payloads, addition->count, error));
done:
    redis.Free(payloads);
    return status;
}

int command_add(struct RedisModuleCtx *context, struct RedisModuleString **strings, int count)
{
    struct arguments arguments = {strings, count, 2};
    struct shard_addition addition = {0};
    struct doppel_error error;
    struct RedisModuleKey *key;
    if (count < 4)
        return redis.WrongArity(context);
    struct shard *shard = open_shard(context, strings[1], REDIS_READ | REDIS_WRITE, &key);
    if (!shard)
        return REDIS_OK;
    const bool replaces = arguments_take_word(&arguments, "REPLACE");
    const bool good = arguments_take_word(&arguments, "PACKED")
                          ? read_packed(shard, &arguments, &addition)
                          : read_pairs(shard, &arguments, &addition);
    if (!good) {
        reply_failure(context, "wanted: payloads below 2^50, each with a code of the table's width "
                               "in bytes or hexadecimal digits; or PACKED and all of them; of "
                               "postings keys within their bits at positions below 2^31");
    } else if (add_addition(shard, &addition, replaces, &error)) {
        reply_error_of(context, &error);
    } else {
        redis.ReplicateVerbatim(context);
        redis.ReplyWithLongLong(context, (long long)addition.count);
    }
    redis.Free(addition.payloads);
    redis.CloseKey(key);
    return REDIS_OK;
}

/* ---- remove ---- */

int command_remove(struct RedisModuleCtx *context, struct RedisModuleString **strings, int count)
{
    struct arguments arguments = {strings, count, 2};
    struct doppel_error error;
    struct RedisModuleKey *key;
    size_t removed = 0, i = 0;
    if (count < 3)
        return redis.WrongArity(context);
    struct shard *shard = open_shard(context, strings[1], REDIS_READ | REDIS_WRITE, &key);
    if (!shard)
        return REDIS_OK;
    const size_t all = (size_t)arguments_left(&arguments);
    uint64_t *payloads = redis.Alloc(all * sizeof *payloads);
    while (i < all && arguments_take_number(&arguments, 0, payload_most, &payloads[i]))
        i++;
    if (i < all) {
        reply_failure(context, "wanted: payloads below 2^50");
    } else if (shard_remove(shard, payloads, all, &removed, &error)) {
        reply_error_of(context, &error);
    } else {
        if (removed)
            redis.ReplicateVerbatim(context);
        redis.ReplyWithLongLong(context, (long long)removed);
    }
    redis.Free(payloads);
    redis.CloseKey(key);
    return REDIS_OK;
}

/* ---- info ---- */

static void reply_field(struct RedisModuleCtx *context, const char *name, uint64_t number)
{
    redis.ReplyWithCString(context, name);
    redis.ReplyWithLongLong(context, (long long)number);
}

static void reply_table(struct RedisModuleCtx *context, const struct doppel_index_options *index)
{
    const bool is_hamming = index->table == DOPPEL_INDEX_HAMMING;
    redis.ReplyWithCString(context, "table");
    if (index->table == DOPPEL_INDEX_POSTINGS) {
        redis.ReplyWithCString(context, "postings");
        reply_field(context, "bits", index->key_bits);
        reply_field(context, "radius", 0);
        reply_field(context, "rows", 0);
        return;
    }
    redis.ReplyWithCString(context, is_hamming ? "hamming" : "bands");
    reply_field(context, is_hamming ? "bits" : "lanes", is_hamming ? index->bits : index->lanes);
    reply_field(context, is_hamming ? "radius" : "bands",
                is_hamming ? index->design_radius : index->bands);
    reply_field(context, "rows", is_hamming ? 0 : index->rows);
}

int command_info(struct RedisModuleCtx *context, struct RedisModuleString **strings, int count)
{
    enum { FIELDS = 15 };
    struct RedisModuleKey *key;
    if (count != 2)
        return redis.WrongArity(context);
    const struct shard *shard = open_shard(context, strings[1], REDIS_READ, &key);
    if (!shard)
        return REDIS_OK;
    const struct node_info info = node_info(shard->member);
    redis.ReplyWithArray(context, 2L * FIELDS);
    reply_table(context, &shard->options.index);
    redis.ReplyWithCString(context, "family");
    redis.ReplyWithCString(context, shard->options.name);
    reply_field(context, "shard", shard->number);
    reply_field(context, "codes", shard->count);
    reply_field(context, "bytes", shard_bytes(shard));
    reply_field(context, "node_shards", info.members);
    reply_field(context, "node_codes", info.index.codes);
    reply_field(context, "node_removed", info.index.removed);
    reply_field(context, "node_bytes", info.index.bytes);
    reply_field(context, "node_segments", info.index.segments);
    reply_field(context, "node_waiting", info.waiting);
    reply_field(context, "low", shard->options.low);
    redis.CloseKey(key);
    return REDIS_OK;
}
