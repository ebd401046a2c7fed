/* A dedup in stages for tests: corpora, stages run in any parts, and all that decisions hold. */
#ifndef TESTS_CORPUS_STAGES_SCENE_H
#define TESTS_CORPUS_STAGES_SCENE_H

#include <doppel/corpus_stages.h>

#include "tests/corpus/dedup_oracle.h"

/* ---- all that a decision holds, a line each ---- */

/* A doppel_dedup_visitor. @param context struct bytes, that it is appended to */
bool add_whole_decision(void *context, const struct doppel_dedup_decision *decision);

/* Its bytes as a string; free it. */
char *given_lines(struct bytes *out);

/* Of doppel_dedup; free it. */
char *decide_at_once(const struct doppel_dedup_options *options);

/* ---- in stages ---- */

struct parts {
    uint32_t sign, join, compare, emit; /* compare: 0 is not */
};

struct doppel_stages *open_stages(const struct doppel_dedup_options *options, const char *work);

/* Do a part of any stage but emit; it may not fail. */
void do_part(struct doppel_stages *stages, enum doppel_stage stage, uint32_t number,
             uint32_t count);
void do_until_decided(struct doppel_stages *stages, const struct parts *parts);

/* Of all parts of emit; free it. */
char *emit_all(struct doppel_stages *stages, uint32_t count);

/* ---- corpora ---- */

struct shards {
    char *folder, *work;
    char **paths; /* options point there */
    size_t count;
    struct doppel_dedup_options options;
};

/* In a new folder, empty; choose_options comes after put_file. */
struct shards begin_shards(void);
void put_file(struct shards *shards, const char *name, const void *data, size_t size);
void choose_options(struct shards *shards);
void end_shards(struct shards *shards);

/* A corpus in one file. */
struct shards one_file(const struct corpus_plan *plan);

/* Plain and compressed ones, and those that one look at their beginning refuses. */
struct shards odd_files(void);

/* Use another folder of stages. */
void work_anew(struct shards *shards, unsigned number);

/* ---- files ---- */

struct bytes read_bytes(const char *path);
void unlink_part(const struct shards *shards, const char *name);

#endif
