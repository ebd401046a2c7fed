/* A moment as people type it: a date, or how long ago. */
#include "tools/args/timestamp.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t SECOND_NS = 1000000000;

static bool parse_ago(const char *text, int64_t *out_ns)
{
    static const char units[] = "smhdw";
    static const int64_t seconds[] = {1, 60, 3600, 86400, 604800};
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long count = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (!unit || end[1] || count > 1000000000)
        return false;
    int64_t back = (int64_t)count * seconds[unit - units];
    *out_ns = ((int64_t)time(NULL) - back) * SECOND_NS;
    return true;
}

bool moment_parse(const char *text, int64_t *out_ns)
{
    static const char *const formats[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
                                          "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"};
    if (parse_ago(text, out_ns))
        return true;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct tm local = {.tm_isdst = -1};
        const char *end = strptime(text, formats[i], &local);
        if (!end || *end)
            continue;
        int day = local.tm_mday;
        time_t seconds = mktime(&local);
        if (seconds == (time_t)-1 || local.tm_mday != day) /* no 30 February */
            return false;
        bool fits = seconds < INT64_MAX / SECOND_NS; /* else it is after all that can be */
        *out_ns = fits ? (int64_t)seconds * SECOND_NS : INT64_MAX;
        return true;
    }
    return false;
}
