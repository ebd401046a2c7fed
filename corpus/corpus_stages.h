/**
 * doppel/corpus_stages.h: doppel_dedup (doppel/corpus.h) in stages, whose parts run as processes of
 * their own, on any machines that share a folder, under any scheduler.
 *
 *     sign 1/K ─┐     ┌─ join 1/J ─┐     ┌─ compare 1/C ─┐              ┌─ emit 1/E
 *       …       ├─────┤     …      ├─────┤       …       ├─── decide ───┤     …
 *     sign K/K ─┘     └─ join J/J ─┘     └─ compare C/C ─┘              └─ emit E/E
 *
 * A part of `sign` reads a range of the input's bytes, and computes the signatures of its records.
 * One of `join` finds, in its share of the keys of bands, which records have the same key. One of
 * `compare` compares the records of a range with the likely representatives of their groups.
 * `decide`, one process, compares what is left, or all pairs if `compare` was not run, and applies
 * the rule of decisions. A part of `emit` visits the decisions of a range of records: those of all
 * parts, one after the other, are doppel_dedup's, for any number of parts.
 *
 * Each part leaves one file in the folder of the run, under a hidden name until it is whole
 * (docs/formats.md), and survives power loss once it is done: it may be killed at any time, run
 * again anywhere, and run twice at once. What a file holds depends on the run and on its part
 * alone. A run is its inputs, by path, size and time of change, and its options, as the file
 * "manifest" records them. Every file of a run has the manifest's digest; files of other runs are
 * refused.
 *
 * Memory: `sign` needs some 700 bytes for each record of the part; `join` 16 bytes for each key of
 * a 256th of all keys, per thread; `compare` 800 bytes for each record of the part, and for each
 * that these are compared with; `decide` 500 bytes for each record of the run, most of which
 * options.memory_bytes limits, 40 for each compared pair, and what one part of `sign` wrote; `emit`
 * 150 bytes for each record of the part.
 */
#ifndef DOPPEL_CORPUS_STAGES_H
#define DOPPEL_CORPUS_STAGES_H

#include <doppel/corpus.h>

#ifdef __cplusplus
extern "C" {
#endif

enum doppel_stage {
    DOPPEL_STAGE_SIGN = 1,
    DOPPEL_STAGE_JOIN = 2,
    DOPPEL_STAGE_COMPARE = 3,
    DOPPEL_STAGE_DECIDE = 4,
    DOPPEL_STAGE_EMIT = 5
};

/** "sign", "join", "compare", "decide" or "emit"; static storage. Thread-safe. */
DOPPEL_API const char *doppel_stage_name(enum doppel_stage stage);

/** The most parts of `sign`, `compare` and `emit`, and of `join`. */
enum { DOPPEL_STAGE_MAX_PARTS = 9999, DOPPEL_STAGE_MAX_JOIN_PARTS = 256 };

/** Part `number`, from 1, of `count`. */
struct doppel_stage_part {
    uint32_t number, count;
};

/** A run, as one process sees it. Of one thread. */
struct doppel_stages;

/**
 * Begin a run in a folder, or resume it.
 * @param options as of doppel_dedup, without `against`, `semantic`, `parts` and `keep_shingles`;
 * borrowed until doppel_stages_free. The inputs are files in JSON Lines, plain or compressed.
 * `lines`, `threads`, `memory_bytes`, `temporary` and the callbacks may differ between processes
 * @param folder created if it is missing; no input lies in it
 * @param out given (doppel_stages_free)
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT (what stages cannot do; the folder is of another run, or an
 * input has changed: the message names what differs); _NOT_FOUND, _IO (an input); _CORRUPT (the
 * manifest); _NO_SPACE; _MEMORY
 */
DOPPEL_API enum doppel_status doppel_stages_open(const struct doppel_dedup_options *options,
                                                 const char *folder, struct doppel_stages **out,
                                                 struct doppel_error *error);
/** Resume a run as doppel_stages_open does, but make no folder. DOPPEL_E_NOT_FOUND also where there
 * is none. */
DOPPEL_API enum doppel_status doppel_stages_resume(const struct doppel_dedup_options *options,
                                                   const char *folder, struct doppel_stages **out,
                                                   struct doppel_error *error);
DOPPEL_API void doppel_stages_free(struct doppel_stages *stages);

/* Each of the following fails with DOPPEL_E_NOT_FOUND if files of the stage before are missing, and
 * names them; _CORRUPT if one is damaged, with its path; _VERSION if it is of another version;
 * _ARGUMENT (the part, or a file of another run); _CANCELLED by options.progress; _CHANGED; _IO;
 * _NO_SPACE; _MEMORY. A failure leaves no new file of the part. */

/**
 * Compute the signatures of the records in a share of the input's bytes. A compressed file is not
 * divided.
 * @param out_was_there whether the file was there and whole, so that nothing was done. NULL: not
 * wanted
 */
DOPPEL_API enum doppel_status doppel_stages_sign(struct doppel_stages *stages,
                                                 struct doppel_stage_part part, bool *out_was_there,
                                                 struct doppel_error *error);

/**
 * In how many parts one process does a stage: those of the set of which the smallest share is
 * missing. If there is none: for `sign` parts of 256 MB, so that little is lost when it is killed,
 * and little memory is needed; for `compare`, which may be left out, 0; else 1.
 */
DOPPEL_API uint32_t doppel_stages_parts(const struct doppel_stages *stages,
                                        enum doppel_stage stage);

/** Find records with equal bands, in a share of the keys, of all that was signed. */
DOPPEL_API enum doppel_status doppel_stages_join(struct doppel_stages *stages,
                                                 struct doppel_stage_part part, bool *out_was_there,
                                                 struct doppel_error *error);

/** Compare a part of the records with the first record of each of their bands, so that `decide` can
 * look the results up. `decide` needs all parts, or none. */
DOPPEL_API enum doppel_status doppel_stages_compare(struct doppel_stages *stages,
                                                    struct doppel_stage_part part,
                                                    bool *out_was_there,
                                                    struct doppel_error *error);

/** Decide about all records. DOPPEL_E_ARGUMENT also where no record has a text. */
DOPPEL_API enum doppel_status doppel_stages_decide(struct doppel_stages *stages,
                                                   bool *out_was_there, struct doppel_error *error);

/** Visit the decisions of a part of the records, as doppel_dedup does; options.input is called
 * before the first one of each file. Leaves no file. DOPPEL_E_CANCELLED also by the visitor. */
DOPPEL_API enum doppel_status doppel_stages_emit(struct doppel_stages *stages,
                                                 struct doppel_stage_part part,
                                                 doppel_dedup_visitor *visitor, void *context,
                                                 struct doppel_error *error);

/** The same, without lines, and without options.input: for a caller whose output is there, but who
 * reports what could not be read. */
DOPPEL_API enum doppel_status doppel_stages_visit_decisions(struct doppel_stages *stages,
                                                            struct doppel_stage_part part,
                                                            doppel_dedup_visitor *visitor,
                                                            void *context,
                                                            struct doppel_error *error);

/* ---- what the caller writes of the decisions of a part ---- */

/** A file in the folder of a run that appears when it is whole. Of one thread. */
struct doppel_stage_output;

/**
 * Begin to write "emit-NAME-0003-of-0064.jsonl".
 * @param name up to 32 letters and digits
 * @param out given (doppel_stage_output_free); NULL: the file is there and whole
 */
DOPPEL_API enum doppel_status doppel_stage_output_new(struct doppel_stages *stages,
                                                      const char *name,
                                                      struct doppel_stage_part part,
                                                      struct doppel_stage_output **out,
                                                      struct doppel_error *error);
/** DOPPEL_E_IO; DOPPEL_E_NO_SPACE. */
DOPPEL_API enum doppel_status doppel_stage_output_write(struct doppel_stage_output *output,
                                                        const void *bytes, size_t size,
                                                        struct doppel_error *error);
/** Give it its name, and write its digest beside it, NAME.xxh128, as xxh128sum prints it in the
 * folder. DOPPEL_E_IO; DOPPEL_E_NO_SPACE. */
DOPPEL_API enum doppel_status doppel_stage_output_finish(struct doppel_stage_output *output,
                                                         struct doppel_error *error);
/** Free it; a file that is not finished is removed. */
DOPPEL_API void doppel_stage_output_free(struct doppel_stage_output *output);

/* ---- what there is, and what is missing ---- */

/** The files of a stage for one number of parts. Borrowed for the visit. */
struct doppel_stage_files {
    enum doppel_stage stage;
    const char *name; /**< of outputs; else NULL */
    uint32_t parts;   /**< 0: there is no file of the stage */
    uint32_t missing_count;
    const uint32_t *missing; /**< numbers of parts, ascending */
};

/** False ends it. */
typedef bool doppel_stage_files_visitor(void *context, const struct doppel_stage_files *files);

/** Visit the files of each stage, in order, by number of parts; a stage without files once, with
 * `parts` 0. A file counts if it has its full size and is of this run, and an output by its name;
 * the content is checked when it is read. DOPPEL_E_IO; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_stages_visit(struct doppel_stages *stages,
                                                  doppel_stage_files_visitor *visitor,
                                                  void *context, struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
