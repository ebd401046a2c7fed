/* Videos compared: from records to frames and recordings, from a video and another file to what
 * they share, the image and the audio apart. */
#ifndef DOPPEL_COMPARE_VIDEO_H
#define DOPPEL_COMPARE_VIDEO_H

#include <stdbool.h>

#include <doppel/audio.h>
#include <doppel/compare.h>
#include <doppel/library.h>
#include <doppel/match.h>
#include <doppel/video.h>

/* Whether a record is of a video that was read by its frames. */
bool is_video(const struct doppel_record *record);

/* The frames of a video. @param out given (doppel_video_track_free). DOPPEL_E_CORRUPT: it is of no
 * video, or damaged; DOPPEL_E_MEMORY */
enum doppel_status video_load(const struct doppel_record *record, enum doppel_video_parts parts,
                              struct doppel_video_track *out, struct doppel_error *error);

/* The same where all failures are one. */
bool video_read(const struct doppel_record *record, enum doppel_video_parts parts,
                struct doppel_video_track *out);

/* The audio of a video. @param out given (doppel_audio_track_free). @return false when it has none
 */
bool video_read_audio(const struct doppel_video_track *video, struct doppel_audio_track *out);

/* The same of the record of a video or a recording. DOPPEL_E_CORRUPT of others; DOPPEL_E_MEMORY */
enum doppel_status record_load_audio(const struct doppel_record *record,
                                     struct doppel_audio_track *out, struct doppel_error *error);
bool record_read_audio(const struct doppel_record *record, struct doppel_audio_track *out);

/* Whether there is nothing to tell it by: it has no frame with structure, and no audio. */
bool video_is_blank(const struct doppel_record *record);

/* Why, in words. */
#define VIDEO_IS_BLANK "nothing to tell it by: no frame has enough structure, and it has no audio"

/* The limits of the options, else the defaults. */
struct doppel_video_search video_search_from(const struct doppel_compare_options *compare);

/* Compare two records, of which one is of a video, and the other of a video, a recording or an
 * image. @param out empty before; filled also when they do not match. DOPPEL_E_MEMORY */
enum doppel_status compare_videos(const struct doppel_compare_options *compare,
                                  const struct doppel_record *a, const struct doppel_record *b,
                                  struct doppel_comparison *out, struct doppel_error *error);

/* Set what describes the pair as a whole, by what was compared and what matched. */
void comparison_choose(struct doppel_comparison *out);

/* A video of the same bytes. @param out segments are given. @return false without memory */
bool describe_same_video(const struct doppel_record *record, struct doppel_comparison *out);

/* Put copies of the segments in their place, given (free). @return false without memory: then there
 * are none */
bool copy_segments(struct doppel_match *match);

/* The segment that takes most of the query; NULL without. */
const struct doppel_segment *longest_segment(const struct doppel_match *match);

/* The query becomes the item, and the item the query. */
void turn_match(struct doppel_match *match);

#endif
