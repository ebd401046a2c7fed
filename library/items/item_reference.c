/* What a command line calls an item or a text. */
#include "library/items/item_reference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "library/items/collection.h"
#include "core/values.h"

static const char number_mark[] = "item:", id_mark[] = "id:";

/* What follows the mark; NULL: it does not begin so. */
static const char *behind(const char *name, const char *mark)
{
    return strncmp(name, mark, strlen(mark)) == 0 ? name + strlen(mark) : NULL;
}

bool called_number(const char *name, uint64_t *out)
{
    const char *marked = behind(name, number_mark);
    return parse_whole(marked ? marked : name, 1, INT64_MAX, out);
}

const char *called_id(const char *name)
{
    return behind(name, id_mark);
}

/* ---- ways ---- */

static bool exists(struct doppel_library *library, uint64_t id)
{
    struct doppel_name name;
    enum doppel_status status = doppel_library_name(library, id, &name, NULL);
    if (status == DOPPEL_OK)
        doppel_name_free(&name);
    return status != DOPPEL_E_NOT_FOUND;
}

static enum doppel_status by_path(struct doppel_library *library, const char *name, uint64_t *out,
                                  struct doppel_error *error)
{
    struct doppel_item item;
    char *path = absolute_path(name);
    enum doppel_status status = doppel_library_by_path(library, path, &item, error);
    free(path);
    if (status)
        return status;
    *out = item.id;
    doppel_item_free(&item);
    return DOPPEL_OK;
}

static bool take_id(void *context, const struct doppel_library_text *text)
{
    *(uint64_t *)context = text->id;
    return true;
}

static enum doppel_status by_record_id(struct doppel_library *library, const char *name,
                                       uint64_t *out, struct doppel_error *error)
{
    const struct doppel_text_query query = {.record_id = name};
    uint64_t id = 0;
    enum doppel_status status = doppel_library_each_text(library, &query, take_id, &id, error);
    if (status)
        return status;
    if (!id)
        return DOPPEL_E_NOT_FOUND;
    *out = id;
    return DOPPEL_OK;
}

/* ---- all of them ---- */

/* One more way in which something is called so. */
static void take(struct called *called, enum called_by by, uint64_t id)
{
    if (!called->id) {
        called->id = id;
        called->by = by;
    } else if (!called->other && id != called->id) {
        called->other = id;
    }
}

enum doppel_status called_find(struct doppel_library *library, const char *name, struct called *out,
                               struct doppel_error *error)
{
    const char *given = called_id(name);
    struct called called = {0};
    uint64_t id, number = 0;
    enum doppel_status status = DOPPEL_E_NOT_FOUND;
    if (!given && called_number(name, &number) && exists(library, number))
        take(&called, CALLED_BY_NUMBER, number);
    if (!given && !number && (status = by_path(library, name, &id, error)) == DOPPEL_OK)
        take(&called, CALLED_BY_PATH, id);
    if (status && status != DOPPEL_E_NOT_FOUND)
        return status;
    const char *called_so = given ? given : behind(name, number_mark) ? "" : name;
    status = doppel_library_by_external_id(library, called_so, &id, error);
    if (!status)
        take(&called, CALLED_BY_EXTERNAL_ID, id);
    if (!status || status == DOPPEL_E_NOT_FOUND)
        status = by_record_id(library, called_so, &id, error);
    if (!status)
        take(&called, CALLED_BY_RECORD_ID, id);
    if (status && status != DOPPEL_E_NOT_FOUND)
        return status;
    if (!called.id)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "the library holds no such item");
    *out = called;
    return DOPPEL_OK;
}

void called_say_other(struct doppel_library *library, const char *name, struct report *report)
{
    struct called called;
    if (called_find(library, name, &called, NULL) == DOPPEL_OK && called.other)
        report_notice(report,
                      "'%s' is taken for item %" PRIu64 "; item %" PRIu64
                      " is called so, too: 'item:%" PRIu64 "' is that one",
                      name, called.id, called.other, called.other);
}

enum doppel_status called_to_change(struct doppel_library *library, const char *name,
                                    struct report *report, struct called *out,
                                    struct doppel_error *error)
{
    struct called called;
    uint64_t number;
    enum doppel_status status = called_find(library, name, &called, error);
    if (status)
        return status;
    if (called.by != CALLED_BY_NUMBER && called_number(name, &number))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "the library holds no such item; item %" PRIu64
                           " is called so: 'id:%s' is that one",
                           called.id, name);
    called_say_other(library, name, report);
    *out = called;
    return DOPPEL_OK;
}
