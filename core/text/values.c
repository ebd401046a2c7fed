/* Numbers, sizes and times as people type them. */
#include "core/text/values.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/text/point_locale.h"

/* A plain decimal number at the beginning of `text`: no sign, no hex, no exponent, no "nan". */
static bool leading_number(const char *text, double *out, const char **out_rest)
{
    size_t length = strspn(text, "0123456789.");
    if (length == 0 || length > 30 || !isdigit((unsigned char)text[text[0] == '.']))
        return false;
    char digits[32];
    memcpy(digits, text, length);
    digits[length] = 0;
    char *end;
    locale_t before = point_locale_enter();
    *out = strtod(digits, &end);
    point_locale_leave(before);
    *out_rest = text + (end - digits);
    return *end == 0 && isfinite(*out);
}

bool parse_number(const char *text, double least, double most, double *out)
{
    double value;
    const char *rest;
    if (!leading_number(text, &value, &rest) || *rest || value < least || value > most)
        return false;
    *out = value;
    return true;
}

bool parse_share(const char *text, double *out)
{
    double value;
    const char *rest;
    bool percent = leading_number(text, &value, &rest) && strcmp(rest, "%") == 0;
    if (!percent)
        return parse_number(text, 0, 1, out);
    if (value > 100)
        return false;
    *out = value / 100;
    return true;
}

bool parse_rate(const char *text, double *out)
{
    const char *exponent = strchr(text, 'e');
    size_t length = exponent ? (size_t)(exponent - text) : strlen(text);
    char digits[32];
    double value;
    uint64_t tenths = 0;
    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    if (!parse_number(digits, 0, 1e30, &value) ||
        (exponent && (exponent[1] != '-' || !parse_whole(exponent + 2, 0, 300, &tenths))))
        return false;
    value *= pow(10, -(double)tenths);
    if (!(value > 0 && value <= 1))
        return false;
    *out = value;
    return true;
}

bool parse_whole(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (!isdigit((unsigned char)*text) || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    if (value < least || value > most)
        return false;
    *out = value;
    return true;
}

bool parse_size(const char *text, uint64_t step, uint64_t *out)
{
    static const char units[] = "KMGT";
    double value;
    const char *rest;
    if (!leading_number(text, &value, &rest))
        return false;
    const char *unit = *rest ? strchr(units, toupper((unsigned char)*rest)) : NULL;
    if (unit) {
        for (const char *each = units; each <= unit; each++)
            value *= (double)step;
        rest++;
    }
    if (strcasecmp(rest, "b") != 0 && (!unit || strcasecmp(rest, "ib") != 0) && *rest)
        return false;
    if (value > (double)INT64_MAX)
        return false;
    *out = (uint64_t)value;
    return true;
}

bool parse_time(const char *text, uint32_t *out_ms)
{
    static const struct {
        const char *unit;
        double ms;
    } units[] = {{"", 1e3}, {"s", 1e3}, {"ms", 1}, {"m", 6e4}, {"min", 6e4}, {"h", 3.6e6}};
    double value;
    const char *rest;
    if (!leading_number(text, &value, &rest))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(rest, units[i].unit) != 0)
            continue;
        double ms = value * units[i].ms;
        if (ms > (double)INT32_MAX || (ms > 0 && ms < 1))
            return false;
        *out_ms = (uint32_t)ms;
        return true;
    }
    return false;
}
