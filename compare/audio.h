/* Recordings compared: from records to peaks, from two of them to a match. */
#ifndef DOPPEL_COMPARE_AUDIO_H
#define DOPPEL_COMPARE_AUDIO_H

#include <stdbool.h>

#include <doppel/audio.h>
#include <doppel/compare.h>
#include <doppel/library.h>
#include <doppel/match.h>

/* The peaks of a record. @param out given (doppel_audio_track_free). DOPPEL_E_CORRUPT: it is of no
 * audio, or damaged; DOPPEL_E_MEMORY */
enum doppel_status audio_load(const struct doppel_record *record, struct doppel_audio_track *out,
                              struct doppel_error *error);

/* The same where all failures are one. */
bool audio_read(const struct doppel_record *record, struct doppel_audio_track *out);

/* Only how long it is, and where it was damaged: at little cost. */
bool audio_read_length(const struct doppel_record *record, struct doppel_audio_track *out);

/* Its milliseconds; 0 when it is no audio. */
uint32_t audio_length_ms(const struct doppel_record *record);

/* Give a Chromaprint without an attachment its length, as a track without peaks; 0: not known.
 * @return false without memory */
bool attach_audio_length(struct doppel_record *record, uint64_t duration_ms);

/* The audio of a track; borrows its peaks. */
struct doppel_recording audio_of(const struct doppel_audio_track *track);

/* The limits of the options, else the defaults. */
struct doppel_audio_options audio_options_from(const struct doppel_compare_options *compare);

/* The number of the first peak from a time on (doppel/audio.h). */
size_t audio_first_from(const struct doppel_audio_track *track, double time);

/* Whether two recordings share anything. @param out its match is filled also when they do not; its
 * segments are given (free). @return what reading, or matching, returns */
enum doppel_status audio_match(const struct doppel_compare_options *compare,
                               const struct doppel_record *a, const struct doppel_record *b,
                               struct doppel_comparison *out, struct doppel_error *error);

/* The same of AcoustID's fingerprints. */
enum doppel_status chromaprints_match(const struct doppel_compare_options *compare,
                                      const struct doppel_record *a, const struct doppel_record *b,
                                      struct doppel_comparison *out, struct doppel_error *error);
/* The mean of bits that may differ, of 32. */
uint32_t chromaprint_limit(const struct doppel_compare_options *compare);

/* Whether there is nothing to tell it by: it has no keys. */
bool audio_is_blank(const struct doppel_record *record);

/* Why, in words. */
#define AUDIO_IS_BLANK "nothing to tell it by: it is silent, or too short, or without change"

/* A pair of the same bytes. @param out segments are given. @return false without memory */
bool describe_same_audio(const struct doppel_record *record, struct doppel_match *out);

#endif
