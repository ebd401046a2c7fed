/* The file of clusters: JSON Lines of the records that are linked to others. */
#ifndef DOPPEL_TOOLS_OUTPUT_CLUSTERS_H
#define DOPPEL_TOOLS_OUTPUT_CLUSTERS_H

#include <doppel/corpus.h>
#include <doppel/json_writer.h>

#include "core/files/output_file.h"

/* Zero-initialised there is none. */
struct clusters {
    struct output_file file;
    struct doppel_json line;
};

/** @param path borrowed; NULL: there is none, which is as good */
enum doppel_status clusters_open(struct clusters *clusters, const char *path,
                                 struct doppel_error *error);
/** @return false when it cannot be written: clusters_close says why */
bool clusters_take(struct clusters *clusters, const struct doppel_dedup_decision *decision);
/** The file appears, or with a failure `status`, which is returned then, does not. */
enum doppel_status clusters_close(struct clusters *clusters, enum doppel_status status,
                                  struct doppel_error *error);

#endif
