/* All items and texts of a library in order of id, and what the record of one is good for. */
#include "library/catalogue.h"

struct visit_of_all {
    struct doppel_library *library;
    const struct doppel_everything_visitor *visitor;
    struct doppel_error *error;
    uint64_t next; /* texts below are visited */
    enum doppel_status status;
};

static bool visit_texts_before(struct visit_of_all *all, uint64_t id)
{
    const struct doppel_text_query query = {.first = all->next, .last = id};
    if (id && id <= all->next)
        return true;
    all->status = doppel_library_each_text(all->library, &query, all->visitor->text,
                                           all->visitor->context, all->error);
    all->next = id + 1;
    return all->status == DOPPEL_OK;
}

static bool visit_item_of_all(void *context, const struct doppel_item *item)
{
    struct visit_of_all *all = context;
    return visit_texts_before(all, item->id) && all->visitor->item(all->visitor->context, item);
}

enum doppel_status doppel_library_each_of_all(struct doppel_library *library,
                                              const struct doppel_everything_visitor *visitor,
                                              struct doppel_error *error)
{
    struct visit_of_all all = {
        .library = library, .visitor = visitor, .error = error, .next = visitor->first};
    enum doppel_status status = DOPPEL_OK;
    if (visitor->item)
        status = doppel_library_each_from(library, visitor->first, visit_item_of_all, &all, error);
    if (!status)
        visit_texts_before(&all, 0);
    return all.status ? all.status : status;
}

/* ---- records ---- */

bool doppel_record_has_scheme(const struct doppel_record *record,
                              const struct doppel_scheme *scheme, uint64_t *out_versions)
{
    if (!scheme || scheme->id != record->scheme)
        return false;
    *out_versions += scheme->version != record->version;
    return scheme->version == record->version;
}

bool doppel_record_is_old(const struct doppel_record *record)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    return scheme && record->kind != DOPPEL_KIND_TEXT && scheme->version != record->version;
}

bool doppel_record_image_features(const struct doppel_record *record,
                                  struct doppel_image_features *out)
{
    if (doppel_image_attachment_read(record->attachment, record->attachment_size, out))
        return false;
    out->fingerprint = record->fingerprint;
    out->quality = record->quality;
    return true;
}
