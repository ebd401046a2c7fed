/** doppel/match_texts.h: texts, and passages that they share. Part of doppel/match.h. */
#ifndef DOPPEL_MATCH_TEXTS_H
#define DOPPEL_MATCH_TEXTS_H

#include <doppel/core.h>
#include <doppel/index.h>
#include <doppel/match_found.h>
#include <doppel/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is known of a text. Arrays are borrowed. */
struct doppel_text_evidence {
    struct doppel_digest content; /**< of the normalised text */
    bool too_short;               /**< matches by `content` alone */
    const uint16_t *lanes;        /**< MinHash; NULL: not known */
    uint32_t lane_count;
    const uint32_t *shingles; /**< ascending, each once (doppel/text.h); NULL: not known */
    size_t shingle_count;     /**< also where they are not known; 0: neither is their number */
    bool shingles_kept;       /**< they were kept; else they were computed from the text just now */
};

struct doppel_text_limits {
    double min_similarity;  /**< Jaccard; default .7 */
    double min_containment; /**< of one in the other, where the similarity is too low; default .9 */
};

DOPPEL_API struct doppel_text_limits doppel_text_limits_default(void);

/**
 * Compare two texts of the same scheme, version and options.
 * @param out_match filled also when they do not match: `similarity` is the Jaccard similarity of
 * the shingle sets and the coverages are the containments both ways; of signatures alone an
 * estimate, of the coverages only where both sets' sizes are known. `distance` is of the lanes,
 * where both have them, and `bits` their number. `verified`: EXACT (equal content, or shingles of
 * both texts), CODES (shingles, of one of them kept), SIGNATURE. `relation`: SAME within the limit
 * of similarity; CONTAINED (the query in the item) or CONTAINS by that of containment; OVERLAPS
 * when they do not match. Nothing to compare: no match. The roles swapped, the answer is the same
 * with relation and coverages turned.
 * @return true when they match. Thread-safe.
 */
DOPPEL_API bool doppel_match_texts(const struct doppel_text_evidence *query,
                                   const struct doppel_text_evidence *item,
                                   const struct doppel_text_limits *limits,
                                   struct doppel_match *out_match);

/* ---- passages ---- */

/** A text in which passages are looked for: its words with their places, or, where they cannot be
 * had, its keys alone (doppel/text.h). Borrowed. */
struct doppel_passage_text {
    const struct doppel_text_word *words; /**< NULL: they cannot be had */
    uint32_t word_count;                  /**< of the text, also without `words` */
    const struct doppel_text_key *keys;   /**< by word */
    size_t key_count;
    const uint32_t *key_starts; /**< where their first words start, in code points; not looked at
                                   where there are words; NULL: not known */
    const uint32_t *pages; /**< where pages begin, in code points; NULL: it has none, or they are
                              not known */
    size_t page_count;
};

/** What doppel_text_read found, as it is asked for here; borrows the result's arrays. */
DOPPEL_API struct doppel_passage_text doppel_passage_text_of(
    const struct doppel_text_result *result);

struct doppel_passage_options {
    uint32_t min_words;     /**< that match, of a passage; default 13 */
    double min_coverage;    /**< of a text, from which on it counts as contained; default .9 */
    uint64_t library_words; /**< the false-positive rate is that of a library of so many words; 0:
                               of the item alone */
};

DOPPEL_API struct doppel_passage_options doppel_passage_options_default(void);

/**
 * Find the passages that two texts share, over replaced, inserted and dropped words.
 *
 * Where both have words, every run of four equal words is tried, whatever the keys are. Else the
 * keys alone tell, each of which covers four words (`verified` CODES), and places are about right.
 *
 * @param out_match a match when it has segments, which are given (free `segments`), by place in the
 * query, then in the item. The coverages are shares of words, replaced
 * ones within a passage included; `similarity` is the Jaccard similarity of the words that are
 * equal; `relation` CONTAINED: the query is in the item. The
 * false-positive rate is the number of passages as good as the best that are to be expected between
 * unrelated texts; < 0 without one. Swapping the texts swaps the answer.
 * @return DOPPEL_OK; DOPPEL_E_MEMORY. Thread-safe.
 * Time and memory grow with the words of both texts, whatever they are: of a run of words that
 * stands in the longer text at very many places, only the first are reported.
 */
DOPPEL_API enum doppel_status doppel_match_passages(const struct doppel_passage_text *query,
                                                    const struct doppel_passage_text *item,
                                                    const struct doppel_passage_options *options,
                                                    struct doppel_match *out_match,
                                                    struct doppel_error *error);

/**
 * A searchable set of the keys of texts, to find which of them share passages with a query. One
 * writer; any number of threads may search while nobody writes. Some 10 bytes a key.
 */
struct doppel_passages;

/** @param out given (doppel_passages_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_passages_new(struct doppel_passages **out,
                                                  struct doppel_error *error);
DOPPEL_API void doppel_passages_free(struct doppel_passages *passages);

/** What an index of the keys of texts is, one that is kept, too: an item's positions are its words,
 * its length is how many these are. Thread-safe. */
DOPPEL_API struct doppel_index_options doppel_passages_index_options(void);

/** Indexes of keys that are somebody else's, whose texts are a set together. */
enum { DOPPEL_PASSAGE_INDEXES = 2 }; /* at most */
struct doppel_passage_indexes {
    const struct doppel_index *indexes[DOPPEL_PASSAGE_INDEXES];
    size_t count;
    uint32_t salt;         /**< what its keys were combined with (exclusive or) in the indexes */
    uint64_t texts, words; /**< that are in the set; texts under other salts are not */
};

/**
 * A set over such indexes: each text that is found is asked of the request's source, and is left
 * out where that has nothing. It cannot be added to, nor removed from.
 * @param indexes copied; the indexes are borrowed for its life
 * @param out     given (doppel_passages_free)
 * @return DOPPEL_OK; DOPPEL_E_MEMORY
 */
DOPPEL_API enum doppel_status doppel_passages_over(const struct doppel_passage_indexes *indexes,
                                                   struct doppel_passages **out,
                                                   struct doppel_error *error);

/** Add a text by its keys under an id of the caller's. DOPPEL_OK; DOPPEL_E_ARGUMENT (a key beyond
 * its words); DOPPEL_E_LIMIT; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_passages_add(struct doppel_passages *passages, uint64_t id,
                                                  const struct doppel_passage_text *text,
                                                  struct doppel_error *error);

/** Remove a text; an unknown one is fine. DOPPEL_OK; DOPPEL_E_MEMORY (it is found still). */
DOPPEL_API enum doppel_status doppel_passages_remove(struct doppel_passages *passages, uint64_t id,
                                                     struct doppel_error *error);

/** Where to have an item's words from, or else its keys with their starts; borrowed until the next
 * call. @return false when nothing can be had: then the item's keys in the set alone tell */
typedef bool doppel_passage_source(void *context, uint64_t id, struct doppel_passage_text *out);

/** What to search for. Begin with doppel_passage_request_default. */
struct doppel_passage_request {
    struct doppel_passage_text query;      /**< with keys */
    struct doppel_passage_options options; /**< library_words of 0: of all that was added */
    doppel_passage_source *source;         /**< NULL: nothing can be had */
    void *source_context;
    uint64_t max_postings; /**< places of keys looked at, rarest keys first; default 2^20 */
    size_t max_misses;     /**< items that are asked for their words in vain, the most promising
                              first, before the search ends; default 200 */
};

DOPPEL_API struct doppel_passage_request doppel_passage_request_default(
    const struct doppel_passage_text *query);

/**
 * Visit all items that share a passage with the query, the best passage first (then by id);
 * segments are borrowed during the visit. Keys that many items have count little, and the budgets
 * are spent on the others; those of removed items are paid for until a merge drops them. Where both
 * texts have words, a match is that of doppel_match_passages; else it is of the keys alone, each of
 * which covers four words (`verified` CODES), and has segments only where places are known.
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED (by the visitor); DOPPEL_E_CORRUPT, before anything is
 * visited: an index is damaged; DOPPEL_E_MEMORY. Thread-safe while nobody writes.
 */
DOPPEL_API enum doppel_status doppel_passages_find(const struct doppel_passages *passages,
                                                   const struct doppel_passage_request *request,
                                                   doppel_found_visitor *visitor, void *context,
                                                   struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
