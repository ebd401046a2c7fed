/* Numbers, truths, dates and times of columns, as fields of rows. */
#include "corpus/read/row_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WRITTEN_BYTES = 48 };

/* Of a second. */
struct time_parts {
    int64_t count;
    int digits;
};

static struct time_parts parts_of_second(enum row_meaning meaning)
{
    return meaning == ROW_MILLISECONDS   ? (struct time_parts){1000, 3}
           : meaning == ROW_MICROSECONDS ? (struct time_parts){1000000, 6}
           : meaning == ROW_NANOSECONDS  ? (struct time_parts){1000000000, 9}
                                         : (struct time_parts){1, 0};
}

static bool day_of(int64_t seconds, struct tm *out)
{
    time_t time = (time_t)seconds;
    return gmtime_r(&time, out) && out->tm_year >= -1900 && out->tm_year <= 8099;
}

/* False: it has none that is written so. */
static bool write_date_or_time(char *to, enum row_meaning meaning, int64_t number)
{
    const struct time_parts parts = parts_of_second(meaning);
    struct tm day;
    int64_t part = number % parts.count;
    if (meaning < ROW_DAYS)
        return false;
    if (meaning == ROW_DAYS)
        return number > -1000000 && number < 4000000 && day_of(number * 86400, &day) &&
               strftime(to, WRITTEN_BYTES, "%Y-%m-%d", &day) > 0;
    part += part < 0 ? parts.count : 0;
    if (!day_of(number / parts.count - (number % parts.count < 0), &day))
        return false;
    size_t size = strftime(to, WRITTEN_BYTES, "%Y-%m-%dT%H:%M:%S", &day);
    if (part)
        size +=
            (size_t)snprintf(to + size, WRITTEN_BYTES - size, ".%0*" PRId64, parts.digits, part);
    memcpy(to + size, "Z", 2);
    return true;
}

void row_add_whole(struct row_writer *rows, uint32_t column, enum row_meaning meaning,
                   int64_t number)
{
    char written[WRITTEN_BYTES] = "";
    bool literal = !write_date_or_time(written, meaning, number);
    if (literal && meaning == ROW_UNSIGNED)
        snprintf(written, sizeof written, "%" PRIu64, (uint64_t)number);
    else if (literal)
        snprintf(written, sizeof written, "%" PRId64, number);
    row_add(rows, column, literal, (struct byte_span){written, strlen(written)});
}

void row_add_binary(struct row_writer *rows, uint32_t column, double number, bool is_single)
{
    char written[WRITTEN_BYTES];
    if (!isfinite(number))
        return;
    snprintf(written, sizeof written, is_single ? "%.9g" : "%.17g", number);
    row_add(rows, column, true, (struct byte_span){written, strlen(written)});
}

void row_add_truth(struct row_writer *rows, uint32_t column, bool truth)
{
    row_add(rows, column, true, (struct byte_span){truth ? "true" : "false", truth ? 4 : 5});
}
