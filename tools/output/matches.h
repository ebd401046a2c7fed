/* What was found, as rows: of pictures and texts one each, of recordings and videos in tables
 * one each place. */
#ifndef DOPPEL_TOOLS_OUTPUT_MATCHES_H
#define DOPPEL_TOOLS_OUTPUT_MATCHES_H

#include <doppel/library.h>

#include <doppel/search.h>
#include <doppel/search_semantic.h>
#include "tools/args/options.h"
#include "tools/output/output.h"
#include "tools/output/messages.h"
#include "tools/output/groups/playlist.h"

struct find_print {
    const struct settings *settings;
    struct doppel_library *library;
    struct output *output; /* NULL: the playlist takes what is found */
    struct playlist *playlist;
    struct doppel_item_set wanted;
    const struct doppel_semantic_results *semantic; /* of the query at hand; NULL: none */
    uint64_t suppressed;                            /* matches that benign items explain */
    bool matched;                                   /* anything was printed that is a match */
};

struct output *find_print_output(const struct settings *settings, struct report *report);

/* Print what was found for a query, in this order, but what lists disable or explain. Without any
 * match that is said, too. */
enum doppel_status find_print(struct find_print *print, const char *query,
                              struct doppel_search_results *results, struct doppel_error *error);

#endif
