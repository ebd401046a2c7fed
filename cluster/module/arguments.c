/* Words and numbers of a command. */
#include "cluster/module/arguments.h"

#include <string.h>
#include <strings.h>

#include "cluster/module/redis.h"

bool arguments_take_word(struct arguments *arguments, const char *word)
{
    size_t size;
    if (!arguments_left(arguments))
        return false;
    const char *text = redis.StringPtrLen(arguments->strings[arguments->at], &size);
    if (size != strlen(word) || strncasecmp(text, word, size) != 0)
        return false;
    arguments->at++;
    return true;
}

bool arguments_take_number(struct arguments *arguments, uint64_t least, uint64_t most,
                           uint64_t *out)
{
    long long number;
    if (!arguments_left(arguments) ||
        redis.StringToLongLong(arguments->strings[arguments->at], &number) != REDIS_OK ||
        number < 0 || (uint64_t)number < least || (uint64_t)number > most)
        return false;
    arguments->at++;
    *out = (uint64_t)number;
    return true;
}

const char *arguments_take(struct arguments *arguments, size_t *size)
{
    return arguments_left(arguments) ? redis.StringPtrLen(arguments->strings[arguments->at++], size)
                                     : NULL;
}
