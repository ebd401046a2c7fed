/* Texts of a library as later ones are compared with them: their rows, and their shingles, read
 * again from the corpus or as they were kept. */
#ifndef DOPPEL_CORPUS_DEDUP_LIBRARY_LEADERS_H
#define DOPPEL_CORPUS_DEDUP_LIBRARY_LEADERS_H

#include <doppel/corpus.h>

/* A text of the library. */
struct leader {
    uint64_t id;  /* 0: none */
    bool missing; /* it was removed, or is damaged */
    char *record_id, *source, *date, *path;
    uint64_t line, offset, size;
    uint64_t leader; /* whom it follows; 0: none */
    bool leads, too_short;
    bool named, replaced; /* whether its id was looked up, and a later one has it */
    uint64_t shingle_total;
    struct doppel_digest content;
    uint16_t lanes[DOPPEL_TEXT_MAX_LANES];
    uint32_t lane_count;
    bool tried; /* to get the shingles: NULL when there are none to be had */
    uint32_t *shingles;
    size_t shingle_count;
    bool shingles_kept;
};

struct leaders;

/** @param options borrowed. @param out given (leaders_free). DOPPEL_OK; DOPPEL_E_MEMORY. */
enum doppel_status leaders_new(struct doppel_library *library,
                               const struct doppel_ingest_options *options, struct leaders **out,
                               struct doppel_error *error);
void leaders_free(struct leaders *leaders);

/** The text of an id. @param with_shingles read them, if they can be. @param out borrowed until the
 * next call. DOPPEL_OK, also when it is missing; DOPPEL_E_IO; DOPPEL_E_MEMORY. */
enum doppel_status leaders_get(struct leaders *leaders, uint64_t id, bool with_shingles,
                               const struct leader **out, struct doppel_error *error);

/** The same; NULL when it is missing, or no id. */
enum doppel_status leaders_has(struct leaders *leaders, uint64_t id, const struct leader **out,
                               struct doppel_error *error);

/** Whether a later text has its id. */
enum doppel_status leaders_is_replaced(struct leaders *leaders, uint64_t id, bool *out,
                                       struct doppel_error *error);

/** It has changed in the library, or any may have: what is known is looked up again. */
void leaders_forget(struct leaders *leaders, uint64_t id);
void leaders_forget_all(struct leaders *leaders);

/** What doppel_match_texts takes; borrows from the representative. */
struct doppel_text_evidence leader_evidence(const struct leader *leader);

#endif
