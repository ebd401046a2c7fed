/* A POST to a host that may be called, and whatever it answers. */
#ifndef DOPPEL_CLIENT_POST_H
#define DOPPEL_CLIENT_POST_H

#include <stdbool.h>
#include <stddef.h>

#include <doppel/core.h>

/* Which addresses a name may lead to. */
enum post_reach {
    POST_PUBLIC,   /* those of the public internet; of an address that the URL names, that one */
    POST_LOOPBACK, /* this machine's own */
    POST_ANYWHERE
};

/* All borrowed. */
struct post {
    const char *url;            /* as http_url_parse takes it */
    const char *const *headers; /* "Name: value" */
    size_t header_count;
    const void *body;
    size_t size;
    enum post_reach reach;
    long timeout_ms;                /* of the whole */
    size_t most;                    /* bytes of the answer that are read */
    bool (*stopped)(void *context); /* asked about once a second, and more often */
    void *context;
};

struct post_answer {
    unsigned status; /* of HTTP */
    char *body;      /* ends in NUL, which does not count; room for the next one, too */
    size_t size, capacity;
    bool cut;               /* there is more than `most` */
    unsigned retry_after_s; /* as it asks, by a number or a date; 0: it does not, or none */
};

/* What keeps a connection between calls; of one thread at a time. Zero-initialised it is new. */
struct poster {
    const struct libcurl *curl; /* NULL: not loaded yet */
    void *handle;
};

/* Call, and wait. Redirects are not followed; each address is checked as it is connected to, after
 * it was resolved. A proxy of the environment is used by POST_ANYWHERE alone.
 * @param out zero-initialised, or the last one; post_answer_free
 * @return DOPPEL_OK: it was answered, by whatever status; DOPPEL_E_BUSY: it was not, or not whole;
 *         DOPPEL_E_TIMEOUT; DOPPEL_E_UNSUPPORTED: the address may not be called, or libcurl is not
 *         there; DOPPEL_E_ARGUMENT: it is not who it should be, or no service of HTTP;
 *         DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY */
enum doppel_status post_send(struct poster *poster, const struct post *post,
                             struct post_answer *out, struct doppel_error *error);

void poster_free(struct poster *poster);
void post_answer_free(struct post_answer *answer);

#endif
