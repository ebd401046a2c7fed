/* How the texts of a library are read and decided: one way for all of them. */
#include "library/catalogue.h"

#include <stdio.h>
#include <string.h>

#include "library/items/rows.h"

#define OPTION_COLUMNS                                                                             \
    "one, format, nfkc, fold_case, drop_punctuation, unit, shingle, min_words, lanes, "            \
    "min_similarity, min_containment"
#define OPTION_VALUES "1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10"
enum { WHOLE_COUNT = 8, OPTION_COUNT = 10 };

/* The options as numbers, in the order of the columns. */
struct numbers {
    int64_t whole[WHOLE_COUNT];
    double similarity, containment;
};

static const char *const names[OPTION_COUNT] = {
    "format",  "nfkc",      "fold case", "drop punctuation",   "unit",
    "shingle", "min words", "lanes",     "minimal similarity", "minimal containment"};

static struct numbers to_numbers(const struct doppel_text_options *options,
                                 const struct doppel_text_limits *limits)
{
    return (struct numbers){
        .whole = {(int64_t)options->format, options->nfkc, options->fold_case,
                  options->drop_punctuation, (int64_t)options->unit, options->shingle,
                  options->min_words, options->lanes},
        .similarity = limits->min_similarity,
        .containment = limits->min_containment,
    };
}

static bool make_sense(const struct numbers *numbers)
{
    static const int64_t most[WHOLE_COUNT] = {
        DOPPEL_TEXT_AUTO,     1, 1, 1, DOPPEL_TEXT_BY_SCRIPT, DOPPEL_TEXT_MAX_SHINGLE, UINT32_MAX,
        DOPPEL_TEXT_MAX_LANES};
    for (size_t i = 0; i < WHOLE_COUNT; i++)
        if (numbers->whole[i] < 0 || numbers->whole[i] > most[i])
            return false;
    return numbers->whole[5] > 0 && (numbers->whole[7] == 128 || numbers->whole[7] == 256) &&
           numbers->similarity >= 0 && numbers->containment >= 0;
}

static struct doppel_text_options to_options(const struct numbers *numbers)
{
    const int64_t *whole = numbers->whole;
    return (struct doppel_text_options){
        .format = (enum doppel_text_format)whole[0],
        .nfkc = whole[1],
        .fold_case = whole[2],
        .drop_punctuation = whole[3],
        .unit = (enum doppel_text_unit)whole[4],
        .shingle = (uint32_t)whole[5],
        .min_words = (uint32_t)whole[6],
        .lanes = (uint32_t)whole[7],
    };
}

/* DOPPEL_E_NOT_FOUND, without a sentence; DOPPEL_E_CORRUPT. */
static enum doppel_status read_numbers(struct doppel_library *library, struct numbers *out,
                                       struct doppel_error *error)
{
    sqlite3_stmt *row;
    enum doppel_status status = rows_first(
        library,
        "SELECT format, nfkc, fold_case, drop_punctuation, unit, shingle, min_words, lanes,"
        " min_similarity, min_containment, " IS_WHOLE(OPTION_COLUMNS) " FROM text_options",
        NO_VALUES, &row, error);
    if (status || !row)
        return status ? status : DOPPEL_E_NOT_FOUND;
    for (int i = 0; i < WHOLE_COUNT; i++)
        out->whole[i] = sqlite3_column_int64(row, i);
    out->similarity = sqlite3_column_double(row, WHOLE_COUNT);
    out->containment = sqlite3_column_double(row, WHOLE_COUNT + 1);
    bool whole = sqlite3_column_int(row, OPTION_COUNT) == 1;
    sqlite3_reset(row);
    if (whole && make_sense(out))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_CORRUPT,
                       "%s: how its texts were read is damaged in the catalogue",
                       library->directory);
}

enum doppel_status doppel_library_text_options(struct doppel_library *library,
                                               struct doppel_text_options *out_options,
                                               struct doppel_text_limits *out_limits,
                                               struct doppel_error *error)
{
    struct numbers numbers;
    enum doppel_status status = read_numbers(library, &numbers, error);
    if (status == DOPPEL_E_NOT_FOUND)
        return doppel_fail(error, status, "%s: holds no texts yet", library->directory);
    if (status)
        return status;
    if (out_options)
        *out_options = to_options(&numbers);
    if (out_limits)
        *out_limits = (struct doppel_text_limits){numbers.similarity, numbers.containment};
    return DOPPEL_OK;
}

static bool has_version(struct doppel_library *library, enum doppel_scheme_id scheme,
                        uint16_t version)
{
    int64_t one = 0;
    return !rows_number(library,
                        "SELECT EXISTS(" OF_BOTH(
                            "SELECT 1 FROM item WHERE scheme = ?1 AND version = ?2") ")",
                        VALUES(ID(scheme), ID(version)), &one, NULL, NULL) &&
           one;
}

bool doppel_library_fit_unit(struct doppel_library *library, const struct doppel_scheme *scheme,
                             struct doppel_text_options *text)
{
    const struct doppel_scheme *base = doppel_scheme_by_id(scheme->id);
    struct doppel_text_options words = *text;
    struct numbers had;
    if (!base || base->kind != DOPPEL_KIND_TEXT || text->unit != DOPPEL_TEXT_BY_SCRIPT)
        return false;
    words.unit = DOPPEL_TEXT_WORDS;
    bool fits =
        !read_numbers(library, &had, NULL)
            ? had.whole[4] == DOPPEL_TEXT_WORDS
            : !has_version(library, base->id, doppel_text_version(base->version, text)) &&
                  has_version(library, base->id, doppel_text_version(base->version, &words));
    if (fits)
        text->unit = DOPPEL_TEXT_WORDS;
    return fits;
}

/* ---- differences ---- */

/* A value as one would say it. */
static void say_option(const struct numbers *numbers, size_t option, char *out, size_t size)
{
    static const char *const formats[] = {"plain", "html", "markdown", "auto"};
    static const char *const units[] = {"words", "characters", "words by script"};
    if (option >= WHOLE_COUNT)
        snprintf(out, size, "%g",
                 option == WHOLE_COUNT ? numbers->similarity : numbers->containment);
    else if (option > 4)
        snprintf(out, size, "%lld", (long long)numbers->whole[option]);
    else
        snprintf(out, size, "%s",
                 option == 0              ? formats[numbers->whole[option]]
                 : option == 4            ? units[numbers->whole[option]]
                 : numbers->whole[option] ? "on"
                                          : "off");
}

/* The first option in which they differ; OPTION_COUNT: in none. */
static size_t find_difference(const struct numbers *a, const struct numbers *b)
{
    for (size_t i = 0; i < WHOLE_COUNT; i++)
        if (a->whole[i] != b->whole[i])
            return i;
    if (a->similarity < b->similarity || a->similarity > b->similarity)
        return WHOLE_COUNT;
    bool same = a->containment >= b->containment && a->containment <= b->containment;
    return same ? OPTION_COUNT : WHOLE_COUNT + 1;
}

static enum doppel_status refuse(const struct doppel_library *library, const struct numbers *had,
                                 const struct numbers *wanted, size_t option,
                                 struct doppel_error *error)
{
    char texts[2][24];
    say_option(had, option, texts[0], sizeof texts[0]);
    say_option(wanted, option, texts[1], sizeof texts[1]);
    return doppel_fail(error, DOPPEL_E_VERSION,
                       "%s: its texts were read with %s %s, not %s: use the same, or another "
                       "library",
                       library->directory, names[option], texts[0], texts[1]);
}

static enum doppel_status insert_options(struct doppel_library *library,
                                         const struct numbers *numbers, struct doppel_error *error)
{
    sqlite3_stmt *statement;
    enum doppel_status status = doppel_store_statement(library->store,
                                                       "INSERT INTO text_options(" OPTION_COLUMNS
                                                       ", checksum) VALUES(" OPTION_VALUES
                                                       ", " CHECKSUM_OF(OPTION_VALUES) ")",
                                                       &statement, error);
    if (status)
        return status;
    for (int i = 0; i < WHOLE_COUNT; i++)
        sqlite3_bind_int64(statement, i + 1, numbers->whole[i]);
    sqlite3_bind_double(statement, WHOLE_COUNT + 1, numbers->similarity);
    sqlite3_bind_double(statement, WHOLE_COUNT + 2, numbers->containment);
    return library_run(library, statement, error);
}

static enum doppel_status set_options(struct doppel_library *library, const struct numbers *wanted,
                                      struct doppel_error *error)
{
    struct numbers had;
    enum doppel_status status = read_numbers(library, &had, error);
    if (status == DOPPEL_E_NOT_FOUND)
        return insert_options(library, wanted, error);
    if (status)
        return status;
    size_t option = find_difference(&had, wanted);
    return option == OPTION_COUNT ? DOPPEL_OK : refuse(library, &had, wanted, option, error);
}

enum doppel_status doppel_library_set_text_options(struct doppel_library *library,
                                                   const struct doppel_text_options *options,
                                                   const struct doppel_text_limits *limits,
                                                   struct doppel_error *error)
{
    struct numbers wanted = to_numbers(options, limits);
    if (!make_sense(&wanted))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no way to read texts");
    enum doppel_status status = library_begin(library, error);
    return status ? status : library_end(library, set_options(library, &wanted, error));
}
