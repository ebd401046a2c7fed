/* Films as the verbs judge them: from records to frames and sounds, from a film and another file
 * to what they share, the picture and the sound apart. */
#ifndef DOPPEL_TOOLS_FILM_JUDGE_H
#define DOPPEL_TOOLS_FILM_JUDGE_H

#include <stdbool.h>

#include <jansson.h>

#include <doppel/audio.h>
#include <doppel/library.h>
#include <doppel/match.h>
#include <doppel/video.h>

#include "tools/options.h"

/* Whether a record is of a film that was read by its frames. */
bool is_film(const struct doppel_record *record);

/* The frames of a film. @param out given (doppel_video_track_free). @return false when it is of no
 * film, or damaged */
bool film_read(const struct doppel_record *record, enum doppel_video_parts parts,
               struct doppel_video_track *out);

/* The sound of a film. @param out given (doppel_audio_track_free). @return false when it has none
 */
bool film_read_sound(const struct doppel_video_track *film, struct doppel_audio_track *out);

/* The same of the record of a film or a sound; false of others. */
bool record_read_sound(const struct doppel_record *record, struct doppel_audio_track *out);

/* Whether there is nothing to tell it by: it has no frame with structure, and no sound. */
bool film_is_blank(const struct doppel_record *record);

/* Why, in words. */
#define FILM_IS_BLANK "nothing to tell it by: no frame has enough structure, and it has no sound"

/* The limits of the command line, else the defaults. */
struct doppel_video_search video_search_from(const struct settings *settings);

/* What a film and another file, or item, share. Segments are given (film_match_free). */
struct film_match {
    bool pictures_compared, sounds_compared; /* both had one */
    bool picture, sound;                     /* it is a match */
    struct doppel_match by_picture, by_sound;
};

void film_match_free(struct film_match *match);

/* The one that describes the pair: the picture's, unless the sound alone tells. Borrowed. */
const struct doppel_match *film_match_main(const struct film_match *match);

/* Compare two records, of which one is of a film, and the other of a film, a sound or a picture.
 * @param out filled also when they do not match. @return whether they do */
bool films_match(const struct settings *settings, const struct doppel_record *a,
                 const struct doppel_record *b, struct film_match *out);

/* What is said of a film of the same bytes. @param out segments are given */
void describe_same_film(const struct doppel_record *record, struct film_match *out);

/* The segments of a match, given (free); NULL without. */
const struct doppel_segment *copy_segments(const struct doppel_match *match);

/* The segment that takes most of the query; NULL without. */
const struct doppel_segment *longest_segment(const struct doppel_match *match);

/* The query becomes the item, and the item the query. */
void turn_match(struct doppel_match *match);

/* "evidence", and what the sounds said as "sound". */
void put_film_match(json_t *row, const struct film_match *match);

/* In the row of put_film_match, the evidence in words. */
void put_evidence_in_words(json_t *row);

#endif
