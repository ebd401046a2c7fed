/* Allocation for the command: without memory it says so and ends with 2. */
#ifndef DOPPEL_TOOLS_MEMORY_H
#define DOPPEL_TOOLS_MEMORY_H

#include <stddef.h>

_Noreturn void no_memory(void);
void *must_allocate(size_t size); /* zeroed */
void *must_resize(void *memory, size_t size);
char *must_copy(const char *text);
void *must_have(void *memory); /* what was allocated, unless it is NULL */

#endif
