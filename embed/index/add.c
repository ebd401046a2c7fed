/* Vectors added to an index, and removed: with their ids, in one transaction, or many at once. */
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text/values.h"
#include "core/try.h"
#include "embed/index/vector_index.h"

enum {
    FEW = 4096,       /* go through the log */
    AT_ONCE = 1 << 22 /* as many make a segment: more would take more memory to divide into cells */
};

/* ---- codes ---- */

static size_t words_of_vector(uint32_t dimension)
{
    return (dimension + (size_t)1) / 2;
}

static void put_vector(const struct doppel_vectors *vectors, size_t row, uint64_t *code)
{
    code[words_of_vector(vectors->dimension) - 1] = 0; /* behind an odd one */
    memcpy(code, vectors->rows + row * vectors->dimension, vectors->dimension * sizeof(float));
}

uint64_t *vector_codes(const struct doppel_vectors *vectors, size_t first, size_t count)
{
    const size_t words = words_of_vector(vectors->dimension);
    uint64_t *codes = calloc(count * words + 1, sizeof *codes);
    for (size_t i = 0; codes && i < count; i++)
        put_vector(vectors, first + i, codes + i * words);
    return codes;
}

enum doppel_status vector_index_check_dimension(const struct doppel_vector_index *index,
                                                uint32_t dimension, struct doppel_error *error)
{
    return dimension == index->identity.dimension
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_ARGUMENT,
                             "the vectors have %u dimensions, those of the index %u: they are not "
                             "of the same model",
                             dimension, index->identity.dimension);
}

/* ---- numbers ---- */

static uint64_t next_of_codes(const struct doppel_vector_index *index)
{
    struct doppel_store_index_info info;
    doppel_store_index_info(index->codes, &info);
    return info.next_payload;
}

/* One that no vector had before. Of a shared index within a transaction. */
static enum doppel_status next_vector_number(struct doppel_vector_index *index, uint64_t *out,
                                             struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status;
    TRY(doppel_store_statement(index->store,
                               "SELECT seq + 1 FROM sqlite_sequence WHERE name='vector_id'",
                               &statement, error));
    TRY(doppel_store_step(index->store, statement, &row, error));
    const uint64_t named = row ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    const uint64_t codes = next_of_codes(index);
    *out = named > codes ? named : codes;
    sqlite3_reset(statement);
done:
    return status;
}

/* ---- adding ---- */

struct vectors_adding {
    struct doppel_vector_index *index;
    const struct doppel_vector_index_rows *rows;
    struct doppel_run *run;
    size_t first, count; /* of the rows, that are added now */
    size_t at;           /* of these */
    uint64_t number;     /* of the first */
    uint64_t begun;      /* of the first of all rows */
    uint64_t replaced;   /* rows, by later ones of their id */
    size_t again;        /* the row that replaced the first of these */
    struct doppel_error *error;
};

static void note_begun(struct vectors_adding *adding)
{
    if (!adding->first)
        adding->begun = adding->number;
}

static bool goes_on_adding(const struct vectors_adding *adding, size_t done)
{
    if (!adding->run)
        return true;
    doppel_run_advance(adding->run, adding->first + done);
    return !doppel_run_cancelled(adding->run);
}

/* Give ids to rows; whatever had one of them is removed. Within a transaction. */
static enum doppel_status name_rows(struct vectors_adding *adding)
{
    struct doppel_vector_index *index = adding->index;
    const struct doppel_vector_index_rows *rows = adding->rows;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < adding->count; i++) {
        const char *id = rows->id ? rows->id(rows->context, adding->first + i) : NULL;
        uint64_t before;
        if (!id || !*id)
            TRY(doppel_fail(adding->error, DOPPEL_E_ARGUMENT,
                            "vector %zu has no id, and those of the index have",
                            adding->first + i));
        TRY(vector_number_of_id(index, id, &before, adding->error));
        if (before != UINT64_MAX) {
            TRY(doppel_store_index_remove(index->codes, &before, 1, adding->error));
            TRY(vector_drop_id(index, before, adding->error));
            if (before >= adding->begun && !adding->replaced++)
                adding->again = adding->first + i;
        }
        TRY(vector_put_id(index, adding->number + i, id, adding->error));
    }
done:
    return status;
}

static enum doppel_status insert_vectors(struct vectors_adding *adding)
{
    uint64_t *codes = vector_codes(adding->rows->vectors, adding->first, adding->count);
    uint64_t *numbers = calloc(adding->count + 1, sizeof *numbers);
    enum doppel_status status =
        codes && numbers ? DOPPEL_OK
                         : doppel_fail(adding->error, DOPPEL_E_MEMORY, "no memory to add vectors");
    for (size_t i = 0; numbers && i < adding->count; i++)
        numbers[i] = adding->number + i;
    if (!status)
        status = doppel_store_index_insert(adding->index->codes, codes, numbers, adding->count,
                                           adding->error);
    free(codes);
    free(numbers);
    return status;
}

static size_t read_rows_to_add(void *context, uint64_t *codes, uint64_t *numbers, size_t max)
{
    struct vectors_adding *adding = context;
    const struct doppel_vectors *vectors = adding->rows->vectors;
    const size_t words = words_of_vector(vectors->dimension);
    size_t n = 0;
    if (!goes_on_adding(adding, adding->at))
        return 0;
    for (; n < max && adding->at < adding->count; n++, adding->at++) {
        put_vector(vectors, adding->first + adding->at, codes + n * words);
        numbers[n] = adding->number + adding->at;
    }
    return n;
}

static void rewind_rows_to_add(void *context)
{
    struct vectors_adding *adding = context;
    adding->at = 0;
}

static enum doppel_status bulk_vectors(struct vectors_adding *adding)
{
    const struct doppel_index_load load = {.count = adding->count,
                                           .read = read_rows_to_add,
                                           .rewind = rewind_rows_to_add,
                                           .context = adding};
    enum doppel_status status = doppel_store_index_bulk(adding->index->codes, &load, adding->error);
    return status && adding->run && doppel_run_cancelled(adding->run)
               ? doppel_fail(adding->error, DOPPEL_E_CANCELLED, "interrupted")
               : status;
}

/* Whether they are few enough to go through the log, in the transaction that names them. */
static enum doppel_status add_few_vectors(struct vectors_adding *adding)
{
    enum doppel_status status;
    TRY(next_vector_number(adding->index, &adding->number, adding->error));
    note_begun(adding);
    TRY(insert_vectors(adding));
    if (adding->index->named)
        TRY(name_rows(adding));
done:
    return status;
}

static enum doppel_status name_bulk(struct vectors_adding *adding)
{
    enum doppel_status status = name_rows(adding);
    return status ? status : vector_all_named(adding->index, adding->error);
}

static enum doppel_status in_transaction(struct vectors_adding *adding,
                                         enum doppel_status change(struct vectors_adding *adding))
{
    struct doppel_store *store = adding->index->store;
    enum doppel_status status = doppel_store_begin(store, adding->error);
    if (status)
        return status;
    status = change(adding);
    if (!status)
        status = doppel_store_commit(store, adding->error);
    if (status)
        doppel_store_rollback(store);
    return status;
}

/* Their ids come after them: until then they are not found, and a process that is killed leaves
 * them to be removed by the next that adds. */
static enum doppel_status add_many_vectors(struct vectors_adding *adding)
{
    struct doppel_vector_index *index = adding->index;
    enum doppel_status status;
    TRY(next_vector_number(index, &adding->number, adding->error));
    note_begun(adding);
    if (index->named)
        TRY(vector_set_unnamed(index, adding->number, adding->error));
    TRY(bulk_vectors(adding));
    if (index->named)
        TRY(in_transaction(adding, name_bulk));
done:
    return status;
}

static enum doppel_status remove_unnamed_vectors(struct vectors_adding *adding)
{
    struct doppel_store_index *codes = adding->index->codes;
    enum doppel_status status = DOPPEL_OK;
    for (uint64_t number = adding->number; number < next_of_codes(adding->index); number++)
        TRY(doppel_store_index_remove(codes, &number, 1, adding->error));
    TRY(vector_all_named(adding->index, adding->error));
done:
    return status;
}

static enum doppel_status clear_up(struct vectors_adding *adding)
{
    enum doppel_status status = vector_index_unnamed(adding->index, &adding->number, adding->error);
    return status || adding->number == UINT64_MAX ? status
                                                  : in_transaction(adding, remove_unnamed_vectors);
}

static void notify_of_replaced(const struct vectors_adding *adding)
{
    doppel_run_notice(adding->run,
                      "%llu of the vectors have an id that a later one has, too ('%s' is the first "
                      "such id): of each id the last is kept",
                      (unsigned long long)adding->replaced,
                      adding->rows->id(adding->rows->context, adding->again));
}

enum doppel_status doppel_vector_index_add(struct doppel_vector_index *index,
                                           const struct doppel_vector_index_rows *rows,
                                           struct doppel_run *run, struct doppel_error *error)
{
    const size_t all = rows->vectors->count, at_once = index->shared ? FEW : AT_ONCE;
    struct vectors_adding adding = {.index = index, .rows = rows, .run = run, .error = error};
    enum doppel_status status =
        vector_index_check_dimension(index, rows->vectors->dimension, error);
    if (!status && !index->shared)
        status = clear_up(&adding);
    if (run)
        doppel_run_begin(run, "vectors", all);
    for (; adding.first < all && !status; adding.first += adding.count) {
        adding.count = all - adding.first < at_once ? all - adding.first : at_once;
        adding.at = 0;
        status = !goes_on_adding(&adding, 0) ? doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted")
                 : adding.count <= FEW       ? in_transaction(&adding, add_few_vectors)
                                             : add_many_vectors(&adding);
    }
    if (run)
        doppel_run_end(run);
    if (!status && run && adding.replaced)
        notify_of_replaced(&adding);
    return status;
}

/* ---- removing ---- */

static enum doppel_status number_to_remove(struct doppel_vector_index *index, const char *id,
                                           uint64_t *out, struct doppel_error *error)
{
    if (index->named) {
        enum doppel_status status = vector_number_of_id(index, id, out, error);
        if (status || *out != UINT64_MAX)
            return status;
    } else if (parse_whole(id, 0, UINT64_MAX, out) && *out < next_of_codes(index)) {
        return DOPPEL_OK;
    }
    return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: no such id", id);
}

/* Within a transaction. */
static enum doppel_status remove_number(struct doppel_vector_index *index, uint64_t number,
                                        struct doppel_error *error)
{
    enum doppel_status status = doppel_store_index_remove(index->codes, &number, 1, error);
    return !status && index->named ? vector_drop_id(index, number, error) : status;
}

/* One whose id begins with some letters. @return DOPPEL_E_NOT_FOUND: there is none */
static enum doppel_status remove_first_of(struct doppel_vector_index *index, const char *prefix,
                                          struct doppel_error *error)
{
    uint64_t number;
    enum doppel_status status;
    TRY(vector_number_of_prefix(index, prefix, &number, error));
    if (number == UINT64_MAX)
        return DOPPEL_E_NOT_FOUND;
    TRY(remove_number(index, number, error));
done:
    return status;
}

enum doppel_status doppel_vector_index_remove_all(struct doppel_vector_index *index,
                                                  const char *prefix, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(doppel_store_begin(index->store, error));
    while (!(status = remove_first_of(index, prefix, error)))
        ;
    if (status != DOPPEL_E_NOT_FOUND)
        doppel_store_rollback(index->store);
    else
        TRY(doppel_store_commit(index->store, error));
done:
    return status;
}

enum doppel_status doppel_vector_index_remove(struct doppel_vector_index *index, const char *id,
                                              struct doppel_error *error)
{
    uint64_t number;
    enum doppel_status status;
    TRY(number_to_remove(index, id, &number, error));
    TRY(doppel_store_begin(index->store, error));
    status = remove_number(index, number, error);
    if (status)
        doppel_store_rollback(index->store);
    else
        TRY(doppel_store_commit(index->store, error));
done:
    return status;
}
