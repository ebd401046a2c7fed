/* Pictures and videos compared by their parts: by keypoints (doppel/local.h). */
#ifndef DOPPEL_COMPARE_PARTS_H
#define DOPPEL_COMPARE_PARTS_H

#include <doppel/compare.h>
#include <doppel/local.h>

/* Whether a record has keypoints instead of codes. */
bool is_of_parts(const struct doppel_record *record);

/* The keypoints of a record; a picture is a video of one frame. @param out given
 * (doppel_local_video_free). False: it has none that can be read. */
bool parts_read(const struct doppel_record *record, struct doppel_local_video *out);

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

/* Add, where one of them is a video, when it shows what is shared, and how much of the time; the
 * shares of a video are of its time and its frames, multiplied.
 * @param query_ms,item_ms how long they are; 0: a picture, or not known
 * @param match as describe_parts made it; its segments are given (free). False without memory */
bool describe_part_times(const struct doppel_local_verdict *verdict, uint64_t query_ms,
                         uint64_t item_ms, struct doppel_match *match);

/* Compare two records of keypoints. @param out filled also when they do not match
 * @return DOPPEL_OK; DOPPEL_E_CORRUPT: one cannot be read; DOPPEL_E_MEMORY */
enum doppel_status parts_match(const struct doppel_compare_options *compare,
                               const struct doppel_record *a, const struct doppel_record *b,
                               struct doppel_comparison *out, struct doppel_error *error);

#endif
