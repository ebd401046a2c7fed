/* Deduplication of a whole corpus: the stages in order. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doppel/index.h>

#include "core/try.h"
#include "corpus/read/temporary.h"
#include "corpus/dedup/dedup_internal.h"
#include "corpus/dedup/library_leaders.h"

uint32_t file_of(const struct dedup *dedup, uint32_t number)
{
    size_t low = 0, high = dedup->first_of_file.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (dedup->first_of_file.items[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

const char *string_of(const struct dedup *dedup, const struct facts *facts, uint32_t flag)
{
    if (!(facts->flags & flag))
        return NULL;
    const char *string = arena_at(&dedup->strings, facts->strings);
    for (uint32_t before = FACT_ID; before < flag; before <<= 1)
        if (facts->flags & before)
            string += strlen(string) + 1;
    return string;
}

enum doppel_status dedup_reserve_records(struct dedup *dedup, size_t count,
                                         struct doppel_error *error)
{
    if (count >= NO_RECORD)
        return doppel_fail(error, DOPPEL_E_LIMIT, "more than %u records", NO_RECORD - 1);
    enum doppel_status status;
    TRY(chunked_grow(&dedup->facts, &dedup->space, count, error));
    TRY(chunked_grow(&dedup->digests, &dedup->space, count, error));
    TRY(chunked_grow(&dedup->lanes_of, &dedup->space, count, error));
    if (dedup->options->parts)
        TRY(chunked_grow(&dedup->held, &dedup->space, count, error));
done:
    return status;
}

bool dedup_goes_on(const struct dedup *dedup, const char *unit, uint64_t done, uint64_t total)
{
    const struct doppel_dedup_options *options = dedup->options;
    return !options->progress || options->progress(options->context, unit, done, total);
}

void let_go(const struct dedup *dedup)
{
    chunked_let_go(&dedup->facts);
    chunked_let_go(&dedup->lanes_of);
    chunked_let_go(&dedup->cells);
    chunked_let_go(&dedup->verdicts);
}

static uint32_t thread_count_dedup_options(const struct doppel_dedup_options *options)
{
    enum { MAX_THREADS = 256 };
    long processors = options->threads ? (long)options->threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1)
        return 1;
    return processors < MAX_THREADS ? (uint32_t)processors : MAX_THREADS;
}

static enum doppel_status choose_dedup_bands(struct dedup *dedup, struct doppel_error *error)
{
    const struct doppel_dedup_options *options = dedup->options;
    dedup->lanes = options->text.lanes;
    dedup->bands = options->bands;
    dedup->rows_a_band = options->rows;
    if (!options->bands && !options->rows)
        return doppel_index_bands_choose(dedup->lanes, options->limits.min_similarity,
                                         DOPPEL_INDEX_BANDS_USUAL, &dedup->bands,
                                         &dedup->rows_a_band, error);
    if (!options->bands || !options->rows ||
        (uint64_t)options->bands * options->rows > options->text.lanes)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%u bands of %u rows do not fit into %u lanes",
                           options->bands, options->rows, options->text.lanes);
    return DOPPEL_OK;
}

/* The other half is for blocks of lines, for sorting, and for shingles. */
static uint64_t space_limit(uint64_t memory_bytes)
{
    return memory_bytes < 2 ? memory_bytes : memory_bytes / 2;
}

void dedup_init(struct dedup *dedup, const struct doppel_dedup_options *options)
{
    *dedup = (struct dedup){.options = options, .kept = -1, .space = {.file = -1}};
    pthread_mutex_init(&dedup->against_lock, NULL);
}

enum doppel_status dedup_begin(struct dedup *dedup, struct doppel_error *error)
{
    const struct doppel_dedup_options *options = dedup->options;
    enum doppel_status status = choose_dedup_bands(dedup, error);
    if (status)
        return status;
    dedup->folder = temporary_folder(options->temporary);
    dedup->threads = thread_count_dedup_options(options);
    space_init(&dedup->space, space_limit(options->memory_bytes), dedup->folder);
    dedup->facts.row_bytes = sizeof(struct facts);
    dedup->digests.row_bytes = sizeof(struct doppel_digest);
    dedup->lanes_of.row_bytes = dedup->lanes * sizeof(uint16_t);
    dedup->cells.row_bytes = dedup->bands * sizeof(uint32_t);
    dedup->cell_row = dedup->space.limit ? 1 : dedup->bands;
    dedup->cell_band = dedup->space.limit ? CHUNK_ROWS : 1;
    dedup->verdicts.row_bytes = sizeof(struct dedup_verdict);
    dedup->held.row_bytes = sizeof(uint64_t);
    return reader_new(&options->files, &dedup->reader, error);
}

enum doppel_status dedup_check_fields(struct dedup *dedup, struct doppel_error *error)
{
    return reader_check_fields(dedup->reader, &dedup->options->fields)
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
}

void dedup_end(struct dedup *dedup)
{
    chunked_free(&dedup->facts, &dedup->space);
    chunked_free(&dedup->digests, &dedup->space);
    chunked_free(&dedup->lanes_of, &dedup->space);
    chunked_free(&dedup->cells, &dedup->space);
    chunked_free(&dedup->verdicts, &dedup->space);
    chunked_free(&dedup->held, &dedup->space);
    arena_free(&dedup->held_values, &dedup->space);
    arena_free(&dedup->strings, &dedup->space);
    array_free(&dedup->first_of_file);
    space_close(&dedup->space);
    if (dedup->kept >= 0)
        close(dedup->kept);
    leaders_free(dedup->against);
    array_free(&dedup->semantic);
    array_free(&dedup->segments);
    doppel_vector_background_free(dedup->background);
    pthread_mutex_destroy(&dedup->against_lock);
    reader_free(dedup->reader);
}

static enum doppel_status decide_all(struct dedup *dedup, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(dedup_begin_against(dedup, error));
    TRY(dedup_read(dedup, error));
    TRY(dedup_load_against(dedup, error));
    TRY(dedup_find_same(dedup, error));
    TRY(dedup_fill_buckets(dedup, error));
    TRY(dedup_replay(dedup, error));
    TRY(dedup_find_parts(dedup, error));
done:
    return status;
}

enum doppel_status doppel_dedup(const struct doppel_dedup_options *options,
                                doppel_dedup_visitor *visitor, void *context,
                                struct doppel_error *error)
{
    struct dedup dedup;
    dedup_init(&dedup, options);
    enum doppel_status status;
    TRY(dedup_check_hand_off(&dedup, error));
    TRY(dedup_begin(&dedup, error));
    TRY(dedup_check_fields(&dedup, error));
    if (!options->lines)
        reader_take_only_fields(dedup.reader);
    TRY(decide_all(&dedup, error));
    TRY(dedup_visit(&dedup, visitor, context, error));
    if (dedup.cancelled)
        TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted: the rest was not read"));
done:
    dedup_end(&dedup);
    return status;
}
