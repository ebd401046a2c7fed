/* What an ingest knows of the texts that its library holds: looked up, one by one, when a record
 * asks for them. */
#ifndef DOPPEL_DECIDE_RECORDS_EARLIER_H
#define DOPPEL_DECIDE_RECORDS_EARLIER_H

#include <doppel/library.h>

struct ingest;

struct earlier {
    uint64_t id; /* 0: there is none, or it is damaged, or was read in another way */
    struct doppel_digest content;
    uint64_t leader; /* itself, where it follows none */
    bool leads;      /* and was not replaced by a later text of the same id */
};

/* A text that shares a band with the record at hand. */
struct near_text {
    uint64_t id;
    uint32_t distance; /* lanes that differ */
};

/** @param out its id is 0 where it is not to be had. DOPPEL_OK; DOPPEL_E_MEMORY; what reading the
 * library returns, as all below. */
enum doppel_status earlier_get(struct ingest *ingest, uint64_t id, struct earlier *out,
                               struct doppel_error *error);

/** The first with a content, unless what it follows was replaced: then its text is no longer
 * there. One on disabled lists alone is not there, either. @param any where all are gone like this,
 * the first of them. @param out 0: none */
enum doppel_status earlier_with_content(struct ingest *ingest, const struct doppel_digest *content,
                                        bool any, uint64_t *out, struct doppel_error *error);

/** The last one that has the id of the record at hand. */
enum doppel_status earlier_called(struct ingest *ingest, struct earlier *out,
                                  struct doppel_error *error);

/** Representatives that share a band with the record at hand, by ascending id, in ingest->near. */
enum doppel_status earlier_find_near(struct ingest *ingest, struct doppel_error *error);

struct doppel_origin earlier_origin(struct ingest *ingest, uint64_t id);

#endif
