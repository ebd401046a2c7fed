/* What the tests of export and import share: lists, and commands that end well. */
#ifndef DOPPEL_TESTS_EXCHANGE_H
#define DOPPEL_TESTS_EXCHANGE_H

#include <string.h>

#include "command.h"

static const char PDQ_LIST[] =
    "hash,quality,filename\n"
    "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22,100,./bridge.jpg\n"
    "30a10efd71cc3d429013d48d0ffffc52e34e0e17ada952a9d29685211ea9e5af,97,\"a, b \"\"c\"\".jpg\"\n"
    "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b23,100,copy.jpg\n";

static inline void put(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

static inline void run_well(const char *const *words)
{
    struct ran ran = command_run(NULL, words);
    assert_code(&ran, 0);
    ran_free(&ran);
}
#define well(...) run_well((const char *const[]){__VA_ARGS__, NULL})

#endif
