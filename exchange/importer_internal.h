/* An importer from the inside. */
#ifndef DOPPEL_EXCHANGE_IMPORTER_INTERNAL_H
#define DOPPEL_EXCHANGE_IMPORTER_INTERNAL_H

#include <jansson.h>

#include "core/array.h"
#include "core/number_map.h"
#include "exchange/importer.h"

/* Whom an item follows, who is canonical: told at the end, when all have come in. */
struct pending {
    uint64_t id;                /* here */
    uint64_t leader, canonical; /* where it comes from; 0: none */
};

struct importer {
    struct doppel_library *library;
    struct doppel_run *run;
    const struct doppel_metadata *metadata;    /* of all; NULL: none */
    const struct doppel_import_options *merge; /* whose on_item is called; NULL: of none */
    struct exchange_sink sink;
    struct doppel_code_batch *batch; /* codes of a list, which are written before anything else */
    struct doppel_list_sync *sync;   /* NULL: nothing is taken off, and there are commits */
    struct number_map ids;           /* from those of where it comes from */
    struct number_map texts;         /* from 64 bits of what a text is known by */
    bool knows_texts, refuses_texts;
    ARRAY(struct pending) pending;
    json_t *sources, *lists; /* what the library says itself: authority by pattern, state by name */
    struct doppel_keep_policy policy;
    size_t pieces, bytes; /* since the last commit */
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1];
    uint64_t texts_added, conflicts;
};

/* What the library says itself, which stays. */
enum doppel_status importer_learn(struct importer *importer, struct doppel_error *error);

enum doppel_status importer_take_policy(void *context, const struct doppel_keep_policy *policy,
                                        struct doppel_error *error);
enum doppel_status importer_take_source(void *context, const char *pattern, int64_t authority,
                                        struct doppel_error *error);
enum doppel_status importer_take_list(void *context, const struct doppel_list *list,
                                      struct doppel_error *error);
enum doppel_status importer_take_options(void *context, const struct doppel_text_options *options,
                                         const struct doppel_text_limits *limits,
                                         struct doppel_error *error);
enum doppel_status importer_take_text(void *context, const struct exchange_text *carried,
                                      struct doppel_error *error);
enum doppel_status importer_take_mark(void *context, const struct doppel_mark *mark,
                                      struct doppel_error *error);

/* Say of an item what came with it, and what the command line says; of a text its source and date
 * are said already. */
enum doppel_status importer_tell(struct importer *importer, uint64_t id, bool of_text,
                                 const struct doppel_metadata *about, struct doppel_error *error);

/* One more piece is in: time for a commit? */
enum doppel_status importer_took(struct importer *importer, size_t bytes,
                                 struct doppel_error *error);

/* Write the codes that wait, so that ids are given in the order of what came. */
enum doppel_status importer_write_codes(struct importer *importer, struct doppel_error *error);

/* What an id has become. @param from 0: it had none. DOPPEL_E_MEMORY */
enum doppel_status importer_remember(struct importer *importer, uint64_t from, uint64_t to,
                                     uint64_t leader, uint64_t canonical,
                                     struct doppel_error *error);

#endif
