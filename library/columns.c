/* Columns of an item that only repeat what its codes and its attachment say, for look-ups and for
 * those who ask the catalogue by SQL. */
#include "library/derived.h"
#include "library/ledger.h"

#include "core/digest.h"

/* A code of 64 bits that stands for a picture or a text as a whole. */
static struct value simhash_of(const struct doppel_record *record)
{
    const struct doppel_fingerprint *fingerprint = &record->fingerprint;
    bool picture = record->scheme == DOPPEL_SCHEME_PHASH64 && fingerprint->count &&
                   fingerprint->positions[0] == DOPPEL_VIEW_FULL;
    bool text = record->scheme == DOPPEL_SCHEME_SIMHASH64 && fingerprint->count;
    return value_if(picture || text, ID(picture || text ? fingerprint->codes[0].word[0] : 0));
}

static struct value duration_of(const struct doppel_record *record)
{
    uint64_t duration_ms, damaged_ms;
    bool read = track_length(record, record->attachment, record->attachment_size, &duration_ms,
                             &damaged_ms);
    return value_if(read, ID(duration_ms));
}

enum doppel_status item_put_columns(struct doppel_library *library, uint64_t id,
                                    const struct doppel_record *record, struct doppel_error *error)
{
    struct doppel_digest pixels = record_pixels(record);
    return rows_run(library,
                    "UPDATE item SET simhash = ?2, duration_ms = ?3, pixels = ?4 WHERE id = ?1",
                    VALUES(ID(id), simhash_of(record), duration_of(record),
                           value_if(!digest_is_none(&pixels), value_digest(&pixels))),
                    error);
}
