/* Searches: asked for by the main thread, done and answered by those of the node. */
#include "cluster/module/commands.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/module/arguments.h"

/* A search, and the client that waits for it. */
struct waiting_search {
    struct node_search search;
    bool is_look;
    struct RedisModuleBlockedClient *client; /* NULL: it cannot be blocked, and waits here: */
    pthread_mutex_t lock;
    pthread_cond_t is_over;
    bool over;
};

/* ---- answers ---- */

/* [query, payload, distance, …], of questions without distances; of a node: [which shards were
 * searched, these with the shard of each]. */
static int reply_search(struct RedisModuleCtx *context, const struct node_search *search,
                        bool is_look)
{
    if (search->status)
        return reply_error_of(context, &search->error);
    if (search->all) {
        redis.ReplyWithArray(context, 2);
        redis.ReplyWithStringBuffer(context, (const char *)search->shards, search->shards_bytes);
    }
    redis.ReplyWithArray(context, (long)search->hit_count * (2 + !is_look + search->all));
    for (size_t i = 0; i < search->hit_count; i++) {
        const struct doppel_index_hit *hit = &search->hits[i];
        redis.ReplyWithLongLong(context, hit->query);
        redis.ReplyWithLongLong(context, (long long)node_hit_payload(hit));
        if (!is_look)
            redis.ReplyWithLongLong(context, hit->distance);
        if (search->all)
            redis.ReplyWithLongLong(context, node_hit_shard(hit));
    }
    return REDIS_OK;
}

static int reply_to_blocked(struct RedisModuleCtx *context, struct RedisModuleString **strings,
                            int count)
{
    const struct waiting_search *waiting = redis.GetBlockedClientPrivateData(context);
    (void)strings;
    (void)count;
    return reply_search(context, &waiting->search, waiting->is_look);
}

static void free_waiting(struct RedisModuleCtx *context, void *private_data)
{
    struct waiting_search *waiting = private_data;
    (void)context;
    pthread_mutex_destroy(&waiting->lock);
    pthread_cond_destroy(&waiting->is_over);
    free(waiting->search.hits);
    free(waiting->search.codes);
    node_questions_free(waiting->search.questions, waiting->search.count);
    free(waiting);
}

static void wake_client(struct node_search *search)
{
    struct waiting_search *waiting = search->context;
    if (waiting->client) {
        redis.UnblockClient(waiting->client, waiting);
        return;
    }
    pthread_mutex_lock(&waiting->lock);
    waiting->over = true;
    pthread_cond_signal(&waiting->is_over);
    pthread_mutex_unlock(&waiting->lock);
}

/* ---- questions ---- */

static enum doppel_status no_search_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for so many codes");
}

static enum doppel_status read_search_codes(const struct shard *shard, struct arguments *arguments,
                                            struct node_search *search, struct doppel_error *error)
{
    search->count = (size_t)arguments_left(arguments);
    search->codes = malloc((search->count + 1) * shard->words * sizeof *search->codes);
    if (!search->codes)
        return no_search_memory(error);
    for (size_t i = 0; i < search->count; i++) {
        size_t size = 0;
        const char *code = arguments_take(arguments, &size);
        if (!shard_parse_code(shard, code, size, search->codes + i * shard->words))
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "code %zu is none of %u bits, in bytes or hexadecimal digits", i + 1,
                               shard_code_bits(&shard->options));
    }
    return search->count ? DOPPEL_OK
                         : doppel_fail(error, DOPPEL_E_ARGUMENT, "there is no code to search for");
}

static enum doppel_status read_packed_codes(const struct shard *shard, struct arguments *arguments,
                                            struct node_search *search, struct doppel_error *error)
{
    size_t size = 0;
    const char *bytes = arguments_take(arguments, &size);
    search->count = bytes ? count_packed(shard, size, 0) : 0;
    if (!search->count || arguments_left(arguments))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "PACKED is followed by whole codes of %zu bytes each, and no more",
                           shard->words * sizeof(uint64_t));
    search->codes = malloc(size);
    if (!search->codes)
        return no_search_memory(error);
    memcpy(search->codes, bytes, size);
    return shard_takes_codes(shard, search->codes, search->count)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_ARGUMENT, "a code has more bits than keys have");
}

/* What comes before the codes. @return false: it is wrong, or lacks something */
static bool read_search_options(struct arguments *arguments, bool is_knn, uint32_t most,
                                struct node_search *search)
{
    uint64_t radius = most, nearest = 0;
    bool has_radius = is_knn, has_count = !is_knn, good = true;
    while (good) {
        if (arguments_take_word(arguments, "RADIUS"))
            good = has_radius = arguments_take_number(arguments, 0, most, &radius);
        else if (arguments_take_word(arguments, "COUNT"))
            good = has_count = arguments_take_number(arguments, 1, UINT32_MAX, &nearest);
        else if (arguments_take_word(arguments, "NODE"))
            search->all = true;
        else
            break;
    }
    search->radius = (uint32_t)radius;
    search->nearest = (size_t)nearest;
    return good && has_radius && has_count;
}

static enum doppel_status take_codes(const struct shard *shard, struct arguments *arguments,
                                     struct node_search *search, struct doppel_error *error)
{
    return arguments_take_word(arguments, "PACKED")
               ? read_packed_codes(shard, arguments, search, error)
               : read_search_codes(shard, arguments, search, error);
}

static enum doppel_status read_search(const struct shard *shard, struct arguments *arguments,
                                      bool is_knn, struct node_search *search,
                                      struct doppel_error *error)
{
    const struct doppel_index_options *index = &shard->options.index;
    const uint32_t most = index->table == DOPPEL_INDEX_HAMMING ? index->bits : index->lanes;
    if (index->table == DOPPEL_INDEX_POSTINGS) {
        search->all = arguments_take_word(arguments, "NODE");
        return is_knn ? doppel_fail(error, DOPPEL_E_ARGUMENT, "keys have no distance")
                      : take_codes(shard, arguments, search, error);
    }
    if (!read_search_options(arguments, is_knn, most, search))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           is_knn ? "wanted: key COUNT n [RADIUS n] [NODE] code …"
                                  : "wanted: key RADIUS n [COUNT n] [NODE] code …");
    return take_codes(shard, arguments, search, error);
}

/* @return DOPPEL_E_ARGUMENT: the sentence says which argument is none */
static enum doppel_status read_questions(const struct shard *shard, struct arguments *arguments,
                                         struct node_search *search, struct doppel_error *error)
{
    struct doppel_error why;
    search->all = arguments_take_word(arguments, "NODE");
    if (!node_is_looked_through(&shard->options))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "only TABLE HAMMING BITS 256 RADIUS 256 LOW 17 is looked through");
    const size_t count = (size_t)arguments_left(arguments);
    if (!count)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "there is no question to look for");
    search->questions = calloc(count, sizeof *search->questions);
    if (!search->questions)
        return no_search_memory(error);
    for (; search->count < count; search->count++) {
        struct node_question *question = &search->questions[search->count];
        size_t size = 0;
        const char *bytes = arguments_take(arguments, &size);
        const enum doppel_status status = doppel_image_question_unpack(
            (const uint8_t *)bytes, size, &question->print, &question->options, &why);
        if (status)
            return doppel_fail(error, status, "question %zu: %s", search->count + 1, why.message);
    }
    return DOPPEL_OK;
}

/* Within a transaction or a script all waits for it. */
static void wait_here(struct RedisModuleCtx *context, struct waiting_search *waiting)
{
    pthread_mutex_lock(&waiting->lock);
    while (!waiting->over)
        pthread_cond_wait(&waiting->is_over, &waiting->lock);
    pthread_mutex_unlock(&waiting->lock);
    reply_search(context, &waiting->search, waiting->is_look);
    free_waiting(context, waiting);
}

static void ask_node(struct RedisModuleCtx *context, const struct shard *shard,
                     struct waiting_search *waiting)
{
    const int unblockable = REDIS_IN_SCRIPT | REDIS_IN_MULTI | REDIS_DENY_BLOCKING;
    const bool blocks = !(redis.GetContextFlags(context) & unblockable);
    if (blocks)
        waiting->client = redis.BlockClient(context, reply_to_blocked, NULL, free_waiting, 0);
    node_search(shard->member, &waiting->search);
    if (!blocks)
        wait_here(context, waiting);
}

enum search_kind { SEARCH_WITHIN, SEARCH_NEAREST, SEARCH_LOOK };

static enum doppel_status read_question(const struct shard *shard, struct arguments *arguments,
                                        enum search_kind kind, struct waiting_search *waiting,
                                        struct doppel_error *error)
{
    waiting->is_look = kind == SEARCH_LOOK;
    return kind == SEARCH_LOOK
               ? read_questions(shard, arguments, &waiting->search, error)
               : read_search(shard, arguments, kind == SEARCH_NEAREST, &waiting->search, error);
}

static struct waiting_search *make_waiting(void)
{
    struct waiting_search *waiting = calloc(1, sizeof *waiting);
    if (!waiting)
        return NULL;
    pthread_mutex_init(&waiting->lock, NULL);
    pthread_cond_init(&waiting->is_over, NULL);
    waiting->search.done = wake_client;
    waiting->search.context = waiting;
    return waiting;
}

static int search_shard(struct RedisModuleCtx *context, struct RedisModuleString **strings,
                        int count, enum search_kind kind)
{
    struct arguments arguments = {strings, count, 2};
    struct doppel_error error;
    struct RedisModuleKey *key;
    if (count < 3)
        return redis.WrongArity(context);
    const struct shard *shard = open_shard(context, strings[1], REDIS_READ, &key);
    if (!shard)
        return REDIS_OK;
    struct waiting_search *waiting = make_waiting();
    if (!waiting) {
        reply_failure(context, "no memory to search");
    } else if (read_question(shard, &arguments, kind, waiting, &error)) {
        reply_error_of(context, &error);
        free_waiting(context, waiting);
    } else {
        ask_node(context, shard, waiting);
    }
    redis.CloseKey(key);
    return REDIS_OK;
}

int command_search(struct RedisModuleCtx *context, struct RedisModuleString **strings, int count)
{
    return search_shard(context, strings, count, SEARCH_WITHIN);
}

int command_knn(struct RedisModuleCtx *context, struct RedisModuleString **strings, int count)
{
    return search_shard(context, strings, count, SEARCH_NEAREST);
}

int command_look(struct RedisModuleCtx *context, struct RedisModuleString **strings, int count)
{
    return search_shard(context, strings, count, SEARCH_LOOK);
}
