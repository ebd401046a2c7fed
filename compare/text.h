/* Texts compared: from records to evidence, from two of them to a match. */
#ifndef DOPPEL_COMPARE_TEXT_H
#define DOPPEL_COMPARE_TEXT_H

#include <stdbool.h>

#include <doppel/compare.h>
#include <doppel/library.h>
#include <doppel/match.h>
#include <doppel/text.h>

/* What is known of a text. */
struct text_view {
    struct doppel_text_extra extra;
    enum doppel_scheme_id scheme;
    uint16_t lanes[DOPPEL_TEXT_MAX_LANES]; /* of MinHash */
    uint32_t lane_count;
    uint64_t simhash;             /* of SimHash */
    struct doppel_text_key *keys; /* of winnow32 */
    uint32_t *key_starts;
    size_t key_count;
    bool too_short; /* matches by its content alone */
    bool kept;      /* from a library: its file may be another by now */
};

/* @param options how it was read. @param out given (text_view_free). DOPPEL_E_CORRUPT: the record
 * is not of a text, or damaged; DOPPEL_E_MEMORY */
enum doppel_status text_view_load(const struct doppel_record *record,
                                  const struct doppel_text_options *options, struct text_view *out,
                                  struct doppel_error *error);
/* The same where all failures are one. */
bool text_view_read(const struct doppel_record *record, const struct doppel_text_options *options,
                    struct text_view *out);
/* Of what a library keeps of a record, or of a file as if it were one. @param out given
 * @return false without memory */
bool text_view_of_record(const struct doppel_library_text *text, struct text_view *out);
/* Of a code alone. */
struct text_view text_view_of_code(const struct doppel_fingerprint *fingerprint);
void text_view_free(struct text_view *view);

/* The limits of the options, else of the preset, else the defaults. */
struct doppel_text_limits text_limits_from(const struct doppel_compare_options *compare);

/* Whether two texts match within the limits; `out` is filled also when they do not. */
bool texts_match(const struct doppel_compare_options *compare, const struct text_view *query,
                 const struct text_view *item, struct doppel_match *out);

/* The same of two records of texts; false also of what cannot be read. */
bool text_records_match(const struct doppel_compare_options *compare, const struct doppel_record *a,
                        const struct doppel_record *b, struct doppel_match *out);

/* The same, and what they share of passages: the segments of the match are given (free). @return
 * what reading, or matching, returns */
enum doppel_status texts_or_passages_match(const struct doppel_compare_options *compare,
                                           const struct doppel_record *a,
                                           const struct doppel_record *b,
                                           struct doppel_comparison *out,
                                           struct doppel_error *error);

/* A text as the search for passages takes it; borrows from the view. */
struct doppel_passage_text passage_text_of(const struct text_view *view);

/* Whether these are texts of the same words, and of some. */
bool same_words(const struct text_view *a, const struct text_view *b);

/* The lanes of a MinHash fingerprint. @return how many */
uint32_t lanes_of(const struct doppel_fingerprint *fingerprint,
                  uint16_t out[DOPPEL_TEXT_MAX_LANES]);

/* Of how many a distance is counted: bits of a code, lanes of MinHash; 0: there is no distance. */
uint32_t distance_bits(enum doppel_scheme_id scheme);

/* How many codes a fingerprint is said to have: the lanes of MinHash are one. */
uint32_t code_count(const struct doppel_fingerprint *fingerprint);

/* Lanes as they are printed, four digits each; given (free). NULL without memory */
char *lanes_in_hex(const uint16_t *lanes, uint32_t count);

/* The code of a fingerprint as it is printed: of MinHash its lanes in order, four digits each;
 * given (free). NULL without memory */
char *code_in_hex(const struct doppel_fingerprint *fingerprint, uint32_t number);

#endif
