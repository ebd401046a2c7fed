/* A record, and what was computed of its content, as members of the JSON object that was begun
 * last.
 */
#ifndef DOPPEL_COMPARE_RECORD_JSON_H
#define DOPPEL_COMPARE_RECORD_JSON_H

#include <doppel/compare.h>

/* kind, scheme, version, codes. */
void write_record_head(struct doppel_json *json, const struct doppel_record *record);

/* "code", where a fingerprint has one that stands for it. */
void write_first_code(struct doppel_json *json, const struct doppel_fingerprint *fingerprint);

/* "width" and "height". */
void write_size(struct doppel_json *json, uint32_t width, uint32_t height);

/* "duration", and "damaged" unless that is 0, in seconds. */
void write_length(struct doppel_json *json, uint64_t duration_ms, uint64_t damaged_ms);

/* What the attachment says, by kind. Of a text: words, characters, bad_bytes, too_short. Of a
 * recording: codes, how many keys it has; duration, damaged, its tags. Of a video: codes, how many
 * runs of frames it has; duration, damaged, width and height unless `sized`, keyframes, has_sound.
 * @param text  how a text was read
 * @param codes keys and runs of frames, too, as "sequence" */
void write_record_content(struct doppel_json *json, const struct doppel_record *record,
                          const struct doppel_text_options *text, bool codes, bool sized);

#endif
