/* Lines to and from an upstream. */
#include "decide/upstream_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare/record_fields.h"
#include "core/text/printable.h"
#include "core/try.h"

enum { NAME_BYTES = 512 };

/* ---- sending ---- */

/* Unlike any other node's, and known again: what was sent twice is one thing. As it comes back. */
static char *make_id(const char *name, uint64_t token)
{
    char host[65] = "";
    char *part = name_for_id(name);
    char *id = part ? malloc(strlen(part) + sizeof host + 20) : NULL;
    gethostname(host, sizeof host - 1);
    if (id)
        sprintf(id, "%s:%s#%016" PRIx64, host, part, token);
    free(part);
    return id;
}

/* The end of a long one tells more than its beginning. */
static char *short_name(const char *name)
{
    size_t size = strlen(name);
    const char *from = size > NAME_BYTES ? name + size - NAME_BYTES : name;
    while ((*from & 0xc0) == 0x80) /* within a character */
        from++;
    return strdup(from);
}

static enum doppel_status begin_line(struct doppel_json *json, const char *name, uint64_t token,
                                     char **out_id, char **out_name, struct doppel_error *error)
{
    *out_name = short_name(name);
    *out_id = *out_name ? make_id(*out_name, token) : NULL;
    if (!*out_id)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a question");
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "id", *out_id);
    return DOPPEL_OK;
}

static void end_line(struct doppel_json *json, const char *source, const char *date)
{
    doppel_json_object_end(json); /* the record */
    doppel_json_text(json, "source", source);
    doppel_json_text(json, "date", date);
    doppel_json_object_end(json);
    doppel_json_end_line(json);
}

static enum doppel_status write_item_line(struct doppel_json *json, struct doppel_library *library,
                                          struct doppel_item *item, uint64_t token, char **out_id,
                                          char **out_name, struct doppel_error *error)
{
    struct doppel_metadata about = {0};
    enum doppel_status status;
    if (item->record.kind == DOPPEL_KIND_IMAGE)
        item->record.attachment_size = 0;
    (void)doppel_library_get_metadata(library, item->id, &about, NULL);
    const char *name = *item->path         ? item->path
                       : about.external_id ? about.external_id
                                           : doppel_kind_name(item->record.kind);
    TRY(begin_line(json, name, token, out_id, out_name, error));
    doppel_json_object_begin(json, "record");
    write_record_fields(json, &item->record);
    end_line(json, about.source, about.date);
done:
    doppel_metadata_free(&about);
    return status;
}

struct text_line {
    struct doppel_json *json;
    uint64_t token;
    uint16_t version;
    char **id, **name;
    enum doppel_status status;
    struct doppel_error *error;
};

static bool write_text_line(void *context, const struct doppel_library_text *text)
{
    struct text_line *line = context;
    char place[32];
    if (text->error.status)
        return true;
    snprintf(place, sizeof place, "line %" PRIu64, text->line);
    line->status = begin_line(line->json, text->record_id ? text->record_id : place, line->token,
                              line->id, line->name, line->error);
    if (line->status)
        return false;
    doppel_json_object_begin(line->json, "record");
    doppel_json_text(line->json, "kind", doppel_kind_name(DOPPEL_KIND_TEXT));
    doppel_json_text(line->json, "scheme", text->lane_count == 256 ? "minhash256" : "minhash128");
    doppel_json_integer(line->json, "version", line->version);
    write_signature_fields(line->json, text);
    end_line(line->json, text->origin.source, text->origin.date);
    return true;
}

static enum doppel_status write_text_of_corpus(struct doppel_library *library, uint64_t id,
                                               struct text_line *line, struct doppel_error *error)
{
    const struct doppel_text_query query = {.first = id, .last = id};
    struct doppel_text_options options;
    struct doppel_text_limits limits;
    enum doppel_status status = doppel_library_text_options(library, &options, &limits, error);
    if (status)
        return status;
    const enum doppel_scheme_id scheme =
        options.lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128;
    line->version = doppel_text_version(doppel_scheme_by_id(scheme)->version, &options);
    line->status = DOPPEL_E_NOT_FOUND;
    status = doppel_library_each_text(library, &query, write_text_line, line, error);
    return status && status != DOPPEL_E_CANCELLED ? status : line->status;
}

enum doppel_status upstream_write_line(struct doppel_json *json, struct doppel_library *library,
                                       const struct doppel_queued *queued, char **out_id,
                                       char **out_name, struct doppel_error *error)
{
    struct doppel_item item;
    struct text_line line = {json, queued->token, 0, out_id, out_name, DOPPEL_OK, error};
    enum doppel_status status = doppel_library_get(library, queued->id, true, &item, error);
    if (status == DOPPEL_E_CORRUPT)
        return DOPPEL_E_NOT_FOUND;
    if (status == DOPPEL_E_NOT_FOUND)
        return write_text_of_corpus(library, queued->id, &line, error);
    if (status)
        return status;
    status = write_item_line(json, library, &item, queued->token, out_id, out_name, error);
    doppel_item_free(&item);
    return status;
}

/* ---- what comes back ---- */

/* A decision by its name. @return false: there is none that is called so */
static bool decision_named(const char *name, enum doppel_decision *out)
{
    for (int i = 0; name && i <= DOPPEL_DECISION_IGNORED; i++)
        if (strcmp(name, doppel_decision_name((enum doppel_decision)i)) == 0) {
            *out = (enum doppel_decision)i;
            return true;
        }
    return false;
}

/* What is new there, or revises or shares something, is news for it. */
static enum doppel_decision decision_here(enum doppel_decision there)
{
    switch (there) {
    case DOPPEL_DECISION_DUPLICATE:
    case DOPPEL_DECISION_CONFLICT:
    case DOPPEL_DECISION_IGNORED:
        return DOPPEL_DECISION_IGNORED;
    case DOPPEL_DECISION_UNREADABLE:
        return DOPPEL_DECISION_UNREADABLE;
    default:
        return DOPPEL_DECISION_NEW;
    }
}

static const char *text_member(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

enum doppel_status upstream_read_line(const char *line, size_t size, const char *id,
                                      struct upstream_answer *out, struct doppel_error *error)
{
    json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    struct upstream_answer answer = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!decision_named(text_member(object, "decision"), &answer.decision))
        TRY(doppel_fail(error, DOPPEL_E_FORMAT, "it does not answer as a doppel service: %.*s",
                        (int)(size < 80 ? size : 80), line));
    const json_t *upstream = json_object_get(object, "upstream"); /* that it asked in turn */
    const json_t *of = upstream ? upstream : object;
    const char *name = text_member(object, "of");
    name = upstream ? text_member(upstream, "name") : name ? name : text_member(object, "of_path");
    name = name ? name : text_member(object, "of_external_id");
    answer.item = (uint64_t)json_integer_value(json_object_get(of, upstream ? "item" : "of_item"));
    answer.decision = decision_here(answer.decision);
    if (answer.decision == DOPPEL_DECISION_IGNORED && name && strcmp(name, id) == 0)
        answer.decision = DOPPEL_DECISION_NEW;
    if (answer.decision == DOPPEL_DECISION_UNREADABLE)
        name = text_member(object, "reason");
    answer.name = strdup(name ? name : "");
    if (!answer.name)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an answer"));
    *out = answer;
done:
    json_decref(object);
    return status;
}
