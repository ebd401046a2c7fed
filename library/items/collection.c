/* Opening a library, and naming its items on a command line. */
#include "library/items/collection.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library/items/item_reference.h"
#include "tools/memory.h"
#include "tools/args/paths.h"
#include "tools/signals.h"

static bool is_stopped(void *context)
{
    (void)context;
    return signals_stopped();
}

enum doppel_status open_library(const struct settings *settings, bool create, bool read_only,
                                struct doppel_library **out, struct doppel_error *error)
{
    struct doppel_library_options options = {
        .create = create, .read_only = read_only, .durable = settings->durable};
    char *directory = library_directory(settings);
    if (!directory)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "no place for a library is known; name one with --library DIR");
    enum doppel_status status = doppel_library_open(directory, &options, out, error);
    if (!status)
        doppel_library_set_cancel(*out, is_stopped, NULL);
    if (status == DOPPEL_E_NOT_FOUND)
        doppel_fail(error, status, "%s: no library here; `doppel add PATH...` makes one",
                    directory);
    free(directory);
    return status;
}

char *absolute_path(const char *path)
{
    char *real = realpath(path, NULL);
    if (real)
        return real;
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
    if (!here)
        return must_copy(path);
    char *joined = must_allocate(strlen(here) + strlen(path) + 2);
    sprintf(joined, "%s/%s", here, path);
    free(here);
    return joined;
}

enum doppel_status find_item(struct doppel_library *library, const char *name, bool with_attachment,
                             struct doppel_item *out, struct doppel_error *error)
{
    struct called called;
    enum doppel_status status = called_find(library, name, &called, error);
    if (status == DOPPEL_OK)
        status = doppel_library_get(library, called.id, with_attachment, out, error);
    return status == DOPPEL_E_NOT_FOUND
               ? doppel_fail(error, status, "the library holds no such item")
               : status;
}

/* ---- texts ---- */

struct one_text {
    uint64_t id; /* the last one visited; 0: none */
    doppel_library_text_visitor *visitor;
    void *context;
    struct doppel_error *error;
    bool good;
};

static bool take_text(void *context, const struct doppel_library_text *text)
{
    struct one_text *one = context;
    one->id = text->id;
    if (text->error.status)
        doppel_fail(one->error, text->error.status, "%s", text->error.message);
    else
        one->good = one->visitor(one->context, text);
    return false;
}

bool find_text(struct doppel_library *library, const char *name,
               doppel_library_text_visitor *visitor, void *context, struct doppel_error *error)
{
    struct one_text one = {.visitor = visitor, .context = context, .error = error};
    struct called called;
    if (called_find(library, name, &called, error))
        return false;
    const struct doppel_text_query by_id = {
        .first = called.id, .last = called.id, .shingles = true};
    doppel_library_each_text(library, &by_id, take_text, &one, error);
    if (!one.id)
        doppel_fail(error, DOPPEL_E_NOT_FOUND, "the library holds no such item");
    return one.good;
}

struct all {
    struct doppel_library *library;
    const struct everything *everything;
    struct doppel_error *error;
    uint64_t next; /* texts below are visited */
    enum doppel_status status;
};

static bool visit_texts_before(struct all *all, uint64_t id)
{
    const struct doppel_text_query query = {.first = all->next, .last = id};
    if (id && id <= all->next)
        return true;
    all->status = doppel_library_each_text(all->library, &query, all->everything->text,
                                           all->everything->context, all->error);
    all->next = id + 1;
    return all->status == DOPPEL_OK;
}

static bool visit_item(void *context, const struct doppel_item *item)
{
    struct all *all = context;
    return visit_texts_before(all, item->id) &&
           all->everything->item(all->everything->context, item);
}

enum doppel_status each_of_all(struct doppel_library *library, const struct everything *everything,
                               struct doppel_error *error)
{
    struct all all = {
        .library = library, .everything = everything, .error = error, .next = everything->first};
    enum doppel_status status =
        doppel_library_each_from(library, everything->first, visit_item, &all, error);
    if (!status)
        visit_texts_before(&all, 0);
    return all.status ? all.status : status;
}

bool is_of_wanted_scheme(const struct settings *settings, const struct doppel_record *record,
                         uint64_t *others)
{
    const struct doppel_scheme *scheme = settings_scheme(settings, record->kind);
    if (!scheme || scheme->id != record->scheme)
        return false;
    *others += scheme->version != record->version;
    return scheme->version == record->version;
}

void say_other_versions(struct report *report, uint64_t others)
{
    if (others)
        report_notice(
            report,
            "%llu item%s of another version of the scheme, or of other options, left out; "
            "'doppel add --refresh' computes %s anew",
            (unsigned long long)others, others == 1 ? "" : "s", others == 1 ? "it" : "them");
}

bool is_old_version(const struct doppel_record *record)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    return scheme && record->kind != DOPPEL_KIND_TEXT && scheme->version != record->version;
}

void say_old_items(struct report *report, uint64_t count)
{
    if (count)
        report_notice(
            report,
            "%llu item%s of another version of %s scheme: 'doppel add --refresh' computes "
            "%s anew",
            (unsigned long long)count, count == 1 ? " is" : "s are", count == 1 ? "its" : "their",
            count == 1 ? "it" : "them");
}

bool features_of_record(const struct doppel_record *record, struct doppel_image_features *out)
{
    if (doppel_image_attachment_read(record->attachment, record->attachment_size, out))
        return false;
    out->fingerprint = record->fingerprint;
    out->quality = record->quality;
    return true;
}
