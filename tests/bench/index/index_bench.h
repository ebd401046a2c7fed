/* What the parts of the index benchmark share: codes, queries, clocks, competitors, tables. */
#ifndef TESTS_BENCH_INDEX_INDEX_BENCH_H
#define TESTS_BENCH_INDEX_INDEX_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/hits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- codes.c ---- */

enum codes_shape { CODES_UNIFORM, CODES_SKEWED };

struct codes {
    enum codes_shape shape;
    uint32_t bits;
    size_t words, count;
    uint64_t *codes, *payloads; /* payloads are distinct */
};

uint64_t random_word(uint64_t *state);

/* Always the same for the same arguments. Ends the program without memory. */
struct codes codes_make(enum codes_shape shape, uint32_t bits, size_t count);
void codes_free(struct codes *codes);

/* Codes of the same kind that are not those of codes_make. */
void codes_more(const struct codes *like, uint64_t seed, size_t count, uint64_t *out);

/* Queries: even ones are codes of the set with 0 to radius bits flipped, odd ones are new. */
uint64_t *queries_make(const struct codes *codes, size_t count, uint32_t radius);

/* Codes as they are read by who loads them. */
struct source {
    const struct codes *codes;
    size_t at;
};
size_t source_read(void *source, uint64_t *codes, uint64_t *payloads, size_t max);
void source_rewind(void *source);

void *need(void *memory);                                /* ends the program for NULL */
void need_ok(enum doppel_status, struct doppel_error *); /* the same for a failure */

/* ---- memory.c ---- */

/* Have a virtual machine's host give so much memory: the first touch may cost 2.6 s a GB, any later
 * one .06, and is the host's cost, not the program's. */
void claim_memory(size_t bytes);

/* ---- clock.c ---- */

double thread_seconds(void); /* CPU time of this thread */
double wall_seconds(void);
double clock_cost(void); /* seconds between two readings with nothing between them */

struct times {
    double median, p99, mean; /* µs */
    size_t count;
};

/* @param seconds sorted; what reading the clock took is taken off */
struct times times_of(double *seconds, size_t count);

/* ---- machine.c ---- */

/* What the machine can do at best. */
struct machine {
    double line_ns;     /* a random cache line of 1 GiB, independent of the others, prefetched */
    double stream_gb_s; /* reading in order */
    double scan_ns, scan_cached_ns; /* a 64-bit code of a linear scan, from memory and from L1 */
};

struct machine machine_measure(void);
void machine_print(const struct machine *machine);

/* Cache lines that a radius search of uniform 64-bit codes needs at least, whatever the layout: one
 * for every 15 codes of every bucket that the pigeonhole principle makes it visit. */
double machine_lines(size_t count, uint32_t radius);

/* ---- competitors ---- */

/* Something that finds codes: all within a radius, or the k nearest. */
struct finder {
    const char *name;
    void *self;
    /* Adds to `out`, in any order. */
    void (*search)(void *self, const uint64_t *query, uint32_t radius, hit_array *out);
    /* NULL: it cannot. Many queries in one call. */
    void (*search_all)(void *self, const uint64_t *queries, size_t count, uint32_t radius,
                       hit_array *out);
    void (*nearest)(void *self, const uint64_t *query, size_t k, hit_array *out);
    void (*free)(void *self);
    double build_seconds; /* CPU */
    uint64_t bytes;
};

struct finder finder_norouzi(const struct codes *codes);
struct finder finder_scan(const struct codes *codes);
/* The engine: through the public API, and its table alone. */
struct finder finder_index(const struct codes *codes, uint32_t design_radius, bool compact);
struct finder finder_of_index(struct doppel_index *taken, uint32_t bits);
struct finder finder_table(const struct codes *codes, uint32_t design_radius, bool compact);
/* Only with HAVE_FAISS. */
struct finder finder_faiss_flat(const struct codes *codes);
struct finder finder_faiss_multi(const struct codes *codes);
void finder_free(struct finder *finder);

/* What is known of the answers to a set of queries: all competitors have to give the same. */
struct answers {
    size_t count;
    uint64_t *sums, *hits;
    bool *known;
};

struct answers answers_new(size_t count);
void answers_free(struct answers *answers);

/* Time each query alone. Stops after 200 when they have taken some seconds. Ends the program when
 * an answer differs. */
struct times time_search(const struct finder *finder, const uint64_t *queries, size_t words,
                         uint32_t radius, struct answers *answers);
struct times time_nearest(const struct finder *finder, const uint64_t *queries, size_t words,
                          size_t k, struct answers *answers);
/* µs a query of all in one call. */
double time_search_all(const struct finder *finder, const uint64_t *queries, uint32_t radius,
                       const struct answers *answers);

/* ---- table.c ---- */

/* A row of at most 8 numbers, NAN for none. */
void print_row(const char *label, const double *values, size_t count);
void print_count(char *out, size_t size, size_t count); /* 10 M */
/* A line of the second table: what is wanted and what was measured. */
void print_goal(const char *what, double measured, const char *relation, double goal,
                const char *unit);

/* ---- sections ---- */

struct plan {
    size_t sizes[8], size_count; /* codes */
    size_t queries;
    bool peers; /* run them too */
    bool table; /* the table alone, not the public API */
    struct machine machine;
};

typedef void section(const struct plan *plan);
section section_hamming, section_skewed, section_wide, section_compact, section_knn;
section section_head, section_open, section_insert, section_join;

struct finder plan_engine(const struct plan *plan, const struct codes *codes,
                          uint32_t design_radius, bool compact);

#ifdef __cplusplus
}
#endif
#endif
