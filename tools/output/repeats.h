/* Failures that many records of one file have for the same reason: the first few are said, the rest
 * counted. Zero-initialised it is empty. */
#ifndef DOPPEL_TOOLS_OUTPUT_REPEATS_H
#define DOPPEL_TOOLS_OUTPUT_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REPEATS_SHOWN = 10, /* of a reason in a file */
    REPEAT_REASONS = 16 /* that are distinguished; of others all are said */
};

struct repeated_failure {
    char *file, *reason;
    uint64_t count;
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
