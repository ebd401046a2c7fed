/* Reading dates: ISO 8601 of several precisions, or seconds. */
#include "library/items/date.h"

#include <doppel/library.h>

#include <math.h>
#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400, MAX_NUMBER_DIGITS = 18 };

/* What is left to be read; NULL once it makes no sense. */
struct reading {
    const char *rest;
    struct date_span span;
};

/* ---- the calendar ---- */

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 1970 to the first of a month, years 0 to 9999. */
static int days_until(int year, int month)
{
    int before = year - 1;
    int days = 365 * year + (year ? before / 4 - before / 100 + before / 400 + 1 : 0) - 719528;
    for (int i = 1; i < month; i++)
        days += days_of_month(year, i);
    return days;
}

/* ---- pieces ---- */

static size_t count_digits(const char *text)
{
    size_t count = 0;
    while (isdigit((unsigned char)text[count]))
        count++;
    return count;
}

/* Exactly `digits` digits from `least` to `most`. */
static bool take(struct reading *reading, size_t digits, int least, int most, int *out)
{
    int value = 0;
    for (size_t i = 0; i < digits; i++) {
        if (!isdigit((unsigned char)reading->rest[i]))
            return false;
        value = value * 10 + (reading->rest[i] - '0');
    }
    if (value < least || value > most)
        return false;
    reading->rest += digits;
    *out = value;
    return true;
}

static bool skip(struct reading *reading, char wanted)
{
    bool there = *reading->rest == wanted;
    reading->rest += there;
    return there;
}

static double take_fraction(struct reading *reading)
{
    double value = 0, place = 0.1;
    for (; isdigit((unsigned char)*reading->rest); reading->rest++, place /= 10)
        value += (*reading->rest - '0') * place;
    return value;
}

static void set_span(struct reading *reading, double begin, double length)
{
    reading->span = (struct date_span){begin, begin + length};
}

/* ---- the parts of a date ---- */

/* "2024", "2024-05", "2024-05-31", "20240531". @return whether a time may follow */
static bool take_day(struct reading *reading, bool *out_day)
{
    int year, month, day;
    if (!take(reading, 4, 0, 9999, &year))
        return false;
    *out_day = false;
    bool extended = skip(reading, '-');
    if (!extended && !isdigit((unsigned char)*reading->rest)) {
        set_span(reading, (double)days_until(year, 1) * DAY_S,
                 (is_leap(year) ? 366.0 : 365.0) * DAY_S);
        return true;
    }
    if (!take(reading, 2, 1, 12, &month))
        return false;
    double begin = (double)days_until(year, month) * DAY_S;
    if (extended && !skip(reading, '-')) {
        set_span(reading, begin, (double)days_of_month(year, month) * DAY_S);
        return true;
    }
    if (!take(reading, 2, 1, days_of_month(year, month), &day))
        return false;
    set_span(reading, begin + (double)(day - 1) * DAY_S, DAY_S);
    *out_day = true;
    return true;
}

/* "12", "12:30", "1230", "12:30:05", "123005", the last with a fraction. */
static bool take_time(struct reading *reading)
{
    int hour, minute = 0, second = 0;
    double length = HOUR_S, fraction = 0;
    if (!take(reading, 2, 0, 24, &hour))
        return false;
    bool extended = skip(reading, ':');
    if (extended || isdigit((unsigned char)*reading->rest)) {
        length = MINUTE_S;
        if (!take(reading, 2, 0, 59, &minute))
            return false;
        if (extended ? skip(reading, ':') : isdigit((unsigned char)*reading->rest) != 0) {
            length = 1;
            if (!take(reading, 2, 0, 60, &second))
                return false;
            if ((*reading->rest == '.' || *reading->rest == ',') &&
                count_digits(reading->rest + 1)) {
                reading->rest++;
                fraction = take_fraction(reading);
                length = 0;
            }
        }
    }
    double begin = reading->span.begin + hour * HOUR_S + minute * MINUTE_S + second + fraction;
    if (begin > reading->span.begin + DAY_S)
        return false;
    set_span(reading, begin, length);
    return true;
}

/* "Z", "+02:00", "+0200", "+02", or nothing. */
static bool take_zone(struct reading *reading)
{
    int hours, minutes = 0;
    if (skip(reading, 'Z') || skip(reading, 'z') || !*reading->rest)
        return true;
    double sign = *reading->rest == '-' ? -1 : 1;
    if (!skip(reading, '+') && !skip(reading, '-'))
        return false;
    if (!take(reading, 2, 0, 23, &hours))
        return false;
    bool more = skip(reading, ':') || isdigit((unsigned char)*reading->rest);
    if (more && !take(reading, 2, 0, 59, &minutes))
        return false;
    double offset = sign * (hours * HOUR_S + minutes * MINUTE_S);
    reading->span.begin -= offset;
    reading->span.end -= offset;
    return true;
}

static bool read_iso(const char *text, struct date_span *out)
{
    struct reading reading = {.rest = text};
    bool day;
    if (!take_day(&reading, &day))
        return false;
    if (day && (skip(&reading, 'T') || skip(&reading, 't') || skip(&reading, ' '))) {
        if (!take_time(&reading))
            return false;
        skip(&reading, ' ');
    }
    if (!take_zone(&reading) || *reading.rest)
        return false;
    *out = reading.span;
    return true;
}

static bool read_seconds(const char *text, struct date_span *out)
{
    struct reading reading = {.rest = text};
    double sign = skip(&reading, '-') ? -1 : 1;
    size_t digits = count_digits(reading.rest);
    if (digits == 0 || digits > MAX_NUMBER_DIGITS)
        return false;
    double whole = 0;
    for (size_t i = 0; i < digits; i++)
        whole = whole * 10 + (*reading.rest++ - '0');
    bool precise = skip(&reading, '.');
    double value = sign * (whole + (precise ? take_fraction(&reading) : 0));
    if (*reading.rest)
        return false;
    *out = (struct date_span){value, value + (precise ? 0 : 1)};
    return true;
}

bool date_read(const char *text, struct date_span *out)
{
    size_t digits = count_digits(text);
    bool plain = text[digits] == '\0';
    if (plain && digits != 4 && digits != 8)
        return read_seconds(text, out);
    return read_iso(text, out) || read_seconds(text, out);
}

bool date_is_later(const struct date_span *a, const struct date_span *b)
{
    return a->begin >= b->end && a->begin > b->begin;
}

int64_t doppel_date_ns(const char *date)
{
    struct date_span span;
    if (!date || !date_read(date, &span))
        return INT64_MAX;
    double nanoseconds = span.end * 1e9;
    return fabs(nanoseconds) < 9e18 ? (int64_t)nanoseconds : INT64_MAX;
}
