/* Readers that are idle wait here, as warm as they were left. */
#include "serve/readers.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/try.h"
#include "serve/input_record.h"
#include "serve/service.h"

struct readers {
    pthread_mutex_t lock;
    struct library_reader *idle;
    bool write;
    uint64_t made;
};

static void library_reader_free(struct library_reader *reader)
{
    doppel_search_results_free(&reader->results);
    doppel_search_free(reader->search);
    doppel_search_free(reader->by_thresholds);
    doppel_decider_free(reader->decider);
    meaning_close(&reader->meaning);
    if (reader->library)
        doppel_library_close(reader->library);
    free(reader);
}

/* What is asked for, by the scheme of other items of the library. */
static enum doppel_status read_query_again(void *context, const struct doppel_record *query,
                                           const char *name, const struct doppel_scheme *scheme,
                                           struct doppel_record *out, struct doppel_error *error)
{
    const struct library_reader *reader = context;
    (void)query;
    (void)name;
    return reader->input ? input_read_again(reader->service, reader->input, scheme, out, error)
                         : doppel_fail(error, DOPPEL_E_NOT_FOUND, "the query cannot be read again");
}

static enum doppel_status make_search(struct library_reader *reader,
                                      const struct doppel_search_options *wanted,
                                      struct doppel_search **out, struct doppel_error *error)
{
    struct doppel_search_options options = *wanted;
    options.fingerprint = read_query_again;
    options.fingerprint_context = reader;
    return doppel_search_new(reader->service->run, reader->library, &options, out, error);
}

static enum doppel_status library_reader_new(const struct service *service, struct readers *home,
                                             struct library_reader **out,
                                             struct doppel_error *error)
{
    const struct doppel_library_options options = {.read_only = !home->write,
                                                   .durable = service->options->durable};
    struct library_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a reader");
    enum doppel_status status;
    reader->home = home;
    reader->service = service;
    pthread_mutex_lock(&home->lock);
    reader->number = ++home->made;
    pthread_mutex_unlock(&home->lock);
    TRY(doppel_library_open(service->options->library, &options, &reader->library, error));
    if (home->write)
        goto done;
    TRY(make_search(reader, &service->options->decide.search, &reader->search, error));
    TRY(doppel_search_refresh(reader->search, error));
done:
    if (status)
        library_reader_free(reader);
    else
        *out = reader;
    return status;
}

static enum doppel_status readers_new(bool write, struct readers **out, struct doppel_error *error)
{
    struct readers *readers = calloc(1, sizeof *readers);
    if (!readers)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for readers");
    pthread_mutex_init(&readers->lock, NULL);
    readers->write = write;
    *out = readers;
    return DOPPEL_OK;
}

enum doppel_status readers_open(struct service *service, struct readers **out,
                                struct doppel_error *error)
{
    struct library_reader *first;
    enum doppel_status status;
    TRY(readers_new(false, out, error));
    service->readers = *out;
    TRY(reader_take(service, &first, error));
    reader_give(first);
done:
    return status;
}

enum doppel_status writing_readers_open(struct readers **out, struct doppel_error *error)
{
    return readers_new(true, out, error);
}

void readers_close(struct readers *readers)
{
    if (!readers)
        return;
    while (readers->idle) {
        struct library_reader *reader = readers->idle;
        readers->idle = reader->next;
        library_reader_free(reader);
    }
    pthread_mutex_destroy(&readers->lock);
    free(readers);
}

static struct library_reader *take_idle(struct readers *readers)
{
    pthread_mutex_lock(&readers->lock);
    struct library_reader *reader = readers->idle;
    if (reader)
        readers->idle = reader->next;
    pthread_mutex_unlock(&readers->lock);
    return reader;
}

enum doppel_status reader_take(struct service *service, struct library_reader **out,
                               struct doppel_error *error)
{
    struct library_reader *reader = take_idle(service->readers);
    if (!reader)
        return library_reader_new(service, service->readers, out, error);
    (void)doppel_library_has_states(reader->library); /* of lists it sees what is written by now */
    enum doppel_status status = doppel_search_refresh(reader->search, error);
    if (status)
        library_reader_free(reader);
    else
        *out = reader;
    return status;
}

enum doppel_status writing_reader_take(struct service *service, struct library_reader **out,
                                       struct doppel_error *error)
{
    struct library_reader *reader = take_idle(service->writing_readers);
    if (!reader)
        return library_reader_new(service, service->writing_readers, out, error);
    *out = reader;
    return DOPPEL_OK;
}

static bool has_thresholds(const struct library_reader *reader,
                           const struct doppel_compare_options *compare)
{
    const struct doppel_compare_options *kept = &reader->thresholds;
    return reader->by_thresholds && kept->max_distance == compare->max_distance &&
           kept->min_similarity == compare->min_similarity &&
           kept->max_false_positives == compare->max_false_positives &&
           kept->schemes[DOPPEL_KIND_IMAGE].id == compare->schemes[DOPPEL_KIND_IMAGE].id;
}

enum doppel_status reader_search(struct library_reader *reader,
                                 const struct doppel_search_options *options,
                                 struct doppel_search **out, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!has_thresholds(reader, &options->compare)) {
        doppel_search_free(reader->by_thresholds);
        reader->by_thresholds = NULL;
        reader->thresholds = options->compare;
        status = make_search(reader, options, &reader->by_thresholds, error);
    }
    *out = reader->by_thresholds;
    return status;
}

void reader_give(struct library_reader *reader)
{
    struct readers *readers = reader->home;
    pthread_mutex_lock(&readers->lock);
    reader->next = readers->idle;
    readers->idle = reader;
    pthread_mutex_unlock(&readers->lock);
}
