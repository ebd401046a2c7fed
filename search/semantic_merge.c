/* Vectors of one library taken into another, for texts that were. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "search/semantic.h"

/* The vectors of a number, and the item that is to have them. */
struct vectors_move {
    uint64_t number, to, chunks;
};

struct vectors_merging {
    const struct doppel_semantic_merge *merge;
    struct doppel_vector_index *from, *into;
    char *from_folder, *into_folder;
    struct vectors_ledger ledger;
    ARRAY(struct vectors_move) moves; /* by number */
    ARRAY(struct semantic_chunk) chunks;
    ARRAY(uint64_t) owners; /* of each chunk */
    float *rows;
    size_t room;
    char id[SEMANTIC_ID_BYTES];
};

static enum doppel_status no_merge_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to take vectors along");
}

/* ---- which ---- */

static int compare_moved_items(const void *a, const void *b)
{
    const struct doppel_semantic_moved *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static int compare_moves(const void *a, const void *b)
{
    const struct vectors_move *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Those of texts that came, and have none here. */
static enum doppel_status choose_moves(struct vectors_merging *merging, struct doppel_error *error)
{
    const struct doppel_semantic_merge *merge = merging->merge;
    enum doppel_status status;
    TRY(vectors_ledger_read(merge->from, &merging->ledger, error));
    for (size_t i = 0; i < merging->ledger.noted.count; i++) {
        const struct doppel_library_vectors *noted = &merging->ledger.noted.items[i];
        const struct doppel_semantic_moved wanted = {.from = noted->item};
        const struct doppel_semantic_moved *moved =
            merge->count
                ? bsearch(&wanted, merge->moved, merge->count, sizeof wanted, compare_moved_items)
                : NULL;
        bool lacks = false;
        if (moved)
            TRY(doppel_library_lacks_vectors(merge->into, moved->to, 0, &lacks, error));
        if (lacks && !array_push(&merging->moves,
                                 ((struct vectors_move){noted->number, moved->to, noted->chunks})))
            TRY(no_merge_memory(error));
    }
done:
    return status;
}

/* ---- taking ---- */

static bool grow_merged_rows(struct vectors_merging *merging, uint32_t dimension)
{
    const size_t wanted = merging->room ? 2 * merging->room : 256;
    size_t bytes;
    if (merging->chunks.count < merging->room)
        return true;
    if (__builtin_mul_overflow(wanted, dimension * sizeof *merging->rows, &bytes))
        return false;
    float *rows = realloc(merging->rows, bytes);
    if (!rows)
        return false;
    merging->rows = rows;
    merging->room = wanted;
    return true;
}

static bool take_merged_row(void *context, const char *id, const float *row)
{
    struct vectors_merging *merging = context;
    const uint32_t dimension = doppel_vector_index_identity(merging->from)->dimension;
    struct vectors_move wanted = {0};
    struct semantic_chunk chunk;
    if (!id || !semantic_parse_id(id, &wanted.number, &chunk))
        return true;
    const struct vectors_move *move =
        bsearch(&wanted, merging->moves.items, merging->moves.count, sizeof wanted, compare_moves);
    if (!move)
        return true;
    if (!grow_merged_rows(merging, dimension))
        return false;
    memcpy(merging->rows + merging->chunks.count * dimension, row, dimension * sizeof *row);
    return array_push(&merging->chunks, chunk) && array_push(&merging->owners, move->to);
}

static const char *id_of_merged_row(void *context, size_t row)
{
    struct vectors_merging *merging = context;
    semantic_id(merging->owners.items[row], &merging->chunks.items[row], merging->id);
    return merging->id;
}

/* What is noted is there: the vectors come first. */
static enum doppel_status put_merged_rows(struct vectors_merging *merging,
                                          struct doppel_error *error)
{
    struct doppel_library *into = merging->merge->into;
    const struct doppel_embedder_identity *identity = doppel_vector_index_identity(merging->into);
    const struct doppel_vectors vectors = {merging->rows, merging->chunks.count,
                                           identity->dimension};
    const struct doppel_vector_index_rows rows = {&vectors, id_of_merged_row, merging};
    enum doppel_status status = DOPPEL_OK;
    if (vectors.count)
        TRY(doppel_vector_index_add(merging->into, &rows, NULL, error));
    for (size_t i = 0; i < merging->moves.count; i++) {
        const struct vectors_move *move = &merging->moves.items[i];
        const struct doppel_library_vectors noted = {move->to, move->to, move->chunks,
                                                     identity->name};
        TRY(doppel_library_note_vectors(into, &noted, error));
    }
    TRY(doppel_library_commit(into, error));
done:
    return status;
}

static enum doppel_status take_merged_vectors(struct vectors_merging *merging,
                                              struct doppel_error *error)
{
    enum doppel_status status = doppel_vector_index_sample(
        merging->from, (size_t)semantic_count(merging->from), take_merged_row, merging, error);
    if (status == DOPPEL_E_CANCELLED)
        status = no_merge_memory(error);
    return status ? status : put_merged_rows(merging, error);
}

/* ---- both indexes ---- */

static enum doppel_status open_merged(struct vectors_merging *merging, struct doppel_error *error)
{
    const struct doppel_semantic_merge *merge = merging->merge;
    struct doppel_vector_index_options into = {.folder = merging->into_folder,
                                               .named = true,
                                               .write = true,
                                               .shared = true,
                                               .durable = merge->durable};
    enum doppel_status status;
    TRY(semantic_open_known(
        merge->from,
        &(struct doppel_vector_index_options){.folder = merging->from_folder, .shared = true},
        &merging->from, error));
    into.make = doppel_vector_index_identity(merging->from);
    TRY(semantic_open_known(merge->into, &into, &merging->into, error));
    TRY(doppel_embedder_check_identity(doppel_vector_index_identity(merging->into),
                                       doppel_vector_index_identity(merging->from), error));
done:
    return status;
}

enum doppel_status doppel_semantic_merge(const struct doppel_semantic_merge *merge,
                                         uint64_t *out_texts, struct doppel_error *error)
{
    struct vectors_merging merging = {.merge = merge};
    enum doppel_status status;
    TRY(choose_moves(&merging, error));
    *out_texts = merging.moves.count;
    if (!merging.moves.count)
        goto done;
    if (asprintf(&merging.from_folder, "%s/vectors", merge->from_directory) < 0 ||
        asprintf(&merging.into_folder, "%s/vectors", merge->into_directory) < 0)
        TRY(no_merge_memory(error));
    TRY(open_merged(&merging, error));
    TRY(take_merged_vectors(&merging, error));
done:
    doppel_vector_index_close(merging.from);
    doppel_vector_index_close(merging.into);
    vectors_ledger_free(&merging.ledger);
    array_free(&merging.moves);
    array_free(&merging.chunks);
    array_free(&merging.owners);
    free(merging.rows);
    free(merging.from_folder);
    free(merging.into_folder);
    return status;
}
