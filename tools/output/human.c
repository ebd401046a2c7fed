/* Sizes, dates and durations as people read them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/memory.h"
#include "tools/output/formats.h"
#include "core/text/printable.h"

void human_size(double bytes, char *out, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1000;
        unit++;
    }
    snprintf(out, size, unit && bytes < 9.95 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

static void format_time(time_t seconds, char *out, size_t size)
{
    struct tm local;
    if (!localtime_r(&seconds, &local) || strftime(out, size, "%Y-%m-%d %H:%M", &local) == 0)
        snprintf(out, size, "?");
}

static void format_seconds(double seconds, char *out, size_t size)
{
    unsigned long tenths = (unsigned long)(seconds * 10 + 0.5), whole = tenths / 10;
    if (whole >= 3600)
        snprintf(out, size, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(out, size, "%lu:%02lu.%lu", whole / 60, whole % 60, tenths % 10);
}

/* Words with commas between, else what JSON has. */
static char *list_text(const json_t *list)
{
    json_t *joined = json_string(""), *word;
    size_t i;
    json_array_foreach(list, i, word)
    {
        json_t *longer = json_is_string(word) ? json_sprintf("%s%s%s", json_string_value(joined),
                                                             i ? ", " : "", json_string_value(word))
                                              : NULL;
        json_decref(joined);
        joined = longer;
        if (!joined)
            return cell_text(list);
    }
    char *text = cell_text(joined);
    json_decref(joined);
    return text;
}

static char *plain_text(const json_t *value)
{
    char *text = json_is_array(value) ? list_text(value) : cell_text(value);
    char *shown = must_have(printable(text, true));
    free(text);
    return shown;
}

char *human_text(enum cell cell, const json_t *value)
{
    char text[64] = "";
    if (!value)
        return must_copy("");
    switch (cell) {
    case CELL_SIZE:
        human_size(json_number_value(value), text, sizeof text);
        return must_copy(text);
    case CELL_TIME:
        format_time((time_t)json_number_value(value), text, sizeof text);
        return must_copy(text);
    case CELL_SECONDS:
        format_seconds(json_number_value(value), text, sizeof text);
        return must_copy(text);
    case CELL_PLACE:
        human_clock(json_number_value(value), 2, text, sizeof text);
        return must_copy(text);
    case CELL_BOOL:
        return must_copy(json_is_true(value) ? "yes" : "");
    case CELL_ANSWER:
        return must_copy(json_is_true(value) ? "yes" : "no");
    default:
        return plain_text(value);
    }
}
