/* Entries of the log as rows of the table `decisions`. */
#include "stream/postgres/sink_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doppel/decide.h>

#include "core/text/printable.h"

static void put_copy_bytes(struct doppel_json *rows, const char *text)
{
    doppel_json_append(rows, text, strlen(text));
}

/* A value, with the escapes that COPY asks for. */
static void put_copy_escaped(struct doppel_json *rows, const char *text)
{
    static const char odd[] = "\\\n\r\t", after[] = "\\nrt";
    for (;;) {
        const size_t plain = strcspn(text, odd);
        doppel_json_append(rows, text, plain);
        text += plain;
        if (!*text)
            return;
        const char escape[] = {'\\', after[strchr(odd, *text) - odd]};
        doppel_json_append(rows, escape, sizeof escape);
        text++;
    }
}

/* A column behind the first. @param text any bytes: what is no UTF-8 is replaced; NULL: no value */
static void put_copy_value(struct doppel_json *rows, const char *text)
{
    put_copy_bytes(rows, "\t");
    if (!text) {
        put_copy_bytes(rows, "\\N");
        return;
    }
    char *repaired = utf8_valid(text) ? NULL : utf8_repaired(text);
    rows->failed |= !repaired && !utf8_valid(text);
    put_copy_escaped(rows, repaired ? repaired : text);
    free(repaired);
}

/* 0: no value. */
static void put_copy_id(struct doppel_json *rows, uint64_t id)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, id);
    put_copy_value(rows, id ? digits : NULL);
}

static void put_copy_time(struct doppel_json *rows, int64_t time_ns)
{
    enum { MICROSECOND_NS = 1000, SECOND_US = 1000000 };
    const int64_t us = time_ns / MICROSECOND_NS - (time_ns % MICROSECOND_NS < 0);
    const time_t seconds = (time_t)(us / SECOND_US - (us % SECOND_US < 0));
    char day[40], text[64];
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || !strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", &utc))
        strcpy(day, "1970-01-01 00:00:00");
    snprintf(text, sizeof text, "%s.%06d+00", day, (int)(us - (int64_t)seconds * SECOND_US));
    put_copy_value(rows, text);
}

static void put_copy_similarity(struct doppel_json *rows, const struct doppel_log_entry *entry)
{
    char number[32];
    const bool is_known = entry->has_match && entry->similarity >= 0;
    /* As JSON has it, whatever the locale is. */
    struct doppel_json text = {0};
    doppel_json_number(&text, NULL, is_known ? entry->similarity : 0, 6);
    snprintf(number, sizeof number, "%.*s", (int)text.size, text.bytes ? text.bytes : "0");
    rows->failed |= text.failed;
    doppel_json_free(&text);
    put_copy_value(rows, is_known ? number : NULL);
}

static void put_copy_record(struct doppel_json *rows, const struct doppel_log_entry *entry)
{
    struct doppel_json record = {0};
    doppel_json_object_begin(&record, NULL);
    doppel_log_entry_to_json(&record, entry);
    doppel_json_object_end(&record);
    rows->failed |= record.failed;
    put_copy_value(rows, record.failed ? "" : record.bytes);
    doppel_json_free(&record);
}

/* The item to use in place of the entry's: itself if it is new, or took the place of another; else
 * what it is a duplicate of. 0: the entry is about no item. */
static uint64_t sink_canonical(const struct doppel_log_entry *entry)
{
    const bool replaces = entry->action == DOPPEL_LOG_CANONICAL || entry->former;
    return replaces || !entry->of ? entry->item : entry->of;
}

void sink_row(struct doppel_json *rows, const char *library, const struct doppel_log_entry *entry)
{
    put_copy_escaped(rows, library);
    put_copy_id(rows, entry->entry);
    put_copy_time(rows, entry->time_ns);
    put_copy_value(rows, doppel_log_action_name(entry->action));
    put_copy_id(rows, entry->item);
    put_copy_value(rows, *entry->name ? entry->name : NULL);
    put_copy_value(rows, entry->source);
    put_copy_value(
        rows, entry->decided ? doppel_decision_name((enum doppel_decision)entry->decision) : NULL);
    put_copy_id(rows, entry->of);
    put_copy_id(rows, sink_canonical(entry));
    put_copy_id(rows, entry->former);
    put_copy_value(rows, entry->reason);
    put_copy_similarity(rows, entry);
    put_copy_record(rows, entry);
    put_copy_bytes(rows, "\n");
}
