/* Columns of an item that only repeat what its codes and its attachment say, for look-ups and for
 * those who ask the catalogue by SQL. */
#include "library/derived/derived.h"
#include "library/ledger/ledger.h"

#include <doppel/text.h>

#include "core/digest.h"

/* What the attachment of a text says of it as a whole. */
static bool read_record_text(const struct doppel_record *record, struct doppel_text_extra *out)
{
    return record->kind == DOPPEL_KIND_TEXT &&
           doppel_text_attachment_head(record->attachment, record->attachment_size, out);
}

/* 0 is the code of a text without shingles. */
static struct bound_value simhash_of_text(const struct doppel_record *record)
{
    struct doppel_text_extra text = {0};
    if (record->scheme == DOPPEL_SCHEME_SIMHASH64 && record->fingerprint.count)
        text.simhash = record->fingerprint.codes[0].word[0];
    else
        (void)read_record_text(record, &text);
    return value_if(text.simhash, ID(text.simhash));
}

struct bound_value item_simhash(const struct doppel_record *record)
{
    const struct doppel_fingerprint *fingerprint = &record->fingerprint;
    if (record->kind == DOPPEL_KIND_TEXT)
        return simhash_of_text(record);
    bool image = record->scheme == DOPPEL_SCHEME_PHASH64 && fingerprint->count &&
                 fingerprint->positions[0] == DOPPEL_VIEW_FULL;
    return value_if(image, ID(image ? fingerprint->codes[0].word[0] : 0));
}

struct bound_value item_words(const struct doppel_record *record)
{
    struct doppel_text_extra text = {0};
    bool known =
        read_record_text(record, &text) && text.words <= INT64_MAX; /* they may be imported */
    return value_if(known, ID(text.words));
}

static struct bound_value duration_of(const struct doppel_record *record)
{
    struct doppel_audio_track track;
    bool read = track_head(record, record->attachment, record->attachment_size, &track);
    return value_if(read, ID(track.duration_ms));
}

enum doppel_status item_put_columns(struct doppel_library *library, uint64_t id,
                                    const struct doppel_record *record, bool fresh,
                                    struct doppel_error *error)
{
    const struct doppel_digest pixels = record_pixels(record);
    const struct bound_value values[] = {ID(id), item_simhash(record), duration_of(record),
                                         value_if(!digest_is_none(&pixels), value_digest(&pixels)),
                                         item_words(record)};
    const size_t count = sizeof values / sizeof *values;
    bool any = !fresh;
    for (size_t i = 1; i < count; i++)
        any |= values[i].type != VALUE_NULL;
    return any ? rows_run(library,
                          "UPDATE item SET simhash = ?2, duration_ms = ?3, pixels = ?4, words = ?5"
                          " WHERE id = ?1",
                          (struct values){values, count}, error)
               : DOPPEL_OK;
}
