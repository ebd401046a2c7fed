/* Files of vectors that others have made: what their readers share. */
#ifndef DOPPEL_EMBED_BROUGHT_H
#define DOPPEL_EMBED_BROUGHT_H

#include <stdbool.h>
#include <stdio.h>

#include <doppel/embed_vectors.h>

#include "embed/safetensors.h"

/* ---- files that are mapped ---- */

struct vector_map {
    const uint8_t *bytes; /* NULL: nothing */
    size_t size;
};

/* Map a whole file to be read. DOPPEL_E_MEMORY */
enum doppel_status vector_map_file(int fd, size_t size, const char *path, struct vector_map *out,
                                   struct doppel_error *error);
void vector_map_free(struct vector_map *map);

/* A temporary file that is written, then mapped. */
struct vector_spool {
    const char *folder; /* borrowed */
    FILE *stream;
    size_t size;
};

enum doppel_status vector_spool_open(const struct doppel_run *run, struct vector_spool *out,
                                     struct doppel_error *error);
enum doppel_status vector_spool_put(struct vector_spool *spool, const void *bytes, size_t size,
                                    struct doppel_error *error);
/* Map what was written, and close it. */
enum doppel_status vector_spool_map(struct vector_spool *spool, struct vector_map *out,
                                    struct doppel_error *error);
void vector_spool_close(struct vector_spool *spool);

/* ---- ids ---- */

/* Ids one after the other, each ended by NUL, and where each begins. */
struct id_spool {
    struct vector_spool bytes, places;
};

enum doppel_status id_spool_open(const struct doppel_run *run, struct id_spool *out,
                                 struct doppel_error *error);
/* @param size of the id, without a NUL */
enum doppel_status id_spool_put(struct id_spool *spool, const char *id, size_t size,
                                struct doppel_error *error);
void id_spool_close(struct id_spool *spool);

/* ---- a file and its readers ---- */

struct doppel_vector_file {
    struct doppel_vectors vectors;
    struct vector_map source;              /* the file; not of JSON Lines */
    struct vector_map rows;                /* what was converted; else the rows lie in `source` */
    struct vector_map id_bytes, id_places; /* nothing where there are no ids */
};

/* What is being read. Strings are borrowed. */
struct vector_input {
    const char *path; /* for messages, too */
    const char *tensor;
    struct doppel_run *run;
    int fd;
};

/* Keep the ids that were put. */
enum doppel_status take_ids(struct id_spool *spool, struct doppel_vector_file *file,
                            struct doppel_error *error);

/* Ids of a file, one a line, as many as there are rows. */
enum doppel_status read_id_lines(const char *path, struct doppel_run *run,
                                 struct doppel_vector_file *file, struct doppel_error *error);

/* Each reads the vectors of `file->source`, or of the descriptor, into `file`; read_npy an array
 * that lies in the former. */
enum doppel_status read_npy(const struct vector_input *input, const uint8_t *bytes, size_t size,
                            struct doppel_vector_file *file, struct doppel_error *error);
enum doppel_status read_npz(const struct vector_input *input, struct doppel_vector_file *file,
                            struct doppel_error *error);
enum doppel_status read_fvecs(const struct vector_input *input, struct doppel_vector_file *file,
                              struct doppel_error *error);
/* Whether these bytes begin a file of JSON Lines. */
bool begins_as_vector_lines(const char *bytes, size_t size);
enum doppel_status read_vector_lines(const struct vector_input *input,
                                     struct doppel_vector_file *file, struct doppel_error *error);

/* Rows and columns of floats, which lie in `file->source`. */
enum doppel_status take_vector_matrix(const struct vector_input *input, const struct tensor *matrix,
                                      struct doppel_vector_file *file, struct doppel_error *error);

/* Whether the length of a vector can be computed in floats, by its largest number without its sign:
 * 0 is fine, and what is no finite number is looked for later. DOPPEL_E_LIMIT
 * @param name of the vector, "row 7" */
enum doppel_status check_largest(const char *path, const char *name, double largest,
                                 struct doppel_error *error);

/* Whether there can be so many vectors of that dimension. DOPPEL_E_EMPTY, DOPPEL_E_LIMIT */
enum doppel_status check_vector_counts(const char *path, size_t count, size_t dimension,
                                       struct doppel_error *error);

#endif
