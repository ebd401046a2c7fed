/* A file of a run that appears once it is whole, even if other processes write the same one, and
 * then survives power loss. */
#ifndef DOPPEL_CORPUS_STAGES_HIDDEN_FILE_H
#define DOPPEL_CORPUS_STAGES_HIDDEN_FILE_H

#include <stdio.h>

#include <doppel/core.h>

struct hidden_file {
    char *path;   /* its final one */
    char *hidden; /* until then: .NAME~… beside it */
    FILE *stream; /* written by the caller */
};

/** @param out given (hidden_file_drop). DOPPEL_E_IO; DOPPEL_E_NO_SPACE; DOPPEL_E_MEMORY */
enum doppel_status hidden_file_open(const char *folder, const char *name, struct hidden_file *out,
                                    struct doppel_error *error);

/** Why something could not be written to it, by errno. */
enum doppel_status hidden_file_failed(const struct hidden_file *file, struct doppel_error *error);

/** Sync it and give it its name, sync that, and remove what killed processes left of it. If two
 * processes write it at once, the second finds it there, with the same content. DOPPEL_E_IO;
 * DOPPEL_E_NO_SPACE */
enum doppel_status hidden_file_finish(struct hidden_file *file, struct doppel_error *error);

/** The same, unless a file has that name already. */
enum doppel_status hidden_file_finish_first(struct hidden_file *file, struct doppel_error *error);

/** Of a file that is finished, maybe by another process, which was killed then: do the rest of
 * finishing it. Some file systems have no names to sync: that is no failure. DOPPEL_E_IO;
 * DOPPEL_E_NO_SPACE; DOPPEL_E_MEMORY */
enum doppel_status hidden_file_settle(const char *path, struct doppel_error *error);

/** Remove what is not finished, and free. */
void hidden_file_drop(struct hidden_file *file);

#endif
