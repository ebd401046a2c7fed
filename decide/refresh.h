/* Items of a library recomputed from their files, each by the scheme that it has: what
 * `add --refresh` and `verify --repair` do. */
#ifndef DOPPEL_DECIDE_REFRESH_H
#define DOPPEL_DECIDE_REFRESH_H

#include <doppel/library.h>

#include "core/array.h"
#include "core/text/string_list.h"
#include "intake/reader.h"
#include <doppel/run.h>

struct refresh_item {
    uint64_t id;
    char *path;
    enum doppel_kind kind; /* UNKNOWN: not known, any */
    enum doppel_scheme_id scheme;
};

/* Zero-initialised it is empty. */
struct refresh_list {
    ARRAY(struct refresh_item) items;
};

/** @param path copied. DOPPEL_E_MEMORY */
enum doppel_status refresh_list_add(struct refresh_list *list, const struct doppel_item *item,
                                    const char *path, struct doppel_error *error);
void refresh_list_free(struct refresh_list *list);

/* Which items are meant: those named by an id or a path, or those of another version than this
 * doppel computes, and damaged ones. Words that name none are reported. */
enum doppel_status refresh_list_choose(const struct strings *words, struct doppel_run *run,
                                       struct doppel_library *library, struct refresh_list *out,
                                       struct doppel_error *error);

/* Hears of each file that was read, under its item's path. */
typedef enum doppel_status refresh_taker(void *context, struct intake_file *file,
                                         struct doppel_error *error);

struct refresh {
    struct doppel_read_options read;
    struct doppel_run *run;
    struct doppel_cache *cache;
    refresh_taker *taker;
    void *context;
};

/* Read the files. Those that are gone, or are none any more, are reported. @param list is sorted */
enum doppel_status refresh_run(const struct refresh *refresh, struct refresh_list *list,
                               struct doppel_error *error);

#endif
