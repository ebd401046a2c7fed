/* Openings of the library, each with a search or a decider: for one thread at a time. */
#ifndef DOPPEL_SERVE_READERS_H
#define DOPPEL_SERVE_READERS_H

#include <doppel/decide.h>
#include <doppel/search.h>

#include "serve/meaning.h"

struct decision_task;
struct service;
struct readers;
struct request_input;

struct library_reader {
    struct doppel_library *library;
    struct doppel_search *search;             /* by the options of the service; NULL: it writes */
    struct doppel_search *by_thresholds;      /* by those of a request; NULL: none came yet */
    struct doppel_compare_options thresholds; /* of these */
    struct doppel_search_results results;     /* of the query at hand */
    const struct service *service;
    const struct request_input *input; /* that query, which may be read again; NULL: it may not */
    struct doppel_decider *decider; /* of a dry run, unless it writes; NULL: none was wanted yet */
    double decider_rate; /* of its images, audio and videos, as a request had it; 0: none had */
    struct decision_task *deciding; /* of one that writes: what it decides about */
    uint64_t number;                /* no other one has it there, nor had */
    struct open_meaning meaning;    /* nothing is open before it is wanted */
    struct readers *home;           /* where it waits */
    struct library_reader *next;
};

/* Those of a service, and, apart, those that write: decisions that take their time are made beside
 * the writer, in turns. @param out given (readers_close) */
enum doppel_status readers_open(struct service *service, struct readers **out,
                                struct doppel_error *error);
enum doppel_status writing_readers_open(struct readers **out, struct doppel_error *error);
void readers_close(struct readers *readers);

/* An idle one, or another one. @param out to be given back (reader_give). Thread-safe. */
enum doppel_status reader_take(struct service *service, struct library_reader **out,
                               struct doppel_error *error);
enum doppel_status writing_reader_take(struct service *service, struct library_reader **out,
                                       struct doppel_error *error);

/* The search by the thresholds, and the scheme of images, of a request: who asks often asks by the
 * same, so it stays with the reader. @param out borrowed until the next call */
enum doppel_status reader_search(struct library_reader *reader,
                                 const struct doppel_search_options *options,
                                 struct doppel_search **out, struct doppel_error *error);
void reader_give(struct library_reader *reader);

#endif
