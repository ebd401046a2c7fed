/* The sounds of a library as a set to be searched in, through a connection of its own. */
#include "library/sounds.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Peaks that were looked at are kept a while: the pieces and the scaled forms of a query ask for
 * the same items again and again. */
enum { KEPT_ITEMS = 32, KEPT_BYTES = 8 << 20 };

struct kept_peaks {
    uint64_t id;
    uint8_t *data;
    size_t size;
    uint64_t used; /* when */
};

struct sounds_reader {
    struct doppel_store *store;
    struct doppel_store_index *kept; /* NULL: the library has no sounds */
    struct doppel_index *none;       /* an empty one, then */
    struct doppel_sounds *sounds;
    int64_t version;      /* of the database, when it was opened */
    pthread_mutex_t lock; /* of the store and all below, while threads search */
    struct kept_peaks peaks[KEPT_ITEMS];
    size_t count, bytes;
    uint64_t clock;
};

/* ---- peaks ---- */

static void drop_oldest(struct sounds_reader *reader)
{
    struct kept_peaks *oldest = &reader->peaks[0];
    for (size_t i = 1; i < reader->count; i++)
        if (reader->peaks[i].used < oldest->used)
            oldest = &reader->peaks[i];
    reader->bytes -= oldest->size;
    free(oldest->data);
    *oldest = reader->peaks[--reader->count];
}

static struct kept_peaks *find(struct sounds_reader *reader, uint64_t id)
{
    for (size_t i = 0; i < reader->count; i++)
        if (reader->peaks[i].id == id)
            return &reader->peaks[i];
    struct kept_peaks fresh = {.id = id};
    if (sounds_read_peaks(reader->store, id, &fresh.data, &fresh.size, NULL))
        return NULL;
    while (reader->count == KEPT_ITEMS ||
           (reader->count && reader->bytes + fresh.size > KEPT_BYTES))
        drop_oldest(reader);
    reader->bytes += fresh.size;
    reader->peaks[reader->count] = fresh;
    return &reader->peaks[reader->count++];
}

static bool give_peaks(void *context, uint64_t id, uint32_t from, uint32_t to,
                       struct doppel_audio_track *out)
{
    struct sounds_reader *reader = context;
    pthread_mutex_lock(&reader->lock);
    struct kept_peaks *peaks = find(reader, id);
    bool done =
        peaks && !doppel_audio_track_read_range(peaks->data, peaks->size, from, to, out, NULL);
    if (peaks)
        peaks->used = ++reader->clock;
    pthread_mutex_unlock(&reader->lock);
    return done;
}

/* ---- opening ---- */

void sounds_reader_free(struct sounds_reader *reader)
{
    if (!reader)
        return;
    doppel_sounds_free(reader->sounds);
    doppel_store_index_close(reader->kept);
    doppel_index_free(reader->none);
    doppel_store_close(reader->store);
    while (reader->count)
        drop_oldest(reader);
    pthread_mutex_destroy(&reader->lock);
    free(reader);
}

/* Grows with each commit of another connection. */
static enum doppel_status read_version(struct doppel_store *store, int64_t *out,
                                       struct doppel_error *error)
{
    sqlite3_stmt *statement;
    bool row;
    enum doppel_status status =
        doppel_store_statement(store, "PRAGMA data_version", &statement, error);
    if (!status)
        status = doppel_store_step(store, statement, &row, error);
    if (status)
        return status;
    *out = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return DOPPEL_OK;
}

/* The postings; of a library that never had a sound, none. */
static enum doppel_status open_postings(const struct doppel_library *library,
                                        struct sounds_reader *reader, struct doppel_error *error)
{
    struct doppel_index_options make = doppel_sounds_index_options();
    char *folder = sounds_folder(library);
    if (!folder)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", library->directory);
    const struct doppel_store_index_options options = sounds_index_options(reader->store, folder);
    enum doppel_status status =
        doppel_store_index_open(reader->store, &options, &reader->kept, error);
    if (status == DOPPEL_E_NOT_FOUND)
        status = doppel_index_new(&make, &reader->none, error);
    else if (status == DOPPEL_E_CORRUPT && error)
        doppel_fail(error, status, "%s; remove %s: the next `doppel add` makes it anew",
                    error->message, folder);
    sqlite3_free(folder);
    return status;
}

static enum doppel_status open_reader(const struct doppel_library *library,
                                      struct sounds_reader *reader, struct doppel_error *error)
{
    const struct doppel_library_options options = {.read_only = true};
    enum doppel_status status = catalogue_open(library->directory, &options, &reader->store, error);
    if (!status)
        status = read_version(reader->store, &reader->version, error);
    if (!status)
        status = open_postings(library, reader, error);
    if (status)
        return status;
    const struct doppel_index *index =
        reader->kept ? doppel_store_index_get(reader->kept) : reader->none;
    return doppel_sounds_over(index, give_peaks, reader, &reader->sounds, error);
}

enum doppel_status doppel_library_sounds(struct doppel_library *library,
                                         const struct doppel_sounds **out,
                                         struct doppel_error *error)
{
    struct sounds_reader *reader = library->sounds;
    int64_t version;
    if (reader && !read_version(reader->store, &version, NULL) && version == reader->version) {
        *out = reader->sounds;
        return DOPPEL_OK;
    }
    reader = calloc(1, sizeof *reader);
    if (!reader)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", library->directory);
    pthread_mutex_init(&reader->lock, NULL);
    enum doppel_status status = open_reader(library, reader, error);
    if (status) {
        sounds_reader_free(reader);
        return status;
    }
    sounds_reader_free(library->sounds);
    library->sounds = reader;
    *out = reader->sounds;
    return DOPPEL_OK;
}
