/* Sources and their authority: patterns, in memory in the order in which they are asked. */
#include "library/items/rows.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"

#define SOURCE_COLUMNS "pattern, authority"

/* ---- patterns ---- */

/* The end of a bracket expression that begins at `from`, or NULL. */
static const char *bracket_end(const char *from)
{
    const char *at = from + 1;
    at += *at == '!' || *at == '^';
    at += *at == ']';
    for (; *at && *at != ']'; at++)
        if (at[0] == '[' && at[1] == ':') {
            const char *end = strstr(at + 2, ":]");
            at = end ? end + 1 : at;
        }
    return *at ? at : NULL;
}

static enum doppel_status check_pattern(const char *pattern, struct doppel_error *error)
{
    enum doppel_status status = name_check(pattern, "the name of a source", error);
    if (status)
        return status;
    for (const char *at = pattern; *at; at++) {
        if (*at == '\\' && !*++at)
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "'%.100s' ends in a backslash", pattern);
        if (*at != '[')
            continue;
        at = bracket_end(at);
        if (!at)
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "'%.100s' is no pattern: a bracket does not close; write \\[ for "
                               "the character itself",
                               pattern);
    }
    return DOPPEL_OK;
}

/* Exact names first, then the longer, then by bytes. */
static int compare_rows(const void *left, const void *right)
{
    const struct source_row *a = left, *b = right;
    if (a->is_pattern != b->is_pattern)
        return a->is_pattern - b->is_pattern;
    size_t a_length = strlen(a->pattern), b_length = strlen(b->pattern);
    if (a->is_pattern && a_length != b_length)
        return a_length > b_length ? -1 : 1;
    return strcmp(a->pattern, b->pattern);
}

/* ---- in memory ---- */

static enum doppel_status read_source(struct memory *memory, sqlite3_stmt *statement)
{
    struct source_row row = {.authority = sqlite3_column_int64(statement, 1)};
    enum doppel_status status = string_read(statement, 0, &row.pattern);
    if (status == DOPPEL_E_MEMORY)
        return status;
    if (status || !row.pattern || sqlite3_column_int(statement, 2) != 1 ||
        check_pattern(row.pattern, NULL)) {
        memory->slots[MEMORY_SOURCES].damaged++;
        free(row.pattern);
        return DOPPEL_OK;
    }
    row.is_pattern = strpbrk(row.pattern, "*?[\\") != NULL;
    if (!array_grow((void **)&memory->sources, memory->source_count, &memory->source_capacity,
                    sizeof row)) {
        free(row.pattern);
        return DOPPEL_E_MEMORY;
    }
    memory->sources[memory->source_count++] = row;
    return DOPPEL_OK;
}

static enum doppel_status load_sources(struct doppel_library *library, struct doppel_error *error)
{
    struct memory *memory = &library->memory;
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        rows_prepare(library, "SELECT " SOURCE_COLUMNS ", " IS_WHOLE(SOURCE_COLUMNS) " FROM source",
                     NO_VALUES, &statement, error);
    if (status)
        return status;
    while (!(status = doppel_store_step(library->store, statement, &row, error)) && row)
        if ((status = read_source(memory, statement))) {
            doppel_fail(error, status, "%s: no memory for its sources", library->directory);
            break;
        }
    sqlite3_reset(statement);
    if (!status && memory->source_count)
        qsort(memory->sources, memory->source_count, sizeof *memory->sources, compare_rows);
    return status;
}

static bool is_source(const struct source_row *row, const char *source)
{
    return row->is_pattern ? fnmatch(row->pattern, source, 0) == 0
                           : strcmp(row->pattern, source) == 0;
}

enum doppel_status doppel_library_authority(struct doppel_library *library, const char *source,
                                            int64_t *out, struct doppel_error *error)
{
    const struct memory *memory = &library->memory;
    enum doppel_status status = memory_load(library, MEMORY_SOURCES, load_sources, error);
    if (status)
        return status;
    int64_t authority = 0;
    for (size_t i = 0; i < memory->source_count && source; i++)
        if (is_source(&memory->sources[i], source)) {
            authority = memory->sources[i].authority;
            break;
        }
    *out = authority;
    return DOPPEL_OK;
}

enum doppel_status doppel_library_each_source(struct doppel_library *library,
                                              doppel_source_visitor *visitor, void *context,
                                              struct doppel_error *error)
{
    const struct memory *memory = &library->memory;
    enum doppel_status status = memory_load(library, MEMORY_SOURCES, load_sources, error);
    if (status)
        return status;
    for (size_t i = 0; i < memory->source_count; i++)
        if (!visitor(context, memory->sources[i].pattern, memory->sources[i].authority))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    uint64_t damaged = memory->slots[MEMORY_SOURCES].damaged;
    return damaged ? doppel_fail(error, DOPPEL_E_CORRUPT,
                                 "%s: %" PRIu64 " of its sources %s damaged, and not looked at",
                                 library->directory, damaged, damaged == 1 ? "is" : "are")
                   : DOPPEL_OK;
}

/* ---- saying ---- */

/* After a change of the table. */
static enum doppel_status said(struct doppel_library *library, const char *sentence,
                               struct doppel_error *error)
{
    const struct doppel_log_entry entry = {.action = DOPPEL_LOG_METADATA, .reason = sentence};
    enum doppel_status status = memory_changed(library, MEMORY_SOURCES, error);
    memory_drop(&library->memory, MEMORY_SOURCES);
    return status ? status : log_append(library, &entry, error);
}

static enum doppel_status put_source(struct doppel_library *library, const char *pattern,
                                     int64_t authority, struct doppel_error *error)
{
    char sentence[1100];
    enum doppel_status status =
        rows_run(library,
                 "INSERT OR REPLACE INTO source(" SOURCE_COLUMNS
                 ", checksum) VALUES(?1, ?2, " CHECKSUM_OF("?1, ?2") ")",
                 VALUES(value_text(pattern), value_integer(authority)), error);
    snprintf(sentence, sizeof sentence, "source '%s' has authority %" PRId64, pattern, authority);
    return status ? status : said(library, sentence, error);
}

enum doppel_status doppel_library_set_source(struct doppel_library *library, const char *pattern,
                                             int64_t authority, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(check_pattern(pattern, error));
    TRY(library_begin(library, error));
    TRY(library_end(library, put_source(library, pattern, authority, error)));
done:
    return status;
}

static enum doppel_status remove_source(struct doppel_library *library, const char *pattern,
                                        struct doppel_error *error)
{
    char sentence[1100];
    enum doppel_status status = rows_run(library, "DELETE FROM source WHERE pattern = ?1",
                                         VALUES(value_text(pattern)), error);
    if (!status && rows_changed(library) == 0)
        status = doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: nothing is said of a source '%.100s'",
                             library->directory, pattern);
    snprintf(sentence, sizeof sentence, "source '%.1000s' has no authority of its own", pattern);
    return status ? status : said(library, sentence, error);
}

enum doppel_status doppel_library_remove_source(struct doppel_library *library, const char *pattern,
                                                struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, remove_source(library, pattern, error));
}
