/* Pictures compared by their parts: by keypoints (doppel/local.h). */
#ifndef DOPPEL_COMPARE_PARTS_H
#define DOPPEL_COMPARE_PARTS_H

#include <doppel/compare.h>
#include <doppel/local.h>

/* Whether a record has keypoints instead of codes. */
bool is_of_parts(const struct doppel_record *record);

/* The keypoints of a record. @param out given (doppel_fingerprint_free). False: it has none that
 * can be read. */
bool parts_read(const struct doppel_record *record, struct doppel_fingerprint *out);

/* Whether there are too few of them to be told by. */
bool parts_are_few(const struct doppel_record *record);

/* The thresholds of the options, else the defaults. */
struct doppel_local_options parts_options_from(const struct doppel_compare_options *compare);

/* How large a picture is, in pixels. */
struct picture_size {
    uint32_t width, height;
};

/* Describe what two pictures share. */
void describe_parts(const struct doppel_local_verdict *verdict, struct picture_size query,
                    struct picture_size item, struct doppel_match *out);

/* Compare two records of keypoints. @param out filled also when they do not match
 * @return DOPPEL_OK; DOPPEL_E_CORRUPT: one cannot be read; DOPPEL_E_MEMORY */
enum doppel_status parts_match(const struct doppel_compare_options *compare,
                               const struct doppel_record *a, const struct doppel_record *b,
                               struct doppel_comparison *out, struct doppel_error *error);

#endif
