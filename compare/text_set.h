/* A searchable set of texts: candidates by bands of MinHash lanes and by the lowest shingles of
 * parts, or by the bits of SimHash; each is verified by its shingles where they can be had. */
#ifndef DOPPEL_COMPARE_TEXT_SET_H
#define DOPPEL_COMPARE_TEXT_SET_H

#include "compare/text.h"

struct text_set;

/* How texts near to one are looked up. */
struct text_lookup {
    const struct doppel_scheme *scheme;
    struct doppel_text_limits limits;
    uint32_t lane_count;  /* 0: SimHash */
    uint32_t radius;      /* lanes or bits; of lanes all: whoever shares a band is looked at */
    uint32_t bands, rows; /* of lanes */
};
enum doppel_status text_lookup_make(const struct doppel_compare_options *compare,
                                    struct text_lookup *out, struct doppel_error *error);

/* Lanes, or bits, as an index takes them. */
void text_lookup_code(const struct text_view *view, uint64_t out[DOPPEL_TEXT_MAX_LANES / 4]);

/* Whether two sets of so many shingles, whose signatures differ in so many lanes, may be within a
 * limit. */
bool text_lookup_is_hopeful(const struct text_lookup *lookup, uint64_t shingles_a,
                            uint64_t shingles_b, uint32_t distance);

/* A text with its shingles; `out` is given (text_view_free). @return false when it cannot be had:
 * then its signature alone tells */
typedef bool text_loader(void *context, uint64_t id, struct text_view *out);

/** @param compare borrowed for the life of the set. @param out given (text_set_free) */
enum doppel_status text_set_new(const struct doppel_compare_options *compare, text_loader *load,
                                void *context, struct text_set **out, struct doppel_error *error);
void text_set_free(struct text_set *set);

/* Add a text under an id of the caller's; the view is copied, but for its shingles. */
enum doppel_status text_set_add(struct text_set *set, uint64_t id, const struct text_view *view,
                                struct doppel_error *error);

/* A text that matches; false ends the search. */
typedef bool text_visitor(void *context, uint64_t id, const struct doppel_match *match);

/* Visit the texts that this one may hold, which are not compared yet; what text_set_find visits may
 * be among them. DOPPEL_E_CANCELLED by the visitor. */
enum doppel_status text_set_find_parts(const struct text_set *set, const struct text_view *query,
                                       bool (*visitor)(void *context, uint64_t id), void *context,
                                       struct doppel_error *error);

/* Visit the texts that match, in the order in which they were added. DOPPEL_E_CANCELLED by the
 * visitor. */
enum doppel_status text_set_find(const struct text_set *set, const struct text_view *query,
                                 text_visitor *visitor, void *context, struct doppel_error *error);

#endif
