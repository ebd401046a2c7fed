/* What was computed of a file or a text, whole, as fields of a JSON object: as exports have it, and
 * as services send it to each other. */
#ifndef DOPPEL_COMPARE_RECORD_FIELDS_H
#define DOPPEL_COMPARE_RECORD_FIELDS_H

#include <doppel/json_writer.h>
#include <doppel/library.h>

#include "compare/json_fields.h"

/* A digest in hex. */
void write_digest_field(struct doppel_json *json, const char *key,
                        const struct doppel_digest *digest);

/* Digest, kind, scheme, version, width, height, quality, bits, sequence, attachment. */
void write_record_fields(struct doppel_json *json, const struct doppel_record *record);

/* The same, or a code as `hash --json` prints it. @param record empty; given (doppel_record_free),
 * also when a field is wrong */
void read_record_fields(struct fields *fields, struct doppel_record *record);

/* Of a text of which the signature is known: content, words, too_short, lanes, simhash. */
void write_signature_fields(struct doppel_json *json, const struct doppel_library_text *text);

/* The same. @param lanes where they are put; `text` borrows them */
void read_signature_fields(struct fields *fields, struct doppel_library_text *text,
                           uint16_t lanes[static DOPPEL_TEXT_MAX_LANES]);

#endif
