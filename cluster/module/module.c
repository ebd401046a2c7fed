/* doppel.so: the index as a module of Redis 7. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/module/arguments.h"
#include "cluster/module/commands.h"
#include "cluster/module/shard_type.h"

enum { MODULE_VERSION = 2, THREADS_MOST = 256 };

struct redis_functions redis;

__attribute__((visibility("default"))) int RedisModule_OnLoad(struct RedisModuleCtx *context,
                                                              struct RedisModuleString **strings,
                                                              int count);
__attribute__((visibility("default"))) int RedisModule_OnUnload(struct RedisModuleCtx *context);

/* The context begins with the function that gives the others. */
static bool get_functions(struct RedisModuleCtx *context)
{
    int (*get)(const char *name, void *out);
    void *first;
    int missing = 0;
    memcpy(&first, (void *)context, sizeof first);
    memcpy(&get, &first, sizeof get);
#define GET_REDIS_FUNCTION(type, name, arguments)                                                  \
    missing |= get("RedisModule_" #name, (void *)&redis.name) != REDIS_OK;
    REDIS_FUNCTIONS(GET_REDIS_FUNCTION)
    return !missing;
}

static bool create_commands(struct RedisModuleCtx *context)
{
    static const struct {
        const char *name;
        redis_command *run;
        const char *flags;
    } commands[] = {
        {"DOPPEL.CREATE", command_create, "write deny-oom fast"},
        {"DOPPEL.ADD", command_add, "write deny-oom fast"},
        {"DOPPEL.REMOVE", command_remove, "write fast"},
        {"DOPPEL.SEARCH", command_search, "readonly"},
        {"DOPPEL.KNN", command_knn, "readonly"},
        {"DOPPEL.LOOK", command_look, "readonly"},
        {"DOPPEL.INFO", command_info, "readonly fast"},
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (redis.CreateCommand(context, commands[i].name, commands[i].run, commands[i].flags, 1, 1,
                                1) != REDIS_OK)
            return false;
    return true;
}

/* "threads N": that search; as many as there are processors. */
static bool take_threads(struct RedisModuleString **strings, int count, uint32_t *out)
{
    struct arguments arguments = {strings, count, 0};
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t threads = processors > 0 ? (uint64_t)processors : 1;
    if (count && (!arguments_take_word(&arguments, "threads") ||
                  !arguments_take_number(&arguments, 1, THREADS_MOST, &threads) ||
                  arguments_left(&arguments)))
        return false;
    *out = (uint32_t)(threads < THREADS_MOST ? threads : THREADS_MOST);
    return true;
}

int RedisModule_OnLoad(struct RedisModuleCtx *context, struct RedisModuleString **strings,
                       int count)
{
    uint32_t threads;
    if (!get_functions(context) || redis.IsModuleNameBusy("doppel"))
        return REDIS_ERROR;
    redis.SetModuleAttribs(context, "doppel", MODULE_VERSION, REDIS_API_VERSION);
    if (!take_threads(strings, count, &threads) ||
        node_new(threads, &shard_host.node, NULL) != DOPPEL_OK)
        return REDIS_ERROR;
    return shard_type_register(context) && create_commands(context) ? REDIS_OK : REDIS_ERROR;
}

/* What a key holds cannot be freed without it. */
int RedisModule_OnUnload(struct RedisModuleCtx *context)
{
    (void)context;
    return REDIS_ERROR;
}
