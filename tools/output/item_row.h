/* An item of the library, what is known about it, and how it stands in its group, as a row. */
#ifndef DOPPEL_TOOLS_OUTPUT_ITEM_ROW_H
#define DOPPEL_TOOLS_OUTPUT_ITEM_ROW_H

#include <doppel/json_writer.h>
#include <doppel/library.h>

/* What the library has about an item beside what was computed of it. */
struct item_details {
    struct doppel_metadata metadata;
    uint64_t leader, canonical; /* the item itself, where it is linked to none */
};

/* @return DOPPEL_E_CORRUPT, with a sentence, when something is damaged: the rest is there all the
 * same. @param out given (item_details_free) */
enum doppel_status item_details_get(struct doppel_library *library, uint64_t id,
                                    struct item_details *out, struct doppel_error *error);
void item_details_free(struct item_details *details);

/* id, path, kind, scheme, version, codes, width, height, quality, size, mtime, added, digest. */
void write_item_row(struct doppel_json *row, struct doppel_library *library,
                    const struct doppel_item *item);

/* source, date, external_id, labels, lists, list_state, meta, representative, canonical: what is
 * known. */
void write_item_details(struct doppel_json *row, uint64_t id, const struct item_details *details);

/* id, record, path, line, kind, scheme, decision, representative, words, source, date, size, added,
 * digest.
 * @param details NULL: not looked up */
void write_text_row(struct doppel_json *row, const struct doppel_library_text *text,
                    const struct item_details *details);
/* What write_item_details writes, but for what write_text_row has written. */
void write_text_details(struct doppel_json *row, const struct doppel_library_text *text,
                        const struct item_details *details);

/* The same but for representative and canonical. */
void write_metadata(struct doppel_json *row, const struct doppel_metadata *metadata);

/* The code of its signature; given (free). */
char *text_code(const struct doppel_library_text *text);

#endif
