/* What people call an item or a text: a number, a path, or an id that it was given. */
#include "library/ledger/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files/absolute_path.h"
#include "core/text/values.h"

static const char number_mark[] = "item:", id_mark[] = "id:";

/* What follows the mark; NULL: it does not begin so. */
static const char *behind_mark(const char *reference, const char *mark)
{
    return strncmp(reference, mark, strlen(mark)) == 0 ? reference + strlen(mark) : NULL;
}

bool doppel_reference_number(const char *reference, uint64_t *out)
{
    const char *marked = behind_mark(reference, number_mark);
    return parse_whole(marked ? marked : reference, 1, INT64_MAX, out);
}

const char *doppel_reference_external_id(const char *reference)
{
    return behind_mark(reference, id_mark);
}

/* ---- ways ---- */

static bool id_exists(struct doppel_library *library, uint64_t id)
{
    struct doppel_name name;
    enum doppel_status status = doppel_library_name(library, id, &name, NULL);
    if (status == DOPPEL_OK)
        doppel_name_free(&name);
    return status != DOPPEL_E_NOT_FOUND;
}

static enum doppel_status find_by_path(struct doppel_library *library, const char *name,
                                       uint64_t *out, struct doppel_error *error)
{
    struct doppel_item item;
    char *path = absolute_path(name);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path");
    enum doppel_status status = doppel_library_by_path(library, path, &item, error);
    free(path);
    if (status)
        return status;
    *out = item.id;
    doppel_item_free(&item);
    return DOPPEL_OK;
}

static bool take_last_id(void *context, const struct doppel_library_text *text)
{
    *(uint64_t *)context = text->id;
    return true;
}

static enum doppel_status find_by_record_id(struct doppel_library *library, const char *name,
                                            uint64_t *out, struct doppel_error *error)
{
    const struct doppel_text_query query = {.record_id = name};
    uint64_t id = 0;
    enum doppel_status status = doppel_library_each_text(library, &query, take_last_id, &id, error);
    if (status)
        return status;
    if (!id)
        return DOPPEL_E_NOT_FOUND;
    *out = id;
    return DOPPEL_OK;
}

/* ---- all of them ---- */

/* One more way in which something is named so. */
static void add_meaning(struct doppel_reference *found, enum doppel_reference_kind kind,
                        uint64_t id)
{
    if (!found->id) {
        found->id = id;
        found->kind = kind;
    } else if (!found->other && id != found->id) {
        found->other = id;
    }
}

enum doppel_status doppel_library_resolve(struct doppel_library *library, const char *reference,
                                          struct doppel_reference *out, struct doppel_error *error)
{
    const char *given = doppel_reference_external_id(reference);
    struct doppel_reference found = {0};
    uint64_t id, number = 0;
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    if (!given && doppel_reference_number(reference, &number) && id_exists(library, number))
        add_meaning(&found, DOPPEL_REFERENCE_NUMBER, number);
    if (!given && !number && (status = find_by_path(library, reference, &id, error)) == DOPPEL_OK)
        add_meaning(&found, DOPPEL_REFERENCE_PATH, id);
    if (status && status != DOPPEL_E_NOT_FOUND)
        return status;
    const char *name = given ? given : behind_mark(reference, number_mark) ? "" : reference;
    status = doppel_library_by_external_id(library, name, &id, error);
    if (!status)
        add_meaning(&found, DOPPEL_REFERENCE_EXTERNAL_ID, id);
    if (!status || status == DOPPEL_E_NOT_FOUND)
        status = find_by_record_id(library, name, &id, error);
    if (!status)
        add_meaning(&found, DOPPEL_REFERENCE_RECORD_ID, id);
    if (status && status != DOPPEL_E_NOT_FOUND)
        return status;
    if (!found.id)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "the library holds no such item");
    *out = found;
    return DOPPEL_OK;
}

enum doppel_status doppel_library_resolve_to_change(struct doppel_library *library,
                                                    const char *reference,
                                                    struct doppel_reference *out,
                                                    struct doppel_error *error)
{
    struct doppel_reference found;
    uint64_t number;
    enum doppel_status status = doppel_library_resolve(library, reference, &found, error);
    if (status)
        return status;
    if (found.kind != DOPPEL_REFERENCE_NUMBER && doppel_reference_number(reference, &number))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the library holds no such item; item %" PRIu64
                           " is called so: 'id:%s' is that one",
                           found.id, reference);
    *out = found;
    return DOPPEL_OK;
}

/* ---- what is named ---- */

enum doppel_status doppel_library_find_item(struct doppel_library *library, const char *reference,
                                            bool with_attachment, struct doppel_item *out,
                                            struct doppel_error *error)
{
    struct doppel_reference found;
    enum doppel_status status = doppel_library_resolve(library, reference, &found, error);
    if (status == DOPPEL_OK)
        status = doppel_library_get(library, found.id, with_attachment, out, error);
    return status == DOPPEL_E_NOT_FOUND
               ? doppel_fail(error, status, "the library holds no such item")
               : status;
}

struct one_text {
    doppel_library_text_visitor *visitor;
    void *context;
    struct doppel_error *error;
    enum doppel_status status;
};

static bool visit_one_text(void *context, const struct doppel_library_text *text)
{
    struct one_text *one = context;
    if (text->error.status)
        one->status = doppel_fail(one->error, text->error.status, "%s", text->error.message);
    else
        one->status = one->visitor(one->context, text) ? DOPPEL_OK : DOPPEL_E_CANCELLED;
    return false;
}

enum doppel_status doppel_library_find_text(struct doppel_library *library, const char *reference,
                                            bool (*visitor)(void *context,
                                                            const struct doppel_library_text *text),
                                            void *context, struct doppel_error *error)
{
    struct one_text one = {
        .visitor = visitor, .context = context, .error = error, .status = DOPPEL_E_NOT_FOUND};
    struct doppel_reference found;
    enum doppel_status status = doppel_library_resolve(library, reference, &found, error);
    if (status)
        return status;
    const struct doppel_text_query by_id = {.first = found.id, .last = found.id, .shingles = true};
    status = doppel_library_each_text(library, &by_id, visit_one_text, &one, error);
    if (status && status != DOPPEL_E_CANCELLED)
        return status;
    return one.status == DOPPEL_E_NOT_FOUND
               ? doppel_fail(error, one.status, "the library holds no such item")
               : one.status;
}

/* ---- names ---- */

bool doppel_item_has_file(const struct doppel_item *item)
{
    return item->path[0] == '/';
}

/* What its file was called that came by a service; NULL: none did. Given (free). */
static char *name_of_upload(struct doppel_library *library, const char *meta)
{
    sqlite3_stmt *row = NULL;
    char *name = NULL;
    if (!meta || rows_first(library,
                            "SELECT CASE WHEN json_valid(?1)"
                            " THEN nullif(json_extract(?1, '$.filename'), '') END",
                            VALUES(value_text(meta)), &row, NULL))
        return NULL;
    if (row && sqlite3_column_type(row, 0) == SQLITE_TEXT)
        (void)string_read(row, 0, &name);
    if (row)
        sqlite3_reset(row);
    return name;
}

char *doppel_library_item_name(struct doppel_library *library, const struct doppel_item *item)
{
    struct doppel_metadata about = {0};
    char number[32];
    if (doppel_item_has_file(item))
        return strdup(item->path);
    (void)metadata_row(library, item->id, &about, NULL);
    snprintf(number, sizeof number, "item %" PRIu64, item->id);
    char *upload = about.external_id || *item->path ? NULL : name_of_upload(library, about.meta);
    char *name = upload ? upload
                        : strdup(about.external_id ? about.external_id
                                 : *item->path     ? item->path
                                                   : number);
    doppel_metadata_free(&about);
    return name;
}
