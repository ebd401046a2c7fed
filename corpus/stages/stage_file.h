/* The file format of parts: a head, and sections of bytes, each with its digest. */
#ifndef DOPPEL_CORPUS_STAGES_STAGE_FILE_H
#define DOPPEL_CORPUS_STAGES_STAGE_FILE_H

#include "core/digest.h"
#include "corpus/stages/hidden_file.h"
#include "corpus/stages/stages_internal.h"

struct stage_head {
    char magic[8];
    uint32_t version, stage;
    struct doppel_digest run;
    uint32_t part, parts;
    uint64_t records; /* of the part for "sign", else of the run */
    uint32_t sections, zero;
    uint64_t bytes; /* of the file */
};

struct stage_section {
    uint64_t offset, size;
    struct doppel_digest digest;
};

/* ---- writing ---- */

struct stage_writer {
    struct hidden_file file;
    struct stage_head head;
    struct stage_section *sections;
    uint32_t section; /* that is being written; from 1 */
    struct digest_stream *digest;
};

/** @param part of which stage. @param out given (stage_writer_drop) */
enum doppel_status stage_writer_open(const struct doppel_stages *stages, enum doppel_stage stage,
                                     struct doppel_stage_part part, uint32_t sections,
                                     struct stage_writer *out, struct doppel_error *error);
/** The bytes that follow are of the next section. */
void stage_writer_begin(struct stage_writer *writer);
enum doppel_status stage_writer_add(struct stage_writer *writer, const void *bytes, size_t size,
                                    struct doppel_error *error);
/** Write head and table, and give it its name; after all sections. */
enum doppel_status stage_writer_finish(struct stage_writer *writer, uint64_t records,
                                       struct doppel_error *error);
/** What is not finished is removed. */
void stage_writer_drop(struct stage_writer *writer);

/* ---- reading ---- */

struct stage_file {
    char *path;
    struct stage_head head;
    struct stage_section *sections;
};

/* A buffer for a section, reused for others. */
struct stage_bytes {
    char *items;
    size_t size, capacity;
};

/** Read its head. DOPPEL_E_NOT_FOUND; DOPPEL_E_CORRUPT, DOPPEL_E_VERSION, DOPPEL_E_ARGUMENT (of
 * another run), each with the path and what to do. @param sections that it must have; 0: any
 * @param out given (stage_file_close) */
enum doppel_status stage_file_open(const struct doppel_stages *stages, enum doppel_stage stage,
                                   struct doppel_stage_part part, uint32_t sections,
                                   struct stage_file *out, struct doppel_error *error);
void stage_file_close(struct stage_file *file);

/** Read a section, and check its digest. Thread-safe. @param into its items are given (free) */
enum doppel_status stage_file_read(const struct stage_file *file, uint32_t section,
                                   struct stage_bytes *into, struct doppel_error *error);
/** The same, of rows of so many bytes. @param out_count of them */
enum doppel_status stage_file_read_rows(const struct stage_file *file, uint32_t section,
                                        size_t row_bytes, struct stage_bytes *into,
                                        size_t *out_count, struct doppel_error *error);
/** Fail with DOPPEL_E_CORRUPT: its content is inconsistent. */
enum doppel_status stage_file_is_odd(const struct stage_file *file, struct doppel_error *error);

/** Whether the file of a part is there and whole: reads and checks all of it. */
bool stage_file_is_whole(const struct doppel_stages *stages, enum doppel_stage stage,
                         struct doppel_stage_part part);

#endif
