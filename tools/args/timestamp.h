/* A moment as people type it. */
#ifndef DOPPEL_TOOLS_ARGS_TIMESTAMP_H
#define DOPPEL_TOOLS_ARGS_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

/* "2026-05-31", "2026-05-31T12:30", "2026-05-31 12:30:05" in local time; "90m", "12h", "7d" or "2w"
 * ago. In nanoseconds since 1970. */
bool moment_parse(const char *text, int64_t *out_ns);

#endif
