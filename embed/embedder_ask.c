/* Texts of a service: what the cache has is taken from there, equal ones are sent once, and what
 * comes is kept request by request. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "embed/embedder_internal.h"

/* A text of the call. */
struct asked_text {
    struct doppel_digest digest;
    size_t place, first; /* in the call; and of the first that is equal */
};

struct asking {
    struct doppel_embedder *embedder;
    const struct doppel_model_texts *texts;
    float *rows;
    enum doppel_status *each;
    struct asked_text *asked; /* those that are neither too short nor cached */
    size_t asked_count;
    size_t *places; /* of those that are sent */
    size_t place_count, next;
    enum doppel_status status; /* of the first failure */
    struct doppel_error *error;
};

/* Of those requests one of which is in flight: a thread's own. */
struct asking_flight {
    struct asking *asking;
    struct embedder_connection *connection;
    struct doppel_endpoint *endpoint; /* of this */
    const size_t *places;             /* of the texts of this one, and all about them */
    size_t count, bytes;
    const char **sent;
    size_t *sizes;
    float *got;
    enum doppel_status *outcomes;
    struct cached_vector *kept;
};

static float *row_of(const struct asking *asking, size_t place)
{
    return asking->rows + place * asking->embedder->identity.dimension;
}

/* ---- which are sent ---- */

static void look_texts_up(struct asking *asking)
{
    struct doppel_embedder *embedder = asking->embedder;
    const struct doppel_model_texts *texts = asking->texts;
    for (size_t i = 0; i < texts->count; i++) {
        const size_t size = size_of_text(texts, i);
        if (!endpoint_takes_text(embedder->endpoint, texts->texts[i], size)) {
            asking->each[i] = DOPPEL_E_TOO_SHORT;
            continue;
        }
        const struct doppel_digest digest = embedder_text_digest(texts->texts[i], size);
        const enum cached_text cached = embedder_find_cached(embedder, &digest, row_of(asking, i));
        if (cached) {
            asking->each[i] = cached == TEXT_REFUSED ? DOPPEL_E_FORMAT : DOPPEL_OK;
            embedder->usage.cached += cached == TEXT_CACHED;
            continue;
        }
        asking->asked[asking->asked_count++] = (struct asked_text){digest, i, i};
    }
}

static int compare_asked_digests(const void *a, const void *b)
{
    const struct asked_text *x = a, *y = b;
    int order = memcmp(x->digest.bytes, y->digest.bytes, sizeof x->digest.bytes);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int compare_asked_places(const void *a, const void *b)
{
    const struct asked_text *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Equal texts are sent once, in the order in which they stand. */
static void choose_sent(struct asking *asking)
{
    struct asked_text *asked = asking->asked;
    const size_t count = asking->asked_count;
    qsort(asked, count, sizeof *asked, compare_asked_digests);
    for (size_t i = 1; i < count; i++)
        if (memcmp(&asked[i].digest, &asked[i - 1].digest, sizeof asked[i].digest) == 0)
            asked[i].first = asked[i - 1].first;
    qsort(asked, count, sizeof *asked, compare_asked_places);
    for (size_t i = 0; i < count; i++)
        if (asked[i].first == asked[i].place)
            asking->places[asking->place_count++] = asked[i].place;
}

/* ---- one request ---- */

/* How many of those from `first` on go together. */
static size_t count_request(const struct asking *asking, size_t first)
{
    const struct doppel_endpoint *endpoint = asking->embedder->endpoint;
    size_t count = 0, bytes = 0;
    while (first + count < asking->place_count && count < endpoint->most_texts) {
        bytes += size_of_text(asking->texts, asking->places[first + count]);
        if (count && bytes > endpoint->options.most_bytes)
            break;
        count++;
    }
    return count;
}

static void fail_asking(struct asking *asking, enum doppel_status status,
                        const struct doppel_error *reason)
{
    if (asking->status)
        return; /* by another, before */
    asking->status = doppel_fail(asking->error, status, "%s", reason->message);
    endpoint_try_again(asking->embedder->endpoint, false);
}

/* The next texts, unless there are none, or it is over. */
static bool take_texts_to_send(struct asking_flight *flight)
{
    struct asking *asking = flight->asking;
    struct doppel_embedder *embedder = asking->embedder;
    struct doppel_error reason;
    if (asking->status || asking->next == asking->place_count)
        return false;
    const enum doppel_status status = embedder_check_spent(embedder, &reason);
    if (status) {
        fail_asking(asking, status, &reason);
        return false;
    }
    flight->places = asking->places + asking->next;
    flight->count = count_request(asking, asking->next);
    flight->bytes = 0;
    asking->next += flight->count;
    for (size_t i = 0; i < flight->count; i++) {
        const size_t place = flight->places[i];
        flight->sent[i] = asking->texts->texts[place];
        flight->sizes[i] = size_of_text(asking->texts, place);
        flight->bytes += flight->sizes[i] + strlen(embedder->identity.prefix);
    }
    embedder->sent_bytes += flight->bytes;
    embedder->flying_bytes += flight->bytes;
    flight->connection->places = flight->places;
    flight->endpoint->most_texts = embedder->endpoint->most_texts;
    return true;
}

/* Whether it is known of a text what becomes of it: a vector, or that the service refuses it, which
 * is kept as zeros. Where the service fails it is not. */
static bool outcome_is_final(enum doppel_status outcome, enum doppel_status whole)
{
    return !outcome || (!whole && (outcome == DOPPEL_E_FORMAT || outcome == DOPPEL_E_LIMIT));
}

/* What came is kept; the run goes on where it cannot be. */
static void keep_vectors(struct asking_flight *flight, enum doppel_status whole)
{
    const struct asking *asking = flight->asking;
    struct doppel_embedder *embedder = asking->embedder;
    struct doppel_error reason;
    size_t kept = 0, refused = 0;
    for (size_t i = 0; i < flight->count; i++)
        refused += outcome_is_final(flight->outcomes[i], whole) && flight->outcomes[i];
    for (size_t i = 0; i < flight->count; i++)
        if (outcome_is_final(flight->outcomes[i], whole))
            flight->kept[kept++] =
                (struct cached_vector){embedder_text_digest(flight->sent[i], flight->sizes[i]),
                                       row_of(asking, flight->places[i])};
    if (!embedder->cache || !kept)
        return;
    enum doppel_status status = vector_cache_put(embedder->cache, flight->kept, kept, &reason);
    embedder->usage.kept += status ? 0 : kept - refused;
    if (status == DOPPEL_E_CORRUPT)
        embedder_drop_cache(embedder, &reason);
    else if (status && !embedder->write_told) {
        embedder->write_told = true;
        embedder_notice(embedder, "what is embedded cannot be kept: %.300s", reason.message);
    }
}

static void add_up_request(struct asking_flight *flight)
{
    struct doppel_embedder *embedder = flight->asking->embedder;
    struct doppel_endpoint *own = flight->endpoint, *all = embedder->endpoint;
    embedder->flying_bytes -= flight->bytes;
    all->info.tokens += own->info.tokens;
    all->info.requests += own->info.requests;
    own->info.tokens = own->info.requests = 0;
    if (own->most_texts < all->most_texts)
        all->most_texts = own->most_texts;
}

static void take_outcomes(struct asking_flight *flight, enum doppel_status status,
                          const struct doppel_error *reason)
{
    struct asking *asking = flight->asking;
    const size_t dimension = asking->embedder->identity.dimension;
    add_up_request(flight);
    for (size_t i = 0; i < flight->count; i++) {
        const size_t place = flight->places[i];
        const bool reached = !status || flight->outcomes[i] != status;
        asking->each[place] = reached ? flight->outcomes[i] : DOPPEL_E_MEMORY;
        memcpy(row_of(asking, place), flight->got + i * dimension, dimension * sizeof *flight->got);
    }
    keep_vectors(flight, status);
    if (status)
        fail_asking(asking, status, reason);
}

/* ---- several at a time ---- */

/* Only what is sent is not under the lock. */
static void *send_requests(void *context)
{
    struct asking_flight *flight = context;
    pthread_mutex_t *lock = &flight->asking->embedder->lock;
    struct doppel_error reason;
    pthread_mutex_lock(lock);
    while (take_texts_to_send(flight)) {
        const struct doppel_model_texts request = {flight->sent, flight->sizes, flight->count};
        pthread_mutex_unlock(lock);
        enum doppel_status status = doppel_endpoint_embed(flight->endpoint, &request, flight->got,
                                                          flight->outcomes, &reason);
        pthread_mutex_lock(lock);
        take_outcomes(flight, status, &reason);
    }
    pthread_mutex_unlock(lock);
    return NULL;
}

static void end_flight(struct asking_flight *flight)
{
    free(flight->sent);
    free(flight->sizes);
    free(flight->got);
    free(flight->outcomes);
    free(flight->kept);
}

static bool begin_flight(struct asking *asking, struct embedder_connection *connection,
                         struct asking_flight *flight)
{
    struct doppel_embedder *embedder = asking->embedder;
    const size_t most = embedder->endpoint->most_texts;
    connection->embedder = embedder;
    if (!connection->endpoint)
        connection->endpoint = endpoint_copy(embedder->endpoint, connection);
    *flight = (struct asking_flight){
        .asking = asking, .connection = connection, .endpoint = connection->endpoint};
    flight->sent = malloc(most * sizeof *flight->sent);
    flight->sizes = malloc(most * sizeof *flight->sizes);
    flight->got = malloc(most * embedder->identity.dimension * sizeof *flight->got);
    flight->outcomes = malloc(most * sizeof *flight->outcomes);
    flight->kept = malloc(most * sizeof *flight->kept);
    if (flight->endpoint && flight->sent && flight->sizes && flight->got && flight->outcomes &&
        flight->kept)
        return true;
    end_flight(flight);
    return false;
}

/* How many at a time. The first ones one by one where that may cost too much: how many tokens a
 * byte has is not known. */
static size_t count_flights(const struct asking *asking)
{
    const struct doppel_embedder *embedder = asking->embedder;
    if (asking->place_count <= count_request(asking, 0))
        return asking->place_count != 0;
    return embedder->max_cost > 0 && !embedder->sent_bytes ? 1 : embedder->requests;
}

/* Fewer threads do as well. */
static enum doppel_status send_all(struct asking *asking, struct doppel_error *error)
{
    struct asking_flight flights[DOPPEL_EMBEDDER_MOST_REQUESTS];
    pthread_t threads[DOPPEL_EMBEDDER_MOST_REQUESTS];
    size_t begun = 0, started = 0;
    const size_t wanted = count_flights(asking);
    while (begun < wanted &&
           begin_flight(asking, &asking->embedder->connections[begun], &flights[begun]))
        begun++;
    if (wanted && !begun)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to embed texts");
    endpoint_try_again(asking->embedder->endpoint, true);
    while (started + 1 < begun &&
           !pthread_create(&threads[started], NULL, send_requests, &flights[started + 1]))
        started++;
    if (begun)
        send_requests(&flights[0]);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < begun; i++)
        end_flight(&flights[i]);
    return asking->status;
}

/* ---- all ---- */

static enum doppel_status begin_asking(struct asking *asking, struct doppel_error *error)
{
    const size_t count = asking->texts->count + 1;
    asking->asked = malloc(count * sizeof *asking->asked);
    asking->places = malloc(count * sizeof *asking->places);
    return asking->asked && asking->places
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to embed texts");
}

static void end_asking(struct asking *asking)
{
    free(asking->asked);
    free(asking->places);
}

/* Those that were not sent, as an equal one was. */
static void copy_to_equal(struct asking *asking)
{
    for (size_t i = 0; i < asking->asked_count; i++) {
        const struct asked_text *text = &asking->asked[i];
        if (text->first == text->place)
            continue;
        asking->each[text->place] = asking->each[text->first];
        memcpy(row_of(asking, text->place), row_of(asking, text->first),
               asking->embedder->identity.dimension * sizeof *asking->rows);
        asking->embedder->usage.cached += asking->each[text->place] == DOPPEL_OK;
    }
}

enum doppel_status embedder_ask(struct doppel_embedder *embedder,
                                const struct doppel_model_texts *texts, float *rows,
                                enum doppel_status *each, struct doppel_error *error)
{
    struct doppel_error unwanted;
    struct asking asking = {.embedder = embedder,
                            .texts = texts,
                            .rows = rows,
                            .each = each,
                            .error = error ? error : &unwanted};
    enum doppel_status status;
    memset(rows, 0, texts->count * embedder->identity.dimension * sizeof *rows);
    TRY(begin_asking(&asking, error));
    look_texts_up(&asking);
    choose_sent(&asking);
    TRY(send_all(&asking, error));
done:
    for (size_t i = 0; i < asking.place_count; i++)
        if (each[asking.places[i]] == DOPPEL_E_MEMORY) /* not reached */
            each[asking.places[i]] = status;
    copy_to_equal(&asking);
    end_asking(&asking);
    return status;
}
