/* What a command was given, argument by argument. */
#ifndef DOPPEL_CLUSTER_ARGUMENTS_H
#define DOPPEL_CLUSTER_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct RedisModuleString;

struct arguments {
    struct RedisModuleString **strings;
    int count, at;
};

/* Whether the next is this word, in any case of letters; then it is passed over. */
bool arguments_take_word(struct arguments *arguments, const char *word);

/* The next is a number from `least` to `most`. @return false: it is none, and stays the next */
bool arguments_take_number(struct arguments *arguments, uint64_t least, uint64_t most,
                           uint64_t *out);

/* The next, as bytes. @return NULL: there is none */
const char *arguments_take(struct arguments *arguments, size_t *size);

static inline int arguments_left(const struct arguments *arguments)
{
    return arguments->count - arguments->at;
}

#endif
