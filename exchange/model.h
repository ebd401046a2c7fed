/* What goes from one library to another, or into a file and back: items and texts with all that is
 * said of them, and what was set in a library. */
#ifndef DOPPEL_EXCHANGE_MODEL_H
#define DOPPEL_EXCHANGE_MODEL_H

#include <stdint.h>

#include <doppel/exchange.h>
#include <doppel/library.h>
#include <doppel/run.h>

#include "exchange/list_says.h"

/* Ids are those of where it comes from. */
struct exchange_item {
    struct doppel_item item;      /* of a digest alone: kind UNKNOWN, and for a path "md5:…" */
    struct doppel_metadata about; /* `state` is not looked at */
    struct doppel_list_tags tags; /* what the list that is read says of it; borrowed */
    struct list_says says;        /* what lists said of it where it comes from */
    uint64_t leader,
        canonical; /* 0: it follows none; it is canonical itself, or no representative */
};

struct exchange_text {
    const struct doppel_library_text *text;
    struct doppel_metadata about;
    uint64_t canonical;
};

/* Takes it all, in this order; a function that is NULL is not wanted. What is not DOPPEL_OK ends
 * it. */
struct exchange_sink {
    void *context;
    enum doppel_status (*policy)(void *context, const struct doppel_keep_policy *policy,
                                 struct doppel_error *error);
    enum doppel_status (*source)(void *context, const char *pattern, int64_t authority,
                                 struct doppel_error *error);
    enum doppel_status (*list)(void *context, const struct doppel_list *list,
                               struct doppel_error *error); /* its name, state and rule */
    enum doppel_status (*text_options)(void *context, const struct doppel_text_options *options,
                                       const struct doppel_text_limits *limits,
                                       struct doppel_error *error);
    /* By id, items and texts mixed. */
    enum doppel_status (*item)(void *context, const struct exchange_item *item,
                               struct doppel_error *error);
    enum doppel_status (*text)(void *context, const struct exchange_text *text,
                               struct doppel_error *error);
    enum doppel_status (*mark)(void *context, const struct doppel_mark *mark,
                               struct doppel_error *error);
    enum doppel_status (*log)(void *context, const struct doppel_log_entry *entry,
                              struct doppel_error *error);
};

/* Give a library to a sink: all of it, or, where the filter leaves some out, the items and texts
 * that are wanted, and the states of the lists. What is damaged is a failed input of the run, and
 * left out. DOPPEL_E_CANCELLED. */
enum doppel_status exchange_library(struct doppel_run *run, struct doppel_library *library,
                                    const struct doppel_exchange_filter *filter,
                                    const struct exchange_sink *sink, struct doppel_error *error);

void exchange_item_free(struct exchange_item *item);

#endif
