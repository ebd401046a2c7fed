/**
 * doppel/exchange.h: what a library holds, out of it and into another one: exports, lists of
 * fingerprints and digests as other tools have them, and merging. Uses core and library.
 */
#ifndef DOPPEL_EXCHANGE_H
#define DOPPEL_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <doppel/core.h>
#include <doppel/library.h>
#include <doppel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Formats of exports and imports: docs/formats.md, "An export". */
enum doppel_exchange_format {
    DOPPEL_EXCHANGE_JSON,      /**< JSON Lines: all that is known */
    DOPPEL_EXCHANGE_CSV,       /**< a row an item, with a header */
    DOPPEL_EXCHANGE_PDQ,       /**< HASH,QUALITY,NAME */
    DOPPEL_EXCHANGE_IMAGEHASH, /**< 16 hex digits and a name */
    DOPPEL_EXCHANGE_FPCALC,    /**< as `fpcalc -raw` prints */
    DOPPEL_EXCHANGE_DIGESTS,   /**< as md5sum, sha1sum, sha256sum print */
    DOPPEL_EXCHANGE_AUTO       /**< of imports: told from the first bytes */
};

/** Which items and texts go from one place to another. Zero-initialised: all, with what the library
 * was set (policy, sources, manual labels, log), which goes along with all of them only. */
struct doppel_exchange_filter {
    enum doppel_kind kind;           /**< UNKNOWN: of any */
    enum doppel_scheme_id scheme;    /**< NONE: of any */
    struct doppel_item_filter items; /**< borrowed */
};

struct doppel_export_options {
    enum doppel_exchange_format format; /**< not AUTO */
    struct doppel_exchange_filter filter;
};

/**
 * Write a library to a stream. Damaged items and texts are failed inputs of the run, and left out.
 * @param out borrowed; flushed
 * @param options NULL: zero-initialised: all, as JSON Lines
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: no such format; DOPPEL_E_IO; DOPPEL_E_CANCELLED, also when
 * nobody reads the stream any more
 */
DOPPEL_API enum doppel_status doppel_export(struct doppel_run *run, struct doppel_library *library,
                                            FILE *out, const struct doppel_export_options *options,
                                            struct doppel_error *error);

struct doppel_import_options {
    enum doppel_exchange_format format; /**< of doppel_import */
    /** Of doppel_import: how messages call what is read. NULL: "standard input". Borrowed. */
    const char *name;
    bool name_in_summary; /**< the notice that sums up begins with it */
    /** Of doppel_merge: what is taken. */
    struct doppel_exchange_filter filter;
    /** Metadata of all items, beside their own: source, meta, labels, lists. NULL: none. Borrowed.
     */
    const struct doppel_metadata *metadata;
    /** Of doppel_merge: called with each item and text that came in or was there: its id in the
     * other library, and here. False: there is no memory to note it. NULL: nobody is. */
    bool (*on_item)(void *context, uint64_t from, uint64_t to);
    void *on_item_context;
};

/** What an import did. */
struct doppel_import_counts {
    uint64_t added, updated, unchanged; /**< items and texts */
    uint64_t texts;                     /**< of `added`: texts, and files of texts */
    uint64_t without_path; /**< of `added`: the library knows other bytes at their path */
    uint64_t conflicts;    /**< manual labels, sources, lists and policies that differ, and stay */
};

/**
 * Take items and texts into a library, in transactions, and link them as they were linked. What is
 * there already is updated or stays. Lines that cannot be taken are failed inputs of the run. What
 * came in before a failure stays; a notice of the run sums up.
 * @param fd         read from its place to the end; borrowed
 * @param options    NULL: zero-initialised: JSON Lines
 * @param out_counts of what came in, also on failure; may be NULL
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT, DOPPEL_E_FORMAT: the format is not known; DOPPEL_E_VERSION:
 * of a later doppel; DOPPEL_E_CANCELLED; as doppel_library_import
 */
DOPPEL_API enum doppel_status doppel_import(struct doppel_run *run, struct doppel_library *library,
                                            int fd, const struct doppel_import_options *options,
                                            struct doppel_import_counts *out_counts,
                                            struct doppel_error *error);

struct doppel_sync_options {
    struct doppel_import_options import; /**< its metadata names one list, which it is of */
    bool dry_run;                        /**< nothing is changed */
    bool force; /**< also where lines cannot be read, or more than half of the list is gone */
};

/**
 * Make a list again as a file has it: what is new comes in as doppel_import has it, tags are as the
 * file says, and what the file has no more is taken off; of that, what came into the library with
 * lists alone, and is on none now, leaves it. In one transaction: a process that is killed leaves
 * the list as it was, or as it is to be.
 * @param fd  read from its place to the end; borrowed
 * @param out what is done, or would be, also with DOPPEL_E_LIMIT; may be NULL
 * @return DOPPEL_OK; DOPPEL_E_LIMIT: refused without `force`, and nothing is changed; else as
 * doppel_import, and nothing is changed
 */
DOPPEL_API enum doppel_status doppel_sync(struct doppel_run *run, struct doppel_library *library,
                                          int fd, const struct doppel_sync_options *options,
                                          struct doppel_sync_counts *out,
                                          struct doppel_error *error);

/** Take what another library holds into `into`, as doppel_import does. @param options NULL: all is
 * taken */
DOPPEL_API enum doppel_status doppel_merge(struct doppel_run *run, struct doppel_library *into,
                                           struct doppel_library *from,
                                           const struct doppel_import_options *options,
                                           struct doppel_import_counts *out_counts,
                                           struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
