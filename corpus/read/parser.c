/* Lines to records. */
#include "corpus/read/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "corpus/read/field_path.h"
#include "corpus/read/parse.h"
#include "corpus/read/problem.h"
#include "corpus/read/record_metadata.h"
#include "corpus/read/unescape.h"
#include "core/text/utf8.h"
#include "corpus/read/value.h"

enum slot_id {
    SLOT_ID,
    SLOT_TEXT,
    SLOT_PATH,
    SLOT_SOURCE,
    SLOT_DATE,
    PLAIN_SLOTS, /* those that follow are read where that is asked for */
    SLOT_EXTERNAL_ID = PLAIN_SLOTS,
    SLOT_META,
    SLOT_LABELS,
    SLOT_LIST,
    SLOT_LISTS,
    SLOTS
};

/* Of ids, paths, sources, dates: they are kept in rows, and printed on lines. */
enum { MAX_NAME_BYTES = 65536 };

/* Of the fields that nobody reads, to be named where the text is missing. */
enum { OTHER_FIELDS = 6, OTHER_NAME_BYTES = 40 };

/* The name of a field, in the line. */
struct other_field {
    const char *name;
    size_t size;
};

/* A field that records may have. */
struct field_slot {
    char *name; /* NULL: nothing is called so */
    size_t name_size;
    struct field_path path; /* where it is looked for if nothing is called so */
    size_t column;          /* of the rows' layout; its count: there is none */
    const char *token;      /* of this line; NULL: absent. The last of equal names counts */
    size_t token_size;
    bool is_literal; /* of an archive's row: a number, true or false */
    struct value value;
};

struct parser {
    struct json *json;
    const struct row_layout *layout; /* of rows; NULL: lines are JSON */
    struct field_slot slots[SLOTS];
    int slot_count;                          /* PLAIN_SLOTS, or all */
    struct field_slot *last;                 /* that of the last field, or NULL */
    struct other_field others[OTHER_FIELDS]; /* of this line, the first ones */
    size_t other_count;
    struct value copy;            /* of a line that had to be mended, or is a path */
    struct doppel_metadata *said; /* of the record; NULL: nothing */
    bool takes_paths;
};

/* ---- life ---- */

static bool name_slot(struct field_slot *slot, const char *name)
{
    slot->name = strdup(name);
    slot->name_size = strlen(name);
    return slot->name && field_path_init(&slot->path, name);
}

static void look_for_paths(struct parser *parser)
{
    struct json_path *paths[PLAIN_SLOTS];
    size_t count = 0;
    for (int i = 0; i < PLAIN_SLOTS; i++)
        if (parser->slots[i].path.json.count)
            paths[count++] = &parser->slots[i].path.json;
    json_look_for(parser->json, paths, count);
}

struct parser *parser_new(const struct doppel_corpus_fields *fields)
{
    struct parser *parser = calloc(1, sizeof *parser);
    if (!parser)
        return NULL;
    const struct doppel_corpus_fields usual = doppel_corpus_fields_default();
    const char *const names[PLAIN_SLOTS] = {
        fields->id ? fields->id : usual.id, fields->text ? fields->text : usual.text,
        fields->path ? fields->path : usual.path, fields->source ? fields->source : usual.source,
        fields->date ? fields->date : usual.date};
    parser->json = json_new();
    parser->slot_count = PLAIN_SLOTS;
    bool good = parser->json != NULL;
    for (int i = 0; i < PLAIN_SLOTS && good; i++)
        good = name_slot(&parser->slots[i], names[i]);
    if (good) {
        look_for_paths(parser);
        return parser;
    }
    parser_free(parser);
    return NULL;
}

void parser_free(struct parser *parser)
{
    if (!parser)
        return;
    json_free(parser->json);
    for (int i = 0; i < SLOTS; i++) {
        free(parser->slots[i].name);
        field_path_free(&parser->slots[i].path);
        value_free(&parser->slots[i].value);
    }
    value_free(&parser->copy);
    record_metadata_free(parser->said);
    free(parser);
}

void parser_take_paths(struct parser *parser)
{
    parser->takes_paths = true;
}

bool parser_take_metadata(struct parser *parser)
{
    static const char *const names[] = {"external_id", "meta", "labels", "list", "lists"};
    bool good = true;
    for (int i = PLAIN_SLOTS; i < SLOTS && good; i++) {
        const char *name = names[i - PLAIN_SLOTS];
        bool taken = false;
        for (int j = 0; j < PLAIN_SLOTS; j++)
            taken |= strcmp(parser->slots[j].name, name) == 0;
        good = taken || name_slot(&parser->slots[i], name);
    }
    parser->slot_count = SLOTS;
    return good;
}

struct doppel_metadata *parser_give_metadata(struct parser *parser)
{
    struct doppel_metadata *said = parser->said;
    parser->said = NULL;
    return said;
}

/* ---- fields ---- */

/* Whether the key, which ends before `limit`, is this name. */
static bool key_is(const struct field_slot *slot, const char *key, const char *limit)
{
    size_t room = (size_t)(limit - key);
    return slot->name_size < room && key[slot->name_size] == '"' &&
           memcmp(key, slot->name, slot->name_size) == 0;
}

/* The same for a key with escapes. */
static bool escaped_key_is(const struct field_slot *slot, const char *key, const char *limit)
{
    enum { LONGEST = 1024 };
    char plain[LONGEST];
    const char *end = key;
    while (end < limit && *end != '"')
        end += *end == '\\' ? 2 : 1;
    size_t size;
    return end < limit && end - key <= LONGEST &&
           json_unescape(key, (size_t)(end - key), plain, &size) && size == slot->name_size &&
           memcmp(plain, slot->name, size) == 0;
}

static void note_other_field(struct parser *parser, const char *key, const char *limit)
{
    const char *end = memchr(key, '"', (size_t)(limit - key));
    if (end && parser->other_count < OTHER_FIELDS)
        parser->others[parser->other_count++] = (struct other_field){key, (size_t)(end - key)};
}

static void take_field(void *context, const char *key, const char *value, size_t size)
{
    struct parser *parser = context;
    bool escaped = memchr(key, '\\', (size_t)(value - key)) != NULL;
    parser->last = NULL;
    for (int i = 0; i < parser->slot_count; i++) {
        struct field_slot *slot = &parser->slots[i];
        if (!slot->name || !(escaped ? escaped_key_is : key_is)(slot, key, value))
            continue;
        slot->token = value;
        slot->token_size = size;
        parser->last = slot;
    }
    if (!parser->last && !escaped)
        note_other_field(parser, key, value);
}

/* What is called so itself counts more. */
static void take_nested(struct field_slot *slot)
{
    if (!slot->path.json.count || slot->token)
        return;
    slot->token = slot->path.json.token;
    slot->token_size = slot->path.json.token_size;
}

static enum json_problem parse_json_line(struct parser *parser, const char *line, size_t size)
{
    for (int i = 0; i < SLOTS; i++)
        parser->slots[i].token = NULL;
    parser->last = NULL;
    parser->other_count = 0;
    enum json_problem problem = json_visit(parser->json, line, size, take_field, parser);
    for (int i = 0; i < PLAIN_SLOTS; i++)
        take_nested(&parser->slots[i]);
    return problem;
}

/* ---- mending ---- */

/* A copy of a line with '?' for each byte that is no UTF-8, so that places stay the same. */
static bool copy_mended(struct parser *parser, const char *line, size_t size)
{
    if (!value_make_room(&parser->copy, size + PARSE_SLACK + 2))
        return false;
    for (size_t i = 0, step; i < size; i += step) {
        size_t length = utf8_length(line + i, size - i);
        step = length ? length : 1;
        memcpy(parser->copy.bytes + i, length ? line + i : "?", step);
    }
    memset(parser->copy.bytes + size, 0, PARSE_SLACK + 2);
    return true;
}

/* Read what stands before the place where a line is cut: close it, and forget the last field, and
 * what stands in others. */
static void salvage_line(struct parser *parser, const char *line, size_t size)
{
    if (!copy_mended(parser, line, size))
        return;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)parser->copy.bytes[i] < ' ')
            parser->copy.bytes[i] = ' ';
    memcpy(parser->copy.bytes + size, "\"}", 2);
    if (parse_json_line(parser, parser->copy.bytes, size + 2) == JSON_OPEN) {
        memcpy(parser->copy.bytes + size, "}", 2);
        parse_json_line(parser, parser->copy.bytes, size + 1);
    }
    if (parser->last)
        parser->last->token = NULL;
    for (int i = 0; i < PLAIN_SLOTS; i++)
        if (parser->slots[i].path.json.count)
            parser->slots[i].token = NULL;
}

/* Visit a line, mended where that helps. Tokens are in the line itself but for broken ones. */
static enum json_problem visit_line(struct parser *parser, const char *line, size_t size)
{
    enum json_problem problem = parse_json_line(parser, line, size);
    if (problem == JSON_BAD_UTF8) {
        if (!copy_mended(parser, line, size))
            return JSON_MEMORY;
        problem = parse_json_line(parser, parser->copy.bytes, size);
        for (int i = 0; i < SLOTS; i++)
            if (parser->slots[i].token)
                parser->slots[i].token = line + (parser->slots[i].token - parser->copy.bytes);
    }
    if (problem == JSON_OPEN || problem == JSON_CONTROL)
        salvage_line(parser, line, size);
    return problem;
}

/* ---- rows ---- */

void parser_take_rows(struct parser *parser, const struct row_layout *layout)
{
    parser->layout = layout;
    for (int i = 0; layout && i < PLAIN_SLOTS; i++)
        parser->slots[i].column = row_column(layout, parser->slots[i].name);
}

/* Quotes and all, the cells that are fields. @return how many cells there are */
static size_t take_row_cells(struct parser *parser, struct csv_row *row)
{
    const char *cell;
    size_t size, count = 0;
    for (; csv_next_cell(row, &cell, &size); count++)
        for (int i = 0; i < PLAIN_SLOTS; i++)
            if (parser->slots[i].column == count) {
                parser->slots[i].token = cell;
                parser->slots[i].token_size = size;
            }
    return count;
}

static enum doppel_status parse_row(struct parser *parser, const char *line, size_t size,
                                    struct doppel_error *error)
{
    struct csv_row row = csv_row_of(line, size, parser->layout->separator);
    for (int i = 0; i < SLOTS; i++)
        parser->slots[i].token = NULL;
    size_t count = take_row_cells(parser, &row);
    if (row.open)
        return doppel_fail(error, DOPPEL_E_CORRUPT,
                           "a quote that is opened in this row is never closed");
    if (count != parser->layout->count)
        return doppel_fail(error, DOPPEL_E_FORMAT, "the row has %zu cell%s, and the first one %zu",
                           count, count == 1 ? "" : "s", parser->layout->count);
    return DOPPEL_OK;
}

/* Of an archive. */
static void take_row_fields(struct parser *parser, const char *row, size_t size)
{
    size_t place = 0;
    struct row_field field;
    for (int i = 0; i < SLOTS; i++)
        parser->slots[i].token = NULL;
    while (row_next(row, size, &place, &field))
        for (int i = 0; i < PLAIN_SLOTS; i++)
            if (parser->slots[i].column == field.column) {
                parser->slots[i].token = field.bytes;
                parser->slots[i].token_size = field.size;
                parser->slots[i].is_literal = field.is_literal;
            }
}

/* The value of a row's field: a string as it is, or what JSON would take it for. */
static enum value_kind decode_row_field(struct field_slot *slot)
{
    if (!slot->token || slot->is_literal)
        return value_decode(&slot->value, slot->token, slot->token_size);
    if (!value_make_room(&slot->value, slot->token_size + 1))
        return VALUE_NO_MEMORY;
    memcpy(slot->value.bytes, slot->token, slot->token_size);
    slot->value.bytes[slot->value.size = slot->token_size] = '\0';
    return VALUE_STRING;
}

/* A cell without anything is none, but a text, unless there is a path. */
static enum value_kind decode_cell(const struct parser *parser, struct field_slot *slot)
{
    const struct field_slot *text = &parser->slots[SLOT_TEXT], *path = &parser->slots[SLOT_PATH];
    bool may_be_empty = slot == text && (!path->token || !path->token_size);
    if (!slot->token || (!slot->token_size && !may_be_empty))
        return VALUE_ABSENT;
    if (!value_make_room(&slot->value, slot->token_size + 1))
        return VALUE_NO_MEMORY;
    slot->value.size = csv_decode_cell(slot->token, slot->token_size, slot->value.bytes);
    slot->value.bytes[slot->value.size] = '\0';
    return VALUE_STRING;
}

/* ---- values ---- */

static enum value_kind decode_slot(const struct parser *parser, struct field_slot *slot)
{
    return is_archive_layout(parser->layout) ? decode_row_field(slot)
           : parser->layout                  ? decode_cell(parser, slot)
                            : value_decode(&slot->value, slot->token, slot->token_size);
}

static enum doppel_status wrong_kind(const struct field_slot *slot, const char *wanted,
                                     struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_FORMAT, "\"%.64s\" is no %s", slot->name, wanted);
}

/* An id in which something becomes U+FFFD would be that of other records, too. */
static bool is_ambiguous(const struct parser *parser, const struct field_slot *slot)
{
    const struct value *value = &slot->value;
    size_t i = 0;
    for (size_t length; i < value->size; i += length)
        if (!(length = utf8_length(value->bytes + i, value->size - i)))
            return true;
    return !parser->layout && json_has_half_surrogate(slot->token, slot->token_size);
}

/* Decode a short field: a string or a number. */
static enum doppel_status read_name(struct parser *parser, enum slot_id id, const char **out,
                                    struct doppel_error *error)
{
    struct field_slot *slot = &parser->slots[id];
    bool is_path = id == SLOT_PATH;
    switch (decode_slot(parser, slot)) {
    case VALUE_ABSENT:
        return DOPPEL_OK;
    case VALUE_NO_MEMORY:
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a record");
    case VALUE_BROKEN:
        return doppel_fail(error, DOPPEL_E_CORRUPT, "broken JSON: an unknown escape in \"%.64s\"",
                           slot->name);
    case VALUE_OTHER:
        return wrong_kind(slot, is_path ? "string" : "string or number", error);
    case VALUE_NUMBER:
        if (is_path)
            return wrong_kind(slot, "string", error);
        break;
    case VALUE_STRING:
        break;
    }
    if (memchr(slot->value.bytes, '\0', slot->value.size))
        return doppel_fail(error, DOPPEL_E_FORMAT, "\"%.64s\" holds a NUL character", slot->name);
    if (slot->value.size > MAX_NAME_BYTES)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "\"%.64s\" has %zu bytes, more than the limit of %d", slot->name,
                           slot->value.size, MAX_NAME_BYTES);
    if (id == SLOT_ID && is_ambiguous(parser, slot))
        return doppel_fail(error, DOPPEL_E_FORMAT,
                           "\"%.64s\" holds half a surrogate pair, or bytes that are no UTF-8, by "
                           "which it could be taken for another one",
                           slot->name);
    if (!is_path && !value_clean(&slot->value))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a record");
    *out = slot->value.bytes;
    return DOPPEL_OK;
}

/* The columns that are there. */
static void note_other_columns(struct parser *parser)
{
    const struct row_layout *layout = parser->layout;
    parser->other_count = 0;
    for (size_t i = 0; layout && i < layout->count && i < OTHER_FIELDS; i++)
        parser->others[parser->other_count++] =
            (struct other_field){layout->names[i], strlen(layout->names[i])};
}

/* A record without a text: say which fields there are, one of which may be meant. */
static enum doppel_status lacks_text(const struct parser *parser, struct doppel_error *error)
{
    char names[OTHER_FIELDS * (OTHER_NAME_BYTES + 4) + 8] = "";
    size_t used = 0;
    for (size_t i = 0; i < parser->other_count; i++) {
        const struct other_field *other = &parser->others[i];
        size_t size = other->size < OTHER_NAME_BYTES ? other->size : OTHER_NAME_BYTES;
        while (size && (other->name[size] & 0xc0) == 0x80) /* within a character */
            size--;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s\"%.*s\"", i ? ", " : "",
                                 (int)size, other->name);
    }
    return doppel_fail(error, DOPPEL_E_FORMAT,
                       "the record has neither \"%.64s\" nor \"%.64s\"%s%s; name the field that "
                       "has its text, or its path",
                       parser->slots[SLOT_TEXT].name, parser->slots[SLOT_PATH].name,
                       used ? ", but " : "", names);
}

static enum doppel_status read_text_field(struct parser *parser, struct doppel_corpus_record *out)
{
    struct field_slot *slot = &parser->slots[SLOT_TEXT];
    if (is_archive_layout(parser->layout) && slot->token && !slot->is_literal) {
        out->text = slot->token; /* where it is */
        out->text_size = slot->token_size;
        return DOPPEL_OK;
    }
    switch (decode_slot(parser, slot)) {
    case VALUE_ABSENT:
        if (out->path)
            return DOPPEL_OK;
        out->lacks_text = true;
        if (parser->layout)
            note_other_columns(parser);
        return lacks_text(parser, &out->error);
    case VALUE_NO_MEMORY:
        return doppel_fail(&out->error, DOPPEL_E_MEMORY, "no memory for a text of %zu bytes",
                           slot->token_size);
    case VALUE_BROKEN:
        return doppel_fail(&out->error, DOPPEL_E_CORRUPT,
                           "broken JSON: an unknown escape in \"%.64s\"", slot->name);
    case VALUE_NUMBER:
    case VALUE_OTHER:
        return wrong_kind(slot, "string", &out->error);
    case VALUE_STRING:
        break;
    }
    out->text = slot->value.bytes;
    out->text_size = slot->value.size;
    return DOPPEL_OK;
}

/* ---- records ---- */

/* The short fields. The first thing that is wrong is what is said; the rest is read all the same.
 */
static void read_name_fields(struct parser *parser, struct doppel_corpus_record *out)
{
    const struct {
        enum slot_id slot;
        const char **value;
    } names[] = {
        {SLOT_ID, &out->id},
        {SLOT_PATH, &out->path},
        {SLOT_SOURCE, &out->source},
        {SLOT_DATE, &out->date},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        read_name(parser, names[i].slot, names[i].value, out->error.status ? NULL : &out->error);
    }
}

static struct metadata_token metadata_token(const struct parser *parser, enum slot_id id,
                                            const char *end)
{
    const struct field_slot *slot = &parser->slots[id];
    return (struct metadata_token){slot->name, slot->token,
                                   slot->token ? (size_t)(end - slot->token) : 0};
}

/* What the record says of itself, of a line without fault. */
static void read_metadata_fields(struct parser *parser, const char *end,
                                 struct doppel_corpus_record *out)
{
    const struct metadata_tokens tokens = {
        .external_id = metadata_token(parser, SLOT_EXTERNAL_ID, end),
        .meta = metadata_token(parser, SLOT_META, end),
        .labels = metadata_token(parser, SLOT_LABELS, end),
        .lists = {metadata_token(parser, SLOT_LIST, end), metadata_token(parser, SLOT_LISTS, end)},
    };
    if (record_metadata_is_any(&tokens) &&
        record_metadata_read(&tokens, parser->json, &parser->said, &out->error) == DOPPEL_OK)
        out->said = parser->said;
}

static bool is_object(const char *line, size_t size)
{
    size_t i = 0;
    while (i < size && (line[i] == ' ' || line[i] == '\t'))
        i++;
    return i < size && line[i] == '{';
}

/* A line that some systems end by \r\n. There are names that end so, too, but few. */
static void drop_return(char *path, size_t size)
{
    if (size > 1 && path[size - 1] == '\r' && access(path, F_OK) != 0)
        path[size - 1] = '\0';
}

static void read_bare_path(struct parser *parser, const char *line, size_t size,
                           struct doppel_corpus_record *out)
{
    if (memchr(line, '\0', size)) {
        doppel_fail(&out->error, DOPPEL_E_ARGUMENT, "a path with a NUL");
    } else if (size > MAX_NAME_BYTES) {
        doppel_fail(&out->error, DOPPEL_E_LIMIT, "a path of %zu bytes, more than the limit of %d",
                    size, MAX_NAME_BYTES);
    } else if (!value_make_room(&parser->copy, size + 1)) {
        doppel_fail(&out->error, DOPPEL_E_MEMORY, "no memory for a record");
    } else {
        memcpy(parser->copy.bytes, line, size);
        parser->copy.bytes[size] = '\0';
        drop_return(parser->copy.bytes, size);
        out->path = parser->copy.bytes;
        out->bare_path = true;
    }
}

void parser_line(struct parser *parser, const char *line, size_t size,
                 struct doppel_corpus_record *out)
{
    out->size = size;
    out->id = out->text = out->path = out->source = out->date = NULL;
    out->text_size = 0;
    record_metadata_free(parser_give_metadata(parser));
    out->said = NULL;
    out->lacks_text = out->bare_path = false;
    out->error.status = DOPPEL_OK;
    out->error.message[0] = '\0';
    if (parser->takes_paths && !is_object(line, size)) {
        read_bare_path(parser, line, size, out);
        return;
    }
    if (is_archive_layout(parser->layout))
        take_row_fields(parser, line, size);
    else if (parser->layout)
        parse_row(parser, line, size, &out->error);
    else
        problem_explain(visit_line(parser, line, size), line, size, &out->error);
    read_name_fields(parser, out);
    if (!out->error.status && parser->slot_count > PLAIN_SLOTS)
        read_metadata_fields(parser, line + size, out);
    if (!out->error.status)
        read_text_field(parser, out);
}

const char *parser_text_token(const struct parser *parser, size_t *out_size)
{
    const struct field_slot *slot = &parser->slots[SLOT_TEXT];
    if (!slot->token || *slot->token != '"')
        return NULL;
    *out_size = slot->token_size;
    while (slot->token[*out_size - 1] != '"')
        --*out_size;
    return slot->token;
}
