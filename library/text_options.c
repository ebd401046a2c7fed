/* How the texts of a library are read: one way for all of them. */
#include "library/catalogue.h"

#include <stdio.h>
#include <string.h>

#define OPTION_COLUMNS                                                                             \
    "one, format, nfkc, fold_case, drop_punctuation, unit, shingle, min_words, lanes"
#define OPTION_VALUES "1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8"
enum { OPTION_COUNT = 8 };

/* The options as numbers, in the order of the columns. */
static void to_numbers(const struct doppel_text_options *options, int64_t out[OPTION_COUNT])
{
    const int64_t numbers[OPTION_COUNT] = {
        options->format,        options->nfkc,    options->fold_case, options->drop_punctuation,
        (int64_t)options->unit, options->shingle, options->min_words, options->lanes};
    memcpy(out, numbers, sizeof numbers);
}

static bool from_numbers(const int64_t numbers[OPTION_COUNT], struct doppel_text_options *out)
{
    static const int64_t most[OPTION_COUNT] = {
        DOPPEL_TEXT_AUTO,     1, 1, 1, DOPPEL_TEXT_CHARACTERS, DOPPEL_TEXT_MAX_SHINGLE, UINT32_MAX,
        DOPPEL_TEXT_MAX_LANES};
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (numbers[i] < 0 || numbers[i] > most[i])
            return false;
    *out = (struct doppel_text_options){
        .format = (enum doppel_text_format)numbers[0],
        .nfkc = numbers[1],
        .fold_case = numbers[2],
        .drop_punctuation = numbers[3],
        .unit = (enum doppel_text_unit)numbers[4],
        .shingle = (uint32_t)numbers[5],
        .min_words = (uint32_t)numbers[6],
        .lanes = (uint32_t)numbers[7],
    };
    return out->shingle && (out->lanes == 128 || out->lanes == 256);
}

static enum doppel_status read_options(struct doppel_library *library, sqlite3_stmt *statement,
                                       struct doppel_text_options *out, struct doppel_error *error)
{
    int64_t numbers[OPTION_COUNT];
    struct doppel_text_options options;
    for (int i = 0; i < OPTION_COUNT; i++)
        numbers[i] = sqlite3_column_int64(statement, i);
    if (sqlite3_column_int(statement, OPTION_COUNT) != 1 || !from_numbers(numbers, &options))
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "%s: how its texts were read is damaged in the catalogue",
                           library->directory);
    *out = options;
    return DOPPEL_OK;
}

enum doppel_status doppel_library_text_options(struct doppel_library *library,
                                               struct doppel_text_options *out,
                                               struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status =
        doppel_store_statement(library->store,
                               "SELECT format, nfkc, fold_case, drop_punctuation, unit, shingle,"
                               " min_words, lanes, " IS_WHOLE(OPTION_COLUMNS) " FROM text_options",
                               &statement, error);
    bool row;
    if (!status)
        status = doppel_store_step(library->store, statement, &row, error);
    if (status)
        return status;
    if (!row)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: holds no texts yet", library->directory);
    status = read_options(library, statement, out, error);
    sqlite3_reset(statement);
    return status;
}

/* ---- differences ---- */

static const char *const names[OPTION_COUNT] = {
    "format", "nfkc", "fold case", "drop punctuation", "unit", "shingle", "min words", "lanes"};

/* A value as one would say it. */
static void say_option(size_t option, int64_t value, char *out, size_t size)
{
    static const char *const formats[] = {"plain", "html", "markdown", "auto"};
    static const char *const units[] = {"words", "characters"};
    if (option > 4)
        snprintf(out, size, "%lld", (long long)value);
    else
        snprintf(out, size, "%s",
                 option == 0   ? formats[value]
                 : option == 4 ? units[value]
                 : value       ? "on"
                               : "off");
}

static enum doppel_status refuse(const struct doppel_library *library, size_t option, int64_t had,
                                 int64_t wanted, struct doppel_error *error)
{
    char texts[2][24];
    say_option(option, had, texts[0], sizeof texts[0]);
    say_option(option, wanted, texts[1], sizeof texts[1]);
    return doppel_fail(error, DOPPEL_E_VERSION,
                       "%s: its texts were read with %s %s, not %s: use the same, or another "
                       "library",
                       library->directory, names[option], texts[0], texts[1]);
}

static enum doppel_status insert_options(struct doppel_library *library,
                                         const int64_t numbers[OPTION_COUNT],
                                         struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(library->store,
                                                       "INSERT INTO text_options(" OPTION_COLUMNS
                                                       ", checksum) VALUES(" OPTION_VALUES
                                                       ", " CHECKSUM_OF(OPTION_VALUES) ")",
                                                       &statement, error);
    if (status)
        return status;
    for (int i = 0; i < OPTION_COUNT; i++)
        sqlite3_bind_int64(statement, i + 1, numbers[i]);
    return library_run(library, statement, error);
}

static enum doppel_status set_options(struct doppel_library *library,
                                      const struct doppel_text_options *options,
                                      struct doppel_error *error)
{
    int64_t wanted[OPTION_COUNT], had[OPTION_COUNT];
    struct doppel_text_options present;
    to_numbers(options, wanted);
    enum doppel_status status = doppel_library_text_options(library, &present, error);
    if (status == DOPPEL_E_NOT_FOUND)
        return insert_options(library, wanted, error);
    if (status)
        return status;
    to_numbers(&present, had);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (had[i] != wanted[i])
            return refuse(library, i, had[i], wanted[i], error);
    return DOPPEL_OK;
}

enum doppel_status doppel_library_set_text_options(struct doppel_library *library,
                                                   const struct doppel_text_options *options,
                                                   struct doppel_error *error)
{
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, set_options(library, options, error));
}
