/* doppel serve: a library for every client, by HTTP. A face of the engine: what it answers, the
 * engine's calls found, and the engine's JSON says. */
#ifndef DOPPEL_SERVE_SERVE_H
#define DOPPEL_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/decide.h>
#include <doppel/embedder.h>
#include <doppel/embed_endpoint.h>
#include <doppel/intake.h>
#include <doppel/run.h>
#include <doppel/shards.h>

/* All borrowed while it serves. */
struct serve_options {
    const char *library;                  /* its folder; made if there is none; or redis://… */
    struct doppel_shards_options cluster; /* of one in a cluster; its address is `library` */
    const char *listen;                   /* as listen_at() has it; NULL: SERVE_DEFAULT_ADDRESS */
    const char *keys;                     /* a file (keys.h); NULL: everybody may do everything */
    bool insecure;                        /* without keys also to other machines */
    const char *certificate, *key;        /* files in PEM; NULL: no TLS */
    struct doppel_strings allow_paths;    /* folders below which requests may name files */
    uint64_t max_body;                    /* bytes of a request */
    struct doppel_strings webhook_allow;  /* hosts that jobs may have called (client_webhook.h) */
    const char *webhook_secret;           /* by which calls are signed; NULL: nobody is called */
    bool hma;                             /* also what clients of Hasher-Matcher-Actioner ask */
    bool durable;                         /* as of a library */
    struct doppel_decide_options decide;  /* how is decided, and, by its `search`, searched */
    struct doppel_read_options read;      /* how files are read */
    /* How texts are embedded: `folder` NULL: there are no models; neither `name` nor `endpoint`:
     * by the model of the library's vectors, or the only one. Its callbacks come from any thread.
     */
    struct doppel_embedder_options embed;

    bool (*stopped)(void); /* whether to end: what runs is finished, what is new is refused */
    /* It answers from now on. @param address "http://127.0.0.1:8040" */
    void (*on_ready)(void *context, const char *address);
    void *context;
};

#define SERVE_DEFAULT_ADDRESS "127.0.0.1:8040"
enum { SERVE_DEFAULT_MAX_BODY_MB = 1024 };

/* Serve until it is stopped. @param run of its jobs as many requests are worked on at a time.
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: the address, or who may ask; DOPPEL_E_BUSY: somebody else
 * listens there; and what opening the library returns */
enum doppel_status serve_library(struct doppel_run *run, const struct serve_options *options,
                                 struct doppel_error *error);

#endif
