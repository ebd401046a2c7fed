/**
 * doppel/decide.h: what comes in, decided about against a library: new, a duplicate, a revision, a
 * part. Files of any kind and records of text, in order of input, by one rule. Uses core, text,
 * match, library, corpus, compare, intake and search.
 *
 * A decider is of one thread. Two deciders, also of two processes, take turns at a library.
 */
#ifndef DOPPEL_DECIDE_H
#define DOPPEL_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/client.h>
#include <doppel/compare.h>
#include <doppel/core.h>
#include <doppel/corpus.h>
#include <doppel/intake.h>
#include <doppel/json_writer.h>
#include <doppel/library.h>
#include <doppel/run.h>
#include <doppel/search.h>
#include <doppel/search_semantic.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What to do while the upstream is away. */
enum doppel_upstream_policy {
    DOPPEL_UPSTREAM_WAIT,  /**< decisions are given once it has answered */
    DOPPEL_UPSTREAM_ACCEPT /**< what is new here is given as new, and it is asked later */
};

/** Another doppel service, where what is new here must be new, too: it is asked by digest and
 * codes, many items at a time, and what it has is `ignored` here. */
struct doppel_upstream_options {
    struct doppel_client_options service; /**< `url` NULL: nobody is asked */
    enum doppel_upstream_policy policy;
    struct doppel_run *run; /**< when it is cancelled, nobody waits any more; borrowed; NULL: the
                               decider's, which ends all else, too */
};

struct doppel_decided;

/** Strings and arrays are borrowed for the life of the decider. */
struct doppel_decide_options {
    bool dry_run;       /**< nothing is remembered, and no input is known to later ones */
    bool count_matches; /**< of a dry run: count the matches of items on lists all the same */
    struct doppel_search_options search; /**< when files match; `search.compare.text` is how texts
                                            are read; without `search.fingerprint` what is at the
                                            path of an input is read by other schemes */

    struct doppel_text_limits limits; /**< when records match */
    bool text_given;      /**< `search.compare.text` and `limits` are wanted; else the library's own
                             count, where it has texts */
    uint32_t bands, rows; /**< 0: chosen from limit and lanes */
    bool keep_shingles;   /**< in the library: to compare with texts that cannot be read again */

    enum doppel_same_id on_same_id;
    const struct doppel_metadata *metadata; /**< of each input that is added, unless it has its own;
                                               NULL: nothing */
    bool ignore_metadata; /**< records have none of their own but source and date */

    struct doppel_upstream_options upstream; /**< nobody is asked in a dry run */

    /** Texts that are new by their words are searched for by their meaning, which the decision says
     * and nothing follows from; and, unless it is a dry run, their vectors are kept, and those of
     * texts that are there already and have none: a notice of the run says at the end how many
     * these were. Where that fails the run is notified, once, and goes on without. NULL: none. */
    struct doppel_semantic *semantic;

    /** What to decide about is what a watch gives, for as long as the run is not cancelled: a pull
     * waits for it. What the library has as it is comes, too, with the reason that it is known.
     * Borrowed for the life of the decider, which no other uses; NULL: there is none. */
    struct doppel_watch *watch;

    struct doppel_corpus_files records; /**< JSON Lines to read */
    struct doppel_corpus_fields fields;
    bool with_files; /**< records with a path and no text, and lines that begin with no brace, name
                        files of any kind; else the text of a record is what its file holds */

    /** Called with each decision, in order of input, within the transaction that keeps it: what it
     * writes to the library is kept with the decision, or neither is. It does not commit. Not of a
     * dry run. What it returns but DOPPEL_OK is as a failure to keep it. NULL: nobody is. */
    enum doppel_status (*on_keep)(void *context, const struct doppel_decided *decided,
                                  struct doppel_error *error);
    void *on_keep_context;
};

/** The defaults of each kind; nothing to read. Thread-safe. */
DOPPEL_API struct doppel_decide_options doppel_decide_options_default(void);

/** What to decide about: a file, what was read of one, or a text that lies in no file. Borrowed for
 * the call. */
struct doppel_decide_input {
    const char *path; /**< of a file of any kind; else NULL, and: */
    /** What was read of a file that is nowhere, as doppel_fingerprint gives it; or a code of an
     * image or a text: a record that has a fingerprint and nothing else, but a quality where that
     * is known. By the scheme of the options; or, with `exact`, a digest at most, of what a list of
     * hashes has. `id` is its name. Else NULL, and: */
    const struct doppel_record *record;
    const struct doppel_exact_digests *exact; /**< of its bytes; NULL: not known */
    /** Of a text that is elsewhere: `content`, `words`, `too_short`, `simhash` and the lanes; the
     * rest is not looked at. Else NULL, and: */
    const struct doppel_library_text *signature;
    uint16_t signature_version; /**< of its scheme */
    const char *text;           /**< any bytes: plain text, as the options say */
    size_t text_size;
    const char *id;                         /**< NULL: it has none */
    const char *source, *date;              /**< NULL: not known */
    const struct doppel_metadata *metadata; /**< what else is said of it; NULL: nothing */
    const char *client; /**< who sends it, for the log; NULL: nobody who has a name */
};

/** What was decided about an input. Borrowed until the next pull. */
struct doppel_decided {
    enum doppel_decision decision;
    enum doppel_decision_reason reason;
    const char *why; /**< the name of the reason, or a sentence: why it cannot be read, or is too
                        short; NULL: there is nothing to say */

    /* the input */
    bool is_file;              /**< else a record */
    const char *id;            /**< of its record; NULL: it has none */
    const char *path;          /**< of the file, or of what its record stands in; NULL: it is
                                  nowhere */
    uint64_t line;             /**< of its record, or the number of the push, from 1; 0: none */
    const char *source, *date; /**< of a file's record; NULL: not known */
    const struct doppel_metadata *metadata; /**< likewise, what else it says; NULL: nothing */
    enum doppel_kind kind;                  /**< of a file */
    enum doppel_scheme_id scheme;
    const char *remark; /**< on how a file was read; NULL: none */
    const char *text;   /**< the line of a record, without its newline, or the text that was
                           pushed; NULL: it is lost */
    size_t text_size;

    /* in the library */
    uint64_t item;    /**< 0: it has none */
    uint64_t same_id; /**< what else has its id; 0: nothing */
    bool replayed;    /**< of a record: its id and text were there already, and this is what was
                         decided then; never of a dry run */
    bool unique;      /**< it belongs to what is without duplicates */

    /* what it is a duplicate, a part or a revision of, or matched */
    uint64_t of; /**< 0: not in a library */
    const char *of_id, *of_path;
    const char *of_external_id; /**< of what is nowhere; NULL: it has none */
    uint64_t of_line;
    uint64_t same_as;        /**< the item with the same content, which follows `of`; 0: none */
    uint64_t replaces;       /**< what it takes the place of; 0: nothing */
    const char *replaces_id; /**< its id, of a record; NULL: none */
    const char *upstream;    /**< of what is ignored: who has it, as an object in JSON: `url`, and
                                there its `item` and `name`; else NULL */
    bool queued;             /**< of what is new: the upstream was away, and will be asked */
    bool has_match;
    struct doppel_comparison match;           /**< segments are borrowed */
    const char *const *lists, *const *labels; /**< of a file: those of all items on lists that it
                                                   matched, each once */
    size_t list_count, label_count;
    const struct doppel_semantic_link *semantic; /**< an earlier text of the same meaning, borrowed;
                                                    NULL: none */
    const char *semantic_problem; /**< why a search by meaning that was asked for was not done: set
                                     by the caller of doppel_decider_search_meaning, for
                                     doppel_decision_to_json; NULL: none */
    bool review; /**< those that are on active lists are matched so often that a person is to look
                      (doppel_library_is_reviewed) */
    const uint64_t *not_compared; /**< of a file: DOPPEL_SEARCH_SCHEMES counts of items that could
                                     have matched, as in struct doppel_search_results: where there
                                     are some, it is never new, but unreadable; NULL: none */
    const struct doppel_unreadable *unreadable; /**< of a file: items that could have matched and
                                                   are damaged, with the same effect; NULL: none */
};

struct doppel_decider;

/**
 * Decide about what a watch gives, or about the records that the options name; where they name
 * none, about what is pushed. A
 * library's texts are loaded here.
 *
 * @param run,library borrowed for its life
 * @param options     copied; NULL: the defaults
 * @param out         given (doppel_decider_free)
 * @return DOPPEL_OK; DOPPEL_E_VERSION (the library's texts were read with other options);
 *         DOPPEL_E_BUSY (another process has been writing for long); _IO; _MEMORY
 */
DOPPEL_API enum doppel_status doppel_decider_new(struct doppel_run *run,
                                                 struct doppel_library *library,
                                                 const struct doppel_decide_options *options,
                                                 struct doppel_decider **out,
                                                 struct doppel_error *error);
DOPPEL_API void doppel_decider_free(struct doppel_decider *decider);

/** So many inputs may wait for a pull. */
enum { DOPPEL_DECIDER_MOST = 4096 };

/**
 * Add an input, behind those that wait. Files are read, in parallel, when decisions are pulled.
 *
 * A record becomes an item without a file. What has its id, and is such an item, is the same thing:
 * with the same bytes, or code, it stays, and with others `on_same_id` decides, by which default a
 * revision takes its place. Two that have no id are the same thing if their bytes are the same.
 *
 * @param input copied
 * @return DOPPEL_OK, also when it cannot be read: the decision will say so; DOPPEL_E_ARGUMENT: it
 *         has neither path, record, signature nor text, its record says that it could not be
 *         read, or it cannot be compared here, or the decider reads records; DOPPEL_E_BUSY:
 * DOPPEL_DECIDER_MOST wait; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_decider_push(struct doppel_decider *decider,
                                                  const struct doppel_decide_input *input,
                                                  struct doppel_error *error);

/**
 * The next decision, in order of input. What is given is kept: it survives SIGKILL. Inputs that
 * wait together are decided in one transaction; one that waits alone is answered at once.
 *
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND at the end, or when nothing waits; DOPPEL_E_CANCELLED,
 * after what was decided before; others when it cannot go on: what was not given is not kept then,
 * and each later call with the decider, but doppel_decider_free, fails likewise
 */
DOPPEL_API enum doppel_status doppel_decider_pull(struct doppel_decider *decider,
                                                  struct doppel_decided *out,
                                                  struct doppel_error *error);

/** How to search for an input by its meaning. Borrowed for the call. */
struct doppel_decide_meaning {
    struct doppel_semantic *semantic; /**< open for writing, unless it is a dry run */
    const char *text; /**< of a file that has no path, such as an upload; NULL: the text that was
                         pushed, that of a line, or that of the file at its path */
    size_t text_size;
};

/**
 * Search by its meaning for the input whose decision was pulled last. `semantic` of the options
 * does so for all inputs; this call is for some of them. A text that is new by its words is
 * searched for. Unless it is a dry run, vectors of a text that was added, or that has none, are
 * kept.
 *
 * @param decided as it was pulled; its `semantic` is set, borrowed until the next call of this
 * @return DOPPEL_OK, also if there is nothing to search for, or nothing was found; else as
 *         doppel_semantic_search and doppel_semantic_add. The decider can be used in any case
 */
DOPPEL_API enum doppel_status doppel_decider_search_meaning(
    struct doppel_decider *decider, const struct doppel_decide_meaning *meaning,
    struct doppel_decided *decided, struct doppel_error *error);

/**
 * Ask the upstream about what is new here and still waits for that, also from before, and keep the
 * answers: each that turns what was new into ignored is a notice of the run, and in the log. That
 * is done before each pull gives something; this is for when nothing is pulled for long.
 *
 * @return DOPPEL_OK, also when it is away and not waited for, or when there is none
 */
DOPPEL_API enum doppel_status doppel_decider_settle(struct doppel_decider *decider,
                                                    struct doppel_error *error);

/** What an item that was decided to be new is by now, as far as the upstream has answered.
 * @param out its decision, why, upstream and queued; borrowed until the next call with the decider
 */
DOPPEL_API enum doppel_status doppel_decider_recall(struct doppel_decider *decider, uint64_t item,
                                                    struct doppel_decided *out,
                                                    struct doppel_error *error);

/** How many decisions the next pulls give at once: they are made, and kept. */
DOPPEL_API size_t doppel_decider_waiting(const struct doppel_decider *decider);

/** A decision as an object (docs/formats.md has its fields), without a newline. */
DOPPEL_API void doppel_decision_to_json(struct doppel_json *json,
                                        const struct doppel_decided *decided);

/** Append an entry of a library's log to the object that was begun last. */
DOPPEL_API void doppel_log_entry_to_json(struct doppel_json *json,
                                         const struct doppel_log_entry *entry);

/** A decision of doppel_dedup or doppel_ingest. @param out borrows from it. Thread-safe. */
DOPPEL_API void doppel_decided_of_record(const struct doppel_dedup_decision *decision,
                                         struct doppel_decided *out);

#ifdef __cplusplus
}
#endif
#endif
