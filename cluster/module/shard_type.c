/* Shards saved, loaded, copied, moved in memory, and freed, as Redis asks for it. */
#include "cluster/module/shard_type.h"

#include <string.h>

#include "cluster/module/redis.h"
#include "core/try.h"

/* What is saved: the numbers of struct saved_head, the family's name, their digest; and pieces of
 * PIECE_CODES codes: payloads and then codes, and a digest of both. */
enum { SAVED_VERSION = 2, PIECE_CODES = 1 << 14 };

struct saved_head {
    uint64_t table, bits, radius, lanes, bands, rows, number, count;
    uint64_t low; /* since version 2 */
};
enum { HEAD_NUMBERS = sizeof(struct saved_head) / sizeof(uint64_t), HEAD_NUMBERS_OF_1 = 8 };

struct shard_host shard_host;

static uint64_t checksum_of(const void *bytes, size_t size)
{
    const struct doppel_digest digest = doppel_digest_bytes(bytes, size);
    uint64_t sum;
    memcpy(&sum, &digest, sizeof sum);
    return sum;
}

static uint64_t checksum_of_head(const struct saved_head *head, size_t numbers, const char *name)
{
    char all[sizeof *head + NODE_FAMILY_NAME_MOST + 1] = {0};
    const size_t size = numbers * sizeof(uint64_t);
    memcpy(all, head, size);
    memcpy(all + size, name, strlen(name));
    return checksum_of(all, size + NODE_FAMILY_NAME_MOST + 1);
}

/* ---- saving ---- */

static struct saved_head head_of_shard(const struct shard *shard)
{
    const struct doppel_index_options *index = &shard->options.index;
    return (struct saved_head){
        .table = index->table,
        .bits = index->table == DOPPEL_INDEX_POSTINGS ? index->key_bits : index->bits,
        .radius = index->design_radius,
        .lanes = index->lanes,
        .bands = index->bands,
        .rows = index->rows,
        .number = shard->number,
        .count = shard->count,
        .low = shard->options.low,
    };
}

static void save_head(struct RedisModuleIO *to, const struct shard *shard)
{
    const struct saved_head head = head_of_shard(shard);
    const char *name = shard->options.name;
    const uint64_t *numbers = (const uint64_t *)&head;
    for (size_t i = 0; i < HEAD_NUMBERS; i++)
        redis.SaveUnsigned(to, numbers[i]);
    redis.SaveStringBuffer(to, name, strlen(name));
    redis.SaveUnsigned(to, checksum_of_head(&head, HEAD_NUMBERS, name));
}

static size_t codes_of_piece(size_t count, size_t at)
{
    return count - at < PIECE_CODES ? count - at : PIECE_CODES;
}

/* @param piece room for PIECE_CODES codes with payloads. @return bytes */
static size_t copy_piece(const struct shard *shard, size_t at, uint64_t *piece)
{
    const size_t count = codes_of_piece(shard->count, at);
    memcpy(piece, shard->payloads + at, count * sizeof *piece);
    memcpy(piece + count, shard->codes + at * shard->words, count * shard->words * sizeof *piece);
    return count * (shard->words + 1) * sizeof *piece;
}

/* In a process of its own, that has no threads of this one. */
static void save_shard(struct RedisModuleIO *to, void *value)
{
    const struct shard *shard = value;
    uint64_t *piece = redis.Alloc(PIECE_CODES * (shard->words + 1) * sizeof *piece);
    save_head(to, shard);
    for (size_t at = 0; at < shard->count; at += PIECE_CODES) {
        const size_t size = copy_piece(shard, at, piece);
        redis.SaveStringBuffer(to, (const char *)piece, size);
        redis.SaveUnsigned(to, checksum_of(piece, size));
    }
    redis.Free(piece);
}

/* LOW is left out where it is 0: so earlier versions read it. */
static void emit_create(struct RedisModuleIO *to, struct RedisModuleString *key,
                        const struct shard *shard)
{
    const struct node_family_options *options = &shard->options;
    const struct doppel_index_options *index = &options->index;
    if (index->table == DOPPEL_INDEX_POSTINGS)
        redis.EmitAOF(to, "DOPPEL.CREATE", "sccclcccl", key, "TABLE", "POSTINGS", "BITS",
                      (long long)index->key_bits, "FAMILY", options->name, "SHARD",
                      (long long)shard->number);
    else if (index->table == DOPPEL_INDEX_BANDS)
        redis.EmitAOF(to, "DOPPEL.CREATE", "sccclclclcccl", key, "TABLE", "BANDS", "LANES",
                      (long long)index->lanes, "BANDS", (long long)index->bands, "ROWS",
                      (long long)index->rows, "FAMILY", options->name, "SHARD",
                      (long long)shard->number);
    else if (options->low)
        redis.EmitAOF(to, "DOPPEL.CREATE", "sccclclclcccl", key, "TABLE", "HAMMING", "BITS",
                      (long long)index->bits, "RADIUS", (long long)index->design_radius, "LOW",
                      (long long)options->low, "FAMILY", options->name, "SHARD",
                      (long long)shard->number);
    else
        redis.EmitAOF(to, "DOPPEL.CREATE", "sccclclcccl", key, "TABLE", "HAMMING", "BITS",
                      (long long)index->bits, "RADIUS", (long long)index->design_radius, "FAMILY",
                      options->name, "SHARD", (long long)shard->number);
}

/* As commands that make it again. */
static void rewrite_shard(struct RedisModuleIO *to, struct RedisModuleString *key, void *value)
{
    const struct shard *shard = value;
    uint64_t *piece = redis.Alloc(PIECE_CODES * (shard->words + 1) * sizeof *piece);
    emit_create(to, key, shard);
    for (size_t at = 0; at < shard->count; at += PIECE_CODES) {
        const size_t size = copy_piece(shard, at, piece);
        redis.EmitAOF(to, "DOPPEL.ADD", "scb", key, "PACKED", (const char *)piece, size);
    }
    redis.Free(piece);
}

/* ---- loading ---- */

static enum doppel_status damaged(struct doppel_error *error, const char *what)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT, "%s of a shard is damaged", what);
}

static enum doppel_status load_head(struct RedisModuleIO *from, size_t count,
                                    struct saved_head *head, struct node_family_options *options,
                                    struct doppel_error *error)
{
    uint64_t *numbers = (uint64_t *)head;
    size_t size = 0;
    *head = (struct saved_head){0};
    for (size_t i = 0; i < count; i++)
        numbers[i] = redis.LoadUnsigned(from);
    char *name = redis.LoadStringBuffer(from, &size);
    const uint64_t sum = redis.LoadUnsigned(from);
    const bool is_name = !redis.IsIOError(from) && size <= NODE_FAMILY_NAME_MOST;
    if (is_name)
        memcpy(options->name, name, size);
    redis.Free(name);
    if (!is_name || sum != checksum_of_head(head, count, options->name) ||
        head->low > NODE_LOW_MOST || head->number >= NODE_SHARDS_MOST)
        return damaged(error, "the head");
    options->low = (uint32_t)head->low;
    options->index.table = (enum doppel_index_table)head->table;
    if (options->index.table == DOPPEL_INDEX_POSTINGS)
        options->index.key_bits = (uint32_t)head->bits;
    else
        options->index.bits = (uint32_t)head->bits;
    options->index.design_radius = (uint32_t)head->radius;
    options->index.lanes = (uint32_t)head->lanes;
    options->index.bands = (uint32_t)head->bands;
    options->index.rows = (uint32_t)head->rows;
    return DOPPEL_OK;
}

static bool are_payloads(const uint64_t *payloads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (payloads[i] >> NODE_PAYLOAD_BITS)
            return false;
    return true;
}

/* What comes is as long as it says, and no more than was said before. */
static enum doppel_status load_piece(struct RedisModuleIO *from, struct shard *shard, size_t left,
                                     struct doppel_error *error)
{
    size_t size = 0;
    const size_t count = left < PIECE_CODES ? left : PIECE_CODES;
    uint64_t *piece = (uint64_t *)redis.LoadStringBuffer(from, &size);
    const uint64_t sum = redis.LoadUnsigned(from);
    enum doppel_status status = DOPPEL_OK;
    if (redis.IsIOError(from) || size != count * (shard->words + 1) * sizeof *piece ||
        sum != checksum_of(piece, size) || !are_payloads(piece, count) ||
        !shard_takes_codes(shard, piece + count, count))
        status = damaged(error, "a piece");
    else
        status = shard_add(shard, piece + count, piece, count, error);
    redis.Free(piece);
    return status;
}

static void *load_shard(struct RedisModuleIO *from, int version)
{
    struct node_family_options options = {.index = doppel_index_options_default()};
    struct saved_head head;
    struct doppel_error error;
    struct shard *shard = NULL;
    enum doppel_status status;
    if (version < 1 || version > SAVED_VERSION)
        TRY(doppel_fail(&error, DOPPEL_E_VERSION,
                        "a shard was saved in version %d of its form, and this module reads up to "
                        "%d: load a newer one",
                        version, (int)SAVED_VERSION));
    TRY(load_head(from, version == 1 ? HEAD_NUMBERS_OF_1 : HEAD_NUMBERS, &head, &options, &error));
    TRY(shard_new(shard_host.node, &options, (uint32_t)head.number, &shard, &error));
    while (shard->count < head.count)
        TRY(load_piece(from, shard, (size_t)(head.count - shard->count), &error));
done:
    if (!status)
        return shard;
    redis.LogIOError(from, "warning", "%s", error.message);
    shard_free(shard);
    return NULL;
}

/* ---- what else Redis asks for ---- */

static size_t memory_of_shard(const void *value)
{
    const struct shard *shard = value;
    const struct node_info info = node_info(shard->member);
    const double share = info.index.codes ? (double)shard->count / (double)info.index.codes : 0;
    return shard_bytes(shard) + (size_t)((double)info.index.bytes * (share < 1 ? share : 1));
}

static void digest_shard(struct RedisModuleDigest *digest, void *value)
{
    const struct shard *shard = value;
    const struct saved_head head = head_of_shard(shard);
    redis.DigestAddStringBuffer(digest, (const char *)&head, sizeof head);
    redis.DigestAddStringBuffer(digest, (const char *)shard->payloads,
                                shard->count * sizeof *shard->payloads);
    redis.DigestAddStringBuffer(digest, (const char *)shard->codes,
                                shard->count * shard->words * sizeof *shard->codes);
    redis.DigestEndSequence(digest);
}

/* Whenever its key goes, at once; not where it is renamed. Of a database that is emptied, by a
 * thread of Redis'. */
static void free_shard(void *value)
{
    shard_free(value);
}

/* A copy is a shard of its own: two of one number would be found twice. */
static void *copy_shard(struct RedisModuleString *from, struct RedisModuleString *to,
                        const void *value)
{
    const struct shard *shard = value;
    struct node_family_options options = shard->options;
    struct shard *copy = NULL;
    (void)from;
    (void)to;
    memset(options.name, 0, sizeof options.name);
    if (shard_new(shard_host.node, &options, shard->number, &copy, NULL))
        return NULL;
    if (shard_add(copy, shard->codes, shard->payloads, shard->count, NULL)) {
        shard_free(copy);
        return NULL;
    }
    return copy;
}

static void move_memory(struct RedisModuleDefragCtx *context, void *pointer)
{
    void *memory, *moved;
    memcpy(&memory, pointer, sizeof memory);
    moved = memory ? redis.DefragAlloc(context, memory) : NULL;
    if (moved)
        memcpy(pointer, &moved, sizeof moved);
}

/* Threads of the node have copies of what they need. */
static int defrag_shard(struct RedisModuleDefragCtx *context, struct RedisModuleString *key,
                        void **value)
{
    (void)key;
    move_memory(context, value);
    struct shard *shard = *value;
    move_memory(context, &shard->codes);
    move_memory(context, &shard->payloads);
    return 0;
}

/* Its keys may be freed later, by another thread. */
static void hide_flushed(struct RedisModuleCtx *context, struct redis_event event, uint64_t part,
                         void *data)
{
    const struct redis_flush *flush = data;
    (void)context;
    (void)event;
    if (part == REDIS_FLUSH_BEGINS && flush->database <= 0)
        node_hide_all(shard_host.node);
}

bool shard_type_register(struct RedisModuleCtx *context)
{
    struct redis_type_methods methods = {.version = REDIS_TYPE_METHODS_VERSION,
                                         .load = load_shard,
                                         .save = save_shard,
                                         .rewrite = rewrite_shard,
                                         .memory = memory_of_shard,
                                         .digest = digest_shard,
                                         .free = free_shard,
                                         .copy = copy_shard,
                                         .defrag = defrag_shard};
    redis.SetModuleOptions(context, REDIS_HANDLES_IO_ERRORS);
    shard_host.type = redis.CreateDataType(context, "dopplshrd", SAVED_VERSION, &methods);
    return shard_host.type &&
           redis.SubscribeToServerEvent(context, (struct redis_event){REDIS_EVENT_FLUSH, 1},
                                        hide_flushed) == REDIS_OK;
}

struct shard *shard_of_key(struct RedisModuleKey *key)
{
    return redis.KeyType(key) == REDIS_KEY_MODULE && redis.ModuleTypeGetType(key) == shard_host.type
               ? redis.ModuleTypeGetValue(key)
               : NULL;
}
