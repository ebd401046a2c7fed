/* INDEX of `doppel index`: a folder with a database and segment files. */
#ifndef DOPPEL_TOOLS_VERBS_INDEX_FOLDER_H
#define DOPPEL_TOOLS_VERBS_INDEX_FOLDER_H

#include <stdbool.h>

#include <doppel/embed_index.h>
#include <doppel/store.h>

struct index_folder {
    struct doppel_store *store;
    struct doppel_vector_index *vectors; /* or this one */
    struct doppel_store_index *index;    /* of either */
};

struct index_folder_options {
    const struct doppel_index_options *make; /* make it, in a folder that is there; else NULL */
    bool write, durable;
    bool salvage; /* open what is left of a damaged one */
};

/** @param out given (index_folder_close) */
enum doppel_status index_folder_open(const char *path, const struct index_folder_options *options,
                                     struct index_folder *out, struct doppel_error *error);
void index_folder_close(struct index_folder *folder);

/** Bytes of all its files. */
uint64_t index_folder_bytes(const char *path);

/** path/name; given (free). */
char *path_in(const char *folder, const char *name);

#endif
