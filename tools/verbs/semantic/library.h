/* --semantic of find, check, ingest, groups and tune: texts by their meaning, of a library. */
#ifndef DOPPEL_TOOLS_VERBS_SEMANTIC_LIBRARY_H
#define DOPPEL_TOOLS_VERBS_SEMANTIC_LIBRARY_H

#include <doppel/search_semantic.h>

#include "tools/args/options.h"
#include "tools/verbs/semantic/embedder.h"

struct semantic_library {
    struct embedder_of_run source;
    struct doppel_semantic *semantic; /* NULL: not asked for */
    bool write;                       /* vectors are kept */
};

/* Open both, where --semantic is given, without a library what embeds alone; and notify where
 * nothing can be found yet.
 * @param write vectors are to be kept. @param out stays where it is until it is closed */
enum doppel_status semantic_library_open(const struct settings *settings, struct report *report,
                                         struct doppel_library *library, bool write,
                                         struct semantic_library *out, struct doppel_error *error);

/* The same without what embeds: what the library has is compared with itself. */
enum doppel_status semantic_vectors_open(const struct settings *settings, struct report *report,
                                         struct doppel_library *library,
                                         struct semantic_library *out, struct doppel_error *error);

/* As the command line has it: neither embedder nor folder. */
struct doppel_semantic_options semantic_options_from(const struct settings *settings);
void semantic_library_close(struct semantic_library *semantic);

#endif
