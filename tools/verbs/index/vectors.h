/* INDEX of `doppel index` where it holds vectors. */
#ifndef DOPPEL_TOOLS_VERBS_INDEX_VECTORS_H
#define DOPPEL_TOOLS_VERBS_INDEX_VECTORS_H

#include <doppel/embed_index.h>

struct report;
struct settings;

/* Whether the options that were given are for what the index holds; else it is said. */
bool index_options_fit(const struct settings *settings, bool vectors, struct report *report);

/* @param folder that is there, and empty */
enum doppel_status build_vectors(const struct settings *settings, struct report *report,
                                 const char *folder, struct doppel_error *error);

/* What the verbs do with an index of vectors. @return the exit code */
int add_index_vectors(const struct settings *settings, struct report *report);
int remove_vectors(const struct settings *settings, struct report *report);
int search_for_vectors(const struct settings *settings, struct report *report, size_t nearest);
int print_vectors_info(const struct settings *settings, struct report *report);

#endif
