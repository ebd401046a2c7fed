/* Texts of another library, taken into this one. */
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "exchange/importer_internal.h"

/* 64 bits of what a text is known by: content, record id, and the line that it stands in. */
/* @return 0 without memory */
static uint64_t key_of_text(const struct doppel_library_text *text)
{
    const char *record_id = text->record_id ? text->record_id : "";
    const char *path = text->path ? text->path : "";
    size_t id_size = strlen(record_id) + 1, path_size = strlen(path) + 1;
    size_t size = sizeof text->content.bytes + sizeof text->line + id_size + path_size;
    uint8_t *bytes = malloc(size), *at = bytes;
    if (!bytes)
        return 0;
    memcpy(at, text->content.bytes, sizeof text->content.bytes);
    at += sizeof text->content.bytes;
    memcpy(at, &text->line, sizeof text->line);
    at += sizeof text->line;
    memcpy(at, record_id, id_size);
    memcpy(at + id_size, path, path_size);
    const struct doppel_digest digest = doppel_digest_bytes(bytes, size);
    free(bytes);
    return get_u64(digest.bytes) | 1; /* a key is not 0 */
}

static bool learn_text(void *context, const struct doppel_library_text *text)
{
    struct importer *importer = context;
    uint64_t key = text->error.status ? 0 : key_of_text(text);
    return text->error.status || (key && number_map_put(&importer->texts, key, text->id));
}

static enum doppel_status learn_texts(struct importer *importer, struct doppel_error *error)
{
    static const struct doppel_text_query all;
    if (importer->knows_texts)
        return DOPPEL_OK;
    importer->knows_texts = true;
    enum doppel_status status =
        doppel_library_each_text(importer->library, &all, learn_text, importer, error);
    return status == DOPPEL_E_CANCELLED
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the texts of the library")
               : status;
}

enum doppel_status importer_take_options(void *context, const struct doppel_text_options *options,
                                         const struct doppel_text_limits *limits,
                                         struct doppel_error *error)
{
    struct importer *importer = context;
    enum doppel_status status = doppel_library_commit(importer->library, error);
    if (!status)
        status = doppel_library_set_text_options(importer->library, options, limits, error);
    if (status != DOPPEL_E_VERSION)
        return status;
    importer->refuses_texts = true;
    doppel_run_failed(importer->run, "its texts", error);
    return DOPPEL_OK;
}

/* A representative that did not come along leads nobody: then the text stands for itself. */
static struct doppel_library_text as_here(const struct importer *importer,
                                          const struct doppel_library_text *text)
{
    struct doppel_library_text here = *text;
    here.leader = text->leader ? number_map_find(&importer->ids, text->leader) : 0;
    if (text->leader && !here.leader) {
        here.decision = text->too_short ? DOPPEL_DECISION_TOO_SHORT : DOPPEL_DECISION_NEW;
        here.leads = !text->too_short;
    }
    return here;
}

static enum doppel_status put_imported_text(struct importer *importer,
                                            const struct exchange_text *carried, uint64_t *out_id,
                                            struct doppel_error *error)
{
    const struct doppel_library_text here = as_here(importer, carried->text);
    const struct doppel_log_entry entry = {.action = DOPPEL_LOG_IMPORTED,
                                           .name = here.record_id ? here.record_id : here.path,
                                           .source = here.origin.source};
    enum doppel_status status = doppel_library_add_text(importer->library, &here, out_id, error);
    if (status)
        return status;
    struct doppel_log_entry numbered = entry;
    numbered.item = *out_id;
    return doppel_library_log(importer->library, &numbered, error);
}

enum doppel_status importer_take_text(void *context, const struct exchange_text *carried,
                                      struct doppel_error *error)
{
    struct importer *importer = context;
    const struct doppel_library_text *text = carried->text;
    uint64_t key = key_of_text(text);
    if (importer->refuses_texts)
        return DOPPEL_OK;
    if (!key)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a text");
    enum doppel_status status;
    TRY(importer_write_codes(importer, error));
    TRY(learn_texts(importer, error));
    uint64_t id = number_map_find(&importer->texts, key);
    importer->counts[id ? DOPPEL_ADDED_UNCHANGED : DOPPEL_ADDED_NEW]++;
    importer->texts_added += !id;
    if (!id)
        TRY(put_imported_text(importer, carried, &id, error));
    TRY(importer_tell(importer, id, true, &carried->about, error));
    if (!number_map_put(&importer->texts, key, id))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for ids");
    TRY(importer_remember(importer, text->id, id, 0, carried->canonical, error));
    TRY(importer_took(importer, 4 * (text->shingles ? (size_t)text->shingle_total : 0), error));
done:
    return status;
}
