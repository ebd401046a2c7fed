/* Videos as the verbs judge them: from records to frames and recordings, from a video and another
 * file to what they share, the picture and the audio apart. */
#ifndef DOPPEL_COMPARE_VIDEO_H
#define DOPPEL_COMPARE_VIDEO_H

#include <stdbool.h>

#include <jansson.h>

#include <doppel/audio.h>
#include <doppel/library.h>
#include <doppel/match.h>
#include <doppel/video.h>

#include "tools/args/options.h"

/* Whether a record is of a video that was read by its frames. */
bool is_video(const struct doppel_record *record);

/* The frames of a video. @param out given (doppel_video_track_free). @return false when it is of no
 * video, or damaged */
bool video_read(const struct doppel_record *record, enum doppel_video_parts parts,
                struct doppel_video_track *out);

/* The audio of a video. @param out given (doppel_audio_track_free). @return false when it has none
 */
bool video_read_audio(const struct doppel_video_track *video, struct doppel_audio_track *out);

/* The same of the record of a video or a recording; false of others. */
bool record_read_audio(const struct doppel_record *record, struct doppel_audio_track *out);

/* Whether there is nothing to tell it by: it has no frame with structure, and no audio. */
bool video_is_blank(const struct doppel_record *record);

/* Why, in words. */
#define VIDEO_IS_BLANK "nothing to tell it by: no frame has enough structure, and it has no audio"

/* The limits of the command line, else the defaults. */
struct doppel_video_search video_search_from(const struct settings *settings);

/* What a video and another file, or item, share. Segments are given (video_match_free). */
struct video_match {
    bool images_compared, audio_compared; /* both had one */
    bool image, audio;                    /* it is a match */
    struct doppel_match by_image, by_audio;
};

void video_match_free(struct video_match *match);

/* The one that describes the pair: the picture's, unless the audio alone tells. Borrowed. */
const struct doppel_match *video_match_main(const struct video_match *match);

/* Compare two records, of which one is of a video, and the other of a video, a recording or a
 * picture.
 * @param out filled also when they do not match. @return whether they do */
bool videos_match(const struct settings *settings, const struct doppel_record *a,
                  const struct doppel_record *b, struct video_match *out);

/* What is said of a video of the same bytes. @param out segments are given */
void describe_same_video(const struct doppel_record *record, struct video_match *out);

/* The segments of a match, given (free); NULL without. */
const struct doppel_segment *copy_segments(const struct doppel_match *match);

/* The segment that takes most of the query; NULL without. */
const struct doppel_segment *longest_segment(const struct doppel_match *match);

/* The query becomes the item, and the item the query. */
void turn_match(struct doppel_match *match);

/* "evidence", and what the recordings said as "audio". */
void put_video_match(json_t *row, const struct video_match *match);

/* In the row of put_video_match, the evidence in words. */
void put_evidence_in_words(json_t *row);

#endif
