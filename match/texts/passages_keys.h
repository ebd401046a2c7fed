/* Passages by keys alone. */
#ifndef DOPPEL_MATCH_TEXTS_PASSAGES_KEYS_H
#define DOPPEL_MATCH_TEXTS_PASSAGES_KEYS_H

#include "match/texts/chains.h"
#include "match/texts/texts_internal.h"

typedef ARRAY(struct key_hit) key_hit_array;

/** Tell the chains that cover enough words: a match when there are any, though it may have no
 * segments. @param item its words and keys where they are known. @return false without memory */
bool match_by_chains(const chain_array *chains, const struct doppel_passage_text *query,
                     const struct doppel_passage_text *item,
                     const struct doppel_passage_options *options, struct doppel_match *out);

/** doppel_match_passages of texts of which one has no words. False without memory. */
bool match_by_keys(const struct doppel_passage_text *query, const struct doppel_passage_text *item,
                   const struct doppel_passage_options *options, struct doppel_match *out);

/** Say of each segment which pages it touches, of a text that has some. */
void name_pages_of_segments(const struct doppel_passage_text *query,
                            const struct doppel_passage_text *item, struct doppel_match *match);

/** Of struct doppel_text_key: by key, then word. */
int compare_text_keys(const void *left, const void *right);
/** Of struct key_hit: as chain_hits wants them. */
int compare_key_hits(const void *left, const void *right);

#endif
