/* The folder of models, as what puts a file there sees it. */
#ifndef DOPPEL_EMBED_MODELS_H
#define DOPPEL_EMBED_MODELS_H

#include <doppel/embed.h>

/* DOPPEL_E_ARGUMENT: no name of a model. */
enum doppel_status model_check_name(const char *name, struct doppel_error *error);

/* What a file of a model is, by every byte of it. @param name for the info.
 * @return DOPPEL_E_NOT_FOUND: there is none; as doppel_embedder_open */
enum doppel_status model_read_info(const char *path, const char *name,
                                   struct doppel_model_info *out, struct doppel_error *error);

/* A model on its way into a folder. */
struct model_placing {
    const char *folder, *name;
    enum doppel_status (*write)(void *context, const char *path, struct doppel_error *error);
    void *context;
};

/* Write beside the place, and go there unless another model is: one of the same revision stays, and
 * what is of no use is replaced. The folder is made if there is none. @param out what is there */
enum doppel_status model_place(const struct model_placing *placing, struct doppel_model_info *out,
                               struct doppel_error *error);

#endif
