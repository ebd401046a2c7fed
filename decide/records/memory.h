/* What an ingest holds in memory of the library: who was decided how, and the representatives'
 * signatures in an index. Records are numbers in order of input, as the decider has them. */
#ifndef DOPPEL_DECIDE_RECORDS_MEMORY_H
#define DOPPEL_DECIDE_RECORDS_MEMORY_H

#include <doppel/corpus.h>
#include <doppel/index.h>

#include "core/array.h"
#include "decide/records/decider.h"

struct ingest_memory {
    struct doppel_library *library;
    struct doppel_index *index;
    struct decider *decider;
    uint32_t lanes;
    ARRAY(uint64_t) ids;   /* in the library, by number; 0: it is not there */
    ARRAY(uint32_t) sizes; /* of their sets of shingles, likewise; 0: not known */
    uint64_t last_id;      /* up to which the library is known */
    uint64_t damaged;      /* texts that could not be read */
    int64_t words;         /* revision of manual labels that the groups are as of, */
    int64_t words_ns;      /* and when that was: those said before need no look */
    ARRAY(uint32_t) candidates;
    ARRAY(struct doppel_index_hit) hits; /* the same, with the lanes that differ */
    ARRAY(uint64_t) codes, payloads;     /* of representatives that wait to be put into the index */
};

/** @param options,host borrowed; zeroed before. On failure too, memory_close. */
enum doppel_status memory_open(struct ingest_memory *memory, struct doppel_library *library,
                               const struct doppel_ingest_options *options,
                               const struct decider_host *host, struct doppel_error *error);
void memory_close(struct ingest_memory *memory);

/** Take in what is in the library up to `last_id`, 0: to the end, and not known yet. */
enum doppel_status memory_catch_up(struct ingest_memory *memory, uint64_t last_id,
                                   struct doppel_error *error);

/** The groups are as manual labels have them. */
void memory_regrouped(struct ingest_memory *memory);

/** Take in what manual labels have changed of the groups since. */
enum doppel_status memory_regroup(struct ingest_memory *memory, struct doppel_error *error);

/** The number of an id in the library; NO_NUMBER: it is not held. */
uint32_t memory_number_of(const struct ingest_memory *memory, uint64_t id);

/** Let a representative be found. */
enum doppel_status memory_insert(struct ingest_memory *memory, const uint16_t *lanes,
                                 uint32_t number, struct doppel_error *error);

/** Representatives that share a band, by ascending number, in memory->candidates and ->hits. */
enum doppel_status memory_search(struct ingest_memory *memory, const uint16_t *lanes,
                                 struct doppel_error *error);

/** How many lanes of the last search are equal to those of a candidate; all for others. */
uint32_t memory_equal_lanes(const struct ingest_memory *memory, uint32_t number);

/** A record was decided: `id` in the library, 0: it is not there; `size` of its set. */
enum doppel_status memory_add(struct ingest_memory *memory, const struct decider_answer *answer,
                              const uint16_t *lanes, uint64_t id, uint32_t size,
                              struct doppel_error *error);

#endif
