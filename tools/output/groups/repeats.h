/* Failures that many records have for the same reason, in any file: the first few are said, the
 * rest counted. Zero-initialised it is empty. */
#ifndef DOPPEL_TOOLS_OUTPUT_GROUPS_REPEATS_H
#define DOPPEL_TOOLS_OUTPUT_GROUPS_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REPEATS_SHOWN = 10, /* of a reason */
    REPEAT_REASONS = 16 /* that are distinguished; of others all are said */
};

struct repeated_failure {
    char *reason;
    uint64_t count;
    char *file;     /* the last one with one that is not said; NULL: none */
    uint64_t files; /* with such */
};

struct repeats {
    struct repeated_failure items[REPEAT_REASONS];
    size_t count;
};

/* Count the failure of a record, which stands at FILE:LINE. @return whether it is to be said;
 * always of what is no record */
bool repeats_take(struct repeats *repeats, const char *place, const char *reason);

void repeats_free(struct repeats *repeats);

#endif
