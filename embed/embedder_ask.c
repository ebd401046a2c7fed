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
    size_t place_count, done;
    const char **sent; /* a request's */
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
        if (embedder_find_cached(embedder, &digest, row_of(asking, i))) {
            asking->each[i] = DOPPEL_OK;
            embedder->usage.cached++;
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

/* What came is kept; the run goes on where it cannot be. */
static void keep_vectors(struct asking *asking, size_t first, size_t count)
{
    struct doppel_embedder *embedder = asking->embedder;
    struct doppel_error reason;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!asking->outcomes[i]) {
            const size_t place = asking->places[first + i];
            asking->kept[kept++] =
                (struct cached_vector){embedder_text_digest(asking->texts->texts[place],
                                                            size_of_text(asking->texts, place)),
                                       row_of(asking, place)};
        }
    if (!embedder->cache || !kept)
        return;
    enum doppel_status status = vector_cache_put(embedder->cache, asking->kept, kept, &reason);
    embedder->usage.kept += status ? 0 : kept;
    if (status == DOPPEL_E_CORRUPT)
        embedder_drop_cache(embedder, &reason);
    else if (status && !embedder->write_told) {
        embedder->write_told = true;
        embedder_notice(embedder, "what is embedded cannot be kept: %.300s", reason.message);
    }
}

static enum doppel_status send_request(struct asking *asking, size_t first, size_t count,
                                       struct doppel_error *error)
{
    struct doppel_embedder *embedder = asking->embedder;
    const size_t dimension = embedder->identity.dimension;
    for (size_t i = 0; i < count; i++) {
        const size_t place = asking->places[first + i];
        asking->sent[i] = asking->texts->texts[place];
        asking->sizes[i] = size_of_text(asking->texts, place);
        embedder->sent_bytes += asking->sizes[i] + strlen(embedder->identity.prefix);
    }
    const struct doppel_model_texts request = {asking->sent, asking->sizes, count};
    embedder->places = asking->places + first;
    enum doppel_status status =
        doppel_endpoint_embed(embedder->endpoint, &request, asking->got, asking->outcomes, error);
    for (size_t i = 0; i < count; i++) {
        const size_t place = asking->places[first + i];
        asking->each[place] = asking->outcomes[i];
        memcpy(row_of(asking, place), asking->got + i * dimension, dimension * sizeof *asking->got);
    }
    keep_vectors(asking, first, count);
    return status;
}

/* ---- all ---- */

static enum doppel_status begin_asking(struct asking *asking, struct doppel_error *error)
{
    const size_t count = asking->texts->count + 1;
    const size_t most = asking->embedder->endpoint->most_texts;
    asking->asked = malloc(count * sizeof *asking->asked);
    asking->places = malloc(count * sizeof *asking->places);
    asking->sent = malloc(most * sizeof *asking->sent);
    asking->sizes = malloc(most * sizeof *asking->sizes);
    asking->got = malloc(most * asking->embedder->identity.dimension * sizeof *asking->got);
    asking->outcomes = malloc(most * sizeof *asking->outcomes);
    asking->kept = malloc(most * sizeof *asking->kept);
    return asking->asked && asking->places && asking->sent && asking->sizes && asking->got &&
                   asking->outcomes && asking->kept
               ? DOPPEL_OK
               : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to embed texts");
}

static void end_asking(struct asking *asking)
{
    free(asking->asked);
    free(asking->places);
    free(asking->sent);
    free(asking->sizes);
    free(asking->got);
    free(asking->outcomes);
    free(asking->kept);
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
    struct asking asking = {.embedder = embedder, .texts = texts, .rows = rows, .each = each};
    enum doppel_status status;
    memset(rows, 0, texts->count * embedder->identity.dimension * sizeof *rows);
    TRY(begin_asking(&asking, error));
    look_texts_up(&asking);
    choose_sent(&asking);
    for (size_t count; asking.done < asking.place_count; asking.done += count) {
        count = count_request(&asking, asking.done);
        TRY(embedder_check_spent(embedder, error));
        TRY(send_request(&asking, asking.done, count, error));
    }
done:
    for (size_t i = asking.done; i < asking.place_count; i++)
        if (each[asking.places[i]] == DOPPEL_E_MEMORY) /* not reached */
            each[asking.places[i]] = status;
    copy_to_equal(&asking);
    end_asking(&asking);
    return status;
}
