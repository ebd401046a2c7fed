/* Indexes of codes that are made when many items have come in, not while they do. */
#include "core/try.h"
#include "library/derived/code_spool.h"
#include "library/items/rows.h"

enum doppel_status codes_are_there(struct doppel_library *library, enum code_table which, bool *out,
                                   struct doppel_error *error)
{
    struct code_names names;
    int64_t count = 0;
    enum doppel_status status =
        code_names_make(library->directory, which, &names)
            ? rows_number(library, "SELECT count(*) FROM doppel_index WHERE name = ?1",
                          VALUES(value_text(names.name)), &count, NULL, error)
            : doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
    code_names_free(&names);
    *out = count > 0;
    return status;
}

/* ---- what comes in meanwhile ---- */

void codes_forget_spool(struct code_index *codes)
{
    code_spool_free(codes->spool);
    codes->spool = NULL;
}

/* Nobody else has committed since it was begun. */
static bool is_spool_whole(struct doppel_library *library, const struct code_index *codes)
{
    int64_t version = 0;
    return codes->spool && !doppel_store_data_version(library->store, &version, NULL) &&
           version == codes->spool_version;
}

/* Where there is nothing yet, what comes in is all there is. */
static enum doppel_status begin_spool(struct doppel_library *library, enum code_table which,
                                      struct doppel_error *error)
{
    struct code_index *codes = &library->codes[which];
    struct code_names names = {0};
    bool any = false;
    enum doppel_status status;
    TRY(codes_any_items(library->store, which, &any, error));
    if (any)
        return DOPPEL_OK;
    TRY(doppel_store_data_version(library->store, &codes->spool_version, error));
    if (code_names_make(library->directory, which, &names))
        codes->spool = code_spool_new(library->directory, &names.make);
    code_names_free(&names);
done:
    return status;
}

void codes_put_aside(struct code_index *index, const struct item_codes *codes)
{
    if (index->spool && !code_spool_put(index->spool, codes))
        codes_forget_spool(index);
}

enum doppel_status codes_put_off(struct doppel_library *library, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        struct code_index *codes = &library->codes[i];
        const bool begun = codes->put_off || codes->owed;
        bool there = true;
        if (!is_text_table((enum code_table)i) && !codes->kept)
            status = codes_are_there(library, (enum code_table)i, &there, error);
        codes->put_off = !there;
        if (codes->spool && (there || !is_spool_whole(library, codes)))
            codes_forget_spool(codes);
        if (!status && codes->put_off && !begun)
            status = begin_spool(library, (enum code_table)i, error);
    }
    return status;
}

void codes_put_off_end(struct doppel_library *library)
{
    for (int i = 0; i < CODE_TABLES; i++) {
        library->codes[i].owed |= library->codes[i].put_off;
        library->codes[i].put_off = false;
    }
}

/* ---- making them ---- */

/* @return false: of the items, then */
static bool make_of_spool(struct doppel_library *library, enum code_table which)
{
    struct code_index *codes = &library->codes[which];
    struct code_names names = {0};
    struct doppel_index_load load;
    bool made = false;
    if (!codes->spool || doppel_store_begin(library->store, NULL))
        return false;
    if (is_spool_whole(library, codes) && code_spool_load(codes->spool, &load) &&
        code_names_make(library->directory, which, &names))
        made = !doppel_store_index_build(library->store, &names.options, &load, NULL) &&
               !doppel_store_commit(library->store, NULL);
    if (!made)
        doppel_store_rollback(library->store);
    code_names_free(&names);
    return made;
}

/* What cannot be made now, whoever asks for it makes. */
void codes_make_put_off(struct doppel_library *library)
{
    for (int i = 0; i < CODE_TABLES; i++) {
        struct code_index *codes = &library->codes[i];
        const enum code_table which = (enum code_table)i;
        bool there = true, any = false;
        if (codes->owed && !codes->kept) {
            (void)codes_are_there(library, which, &there, NULL);
            (void)codes_any_items(library->store, which, &any, NULL);
            if (!there && any && !make_of_spool(library, which))
                (void)codes_make_again(library, which, NULL);
        }
        codes->owed = false;
        codes_forget_spool(codes);
    }
}
