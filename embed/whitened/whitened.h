/* A whitened model: another model, and what its vectors are whitened by. Its file is one of the
 * folder of models, NAME.model; docs/formats.md has the layout. */
#ifndef DOPPEL_EMBED_WHITENED_WHITENED_H
#define DOPPEL_EMBED_WHITENED_WHITENED_H

#include <doppel/embedder.h>

/* Zero-initialised it is none. */
struct whitened_model {
    struct doppel_model_info info;
    char base_revision[33];
    float *probe;   /* of a service: of the base; NULL: the base is a file of this folder */
    float *numbers; /* of the whitening; given (whitened_free) */
};

void whitened_free(struct whitened_model *model);

/* What a file of the folder of models is, by how it begins. */
enum model_file { MODEL_FILE_NONE, MODEL_FILE_OTHER, MODEL_FILE_STATIC, MODEL_FILE_WHITENED };
enum model_file model_file_at(const char *path);

/* The revision that follows from the base's, and the numbers. @return false: no memory */
bool whitened_set_revision(struct whitened_model *model);

/* @param path of the file; what is there is replaced when it is whole
 * @return DOPPEL_OK; DOPPEL_E_IO; DOPPEL_E_NO_SPACE; DOPPEL_E_MEMORY */
enum doppel_status whitened_write(const struct whitened_model *model, const char *path,
                                  struct doppel_error *error);

/* Every byte of it is checked. @param name for its info. @param out zero-initialised
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND; DOPPEL_E_FORMAT: it is something else; DOPPEL_E_VERSION;
 * DOPPEL_E_CORRUPT; DOPPEL_E_IO; DOPPEL_E_MEMORY */
enum doppel_status whitened_read(const char *path, const char *name, struct whitened_model *out,
                                 struct doppel_error *error);

/* ---- embedding by one ---- */

/* The whitened model that options name, if it is one: `numbers` is NULL where it is none.
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: its base is a service's and none is given, or the other way
 * round; as whitened_read, but for DOPPEL_E_NOT_FOUND */
enum doppel_status whitened_find(const struct doppel_embedder_options *options,
                                 struct whitened_model *out, struct doppel_error *error);

/* Its base could not be opened, and why; in the words of who asked for the whitened one.
 * @return the status */
enum doppel_status whitened_fail_base(const struct whitened_model *model,
                                      const struct doppel_error *reason,
                                      struct doppel_error *error);

/* The embedder of the base becomes that of the whitened model. */
enum doppel_status whitened_take(struct doppel_embedder *embedder,
                                 const struct whitened_model *model, struct doppel_error *error);

/* Whiten vectors, in place, those that there are; their lengths are 1 again. One that is the mean
 * itself has none. */
enum doppel_status whiten_embedded(struct doppel_embedder *embedder, size_t count, float *rows,
                                   enum doppel_status *each, struct doppel_error *error);

#endif
