/* Allocation for the command: without memory it says so and ends with 2. */
#include "tools/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void no_memory(void)
{
    fputs("doppel: out of memory\n", stderr);
    exit(2);
}

void *must_have(void *memory)
{
    if (!memory)
        no_memory();
    return memory;
}

void *must_allocate(size_t size)
{
    return must_have(calloc(1, size ? size : 1));
}

void *must_resize(void *memory, size_t size)
{
    return must_have(realloc(memory, size ? size : 1));
}

char *must_copy(const char *text)
{
    return must_have(strdup(text));
}
