/* What is carried, taken into a library. */
#include "exchange/importer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/array.h"
#include "core/try.h"
#include "exchange/importer_internal.h"

/* A transaction ends after so many pieces, or so many bytes of attachments. */
enum { COMMIT_PIECES = 20000, COMMIT_BYTES = 64 << 20 };

/* ---- what was said by hand ---- */

/* Names of an item, and those of all; given (free: the list alone); NULL without memory. */
static char **joined_names(char *const *names, size_t count, char *const *more, size_t more_count)
{
    char **joined = calloc(count + more_count + 1, sizeof *joined);
    if (joined && count)
        memcpy(joined, names, count * sizeof *names);
    if (joined && more_count)
        memcpy(joined + count, more, more_count * sizeof *more);
    return joined;
}

/* What is said of an item, and what is said of all; `lists` and `labels` are to be freed. */
static enum doppel_status join_metadata(const struct importer *importer,
                                        const struct doppel_metadata *about,
                                        struct doppel_metadata *out, struct doppel_error *error)
{
    static const struct doppel_metadata nothing;
    const struct doppel_metadata *all = importer->metadata ? importer->metadata : &nothing;
    *out = *about;
    out->labels = joined_names(about->labels, about->label_count, all->labels, all->label_count);
    out->lists = joined_names(about->lists, about->list_count, all->lists, all->list_count);
    if (!out->labels || !out->lists) {
        free(out->labels);
        free(out->lists);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an item");
    }
    out->label_count += all->label_count;
    out->list_count += all->list_count;
    if (all->source)
        out->source = all->source;
    if (all->meta)
        out->meta = all->meta;
    return DOPPEL_OK;
}

enum doppel_status importer_tell(struct importer *importer, uint64_t id, bool of_text,
                                 const struct doppel_metadata *about, struct doppel_error *error)
{
    struct doppel_metadata all;
    enum doppel_status status = join_metadata(importer, about, &all, error);
    if (status)
        return status;
    if (of_text)
        all.source = all.date = NULL;
    bool says =
        all.source || all.date || all.external_id || all.meta || all.label_count || all.list_count;
    /* what cannot be said must not take back what came before */
    status = doppel_library_check_metadata(importer->library, &all, error);
    if (!status && says)
        status = doppel_library_set_metadata(importer->library, id, &all, error);
    free(all.labels);
    free(all.lists);
    return status;
}

/* ---- pieces ---- */

enum doppel_status importer_took(struct importer *importer, size_t bytes,
                                 struct doppel_error *error)
{
    importer->bytes += bytes;
    if (importer->sync || (++importer->pieces < COMMIT_PIECES && importer->bytes < COMMIT_BYTES))
        return DOPPEL_OK;
    importer->pieces = importer->bytes = 0;
    return doppel_library_commit(importer->library, error);
}

enum doppel_status importer_write_codes(struct importer *importer, struct doppel_error *error)
{
    return doppel_code_batch_write(importer->batch, importer->counts, error);
}

enum doppel_status importer_remember(struct importer *importer, uint64_t from, uint64_t to,
                                     uint64_t leader, uint64_t canonical,
                                     struct doppel_error *error)
{
    struct pending pending = {to, leader, canonical};
    const struct doppel_import_options *merge = importer->merge;
    bool good = !from || number_map_put(&importer->ids, from, to);
    if (good && from && merge && merge->on_item)
        good = merge->on_item(merge->on_item_context, from, to);
    if (good && (leader || canonical))
        good = array_push(&importer->pending, pending);
    return good ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for ids");
}

static const struct {
    const char *name;
    enum doppel_exact algorithm;
} exacts[] = {
    {"md5:", DOPPEL_EXACT_MD5}, {"sha1:", DOPPEL_EXACT_SHA1}, {"sha256:", DOPPEL_EXACT_SHA256}};

/* What the lists say of it, or, where it is on none, labels of its own. */
static enum doppel_status take_tags(struct importer *importer, uint64_t id,
                                    const struct exchange_item *carried, enum doppel_added added,
                                    struct doppel_error *error)
{
    static const struct doppel_metadata nothing;
    const struct doppel_metadata *all = importer->metadata ? importer->metadata : &nothing;
    const struct doppel_metadata labels = {.labels = carried->tags.items,
                                           .label_count = carried->tags.count};
    const bool brought = added == DOPPEL_ADDED_NEW && !doppel_item_has_file(&carried->item);
    bool retagged = false, changed = false;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < all->list_count && !status; i++) {
        status = doppel_library_list_says(importer->library, id, all->lists[i], &carried->tags,
                                          brought, &changed, error);
        retagged |= changed;
    }
    if (!status && !all->list_count && carried->tags.count)
        status = doppel_library_set_metadata(importer->library, id, &labels, error);
    if (!status && importer->sync)
        doppel_list_sync_came(importer->sync, id, added == DOPPEL_ADDED_UPDATED, retagged);
    return status;
}

/* "md5:0123…". @param out has its bytes in `digest` */
static enum doppel_status read_exact(const struct exchange_item *carried, uint8_t digest[32],
                                     struct doppel_exact_digest *out, struct doppel_error *error)
{
    const char *name = carried->item.path;
    for (size_t i = 0; i < sizeof exacts / sizeof *exacts; i++) {
        size_t length = strlen(exacts[i].name);
        if (strncmp(name, exacts[i].name, length) != 0 ||
            doppel_hex_decode(name + length, digest, doppel_exact_bytes(exacts[i].algorithm)))
            continue;
        *out = (struct doppel_exact_digest){exacts[i].algorithm, digest, carried->item.added_ns};
        return DOPPEL_OK;
    }
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "'%.100s' is no digest: md5:, sha1: or sha256: and hex digits", name);
}

static enum doppel_status put_exact(struct importer *importer, const struct exchange_item *carried,
                                    uint64_t *out_id, enum doppel_added *out_added,
                                    struct doppel_error *error)
{
    struct doppel_exact_digest exact;
    uint8_t digest[32];
    bool added = false;
    enum doppel_status status;
    TRY(read_exact(carried, digest, &exact, error));
    TRY(doppel_library_add_exact(importer->library, &exact, out_id, &added, error));
    *out_added = added ? DOPPEL_ADDED_NEW : DOPPEL_ADDED_UNCHANGED;
    TRY(importer_tell(importer, *out_id, false, &carried->about, error));
done:
    return status;
}

/* Labels that lists gave are said by these. @param out what it has is borrowed; its labels are to
 * be freed, the list alone */
static bool without_tags(const struct exchange_item *carried, struct exchange_item *out)
{
    *out = *carried;
    out->about.labels = calloc(carried->about.label_count + 1, sizeof *out->about.labels);
    if (out->about.labels)
        out->about.label_count =
            list_says_other_labels(&carried->says, &carried->about, out->about.labels);
    return out->about.labels;
}

static bool is_digest(const struct exchange_item *carried)
{
    return carried->item.record.scheme == DOPPEL_SCHEME_NONE &&
           !doppel_item_has_file(&carried->item);
}

static enum doppel_status import_item(struct importer *importer,
                                      const struct exchange_item *carried, uint64_t *out_id,
                                      enum doppel_added *out_added, struct doppel_error *error)
{
    if (is_digest(carried))
        return put_exact(importer, carried, out_id, out_added, error);
    if (!doppel_record_is_readable(&carried->item.record))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "what comes with the fingerprint is damaged, or of another scheme");
    struct doppel_metadata all;
    enum doppel_status status = join_metadata(importer, &carried->about, &all, error);
    if (status)
        return status;
    status =
        doppel_library_import(importer->library, &carried->item, &all, out_added, out_id, error);
    free(all.labels);
    free(all.lists);
    return status;
}

/* Which nothing else is said of than what it is called, and nothing speaks of. */
static bool is_code_of_list(const struct exchange_item *carried)
{
    const struct doppel_metadata *about = &carried->about;
    return !carried->item.id && !carried->says.count && !carried->leader && !carried->canonical &&
           !about->source && !about->date && !about->meta && !about->label_count &&
           !about->list_count && (is_digest(carried) || doppel_code_batch_takes(&carried->item));
}

static enum doppel_status take_list_code(struct importer *importer,
                                         const struct exchange_item *carried,
                                         struct doppel_error *error)
{
    bool full = false;
    struct doppel_list_code code = {
        .item = &carried->item, .name = carried->about.external_id, .tags = carried->tags};
    struct doppel_exact_digest exact;
    uint8_t digest[32];
    enum doppel_status status;
    if (is_digest(carried)) {
        TRY(read_exact(carried, digest, &exact, error));
        code.exact = &exact;
    }
    TRY(doppel_code_batch_add(importer->batch, &code, &full, error));
    if (full)
        TRY(importer_write_codes(importer, error));
done:
    return status;
}

static enum doppel_status importer_take_item(void *context, const struct exchange_item *carried,
                                             struct doppel_error *error)
{
    struct importer *importer = context;
    struct exchange_item own = {0};
    enum doppel_added added = DOPPEL_ADDED_NEW;
    uint64_t id = 0;
    if (is_code_of_list(carried))
        return take_list_code(importer, carried, error);
    enum doppel_status status;
    TRY(importer_write_codes(importer, error));
    TRY(without_tags(carried, &own) ? import_item(importer, &own, &id, &added, error)
                                    : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an item"));
    TRY(list_says_put(importer->library, id, &carried->says,
                      added == DOPPEL_ADDED_NEW && !doppel_item_has_file(&carried->item), error));
    TRY(take_tags(importer, id, carried, added, error));
    importer->counts[added]++;
    importer->texts_added +=
        added == DOPPEL_ADDED_NEW && carried->item.record.kind == DOPPEL_KIND_TEXT;
    TRY(importer_remember(importer, carried->item.id, id, carried->leader, carried->canonical,
                          error));
    TRY(importer_took(importer, carried->item.record.attachment_size, error));
done:
    free(own.about.labels);
    return status;
}

/* ---- who follows whom ---- */

/* What the library says itself stays. */
static enum doppel_status link_one(struct importer *importer, const struct pending *pending,
                                   struct doppel_error *error)
{
    struct doppel_library *library = importer->library;
    uint64_t target = number_map_find(&importer->ids, pending->leader), leader = 0, first = 0;
    if (!target || target == pending->id)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_leader(library, pending->id, &leader, error);
    if (!status)
        status = doppel_library_leader(library, target, &first, error);
    if (status || leader != pending->id || first == pending->id)
        return status;
    return doppel_library_link(library, pending->id, first, error);
}

static enum doppel_status choose_one(struct importer *importer, const struct pending *pending,
                                     struct doppel_error *error)
{
    struct doppel_library *library = importer->library;
    uint64_t kept = number_map_find(&importer->ids, pending->canonical), leader = 0, its = 0,
             now = 0;
    if (!kept)
        return DOPPEL_OK;
    enum doppel_status status;
    TRY(doppel_library_leader(library, pending->id, &leader, error));
    TRY(doppel_library_leader(library, kept, &its, error));
    TRY(doppel_library_get_canonical(library, leader, &now, error));
    if (leader == pending->id && its == leader && !now)
        TRY(doppel_library_supersede(library, leader, kept, "import", error));
done:
    return status;
}

/* Followers first: who is canonical is one of them. */
static enum doppel_status settle_groups(struct importer *importer, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < importer->pending.count && !status; i++) {
            const struct pending *pending = &importer->pending.items[i];
            if (!pass && pending->leader)
                status = link_one(importer, pending, error);
            else if (pass && pending->canonical)
                status = choose_one(importer, pending, error);
            if (status == DOPPEL_E_CORRUPT) { /* of a damaged item nothing is known */
                doppel_run_failed(importer->run, "the library", error);
                status = DOPPEL_OK;
            }
            if (!status)
                status = importer_took(importer, 0, error);
        }
    return status;
}

/* ---- life ---- */

enum doppel_status importer_new(struct doppel_run *run, struct doppel_library *library,
                                const struct doppel_metadata *metadata, struct importer **out,
                                struct doppel_error *error)
{
    struct importer *importer = calloc(1, sizeof *importer);
    if (!importer)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for an import");
    importer->run = run;
    importer->library = library;
    importer->metadata = metadata;
    importer->sink = (struct exchange_sink){.context = importer,
                                            .policy = importer_take_policy,
                                            .source = importer_take_source,
                                            .list = importer_take_list,
                                            .text_options = importer_take_options,
                                            .item = importer_take_item,
                                            .text = importer_take_text,
                                            .mark = importer_take_mark};
    enum doppel_status status = doppel_code_batch_new(library, metadata, &importer->batch, error);
    if (!status)
        status = importer_learn(importer, error);
    if (status)
        importer_free(importer);
    else
        *out = importer;
    return status;
}

enum doppel_status importer_begin_sync(struct importer *importer, struct doppel_list_sync **out,
                                       struct doppel_error *error)
{
    enum doppel_status status = doppel_list_sync_begin(
        importer->library, importer->metadata->lists[0], &importer->sync, error);
    if (status)
        return status;
    doppel_code_batch_for_sync(importer->batch, importer->sync);
    *out = importer->sync;
    return DOPPEL_OK;
}

void importer_free(struct importer *importer)
{
    if (!importer)
        return;
    doppel_code_batch_free(importer->batch);
    doppel_list_sync_free(importer->sync);
    number_map_free(&importer->ids);
    number_map_free(&importer->texts);
    array_free(&importer->pending);
    json_decref(importer->sources);
    json_decref(importer->lists);
    free(importer);
}

const struct exchange_sink *importer_sink(struct importer *importer)
{
    return &importer->sink;
}

void importer_set_on_item(struct importer *importer, const struct doppel_import_options *options)
{
    importer->merge = options;
}

struct doppel_import_counts importer_counts(const struct importer *importer)
{
    const uint64_t *counts = importer->counts;
    return (struct doppel_import_counts){.added = counts[DOPPEL_ADDED_NEW] +
                                                  counts[DOPPEL_ADDED_ELSEWHERE],
                                         .texts = importer->texts_added,
                                         .updated = counts[DOPPEL_ADDED_UPDATED],
                                         .unchanged = counts[DOPPEL_ADDED_UNCHANGED],
                                         .without_path = counts[DOPPEL_ADDED_ELSEWHERE],
                                         .conflicts = importer->conflicts};
}

void importer_notice_counts(const struct importer *importer, const char *name)
{
    const struct doppel_import_counts counts = importer_counts(importer);
    doppel_run_notice(importer->run, "%s%s%llu imported, %llu updated, %llu there already",
                      name ? name : "", name ? ": " : "", (unsigned long long)counts.added,
                      (unsigned long long)counts.updated, (unsigned long long)counts.unchanged);
    if (counts.without_path)
        doppel_run_notice(importer->run,
                          "%llu of them came in without their path, at which this library knows "
                          "other bytes",
                          (unsigned long long)counts.without_path);
    if (counts.conflicts)
        doppel_run_notice(importer->run,
                          "%llu words, sources, lists or policies are other ones here, and stay so",
                          (unsigned long long)counts.conflicts);
}

enum doppel_status importer_settle(struct importer *importer, struct doppel_error *error)
{
    enum doppel_status status = importer_write_codes(importer, error);
    return status ? status : settle_groups(importer, error);
}

enum doppel_status importer_finish(struct importer *importer, struct doppel_error *error)
{
    enum doppel_status status = importer_settle(importer, error);
    return status ? status : doppel_library_commit(importer->library, error);
}
