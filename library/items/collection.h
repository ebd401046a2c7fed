/* A library opened for the verbs that ask it: its items, searchable. */
#ifndef DOPPEL_LIBRARY_ITEMS_COLLECTION_H
#define DOPPEL_LIBRARY_ITEMS_COLLECTION_H

#include <doppel/core.h>
#include <doppel/library.h>
#include <doppel/match.h>

#include "tools/args/options.h"
#include "tools/output/messages.h"

/** Open the library that the settings name. @param create for verbs that add to it */
enum doppel_status open_library(const struct settings *settings, bool create, bool read_only,
                                struct doppel_library **out, struct doppel_error *error);

/* The absolute form of a path, under which a library knows it; given (free). */
char *absolute_path(const char *path);

/* What a command line calls an item (called_find); given (doppel_item_free). DOPPEL_E_NOT_FOUND: it
 * may be a text. */
enum doppel_status find_item(struct doppel_library *library, const char *name, bool with_attachment,
                             struct doppel_item *out, struct doppel_error *error);

/* The text that a command line calls so. @return false, with a sentence, when
 * there is none, or it is damaged; else what the visitor returned */
bool find_text(struct doppel_library *library, const char *name,
               doppel_library_text_visitor *visitor, void *context, struct doppel_error *error);

/* Files and texts, in order of id; either visitor ends the visit with false. */
struct everything {
    uint64_t first; /* id to begin with */
    doppel_item_visitor *item;
    doppel_library_text_visitor *text;
    void *context;
};
enum doppel_status each_of_all(struct doppel_library *library, const struct everything *everything,
                               struct doppel_error *error);

/* Whether an item is of the scheme that is asked for, and of its version: others never meet. Those
 * of that scheme and of another version are counted. */
bool is_of_wanted_scheme(const struct settings *settings, const struct doppel_record *record,
                         uint64_t *others);

/* Say how many were left out for their version. */
void say_other_versions(struct report *report, uint64_t others);

/* Whether it is of another version of its scheme than this doppel computes. Texts have versions by
 * the options that they were read with: none of them is old. */
bool is_old_version(const struct doppel_record *record);

/* Say how many items are so. */
void say_old_items(struct report *report, uint64_t count);

/* Fill features for the pixel check from an item's record; the fingerprint is borrowed from it. */
bool features_of_record(const struct doppel_record *record, struct doppel_image_features *out);

#endif
