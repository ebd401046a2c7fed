/* A moment as people type it: a date, or how long ago; and when something began. */
#include "tools/args/timestamp.h"

#include <math.h>
#include <stdio.h>
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

/* ---- when something began ---- */

/* Digits of seconds after the point. @return behind them */
static const char *parse_fraction(const char *text, int64_t *out_ns)
{
    if (*text != '.')
        return text;
    int64_t unit = SECOND_NS / 10;
    for (text++; *text >= '0' && *text <= '9'; text++, unit /= 10)
        *out_ns += (*text - '0') * unit;
    return text;
}

/* Z, +01:00, -0330; nothing else may follow. */
static bool parse_offset(const char *text, int32_t *out_seconds)
{
    int hours, minutes, end = 0;
    if (strcmp(text, "Z") == 0) {
        *out_seconds = 0;
        return true;
    }
    bool negative = *text == '-';
    if (*text != '+' && !negative)
        return false;
    text++;
    bool digits = strspn(text, "0123456789:") == strlen(text);
    bool read = digits && ((sscanf(text, "%2d:%2d%n", &hours, &minutes, &end) == 2 && end == 5) ||
                           (sscanf(text, "%2d%2d%n", &hours, &minutes, &end) == 2 && end == 4));
    if (!read || text[end] || hours > 14 || minutes > 59)
        return false;
    *out_seconds = (negative ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

bool start_time_parse(const char *text, struct start_time *out)
{
    static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
                                          "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"};
    struct start_time start = {.given = true};
    if (strcmp(text, "now") == 0) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        start.ns = (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
        *out = start;
        return true;
    }
    struct tm parts;
    const char *end = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats && !end; i++) {
        parts = (struct tm){.tm_isdst = -1};
        end = strptime(text, formats[i], &parts);
    }
    if (!end)
        return false;
    end = parse_fraction(end, &start.ns);
    start.has_offset = *end;
    if (*end && !parse_offset(end, &start.offset_s))
        return false;
    const int day = parts.tm_mday;
    time_t seconds = start.has_offset ? timegm(&parts) : mktime(&parts);
    if (seconds < 0 || parts.tm_mday != day || seconds > INT64_MAX / SECOND_NS / 2)
        return false;
    start.ns += ((int64_t)seconds - start.offset_s) * SECOND_NS;
    *out = start;
    return true;
}

void start_time_after(const struct start_time *start, double seconds, char out[CLOCK_BYTES])
{
    const int64_t ms_ns = SECOND_NS / 1000;
    const int64_t ms = start->ns / ms_ns + llround(fmin(seconds, 1e9) * 1000);
    time_t whole = (time_t)(ms / 1000), shown = whole + start->offset_s;
    struct tm parts;
    long offset = start->offset_s;
    if (start->has_offset) {
        gmtime_r(&shown, &parts);
    } else {
        localtime_r(&whole, &parts);
        offset = parts.tm_gmtoff;
    }
    size_t used = strftime(out, CLOCK_BYTES, "%Y-%m-%dT%H:%M:%S", &parts);
    used += (size_t)snprintf(out + used, CLOCK_BYTES - used, ".%03d", (int)(ms % 1000));
    long minutes = labs(offset) / 60;
    snprintf(out + used, CLOCK_BYTES - used, "%c%02ld:%02ld", offset < 0 ? '-' : '+', minutes / 60,
             minutes % 60);
}
