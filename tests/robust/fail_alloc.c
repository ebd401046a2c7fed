/* Preloaded: the allocation number $FAIL_AT of a process named `doppel` fails, once. At its end it
 * writes into the file $FAIL_COUNT how many there were. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char *program_invocation_short_name;
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_long allocations;
static long fail_at; /* 0: none */
static int is_counted;

__attribute__((constructor)) static void start(void)
{
    const char *at = getenv("FAIL_AT");
    is_counted = strcmp(program_invocation_short_name, "doppel") == 0;
    fail_at = at ? atol(at) : 0;
    allocations = 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_COUNT");
    FILE *file = is_counted && path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%ld\n", atomic_load(&allocations));
    fclose(file);
}

static int fails(void)
{
    if (!is_counted || atomic_fetch_add(&allocations, 1) + 1 != fail_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
