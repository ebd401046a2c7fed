/**
 * doppel/renamed.h: names of releases before 0.2, for one release more. Included by doppel/core.h.
 *
 * Old names of functions, tags and constants are macros for the new ones, and so are those of
 * fields. Fields with the name of everyday words (`sound`, `pictures`, `films`) only where
 * DOPPEL_OLD_FIELDS is defined before the first header of doppel is included. DOPPEL_ONLY_NEW_NAMES
 * leaves all of them out.
 */
#ifndef DOPPEL_RENAMED_H
#define DOPPEL_RENAMED_H

#include <stdbool.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_library;

/** As doppel_library_set_cancel, without a context. */
DOPPEL_API void doppel_library_stop_by(struct doppel_library *library, bool (*stopped)(void));

#ifdef __cplusplus
}
#endif

#ifndef DOPPEL_ONLY_NEW_NAMES

/* ---- library ---- */
#define doppel_library_tell doppel_library_set_metadata
#define doppel_library_about doppel_library_get_metadata
#define doppel_library_check_about doppel_library_check_metadata
#define doppel_about doppel_metadata
#define doppel_about_free doppel_metadata_free
#define doppel_library_at doppel_library_get_by_path
#define doppel_library_word doppel_library_get_label
#define doppel_library_has_words doppel_library_has_labels
#define doppel_library_words_revision doppel_library_labels_revision
#define doppel_library_chosen doppel_library_get_canonical
#define doppel_library_choose doppel_library_choose_canonical
#define doppel_library_unlist doppel_library_remove_from_list
#define doppel_word doppel_manual_label

/* ---- library, match: recordings and images ---- */
#define doppel_library_sounds doppel_library_recordings
#define doppel_match_picture_in_video doppel_match_image_in_video
#define doppel_videos_find_picture doppel_videos_find_image
#define doppel_match_sounds doppel_match_recordings
#define doppel_sound doppel_recording
#define doppel_sound_hops doppel_recording_hops
#define doppel_sound_options doppel_audio_options
#define doppel_sound_options_default doppel_audio_options_default
#define doppel_sound_postings doppel_recording_postings
#define doppel_sound_source doppel_recording_source
#define doppel_sounds doppel_recordings
#define doppel_sounds_add doppel_recordings_add
#define doppel_sounds_find doppel_recordings_find
#define doppel_sounds_free doppel_recordings_free
#define doppel_sounds_index_options doppel_recordings_index_options
#define doppel_sounds_new doppel_recordings_new
#define doppel_sounds_over doppel_recordings_over
#define doppel_sounds_remove doppel_recordings_remove
#define doppel_sounds_seconds doppel_recordings_seconds
#define doppel_matcher_lead_again doppel_matcher_lead_cached

/* ---- image, worker, corpus ---- */
#define doppel_image_judge doppel_image_verify
#define doppel_image_judge_options doppel_image_verify_options
#define doppel_image_judge_options_default doppel_image_verify_options_default
#define doppel_look doppel_preview
#define doppel_corpus_text_again doppel_corpus_reread_text

/* ---- constants ---- */
#define DOPPEL_LOG_SAID DOPPEL_LOG_METADATA
#define DOPPEL_VIEW_FURNITURE DOPPEL_VIEW_INTERFACE
#define DOPPEL_WORD_NONE DOPPEL_LABEL_NONE
#define DOPPEL_WORD_SAME DOPPEL_LABEL_SAME
#define DOPPEL_WORD_DISTINCT DOPPEL_LABEL_DISTINCT

/* ---- fields ---- */
#define has_pictures has_images
#define has_sound has_audio
#define picture_count image_count
#define sound_size audio_size
#define sounds_bytes audio_bytes
#define video_no_sound video_no_audio

#ifdef DOPPEL_OLD_FIELDS
#define films videos
#define pictures images
#define sound audio
#endif

#endif
#endif
