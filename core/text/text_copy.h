/* Copies of texts that need not be there. */
#ifndef DOPPEL_CORE_TEXT_TEXT_COPY_H
#define DOPPEL_CORE_TEXT_TEXT_COPY_H

#include <stdbool.h>
#include <string.h>

/* Given (free); NULL of NULL. @param no_memory set where it could not be copied, else left alone */
static inline char *copy_text(const char *text, bool *no_memory)
{
    char *copy = text ? strdup(text) : NULL;
    *no_memory |= text && !copy;
    return copy;
}

#endif
