/* What the library knows of the vectors of its texts, and what is there. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/try.h"
#include "search/semantic.h"

enum { FOLDER_MODE = 0700 };

uint64_t semantic_count(struct doppel_vector_index *index)
{
    return doppel_index_count(doppel_store_index_get(doppel_vector_index_codes(index)));
}

enum doppel_status semantic_vectors_lost(const char *folder,
                                         const struct doppel_library_vectors_count *known,
                                         enum doppel_status status, struct doppel_error *error)
{
    char why[200] = "";
    if (status != DOPPEL_E_NOT_FOUND && status != DOPPEL_E_CORRUPT && status != DOPPEL_E_FORMAT)
        return status;
    if (status != DOPPEL_E_NOT_FOUND && error)
        snprintf(why, sizeof why, " (%.190s)", error->message);
    return doppel_fail(
        error, DOPPEL_E_CORRUPT,
        "%s: vectors of %s, which %" PRIu64 " texts have, are lost or damaged%s: put a backup "
        "of the folder in its place, or 'doppel verify --repair' says which texts "
        "have lost theirs, and 'doppel ingest --semantic' of these embeds them again",
        folder, known->model, known->texts, why);
}

enum doppel_status semantic_open_known(struct doppel_library *library,
                                       const struct doppel_vector_index_options *options,
                                       struct doppel_vector_index **out, struct doppel_error *error)
{
    struct doppel_vector_index_options open = *options;
    struct doppel_library_vectors_count known;
    struct doppel_vector_index *index = NULL;
    enum doppel_status status;
    TRY(doppel_library_count_vectors(library, &known, error));
    if (known.texts)
        open.make = NULL; /* it is not begun again */
    if (open.make && mkdir(open.folder, FOLDER_MODE) && errno != EEXIST)
        TRY(doppel_fail(error, DOPPEL_E_IO, "%s: %s", open.folder, strerror(errno)));
    status = doppel_vector_index_open(&open, &index, error);
    if (status && known.texts)
        TRY(semantic_vectors_lost(options->folder, &known, status, error));
    TRY(status);
    if (semantic_count(index) < known.chunks) /* unless texts were removed meanwhile */
        TRY(doppel_library_count_vectors(library, &known, error));
    if (semantic_count(index) < known.chunks)
        TRY(semantic_vectors_lost(options->folder, &known, DOPPEL_E_NOT_FOUND, error));
    *out = index;
    index = NULL;
done:
    doppel_vector_index_close(index);
    return status;
}

/* ---- reading ---- */

static enum doppel_status no_ledger_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what is known of vectors");
}

static bool take_noted(void *context, const struct doppel_library_vectors *vectors)
{
    struct vectors_ledger *ledger = context;
    return array_push(&ledger->noted, *vectors);
}

enum doppel_status vectors_ledger_read(struct doppel_library *library,
                                       struct vectors_ledger *ledger, struct doppel_error *error)
{
    enum doppel_status status = doppel_library_each_vectors(library, take_noted, ledger, error);
    return status == DOPPEL_E_CANCELLED ? no_ledger_memory(error) : status;
}

static bool take_found_chunk(void *context, const char *id, bool is_there)
{
    struct vectors_ledger *ledger = context;
    struct semantic_chunk chunk;
    struct found_chunk found = {.is_there = is_there};
    if (!semantic_parse_id(id, &found.number, &chunk))
        return true;
    found.count = chunk.count;
    return array_push(&ledger->found, found);
}

static int compare_found_chunks(const void *a, const void *b)
{
    const struct found_chunk *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

enum doppel_status vectors_ledger_find(struct doppel_vector_index *index,
                                       struct vectors_ledger *ledger, struct doppel_error *error)
{
    enum doppel_status status = doppel_vector_index_each_id(index, take_found_chunk, ledger, error);
    if (!status && ledger->found.count)
        qsort(ledger->found.items, ledger->found.count, sizeof *ledger->found.items,
              compare_found_chunks);
    return status == DOPPEL_E_CANCELLED ? no_ledger_memory(error) : status;
}

void vectors_ledger_free(struct vectors_ledger *ledger)
{
    array_free(&ledger->noted);
    array_free(&ledger->found);
}

/* ---- both together ---- */

enum doppel_status vectors_ledger_each(const struct vectors_ledger *ledger,
                                       enum doppel_status visit(void *context,
                                                                const struct text_vectors *text,
                                                                struct doppel_error *error),
                                       void *context, struct doppel_error *error)
{
    size_t noted = 0, found = 0;
    enum doppel_status status = DOPPEL_OK;
    while (!status && (noted < ledger->noted.count || found < ledger->found.count)) {
        struct text_vectors text = {.number = UINT64_MAX};
        if (noted < ledger->noted.count)
            text.number = ledger->noted.items[noted].number;
        if (found < ledger->found.count && ledger->found.items[found].number < text.number)
            text.number = ledger->found.items[found].number;
        if (noted < ledger->noted.count && ledger->noted.items[noted].number == text.number) {
            text.item = ledger->noted.items[noted].item;
            text.noted = ledger->noted.items[noted++].chunks;
        }
        for (; found < ledger->found.count && ledger->found.items[found].number == text.number;
             found++) {
            text.whole = ledger->found.items[found].count;
            text.there += ledger->found.items[found].is_there;
        }
        status = visit(context, &text, error);
    }
    return status;
}

enum doppel_status vectors_drop(struct doppel_library *library, struct doppel_vector_index *index,
                                uint64_t number, struct doppel_error *error)
{
    char prefix[SEMANTIC_ID_BYTES];
    enum doppel_status status = DOPPEL_OK;
    snprintf(prefix, sizeof prefix, "%" PRIu64 ":", number);
    if (index)
        TRY(doppel_vector_index_remove_all(index, prefix, error));
    TRY(doppel_library_forget_vectors(library, number, error));
done:
    return status;
}

/* ---- settling ---- */

struct vectors_settling {
    struct doppel_library *library;
    const char *model;
};

enum doppel_status vectors_note_found(struct doppel_library *library,
                                      const struct text_vectors *text, const char *model,
                                      struct doppel_error *error)
{
    const struct doppel_library_vectors noted = {text->number, text->number, text->there, model};
    return doppel_library_note_vectors(library, &noted, error);
}

bool vectors_are_of_none(struct doppel_library *library, const struct text_vectors *text)
{
    struct doppel_name name;
    enum doppel_status status = doppel_library_name(library, text->number, &name, NULL);
    if (!status)
        doppel_name_free(&name);
    return status == DOPPEL_E_NOT_FOUND;
}

static enum doppel_status note_unnoted(void *context, const struct text_vectors *text,
                                       struct doppel_error *error)
{
    const struct vectors_settling *settling = context;
    if (text->noted || text->there < text->whole || vectors_are_of_none(settling->library, text))
        return DOPPEL_OK;
    return vectors_note_found(settling->library, text, settling->model, error);
}

/* Those of a library from before it knew of them. */
static enum doppel_status note_all_vectors(struct doppel_library *library,
                                           struct doppel_vector_index *index,
                                           struct doppel_error *error)
{
    struct vectors_settling settling = {library, doppel_vector_index_identity(index)->name};
    struct vectors_ledger ledger = {0};
    enum doppel_status status;
    TRY(vectors_ledger_read(library, &ledger, error));
    TRY(vectors_ledger_find(index, &ledger, error));
    TRY(vectors_ledger_each(&ledger, note_unnoted, &settling, error));
done:
    vectors_ledger_free(&ledger);
    return status;
}

enum doppel_status semantic_settle(struct doppel_library *library,
                                   struct doppel_vector_index *index, struct doppel_error *error)
{
    struct doppel_library_vectors_count known;
    uint64_t number;
    enum doppel_status status;
    while (!(status = doppel_library_next_lost_vectors(library, &number, error)))
        TRY(vectors_drop(library, index, number, error));
    if (status != DOPPEL_E_NOT_FOUND)
        return status;
    TRY(doppel_library_count_vectors(library, &known, error));
    if (!known.texts && semantic_count(index))
        TRY(note_all_vectors(library, index, error));
    TRY(doppel_library_commit(library, error));
done:
    return status;
}
