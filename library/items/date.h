/* Dates of records, as far as they are given. */
#ifndef DOPPEL_LIBRARY_ITEMS_DATE_H
#define DOPPEL_LIBRARY_ITEMS_DATE_H

#include <stdbool.h>

/* A date is a span: "2024-05" is all of that May. Seconds since 1970. */
struct date_span {
    double begin, end;
};

/**
 * Read a date: ISO 8601 with the precision of a year, month, day, hour, minute, second or a part of
 * one; extended ("2024-05-31T12:30:05.25+02:00", the T may be a space) or basic ("20240531",
 * "20240531T1230Z"); without a zone in UTC. Four digits are a year, eight that are a day of the
 * calendar that day; other numbers are seconds since 1970.
 * @return false when it cannot be read; weeks and days of the year cannot. Thread-safe.
 */
bool date_read(const char *text, struct date_span *out);

/** Whether `a` is later than `b` whatever their precision leaves open. Thread-safe. */
bool date_is_later(const struct date_span *a, const struct date_span *b);

#endif
