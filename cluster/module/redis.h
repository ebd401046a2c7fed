/*
 * What of Redis' module API is used here, by its own names: Debian has no header of it. A module
 * gets the functions by name, from the context that it is loaded with. Source: "Modules API
 * reference" of Redis 7, redis.io.
 */
#ifndef DOPPEL_CLUSTER_REDIS_H
#define DOPPEL_CLUSTER_REDIS_H

#include <stddef.h>
#include <stdint.h>

enum { REDIS_OK = 0, REDIS_ERROR = 1, REDIS_API_VERSION = 1, REDIS_TYPE_METHODS_VERSION = 3 };

enum { REDIS_READ = 1, REDIS_WRITE = 2 }; /* of OpenKey */

enum { REDIS_KEY_EMPTY = 0, REDIS_KEY_MODULE = 6 }; /* of KeyType */

/* Of GetContextFlags: where a client cannot be blocked. */
enum { REDIS_IN_SCRIPT = 1 << 0, REDIS_IN_MULTI = 1 << 1, REDIS_DENY_BLOCKING = 1 << 21 };

enum { REDIS_HANDLES_IO_ERRORS = 1 }; /* of SetModuleOptions */

enum { REDIS_EVENT_FLUSH = 2, REDIS_FLUSH_BEGINS = 0 }; /* of SubscribeToServerEvent */

struct RedisModuleCtx;
struct RedisModuleString;
struct RedisModuleKey;
struct RedisModuleType;
struct RedisModuleIO;
struct RedisModuleDigest;
struct RedisModuleDefragCtx;
struct RedisModuleInfoCtx;
struct RedisModuleBlockedClient;

/* Passed by value; what comes with the end and the beginning of an emptied database. */
struct redis_event {
    uint64_t id, data_version;
};
struct redis_flush {
    uint64_t version;
    int32_t is_synchronous, database; /* -1: all */
};
typedef void redis_event_handler(struct RedisModuleCtx *context, struct redis_event event,
                                 uint64_t part, void *data);

typedef int redis_command(struct RedisModuleCtx *context, struct RedisModuleString **arguments,
                          int count);

struct redis_type_methods {
    uint64_t version;
    void *(*load)(struct RedisModuleIO *from, int version);
    void (*save)(struct RedisModuleIO *to, void *value);
    void (*rewrite)(struct RedisModuleIO *to, struct RedisModuleString *key, void *value);
    size_t (*memory)(const void *value);
    void (*digest)(struct RedisModuleDigest *digest, void *value);
    void (*free)(void *value);
    int (*load_other)(struct RedisModuleIO *from, int version, int when);
    void (*save_other)(struct RedisModuleIO *to, int when);
    int when_to_save_other;
    size_t (*free_effort)(struct RedisModuleString *key, const void *value);
    void (*unlink)(struct RedisModuleString *key, const void *value);
    void *(*copy)(struct RedisModuleString *from, struct RedisModuleString *to, const void *value);
    int (*defrag)(struct RedisModuleDefragCtx *context, struct RedisModuleString *key,
                  void **value);
};

#define REDIS_FUNCTIONS(FUNCTION)                                                                  \
    FUNCTION(void *, Alloc, (size_t bytes))                                                        \
    FUNCTION(void *, Realloc, (void *memory, size_t bytes))                                        \
    FUNCTION(void, Free, (void *memory))                                                           \
    FUNCTION(int, CreateCommand,                                                                   \
             (struct RedisModuleCtx * context, const char *name, redis_command *command,           \
              const char *flags, int first_key, int last_key, int step))                           \
    FUNCTION(void, SetModuleAttribs,                                                               \
             (struct RedisModuleCtx * context, const char *name, int version, int api))            \
    FUNCTION(void, SetModuleOptions, (struct RedisModuleCtx * context, int options))               \
    FUNCTION(int, SubscribeToServerEvent,                                                          \
             (struct RedisModuleCtx * context, struct redis_event event,                           \
              redis_event_handler * handler))                                                      \
    FUNCTION(int, IsModuleNameBusy, (const char *name))                                            \
    FUNCTION(struct RedisModuleType *, CreateDataType,                                             \
             (struct RedisModuleCtx * context, const char *name, int version,                      \
              struct redis_type_methods *methods))                                                 \
    FUNCTION(int, WrongArity, (struct RedisModuleCtx * context))                                   \
    FUNCTION(int, GetSelectedDb, (struct RedisModuleCtx * context))                                \
    FUNCTION(int, GetContextFlags, (struct RedisModuleCtx * context))                              \
    FUNCTION(struct RedisModuleKey *, OpenKey,                                                     \
             (struct RedisModuleCtx * context, struct RedisModuleString * name, int mode))         \
    FUNCTION(void, CloseKey, (struct RedisModuleKey * key))                                        \
    FUNCTION(int, KeyType, (struct RedisModuleKey * key))                                          \
    FUNCTION(struct RedisModuleType *, ModuleTypeGetType, (struct RedisModuleKey * key))           \
    FUNCTION(void *, ModuleTypeGetValue, (struct RedisModuleKey * key))                            \
    FUNCTION(int, ModuleTypeSetValue,                                                              \
             (struct RedisModuleKey * key, struct RedisModuleType * type, void *value))            \
    FUNCTION(const char *, StringPtrLen, (const struct RedisModuleString *string, size_t *size))   \
    FUNCTION(int, StringToLongLong, (const struct RedisModuleString *string, long long *out))      \
    FUNCTION(int, ReplyWithError, (struct RedisModuleCtx * context, const char *message))          \
    FUNCTION(int, ReplyWithSimpleString, (struct RedisModuleCtx * context, const char *text))      \
    FUNCTION(int, ReplyWithLongLong, (struct RedisModuleCtx * context, long long number))          \
    FUNCTION(int, ReplyWithArray, (struct RedisModuleCtx * context, long length))                  \
    FUNCTION(int, ReplyWithCString, (struct RedisModuleCtx * context, const char *text))           \
    FUNCTION(int, ReplyWithStringBuffer,                                                           \
             (struct RedisModuleCtx * context, const char *bytes, size_t size))                    \
    FUNCTION(int, ReplicateVerbatim, (struct RedisModuleCtx * context))                            \
    FUNCTION(struct RedisModuleBlockedClient *, BlockClient,                                       \
             (struct RedisModuleCtx * context, redis_command * reply, redis_command * timeout,     \
              void (*free_private)(struct RedisModuleCtx *, void *), long long timeout_ms))        \
    FUNCTION(int, UnblockClient, (struct RedisModuleBlockedClient * client, void *private_data))   \
    FUNCTION(void *, GetBlockedClientPrivateData, (struct RedisModuleCtx * context))               \
    FUNCTION(void, SaveUnsigned, (struct RedisModuleIO * to, uint64_t number))                     \
    FUNCTION(uint64_t, LoadUnsigned, (struct RedisModuleIO * from))                                \
    FUNCTION(void, SaveStringBuffer, (struct RedisModuleIO * to, const char *bytes, size_t size))  \
    FUNCTION(char *, LoadStringBuffer, (struct RedisModuleIO * from, size_t * size))               \
    FUNCTION(int, IsIOError, (struct RedisModuleIO * from))                                        \
    FUNCTION(void, LogIOError,                                                                     \
             (struct RedisModuleIO * from, const char *level, const char *format, ...))            \
    FUNCTION(void, EmitAOF,                                                                        \
             (struct RedisModuleIO * to, const char *command, const char *format, ...))            \
    FUNCTION(void, DigestAddStringBuffer,                                                          \
             (struct RedisModuleDigest * digest, const char *bytes, size_t size))                  \
    FUNCTION(void, DigestEndSequence, (struct RedisModuleDigest * digest))                         \
    FUNCTION(void *, DefragAlloc, (struct RedisModuleDefragCtx * context, void *memory))

#define REDIS_FUNCTION_FIELD(type, name, arguments) type(*name) arguments;

/* Set once, when the module is loaded, before anything else of it runs. */
struct redis_functions {
    REDIS_FUNCTIONS(REDIS_FUNCTION_FIELD)
};
extern struct redis_functions redis;

#endif
