/* A service that makes vectors: what an open one holds, and the parts of a call. */
#ifndef DOPPEL_EMBED_ENDPOINT_ENDPOINT_H
#define DOPPEL_EMBED_ENDPOINT_ENDPOINT_H

#include <pthread.h>
#include <string.h>

#include <doppel/embed.h>

#include "client/post.h"
#include "embed/embed_text.h"

/* What all requests to a service keep to, of whatever thread. */
struct endpoint_pause {
    pthread_mutex_t lock;
    int64_t until_ms; /* of monotonic_ms(): nothing is sent before */
    bool over;        /* nothing is tried again */
};

struct doppel_endpoint {
    struct doppel_endpoint_options options; /* `allowed` and `known` are gone */
    struct doppel_endpoint_info info;
    char *url;
    char *place;                                /* the URL without what follows '?': for messages */
    char *model, *prefix, *key, *authorization; /* the last three may be NULL */
    float *probe;
    enum post_reach reach;
    bool without_base64;          /* it refuses to be asked for it */
    size_t most_texts;            /* of a request; halved when it refuses more */
    uint64_t random;              /* state of the jitter */
    struct endpoint_pause *pause; /* of the one that was opened */
    bool is_copy;                 /* all pointers above are borrowed from that */
    struct poster poster;
    struct post_answer answer; /* the last one */
    struct doppel_json body;
    struct embed_text text; /* one, with its prefix */
};

/* Bytes of a text of a call. */
static inline size_t size_of_text(const struct doppel_model_texts *texts, size_t place)
{
    return texts->sizes ? texts->sizes[place] : strlen(texts->texts[place]);
}

/* Some of the texts of a call. Borrowed. */
struct endpoint_batch {
    const struct doppel_model_texts *texts;
    const size_t *places; /* of `count` of them */
    size_t count;
    bool is_probe; /* a 500 is the service's fault */
};

/* The same service for another thread, with a connection of its own; what is counted begins at 0.
 * The one that was opened must live as long. Given (doppel_endpoint_free); NULL without memory.
 * @param context of its callbacks */
struct doppel_endpoint *endpoint_copy(struct doppel_endpoint *endpoint, void *context);

/* Whether to go on trying what failed: of an endpoint and its copies, and said from any thread. */
void endpoint_try_again(struct doppel_endpoint *endpoint, bool again);

/* Send a request, again if need be; not before the service wants to be asked.
 * @param out_refusal DOPPEL_OK: `answer` has what it answers by 2xx; else why it does not take this
 *        batch: DOPPEL_E_LIMIT; DOPPEL_E_FORMAT; DOPPEL_E_TIMEOUT where there is more than one
 * text; DOPPEL_E_BUSY: a 500 more than once; the sentence is in `reason`
 * @return as doppel_endpoint_embed */
enum doppel_status endpoint_ask(struct doppel_endpoint *endpoint,
                                const struct endpoint_batch *batch, enum doppel_status *out_refusal,
                                struct doppel_error *reason, struct doppel_error *error);

/* Ask for the vector of the probe, which is in `answer` then. @return as doppel_endpoint_embed */
enum doppel_status endpoint_ask_probe(struct doppel_endpoint *endpoint, struct doppel_error *error);

/* Whether two vectors of the probe are of one model: their cosine is .999 or more, for batches,
 * threads and processors round otherwise. */
bool endpoint_is_same_probe(const float *a, const float *b, uint32_t dimension, double *out_cosine);

/* Whether a text has the letters that the options want, and any bytes: others are not sent. */
bool endpoint_takes_text(const struct doppel_endpoint *endpoint, const char *text, size_t size);

/* What an answer says in words: its message of an error, else how it begins; never the key. */
enum { ENDPOINT_WORDS = 200 };
void endpoint_words(const struct doppel_endpoint *endpoint, char out[static ENDPOINT_WORDS]);

/* The vectors of an answer, in the order of the texts. Zero-initialised it is empty. */
struct endpoint_vectors {
    float *rows;              /* count × dimension; of length 1, or zeros */
    enum doppel_status *each; /* DOPPEL_OK; DOPPEL_E_CORRUPT: zero, or no numbers */
    size_t count;
    uint32_t dimension;
    uint64_t tokens; /* that it states; 0: it does not */
};

/* Read the JSON of an answer.
 * @param count     of the texts that were sent
 * @param dimension that is expected; 0: any
 * @param out       zero-initialised, or the last one, which is freed; to be freed also on failure
 *        (endpoint_vectors_free)
 * @return DOPPEL_OK; DOPPEL_E_FORMAT: it is no JSON of embeddings; DOPPEL_E_CORRUPT: the count, an
 *         index, or the dimension; DOPPEL_E_MEMORY. The sentence goes on from the URL's name. */
enum doppel_status endpoint_vectors_read(const struct post_answer *answer, size_t count,
                                         uint32_t dimension, struct endpoint_vectors *out,
                                         struct doppel_error *error);
void endpoint_vectors_free(struct endpoint_vectors *vectors);

/* The same of the last answer, with a sentence for users; tokens are added up. */
enum doppel_status endpoint_take_answer(struct doppel_endpoint *endpoint, size_t count,
                                        uint32_t dimension, struct endpoint_vectors *out,
                                        struct doppel_error *error);

#endif
