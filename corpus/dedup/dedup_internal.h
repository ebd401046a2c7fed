/*
 * Deduplication from the inside.
 *
 *     lines ─ sign ─ records ─ same texts, same ids ─ buckets ─ components ─ replay ─ decisions
 *
 * A record is its number in order of input; those of a library, of which only such are taken in as
 * can matter to one of the corpus, have the first numbers. What is known of a record lies in rows
 * (dedup_space.h), the library's after those of the corpus: a few bytes of facts, its signature,
 * its buckets, its decision.
 */
#ifndef DOPPEL_CORPUS_DEDUP_DEDUP_INTERNAL_H
#define DOPPEL_CORPUS_DEDUP_DEDUP_INTERNAL_H

#include <pthread.h>
#include <string.h>

#include <doppel/corpus.h>
#include <doppel/vector.h>

#include "corpus/dedup/compared.h"
#include "corpus/dedup/space.h"
#include "corpus/read/reader.h"

#define NO_RECORD UINT32_MAX

enum fact_flag {
    FACT_ID = 1 << 0, /* strings it has, in this order in the arena, each ended by NUL */
    FACT_SOURCE = 1 << 1,
    FACT_DATE = 1 << 2,
    FACT_PATH = 1 << 3,       /* of the library's: its file */
    FACT_UNREADABLE = 1 << 4, /* the reason */
    FACT_TOO_SHORT = 1 << 5,
    FACT_PLAIN = 1 << 6,   /* the line can be read again */
    FACT_KEPT = 1 << 7,    /* its shingles were kept, at `place` of the kept file */
    FACT_LINE = 1 << 8,    /* its line was kept, after the shingles */
    FACT_LIBRARY = 1 << 9, /* it is the library's, and decided: `place` is its id, and `former` the
                              record that it follows */
    FACT_LEADER = 1 << 10, /* of the corpus' set in the replay, for good */
    FACT_REPLACED = 1 << 11, /* by a later text of the same id: it leads no more */
    FACT_AGAIN = 1 << 12,    /* the line can be read again, with those before it: of a compressed
                                file, in which `place` is its own */
    FACT_GROUPED = 1 << 13,  /* others are linked to it, or it to others */
    FACT_NO_TEXT = 1 << 14   /* unreadable for want of a text */
};

struct facts {
    uint64_t place; /* of the line in its file, or in the kept file */
    uint64_t line;
    uint64_t strings;
    uint32_t size;     /* of the line; UINT32_MAX: more */
    uint32_t shingles; /* how many; 0: not known yet, of the library's */
    union {
        uint32_t content; /* the first record with the same normalised text */
        uint32_t root;    /* when all is decided: the first one that it is linked to */
    };
    uint32_t holder; /* of the first with a content: who has it now, or NO_RECORD; in the replay */
    uint32_t former; /* the record whose id comes again, or NO_RECORD */
    union {
        uint32_t parent; /* until the replay: union-find, towards smaller numbers */
        uint32_t leader; /* then: the record that this one follows, or itself */
    };
    uint32_t flags;
    uint32_t digest_head; /* of its content, by which it is known when its line is read again */
};

static inline uint32_t digest_head(const struct doppel_digest *digest)
{
    uint32_t head;
    memcpy(&head, digest->bytes, sizeof head);
    return head;
}

/* What was decided. */
struct dedup_verdict {
    uint32_t similarity, query_coverage, item_coverage; /* share_pack */
    uint32_t of;
    uint16_t distance;
    uint8_t decision, reason, relation, verified;
    bool has_match, has_coverage, replaces;
};

/* Shares in steps of 2^-31: finer than what is printed. */
static inline uint32_t share_pack(double share)
{
    return (uint32_t)(share * 0x1p31 + 0.5);
}

static inline double share_unpack(uint32_t packed)
{
    return packed * 0x1p-31;
}

/* A text that means the same as an earlier one, or as a part of it. */
struct semantic_found {
    uint32_t number, of;
    float cosine; /* of their nearest chunks */
    bool has_score;
    float score; /* likewise */
    double rate;
    uint32_t query_coverage, item_coverage; /* share_pack */
    uint32_t first_segment, segment_count;
};

struct dedup {
    const struct doppel_dedup_options *options;
    struct reader *reader;
    const char *folder; /* of temporary files */
    uint32_t threads;
    uint32_t bands, rows_a_band, lanes;

    struct space space;
    uint32_t count;
    uint32_t first;          /* record of the corpus; those before it are the library's */
    struct leaders *against; /* reads the library's, with the lock held; NULL: there is none */
    struct doppel_ingest_options against_options;
    pthread_mutex_t against_lock;
    struct chunked facts;    /* struct facts */
    struct chunked digests;  /* struct doppel_digest; until same content is known */
    struct chunked lanes_of; /* uint16_t[lanes] */
    struct chunked cells;    /* uint32_t[bands], see dedup_buckets.c: cell_of */
    /* From a record's cell to the next record's, and to its next band's, within a chunk: by record,
     * or, where cells may lie in a file, by band, so that a pass over a band writes few pages. */
    size_t cell_row, cell_band;
    struct compared_pairs compared; /* what need not be compared any more */
    struct chunked verdicts;        /* struct dedup_verdict */
    struct chunked held; /* uint64_t: where the lowest shingles are; if parts are wanted */
    struct arena held_values;
    struct arena strings;
    ARRAY(uint32_t) first_of_file; /* number of the first record of each file, and of the end */

    ARRAY(struct semantic_found) semantic; /* by number */
    ARRAY(struct doppel_semantic_segment) segments;
    struct doppel_vector_background *background; /* NULL: nothing was embedded */
    uint32_t embedded;

    int kept; /* file of kept shingles and lines; -1: none */
    uint64_t kept_bytes;
    bool replacing; /* some texts take the place of others */
    bool cancelled;
};

static inline uint32_t dedup_row_of(const struct dedup *dedup, uint32_t number)
{
    return number < dedup->first ? number + (dedup->count - dedup->first) : number - dedup->first;
}

static inline struct facts *dedup_facts_of(const struct dedup *dedup, uint32_t number)
{
    return row_at(&dedup->facts, dedup_row_of(dedup, number));
}

static inline struct doppel_digest *dedup_digest_of(const struct dedup *dedup, uint32_t number)
{
    return row_at(&dedup->digests, dedup_row_of(dedup, number));
}

static inline uint16_t *dedup_lanes_of(const struct dedup *dedup, uint32_t number)
{
    return row_at(&dedup->lanes_of, dedup_row_of(dedup, number));
}

static inline uint32_t *dedup_cell_of(const struct dedup *dedup, uint32_t number, uint32_t band)
{
    const uint32_t row = dedup_row_of(dedup, number);
    uint32_t *chunk = (uint32_t *)(void *)dedup->cells.chunks.items[row >> CHUNK_ROWS_LOG2].bytes;
    return chunk + (size_t)(row & (CHUNK_ROWS - 1)) * dedup->cell_row +
           (size_t)band * dedup->cell_band;
}

static inline struct dedup_verdict *dedup_verdict_of(const struct dedup *dedup, uint32_t number)
{
    return row_at(&dedup->verdicts, dedup_row_of(dedup, number));
}

/** Number in the reader's list of files. */
uint32_t file_of(const struct dedup *dedup, uint32_t number);

/** The string of one flag; NULL when it has none. With FACT_UNREADABLE: the reason. */
const char *string_of(const struct dedup *dedup, const struct facts *facts, uint32_t flag);

/** Room for `count` records. */
enum doppel_status dedup_reserve_records(struct dedup *dedup, size_t count,
                                         struct doppel_error *error);

/** Now and then: take pages of the temporary file out of this process's memory. Any thread. */
void let_go(const struct dedup *dedup);
enum { LET_GO_RECORDS = 1 << 19 };

/* ---- threads, and the first thing that went wrong in any ---- */

struct thread_team {
    uint32_t threads;
    pthread_mutex_t lock;
    struct doppel_error error; /* status OK: none */
};

void thread_team_init(struct thread_team *thread_team, uint32_t threads);
/** Run `work` on all threads, the calling one is number 0. Fewer than wanted are no failure: what
 * they do is shared out as it comes. @return the first failure */
enum doppel_status thread_team_run(struct thread_team *thread_team,
                                   void (*work)(void *context, uint32_t thread), void *context,
                                   struct doppel_error *error);
void thread_team_fail(struct thread_team *thread_team, const struct doppel_error *error);
bool thread_team_failed(struct thread_team *thread_team);
void thread_team_end(struct thread_team *thread_team);

/* ---- the beginning, and the end ---- */

void dedup_init(struct dedup *dedup, const struct doppel_dedup_options *options);
/** Choose bands, and find which files there are. DOPPEL_E_ARGUMENT; DOPPEL_E_MEMORY */
enum doppel_status dedup_begin(struct dedup *dedup, struct doppel_error *error);
/** Refuse, while reading, an input in which no record has a text. */
enum doppel_status dedup_check_fields(struct dedup *dedup, struct doppel_error *error);
/** In whatever state it is, once dedup_init was called. */
void dedup_end(struct dedup *dedup);

/* ---- the stages, in order ---- */

/** Whether the library's texts were read as those of the corpus will be. */
enum doppel_status dedup_begin_against(struct dedup *dedup, struct doppel_error *error);
/** Tell the caller how far it is; false once it wants no more. Of one thread. */
bool dedup_goes_on(const struct dedup *dedup, const char *unit, uint64_t done, uint64_t total);
/** Read, parse and sign all lines. */
enum doppel_status dedup_read(struct dedup *dedup, struct doppel_error *error);
/** Take in the texts of the library that can matter to a record that was read, as the first ones.
 */
enum doppel_status dedup_load_against(struct dedup *dedup, struct doppel_error *error);
/** Find same contents and same ids; drops the digests. */
enum doppel_status dedup_find_same(struct dedup *dedup, struct doppel_error *error);
/** Find which records share bands. */
enum doppel_status dedup_fill_buckets(struct dedup *dedup, struct doppel_error *error);
/** Decide. DOPPEL_E_CANCELLED when it is cancelled here, not while reading. */
enum doppel_status dedup_replay(struct dedup *dedup, struct doppel_error *error);
/** Of what is new: what it is a part of, if that is asked for. DOPPEL_E_CANCELLED, likewise. */
enum doppel_status dedup_find_parts(struct dedup *dedup, struct doppel_error *error);
/** Whether it belongs to the corpus without its duplicates; once all is decided, and it is known
 * who takes whose place. */
bool dedup_is_unique(const struct dedup *dedup, uint32_t number);
/** Whether vectors can be handed off to where they are to be; makes the folder. */
enum doppel_status dedup_check_hand_off(const struct dedup *dedup, struct doppel_error *error);
/** Embed what is unique, and find what means the same; if that is asked for. */
enum doppel_status dedup_find_semantic(struct dedup *dedup, struct doppel_error *error);
/** Find, once all is decided, who takes whose place, and the first of each group. */
void dedup_conclude(struct dedup *dedup);
/** Where a record stands, and the reason of what was decided of it; the rest is 0. */
void dedup_describe_record(const struct dedup *dedup, uint32_t number,
                           enum doppel_decision_reason reason, struct doppel_dedup_decision *out);
/** What was decided of a record, but for its line and its meaning; after dedup_conclude. */
void dedup_describe(const struct dedup *dedup, uint32_t number, struct doppel_dedup_decision *out);
/** The match of a verdict. */
struct doppel_match dedup_match_of(const struct dedup *dedup, const struct dedup_verdict *verdict);
/** Whether its line is asked for. */
bool dedup_wants_line(const struct dedup *dedup, const struct doppel_dedup_decision *decision);
/** Tell. */
enum doppel_status dedup_visit(struct dedup *dedup, doppel_dedup_visitor *visitor, void *context,
                               struct doppel_error *error);

#endif
