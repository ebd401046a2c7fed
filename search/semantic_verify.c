/* The vectors of a library verified: their bytes, and whether all are there that it knows of. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "search/semantic.h"

struct vectors_verified {
    const struct doppel_semantic_check *check;
    const char *folder;
    struct doppel_vector_index *index; /* NULL: there is none that can be read */
    uint64_t damaged, lost, of_none;   /* segments; texts; texts that are gone */
};

static enum doppel_status visit_vectors(const struct vectors_verified *verified,
                                        const struct doppel_problem *problem,
                                        struct doppel_error *error)
{
    return verified->check->visit(verified->check->context, problem)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
}

static enum doppel_status report_vectors(const struct vectors_verified *verified, const char *path,
                                         const char *detail, bool repaired,
                                         struct doppel_error *error)
{
    const struct doppel_problem problem = {
        .problem = "vectors", .path = path, .detail = detail, .repaired = repaired};
    return visit_vectors(verified, &problem, error);
}

/* ---- bytes ---- */

static bool report_segment(void *context, const struct doppel_store_segment *segment)
{
    struct vectors_verified *verified = context;
    char *path;
    if (!segment->error)
        return true;
    if (asprintf(&path, "%s/%s", verified->folder, segment->name) < 0)
        return false;
    verified->damaged++;
    const bool more =
        !report_vectors(verified, path, segment->error->message, verified->check->repair, NULL);
    free(path);
    return more;
}

/* What cannot be opened makes room for another one. */
static bool set_vectors_aside(const char *folder)
{
    char *aside;
    if (asprintf(&aside, "%s.damaged", folder) < 0)
        return false;
    const bool moved = rename(folder, aside) == 0;
    free(aside);
    return moved;
}

static bool is_lost_for_good(enum doppel_status status)
{
    return status == DOPPEL_E_CORRUPT || status == DOPPEL_E_FORMAT || status == DOPPEL_E_NOT_FOUND;
}

/* @param status of the index as a whole */
static enum doppel_status report_index(struct vectors_verified *verified, enum doppel_status status,
                                       struct doppel_error *why, struct doppel_error *error)
{
    struct doppel_library_vectors_count known = {0};
    bool repaired = false;
    if (verified->check->library &&
        !doppel_library_count_vectors(verified->check->library, &known, NULL) && known.texts)
        (void)semantic_vectors_lost(verified->folder, &known, status, why);
    doppel_vector_index_close(verified->index);
    verified->index = NULL;
    if (verified->check->repair && verified->check->library && is_lost_for_good(status))
        repaired = set_vectors_aside(verified->folder);
    if (!repaired)
        verified->damaged++; /* nothing is known of what is there */
    return report_vectors(verified, verified->folder, why->message, repaired, error);
}

static enum doppel_status verify_bytes(struct vectors_verified *verified,
                                       struct doppel_error *error)
{
    const bool repair = verified->check->repair;
    const struct doppel_vector_index_options options = {
        .folder = verified->folder, .write = repair, .salvage = true};
    struct doppel_error why = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!doppel_vector_index_is_there(verified->folder))
        return DOPPEL_OK;
    status = doppel_vector_index_open(&options, &verified->index, &why);
    if (!status)
        status = (repair ? doppel_store_index_repair : doppel_store_index_verify)(
            doppel_vector_index_codes(verified->index), report_segment, verified, &why);
    if (status == DOPPEL_E_CANCELLED || status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "%s", why.message);
    return status ? report_index(verified, status, &why, error) : DOPPEL_OK;
}

/* ---- whose they are ---- */

static enum doppel_status report_lost(struct vectors_verified *verified,
                                      const struct text_vectors *text, struct doppel_error *error)
{
    struct doppel_name name = {0};
    const bool named = !doppel_library_name(verified->check->library, text->item, &name, NULL);
    const struct doppel_problem problem = {
        .problem = "vectors",
        .id = text->item,
        .path = name.path ? name.path : name.record_id,
        .detail = "the text has lost its vectors: it is not found by its meaning",
        .repaired = verified->check->repair};
    verified->lost++;
    enum doppel_status status = visit_vectors(verified, &problem, error);
    if (named)
        doppel_name_free(&name);
    return status;
}

static enum doppel_status drop_unless_reading(const struct vectors_verified *verified,
                                              const struct text_vectors *text,
                                              struct doppel_error *error)
{
    return verified->check->repair
               ? vectors_drop(verified->check->library, verified->index, text->number, error)
               : DOPPEL_OK;
}

static enum doppel_status verify_noted(struct vectors_verified *verified,
                                       const struct text_vectors *text, struct doppel_error *error)
{
    const bool is_lost = text->item && text->there < text->noted;
    enum doppel_status status = is_lost ? report_lost(verified, text, error) : DOPPEL_OK;
    return status || (text->item && !is_lost) ? status : drop_unless_reading(verified, text, error);
}

/* What was added last, before it was noted, is whole. */
static enum doppel_status verify_text_vectors(void *context, const struct text_vectors *text,
                                              struct doppel_error *error)
{
    struct vectors_verified *verified = context;
    struct doppel_library *library = verified->check->library;
    if (text->noted)
        return verify_noted(verified, text, error);
    const bool of_none = vectors_are_of_none(library, text);
    verified->of_none += of_none;
    if (!of_none && verified->check->repair && text->there == text->whole)
        return vectors_note_found(library, text,
                                  doppel_vector_index_identity(verified->index)->name, error);
    return drop_unless_reading(verified, text, error);
}

static enum doppel_status report_sums(const struct vectors_verified *verified,
                                      struct doppel_error *error)
{
    const bool repair = verified->check->repair;
    char detail[256];
    const struct doppel_problem lost = {.problem = "vectors",
                                        .path = verified->folder,
                                        .detail = detail,
                                        .repaired = repair,
                                        .is_news = true}; /* each was reported */
    enum doppel_status status = DOPPEL_OK;
    if (verified->lost) {
        snprintf(detail, sizeof detail,
                 "%" PRIu64 " text%s lost their vectors: %s'doppel ingest --semantic' of these "
                 "texts embeds them again",
                 verified->lost, verified->lost == 1 ? " has" : "s have",
                 repair ? "" : "put a backup of the folder in its place, or after '--repair' ");
        TRY(visit_vectors(verified, &lost, error));
    }
    if (verified->of_none) {
        snprintf(detail, sizeof detail, "%" PRIu64 " text%s not in the library, and %s vectors",
                 verified->of_none, verified->of_none == 1 ? " is" : "s are",
                 verified->of_none == 1 ? "has" : "have");
        TRY(report_vectors(verified, verified->folder, detail, repair, error));
    }
done:
    return status;
}

enum doppel_status doppel_semantic_verify(const struct doppel_semantic_check *check,
                                          struct doppel_error *error)
{
    struct vectors_verified verified = {.check = check};
    struct vectors_ledger ledger = {0};
    char *folder = NULL;
    enum doppel_status status = DOPPEL_OK;
    if (asprintf(&folder, "%s/vectors", check->directory) < 0)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", check->directory));
    verified.folder = folder;
    if (check->library)
        TRY(vectors_ledger_read(check->library, &ledger, error));
    TRY(verify_bytes(&verified, error));
    if (!check->library || (verified.damaged && !check->repair) ||
        (verified.damaged && !verified.index))
        goto done; /* who has lost theirs is known when the rest is repaired */
    if (verified.index)
        TRY(vectors_ledger_find(verified.index, &ledger, error));
    TRY(vectors_ledger_each(&ledger, verify_text_vectors, &verified, error));
    TRY(report_sums(&verified, error));
    if (check->repair)
        TRY(doppel_library_commit(check->library, error));
done:
    doppel_vector_index_close(verified.index);
    vectors_ledger_free(&ledger);
    free(folder);
    return status;
}
