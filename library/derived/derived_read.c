/* A derived index as a set to be searched in, through a connection of its own. */
#include "library/derived/derived.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/try.h"

/* Items that were looked at are kept a while: the pieces and the views of a query ask for the same
 * ones again and again. */
enum { KEPT_ITEMS = 32, KEPT_BYTES = 16 << 20 };

struct kept_item {
    uint64_t id;
    struct track_bytes track; /* as `load` made it */
    uint64_t used;            /* when */
};

struct derived_reader {
    const struct derivation *derivation;
    struct doppel_store *store;
    struct doppel_store_index *kept; /* NULL: the library has no such items */
    struct doppel_index *none;       /* an empty one, then */
    union derived_set set;           /* NULL until it is open */
    int64_t version;                 /* of the database, when it was opened */
    pthread_mutex_t lock;            /* of the store and all below, while threads search */
    struct kept_item items[KEPT_ITEMS];
    size_t count, bytes;
    uint64_t clock;
    struct doppel_unreadable unreadable; /* what was asked for and cannot be had */
    struct doppel_unreadable absent;     /* what is not in the set, since it cannot be read */
};

/* ---- items ---- */

static void drop_oldest(struct derived_reader *reader)
{
    struct kept_item *oldest = &reader->items[0];
    for (size_t i = 1; i < reader->count; i++)
        if (reader->items[i].used < oldest->used)
            oldest = &reader->items[i];
    reader->bytes -= oldest->track.size;
    free(oldest->track.data);
    *oldest = reader->items[--reader->count];
}

static void note_id(struct doppel_unreadable *known, uint64_t id)
{
    for (size_t i = 0; i < known->count; i++)
        if (known->ids[i] == id)
            return;
    if (known->count < DOPPEL_UNREADABLE_MAX)
        known->ids[known->count++] = id;
}

void derived_note_unreadable(struct derived_reader *reader, uint64_t id)
{
    note_id(&reader->unreadable, id);
}

/* The store's question what an item of the log has, which nobody else has put into the index. */
static enum doppel_status give_to_reader(void *context, uint64_t id, struct doppel_index_item *out,
                                         struct doppel_index_posting **out_postings,
                                         struct doppel_error *error)
{
    struct derived_reader *reader = context;
    enum doppel_status status =
        reader->derivation->source(reader->store, id, out, out_postings, error);
    if (status && status != DOPPEL_E_NOT_FOUND)
        note_id(&reader->absent, id);
    return status;
}

static struct kept_item *find(struct derived_reader *reader, uint64_t id)
{
    for (size_t i = 0; i < reader->count; i++)
        if (reader->items[i].id == id)
            return &reader->items[i];
    struct kept_item fresh = {.id = id};
    enum doppel_status status = track_fetch(reader->store, id, &fresh.track, NULL);
    if (!status)
        status = reader->derivation->load(&fresh.track, NULL);
    if (status) {
        free(fresh.track.data);
        if (status != DOPPEL_E_NOT_FOUND) /* it was removed meanwhile */
            derived_note_unreadable(reader, id);
        return NULL;
    }
    while (reader->count == KEPT_ITEMS ||
           (reader->count && reader->bytes + fresh.track.size > KEPT_BYTES))
        drop_oldest(reader);
    reader->bytes += fresh.track.size;
    reader->items[reader->count] = fresh;
    return &reader->items[reader->count++];
}

const struct track_bytes *derived_take(struct derived_reader *reader, uint64_t id)
{
    pthread_mutex_lock(&reader->lock);
    struct kept_item *item = find(reader, id);
    if (!item)
        return NULL;
    item->used = ++reader->clock;
    return &item->track;
}

void derived_return(struct derived_reader *reader)
{
    pthread_mutex_unlock(&reader->lock);
}

void doppel_library_take_unreadable(struct doppel_library *library, enum doppel_kind kind,
                                    struct doppel_unreadable *out)
{
    const enum derived_index which = kind == DOPPEL_KIND_VIDEO   ? DERIVED_VIDEOS
                                     : kind == DOPPEL_KIND_IMAGE ? DERIVED_PARTS
                                                                 : DERIVED_AUDIO;
    struct derived_reader *reader = library->derived[which].reader;
    if (!reader)
        return;
    pthread_mutex_lock(&reader->lock);
    for (size_t i = 0; i < reader->absent.count; i++)
        note_id(out, reader->absent.ids[i]);
    for (size_t i = 0; i < reader->unreadable.count; i++)
        note_id(out, reader->unreadable.ids[i]);
    reader->unreadable.count = 0;
    pthread_mutex_unlock(&reader->lock);
}

/* ---- opening ---- */

static void derived_reader_free(struct derived_reader *reader)
{
    if (!reader)
        return;
    reader->derivation->set_free(&reader->set);
    doppel_store_index_close(reader->kept);
    doppel_index_free(reader->none);
    doppel_store_close(reader->store);
    while (reader->count)
        drop_oldest(reader);
    pthread_mutex_destroy(&reader->lock);
    free(reader);
}

void derived_readers_free(struct doppel_library *library)
{
    for (int i = 0; i < DERIVATIONS; i++)
        derived_reader_free(library->derived[i].reader);
}

/* The index; of a library that never had such an item, an empty one. */
static enum doppel_status open_index(const struct doppel_library *library,
                                     struct derived_reader *reader, struct doppel_error *error)
{
    const struct doppel_index_options make = reader->derivation->options();
    char *folder = derived_folder(library, reader->derivation);
    if (!folder)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", library->directory);
    struct doppel_store_index_options options =
        derived_options(reader->derivation, reader->store, folder);
    if (options.source) {
        options.source = give_to_reader;
        options.source_context = reader;
    }
    enum doppel_status status =
        doppel_store_index_open(reader->store, &options, &reader->kept, error);
    if (status == DOPPEL_E_NOT_FOUND)
        status = doppel_index_new(&make, &reader->none, error);
    else if (status == DOPPEL_E_CORRUPT && error)
        doppel_fail(error, status, "%s; `doppel verify --repair` rebuilds %s", error->message,
                    folder);
    sqlite3_free(folder);
    return status;
}

static enum doppel_status open_reader(const struct doppel_library *library,
                                      struct derived_reader *reader, struct doppel_error *error)
{
    const struct doppel_library_options options = {.read_only = true};
    enum doppel_status status;
    TRY(catalogue_open(library->directory, &options, &reader->store, error));
    TRY(doppel_store_data_version(reader->store, &reader->version, error));
    TRY(open_index(library, reader, error));
    const struct doppel_index *index =
        reader->kept ? doppel_store_index_get(reader->kept) : reader->none;
    TRY(reader->derivation->set_over(index, reader, &reader->set, error));
done:
    return status;
}

static bool is_current(const struct derived_reader *reader)
{
    int64_t version;
    return reader && !doppel_store_data_version(reader->store, &version, NULL) &&
           version == reader->version;
}

enum doppel_status derived_set(struct doppel_library *library, enum derived_index which,
                               union derived_set *out, struct doppel_error *error)
{
    struct derived *derived = &library->derived[which];
    if (is_current(derived->reader)) {
        *out = derived->reader->set;
        return DOPPEL_OK;
    }
    struct derived_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", library->directory);
    reader->derivation = derivations[which];
    pthread_mutex_init(&reader->lock, NULL);
    enum doppel_status status = open_reader(library, reader, error);
    if (status) {
        derived_reader_free(reader);
        return status;
    }
    derived_reader_free(derived->reader);
    derived->reader = reader;
    *out = reader->set;
    return DOPPEL_OK;
}
