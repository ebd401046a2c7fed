/* Several texts: the values of an option that may be repeated, PATHs, globs. */
#ifndef DOPPEL_CORE_TEXT_STRING_LIST_H
#define DOPPEL_CORE_TEXT_STRING_LIST_H

#include <stddef.h>

/* All borrowed. */
struct strings {
    const char **items;
    size_t count;
};

#endif
