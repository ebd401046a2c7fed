/* CSV: codes or digests in columns that its header names. */
#include <csv.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "exchange/import_source.h"
#include "core/text/values.h"

/* A quote that never ends must not take all memory. */
enum { MAX_FIELD_BYTES = 16 << 20, GROW_BYTES = 1 << 16 };

enum meaning {
    MEANS_NOTHING,
    MEANS_SCHEME,
    MEANS_VERSION, /* of the scheme */
    MEANS_CODE,
    MEANS_QUALITY,
    MEANS_ID,   /* what it is called */
    MEANS_PATH, /* likewise, where nothing better is */
    MEANS_DIGEST,
    MEANS_HASH, /* a code or a digest: MEANS_TYPE says which */
    MEANS_TYPE,
    MEANS_ADDED,
    MEANS_TAGS,   /* words, with commas, semicolons, bars or blanks between them */
    MEANS_LABELS, /* with semicolons between them */
    MEANINGS
};

/* As doppel, the National Software Reference Library, HashKeeper and exchanges of hashes between
 * platforms call them. */
static const struct {
    const char *title;
    enum meaning meaning;
} titles[] = {{"scheme", MEANS_SCHEME},  {"version", MEANS_VERSION}, {"code", MEANS_CODE},
              {"pdq", MEANS_CODE},       {"quality", MEANS_QUALITY}, {"external_id", MEANS_ID},
              {"path", MEANS_PATH},      {"filename", MEANS_PATH},   {"file_name", MEANS_PATH},
              {"file", MEANS_PATH},      {"sha256", MEANS_DIGEST},   {"sha-256", MEANS_DIGEST},
              {"sha1", MEANS_DIGEST},    {"sha-1", MEANS_DIGEST},    {"md5", MEANS_DIGEST},
              {"hash", MEANS_HASH},      {"hash_value", MEANS_HASH}, {"signal_value", MEANS_HASH},
              {"indicator", MEANS_HASH}, {"hash_type", MEANS_TYPE},  {"signal_type", MEANS_TYPE},
              {"type", MEANS_TYPE},      {"added", MEANS_ADDED},     {"tags", MEANS_TAGS},
              {"tag", MEANS_TAGS},       {"labels", MEANS_LABELS}};

/* What types are called, of digests, and how many hex digits each has. */
static const struct {
    const char *type;
    size_t digits;
} digest_types[] = {{"md5", 32}, {"sha1", 40}, {"sha-1", 40}, {"sha256", 64}, {"sha-256", 64}};

/* @param digits of the digest that the title names; 0: none */
struct csv_column {
    enum meaning meaning;
    size_t digits;
};

struct csv_import {
    struct import_source *source;
    struct doppel_error *error;
    enum doppel_status status;
    ARRAY(struct csv_column) columns;
    ARRAY(char *) tags;    /* of the row at hand, in its cell */
    bool told_guess;       /* that hashes without a type are taken for digests */
    char *cells[MEANINGS]; /* of the row at hand */
    size_t column;
    size_t wrong; /* the hex digits that a cell of the row was to have; 0: it is right */
    uint64_t row;
};

static enum meaning meaning_of(const char *title)
{
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcasecmp(title, titles[i].title) == 0)
            return titles[i].meaning;
    return MEANS_NOTHING;
}

static void lose_memory(struct csv_import *import)
{
    if (!import->status)
        import->status = doppel_fail(import->error, DOPPEL_E_MEMORY, "no memory for a row");
}

/* As exchanges call them: HASH_PDQ, photo_md5, video_md5. */
static const char *plain_type(const char *type)
{
    static const char *const before[] = {"hash_", "photo_", "video_"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strncasecmp(type, before[i], strlen(before[i])) == 0)
            return type + strlen(before[i]);
    return type;
}

static const struct doppel_scheme *scheme_of_type(const char *type)
{
    char name[32];
    size_t size = strlen(type);
    for (size_t i = 0; i <= size && i < sizeof name; i++)
        name[i] = (char)tolower((unsigned char)type[i]);
    return size < sizeof name ? doppel_scheme_by_name(name) : NULL;
}

/* Hex digits of a digest of this type; 0: it is none. */
static size_t digest_digits(const char *type)
{
    for (size_t i = 0; i < sizeof digest_types / sizeof *digest_types; i++)
        if (strcasecmp(type, digest_types[i].type) == 0)
            return digest_types[i].digits;
    return 0;
}

static void take_title(struct csv_import *import, const char *title)
{
    if (!import->columns.count && strncmp(title, "\xEF\xBB\xBF", 3) == 0)
        title += 3;
    const struct csv_column column = {meaning_of(title), digest_digits(title)};
    if (!array_push(&import->columns, column))
        lose_memory(import);
}

/* What a column of digests holds is one of its make, or the row is refused. */
static void check_digest_cell(struct csv_import *import, const char *text)
{
    size_t digits = import->columns.items[import->column].digits;
    if (digits && (hex_length(text) != digits || text[digits]))
        import->wrong = digits;
}

/* Of several digests the longest is kept. */
static void take_csv_cell(struct csv_import *import, const char *text)
{
    enum meaning meaning = import->column < import->columns.count
                               ? import->columns.items[import->column].meaning
                               : MEANS_NOTHING;
    char **cell = &import->cells[meaning];
    if (meaning == MEANS_DIGEST && *text)
        check_digest_cell(import, text);
    if (meaning == MEANS_NOTHING || !*text || (*cell && strlen(*cell) >= strlen(text)))
        return;
    free(*cell);
    *cell = strdup(text);
    if (!*cell)
        lose_memory(import);
}

static void on_csv_field(void *text, size_t size, void *context)
{
    struct csv_import *import = context;
    (void)size;
    if (import->row == 0)
        take_title(import, text ? text : "");
    else
        take_csv_cell(import, text ? text : "");
    import->column++;
}

/* Seconds since 1970, as an export has them; others' columns of that name may hold anything. */
static int64_t moment_of(const char *text)
{
    double seconds = 0;
    if (!text || !parse_number(text, 0, 9e9, &seconds))
        return 0;
    return (int64_t)(seconds * 1e9);
}

/* What doppel compares nothing by (texts, URLs, TMK) is reported, and can be on no list of its. */
static enum doppel_status pass_over_type(struct csv_import *import, const char *type)
{
    doppel_fail(import->error, DOPPEL_E_ARGUMENT, "no such type of a hash: '%.40s'", type);
    enum doppel_status status =
        import_bad(import->source, import->row + 1, DOPPEL_E_ARGUMENT, import->error);
    import->source->bad--;
    return status;
}

/* A hash is what its type says; without one, a digest by its length, which is noticed. */
static enum doppel_status put_hash(struct csv_import *import, const struct import_entry *entry)
{
    const char *type = import->cells[MEANS_TYPE] ? plain_type(import->cells[MEANS_TYPE]) : NULL;
    const struct doppel_scheme *scheme = type ? scheme_of_type(type) : NULL;
    const size_t digits = type ? digest_digits(type) : 0;
    if (scheme)
        return import_code(import->source, scheme, entry, import->error);
    if (type && !digits)
        return pass_over_type(import, import->cells[MEANS_TYPE]);
    if (type && strlen(entry->hex) != digits)
        return doppel_fail(import->error, DOPPEL_E_ARGUMENT, "'%.40s' has %zu hex digits, not %zu",
                           type, digits, strlen(entry->hex));
    if (!type && strlen(entry->hex) == 64 && !import->told_guess) {
        doppel_run_notice(import->source->run,
                          "%s: the hashes of 64 hex digits are taken for SHA-256; a column "
                          "'hash_type' says what they are",
                          import->source->name);
        import->told_guess = true;
    }
    return import_digest(import->source, entry, import->error);
}

static bool has_column(const struct csv_import *import, enum meaning meaning)
{
    for (size_t i = 0; i < import->columns.count; i++)
        if (import->columns.items[i].meaning == meaning)
            return true;
    return false;
}

#define BETWEEN_TAGS ",;| \t\r\n[]\"'"

/* Cut in place; each counts once. @return false without memory */
static bool split_tags(struct csv_import *import, char *text, const char *between)
{
    char *rest = NULL, *tag;
    for (tag = text ? strtok_r(text, between, &rest) : NULL; tag;
         tag = strtok_r(NULL, between, &rest)) {
        bool again = false;
        for (size_t i = 0; i < import->tags.count; i++)
            again |= strcmp(import->tags.items[i], tag) == 0;
        if (!again && !array_push(&import->tags, tag))
            return false;
    }
    return true;
}

static enum doppel_status put_csv_row(struct csv_import *import)
{
    char *const *cells = import->cells;
    const char *name = cells[MEANS_ID] ? cells[MEANS_ID] : cells[MEANS_PATH];
    const struct doppel_scheme *scheme =
        doppel_scheme_by_name(cells[MEANS_SCHEME] ? cells[MEANS_SCHEME] : "pdq");
    struct import_entry entry = {.name = name, .added_ns = moment_of(cells[MEANS_ADDED])};
    uint64_t quality = 100, version = 0;
    if (cells[MEANS_QUALITY] && !parse_whole(cells[MEANS_QUALITY], 0, 100, &quality))
        return doppel_fail(import->error, DOPPEL_E_ARGUMENT, "a quality is a number from 0 to 100");
    if (cells[MEANS_SCHEME] && cells[MEANS_VERSION] &&
        !parse_whole(cells[MEANS_VERSION], 1, UINT16_MAX, &version))
        return doppel_fail(import->error, DOPPEL_E_ARGUMENT,
                           "a scheme's version is a number from 1 to 65535");
    if (cells[MEANS_CODE] && !scheme)
        return doppel_fail(import->error, DOPPEL_E_ARGUMENT, "no such scheme: '%.40s'",
                           cells[MEANS_SCHEME]);
    import->tags.count = 0;
    if (!split_tags(import, cells[MEANS_LABELS], ";") ||
        !split_tags(import, cells[MEANS_TAGS], BETWEEN_TAGS))
        return doppel_fail(import->error, DOPPEL_E_MEMORY, "no memory for tags");
    entry.tags = (struct doppel_list_tags){import->tags.items, import->tags.count,
                                           has_column(import, MEANS_TAGS) ||
                                               has_column(import, MEANS_LABELS)};
    entry.quality = (uint8_t)quality;
    entry.version = (uint16_t)version;
    if (import->wrong)
        return doppel_fail(import->error, DOPPEL_E_ARGUMENT,
                           "a digest of this column has %zu hex digits", import->wrong);
    entry.hex = cells[MEANS_CODE]   ? cells[MEANS_CODE]
                : cells[MEANS_HASH] ? cells[MEANS_HASH]
                                    : cells[MEANS_DIGEST];
    if (cells[MEANS_CODE])
        return import_code(import->source, scheme, &entry, import->error);
    if (cells[MEANS_HASH])
        return put_hash(import, &entry);
    if (cells[MEANS_DIGEST])
        return import_digest(import->source, &entry, import->error);
    return doppel_fail(import->error, DOPPEL_E_ARGUMENT, "the row has neither a code nor a digest");
}

static void on_csv_row(int end, void *context)
{
    struct csv_import *import = context;
    (void)end;
    enum doppel_status status = DOPPEL_OK;
    bool empty = import->column == 0;
    if (import->row == 0 && !has_column(import, MEANS_CODE) && !has_column(import, MEANS_HASH) &&
        !has_column(import, MEANS_DIGEST))
        import->status = doppel_fail(
            import->error, DOPPEL_E_FORMAT,
            "the header names no column that is known: scheme and code, hash and hash_type, or "
            "md5, sha1, sha256");
    else if (import->row && !empty && !import->status)
        status = put_csv_row(import);
    import->row++;
    import->column = import->wrong = 0;
    for (size_t i = 0; i < MEANINGS; i++) {
        free(import->cells[i]);
        import->cells[i] = NULL;
    }
    if (status)
        import->status = import_bad(import->source, import->row, status, import->error);
}

static void *bounded_realloc(void *memory, size_t size)
{
    return size > MAX_FIELD_BYTES ? NULL : realloc(memory, size);
}

/* libcsv calls it lack of memory, too, when bounded_realloc gives no more. */
static enum doppel_status fail_row_of_csv(const struct csv_import *import,
                                          struct csv_parser *parser)
{
    bool is_long = csv_error(parser) == CSV_ENOMEM &&
                   csv_get_buffer_size(parser) + GROW_BYTES > MAX_FIELD_BYTES;
    unsigned long long row = (unsigned long long)import->row + 1;
    if (is_long)
        return doppel_fail(import->error, DOPPEL_E_LIMIT,
                           "row %llu: a cell of more than %d MiB: is a quote not closed?", row,
                           MAX_FIELD_BYTES >> 20);
    return doppel_fail(import->error,
                       csv_error(parser) == CSV_ENOMEM ? DOPPEL_E_MEMORY : DOPPEL_E_FORMAT,
                       "row %llu: %s", row, csv_strerror(csv_error(parser)));
}

static enum doppel_status feed(struct csv_import *import, struct csv_parser *parser)
{
    struct import_source *source = import->source;
    const char *bytes;
    for (size_t size; !import->status && (size = line_reader_peek(&source->reader, &bytes));) {
        doppel_run_advance(source->run, source->reader.offset);
        if (doppel_run_cancelled(source->run))
            return doppel_fail(import->error, DOPPEL_E_CANCELLED, "interrupted");
        if (csv_parse(parser, bytes, size, on_csv_field, on_csv_row, import) != size &&
            !import->status)
            return fail_row_of_csv(import, parser);
        source->reader.begin += size;
    }
    if (!import->status)
        csv_fini(parser, on_csv_field, on_csv_row, import);
    return import->status;
}

enum doppel_status import_csv(struct import_source *source, struct doppel_error *error)
{
    struct csv_import import = {.source = source, .error = error};
    struct csv_parser parser;
    if (csv_init(&parser, CSV_APPEND_NULL | CSV_EMPTY_IS_NULL))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read CSV");
    csv_set_realloc_func(&parser, bounded_realloc);
    csv_set_blk_size(&parser, GROW_BYTES); /* by 128 bytes, long fields take quadratic time */
    enum doppel_status status = feed(&import, &parser);
    csv_free(&parser);
    array_free(&import.columns);
    array_free(&import.tags);
    for (size_t i = 0; i < MEANINGS; i++)
        free(import.cells[i]);
    return status;
}
