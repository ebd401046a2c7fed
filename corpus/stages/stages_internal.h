/* What the stages share. docs/formats.md describes their files. */
#ifndef DOPPEL_CORPUS_STAGES_STAGES_INTERNAL_H
#define DOPPEL_CORPUS_STAGES_STAGES_INTERNAL_H

#include <doppel/corpus_stages.h>

#include "corpus/dedup/dedup_internal.h"

/* Keys are shared out by their upper byte. */
enum { STAGE_FENCES = DOPPEL_STAGE_MAX_JOIN_PARTS };

struct doppel_stages {
    struct doppel_dedup_options options; /* a copy */
    char *folder;
    struct doppel_digest run; /* of the manifest */
    uint64_t bytes;           /* of all inputs, as they lie on the disk */
};

/* ---- what a run is ---- */

/** Begin a dedup: choose its bands, and open all inputs. DOPPEL_E_ARGUMENT: stages cannot read one
 * of them. @param out to be ended (dedup_end), also on failure */
enum doppel_status stages_begin_dedup(const struct doppel_stages *stages, struct dedup *out,
                                      struct doppel_error *error);
/** Write the manifest, or check that the one there is the same, and set `run`. */
enum doppel_status stages_take_manifest(struct doppel_stages *stages, const struct dedup *dedup,
                                        struct doppel_error *error);

/* ---- the files of a run ---- */

/* Which one: "sign-0007-of-0400". */
struct stage_file_name {
    const char *stem;
    struct doppel_stage_part part;
};

/** Open one to read it. Nothing is waited for: what is no regular file is refused.
 * @param out_fd given (close). DOPPEL_E_NOT_FOUND; DOPPEL_E_IO */
enum doppel_status stage_path_open(const char *path, int *out_fd, struct doppel_error *error);

enum { STAGE_NAME_BYTES = 96 };
/** @param name letters and digits, at most 32. */
void stage_file_name_print(const struct stage_file_name *name, char out[STAGE_NAME_BYTES]);

/** Into how many parts a stage was divided, all of which are there; if several divisions are
 * complete, the one of the fewest. DOPPEL_E_NOT_FOUND: some are missing, named in the message. */
enum doppel_status stages_parts_of(const struct doppel_stages *stages, enum doppel_stage stage,
                                   uint32_t *out_parts, struct doppel_error *error);

/** The same for a stage that may be left out: 0 then. */
enum doppel_status stages_parts_if_any(const struct doppel_stages *stages, enum doppel_stage stage,
                                       uint32_t *out_parts, struct doppel_error *error);

/** DOPPEL_E_ARGUMENT: there is no such part. */
enum doppel_status stages_check_part(struct doppel_stage_part part, uint32_t most,
                                     struct doppel_error *error);

/** A part of a stage, and what makes its file. */
struct stage_task {
    enum doppel_stage stage;
    struct doppel_stage_part part;
    uint32_t most_parts;
    enum doppel_status (*work)(struct doppel_stages *stages, struct doppel_stage_part part,
                               struct doppel_error *error);
};

/** Do a part unless its file is there and whole. @param out_was_there may be NULL */
enum doppel_status stages_do_part(struct doppel_stages *stages, const struct stage_task *task,
                                  bool *out_was_there, struct doppel_error *error);

/* ---- what a part of "sign" reads, and what it wrote ---- */

/** Divide the input. @param out the bytes of each file that the part reads; given (free) */
enum doppel_status stages_ranges(const struct dedup *dedup, struct doppel_stage_part part,
                                 struct reader_range **out, struct doppel_error *error);

/* The sections of a file of "sign". */
enum {
    SIGNED_RANGES,  /* struct signed_range */
    SIGNED_ROWS,    /* struct signed_row */
    SIGNED_STRINGS, /* of each record, in order; each ended by NUL */
    SIGNED_DIGESTS, /* 16 bytes each */
    SIGNED_LANES,   /* 16 bits each, as many a record as the run has */
    SIGNED_COUNTS,  /* of keys, 32 bits each: fence by fence, band by band */
    SIGNED_KEYS,    /* of fence 0, and so on: by band, 64 bits each, then the numbers of the
                       records in the part, 32 bits each, for each band */
    SIGNED_SECTIONS = SIGNED_KEYS + STAGE_FENCES
};

/* What was read of a file. */
struct signed_range {
    uint32_t file, records;
    uint64_t lines; /* newlines */
};

/* What is known of a record: see struct facts. */
struct signed_row {
    uint64_t place, line; /* counted from the beginning of its range; 0: it is no line */
    uint64_t strings;     /* where they begin in SIGNED_STRINGS */
    uint32_t strings_size, size, shingles, flags;
};

/* Numbers of records, or of fences. */
struct record_span {
    uint32_t from, to;
};

/** The share of a part. */
struct record_span record_span_of(uint32_t records, struct doppel_stage_part part);

/** The number of the first record of each part of "sign", and that of the end: `parts` + 1.
 * @param out given (free). DOPPEL_E_CORRUPT; … */
enum doppel_status signed_starts(const struct doppel_stages *stages, uint32_t parts, uint32_t **out,
                                 struct doppel_error *error);

/* Which records to load. */
struct signed_wish {
    struct record_span span;
    bool signatures;     /* digests and lanes, too */
    const uint8_t *some; /* a bit a record of the span: only these, though all have a number; NULL:
                            all */
};

/** Take records into a dedup that has none, the first of them as number 0: their facts and strings,
 * and more. @param starts of signed_starts */
enum doppel_status signed_load(const struct doppel_stages *stages, struct dedup *dedup,
                               const uint32_t *starts, uint32_t parts,
                               const struct signed_wish *wish, struct doppel_error *error);

/* ---- what was joined ---- */

/** The fences of a part, one section each. */
struct record_span fences_of_part(struct doppel_stage_part part);

/* Of one fence: how many cells there are of each band, then number and first of each. A visitor
 * returns false for what cannot be. */
typedef bool joined_cell_visitor(void *context, uint32_t number, uint32_t band, uint32_t first);

/** All cells of a run of so many records, by whatever parts. DOPPEL_E_NOT_FOUND; DOPPEL_E_CORRUPT;
 * DOPPEL_E_CANCELLED */
enum doppel_status joined_visit(const struct doppel_stages *stages, const struct dedup *dedup,
                                uint32_t records, joined_cell_visitor *visitor, void *context,
                                struct doppel_error *error);

/* ---- what was compared ---- */

enum { COMPARED_ROWS = 1 << 16 }; /* struct compared_pair, of a section */

/** Read what was compared, if anything was. @param out its items are given (free) */
enum doppel_status compared_load(const struct doppel_stages *stages, uint32_t records,
                                 struct compared_pairs *out, struct doppel_error *error);

/* ---- what was decided ---- */

enum { DECIDED_ROWS = 1 << 14 }; /* of a section: these, then their strings */

enum decided_flag {
    DECIDED_MATCH = 1 << 0,
    DECIDED_COVERAGE = 1 << 1,
    DECIDED_REPLACES = 1 << 2,
    DECIDED_UNIQUE = 1 << 3,
    DECIDED_LINKED = 1 << 4, /* it is of another record, or file */
    DECIDED_GROUPED = 1 << 5
};

/* Another record, as it is told of. */
struct decided_other {
    uint64_t line;
    uint32_t file;
    uint32_t id; /* where its id begins among the strings, from 1; 0: it has none */
};

struct decided_row {
    struct decided_other of, representative;
    uint32_t similarity, query_coverage, item_coverage; /* share_pack */
    uint16_t distance, flags;
    uint8_t decision, reason, relation, verified;
    uint32_t zero;
};

#endif
