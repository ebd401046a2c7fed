/* Words about two contents, from a command line or from the report's page. */
#ifndef DOPPEL_EXCHANGE_MANUAL_LABELS_H
#define DOPPEL_EXCHANGE_MANUAL_LABELS_H

#include <doppel/library.h>

/* What a word is about. */
struct marked {
    enum doppel_kind kind; /* DOPPEL_KIND_UNKNOWN: of a file that the library does not have */
    struct doppel_digest digest;
    uint64_t id; /* of the item that has it, as it was named; 0: none */
    bool is_text;
};

/* An item by id, path or record id; else a file, whose bytes are digested. */
enum doppel_status marked_named(struct doppel_library *library, const char *name,
                                struct marked *out, struct doppel_error *error);

/* Say it, and where both are in the library let one follow the other, or no longer.
 * DOPPEL_E_ARGUMENT: things of different kinds are the same. */
enum doppel_status mark_say(struct doppel_library *library, const struct marked *a,
                            const struct marked *b, enum doppel_manual_label word, const char *note,
                            struct doppel_error *error);

/* An item is the one of its group to keep from now on; or no longer, if it was. */
enum doppel_status mark_chosen(struct doppel_library *library, uint64_t id,
                               struct doppel_error *error);
enum doppel_status mark_unchosen(struct doppel_library *library, uint64_t id,
                                 struct doppel_error *error);

/* A line of marks (docs/formats.md). "keep" makes the item `a` the one of its group to keep; "same"
 * and "distinct" are said. @param out_acts set: whether the line is but for who acts on files, and
 * nothing was done. DOPPEL_E_ARGUMENT, with a sentence, for what is none. */
enum doppel_status mark_line(struct doppel_library *library, const char *text, bool *out_acts,
                             struct doppel_error *error);

#endif
