/* A moment as people type it. */
#ifndef DOPPEL_TOOLS_ARGS_TIMESTAMP_H
#define DOPPEL_TOOLS_ARGS_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

/* "2026-05-31", "2026-05-31T12:30", "2026-05-31 12:30:05" in local time; "90m", "12h", "7d" or "2w"
 * ago. In nanoseconds since 1970. */
bool moment_parse(const char *text, int64_t *out_ns);

/* When a recording or stream began. */
struct start_time {
    bool given;
    int64_t ns;       /* since 1970 */
    bool has_offset;  /* else it is told in local time, as it is then */
    int32_t offset_s; /* east of UTC */
};

/* "2026-11-25T06:00:00", "...T06:00", "2026-11-25 06:00:00.25" in local time; any of them with Z,
 * +01:00 or +0100; "now". */
bool start_time_parse(const char *text, struct start_time *out);

/* So many seconds later: "2026-11-25T06:00:06.240+01:00". */
enum { CLOCK_BYTES = 48 };
void start_time_after(const struct start_time *start, double seconds, char out[CLOCK_BYTES]);

#endif
