/**
 * doppel/library_lookups.h: what of a library is like something, by its content.
 * Included by doppel/library.h.
 */
#ifndef DOPPEL_LIBRARY_LOOKUPS_H
#define DOPPEL_LIBRARY_LOOKUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/match.h>
#include <doppel/text.h>

struct doppel_library;
struct doppel_item;
struct doppel_local_set;
struct doppel_record;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pictures ----
 *
 * The codes of items that are pictures lie in indexes beside the catalogue, a folder for each table
 * of a scheme (doppel_image_table), as of the last commit of anybody and of this transaction. They
 * are derived: one that is not there, or is damaged, is made of the items when it is needed. */

/**
 * The pictures of the library that match one, as doppel_matcher_find visits those of a set.
 *
 * @param visitor may ask the library for items
 * @return DOPPEL_OK; DOPPEL_E_VERSION: it is of another scheme or version than this doppel makes;
 * _BUSY, _IO, _CORRUPT; _MEMORY; _CANCELLED when the visitor returned false
 */
DOPPEL_API enum doppel_status doppel_library_find_images(struct doppel_library *library,
                                                         const struct doppel_match_item *query,
                                                         const struct doppel_match_options *options,
                                                         doppel_found_visitor *visitor,
                                                         void *context, struct doppel_error *error);

/** How many pictures of phash64 a library has that are looked through, for `compared` of the
 * options: of those that were removed some count until their index is merged. Takes no time.
 * @return as doppel_library_find_images */
DOPPEL_API enum doppel_status doppel_library_count_images(struct doppel_library *library,
                                                          uint64_t *out,
                                                          struct doppel_error *error);

/** A code that is looked up by itself. */
struct doppel_code_lookup {
    enum doppel_scheme_id scheme; /**< phash64, phash256, imagehash, pdq or simhash64 */
    struct doppel_code code;      /**< of as many bits as the scheme compares */
    uint32_t radius;              /**< bits of it that may differ */
};

/**
 * The items of a scheme whose first code, which `doppel hash` prints, lies within a radius of
 * another one: by the distance alone, as SQL's hamming(), and all of them. Of phash64 it is that of
 * the full frame. Not found are pictures under DOPPEL_IMAGE_MIN_QUALITY, and items of another
 * version of the scheme, neither of which are in the index. Of simhash64 only files are.
 *
 * @param lookup borrowed
 * @param out    by distance, then payload, which is the id of the item; given (free), NULL if there
 * are none
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: another scheme; else as doppel_library_find_images
 */
DOPPEL_API enum doppel_status doppel_library_find_codes(struct doppel_library *library,
                                                        const struct doppel_code_lookup *lookup,
                                                        struct doppel_index_hit **out,
                                                        size_t *out_count,
                                                        struct doppel_error *error);

/** The recordings of the library, fingerprinted as AcoustID does, that match one, as
 * doppel_chromaprints_find visits those of a set: by id; theirs is such an index, too.
 * @param max_distance bits of 32 that may differ, in the mean
 * @return as doppel_library_find_images */
DOPPEL_API enum doppel_status doppel_library_find_chromaprints(
    struct doppel_library *library, const struct doppel_fingerprint *query, uint32_t max_distance,
    doppel_found_visitor *visitor, void *context, struct doppel_error *error);

/** Who is told of what takes a while: that an index is made of the items. Each may be NULL. */
struct doppel_library_watch {
    void (*notice)(void *context, const char *sentence);
    /** @param done,total items; done is 0 at first, and total at the end */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context; /**< borrowed while the library is open */
};

/** @param watch copied; NULL: nobody */
DOPPEL_API void doppel_library_set_watch(struct doppel_library *library,
                                         const struct doppel_library_watch *watch);

/* ---- texts ----
 *
 * The signatures of texts, of files as of records, lie in such indexes, too: those of texts that
 * follow another one apart from the rest. So do the first bits of the digests of their contents. */

/** A text whose passages are looked up, in the keys of texts of winnow32. */
struct doppel_passage_lookup {
    const struct doppel_passage_request *request; /**< with a source, which is asked for texts by
                                                     their ids; borrowed */
    uint16_t version;                             /**< of the texts that are searched */
    bool followers;                               /**< also those who follow another one */
};

/**
 * The texts of the library that share a passage with one, as doppel_passages_find visits those of a
 * set of all texts of that version. Their keys lie in such indexes, too.
 * @return as doppel_library_find_images; DOPPEL_E_CANCELLED with a sentence
 */
DOPPEL_API enum doppel_status doppel_library_find_passages(
    struct doppel_library *library, const struct doppel_passage_lookup *lookup,
    doppel_found_visitor *visitor, void *context, struct doppel_error *error);

/** A signature to be looked up. */
struct doppel_text_lookup {
    enum doppel_scheme_id scheme; /**< minhash128, minhash256 or simhash64 */
    const uint64_t *code;         /**< lanes, four a word, the first lowest; or SimHash; borrowed */
    uint32_t radius;              /**< lanes or bits that may differ */
    uint32_t bands, rows; /**< of MinHash: to share one of so many bands of so many lanes; 0:
                             whatever the index has. Others than it has take longer, until it
                             is made again with these */
    bool followers;       /**< also those who follow another one */
};

/** @param distance lanes or bits that differ. Return false to end it */
typedef bool doppel_text_candidate_visitor(void *context, uint64_t id, uint32_t distance);

/**
 * Texts whose signatures are near: to be looked at, whether they are there, and are what is wanted.
 * Those who lead first, each in order of id.
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED when the visitor returned false; _BUSY, _IO, _CORRUPT;
 * _MEMORY
 */
DOPPEL_API enum doppel_status doppel_library_near_texts(struct doppel_library *library,
                                                        const struct doppel_text_lookup *lookup,
                                                        doppel_text_candidate_visitor *visitor,
                                                        void *context, struct doppel_error *error);

/** Texts that may have a content, in order of id: whose digests begin with the same 64 bits.
 * @param limit the first so many; 0: all. As doppel_library_near_texts */
DOPPEL_API enum doppel_status doppel_library_texts_of(struct doppel_library *library,
                                                      const struct doppel_digest *content,
                                                      size_t limit,
                                                      doppel_text_candidate_visitor *visitor,
                                                      void *context, struct doppel_error *error);

/** Shingles to be looked up. */
struct doppel_shingle_lookup {
    enum doppel_scheme_id scheme; /**< minhash128 or minhash256 */
    uint16_t version;             /**< of the texts: others have other shingles */
    const uint32_t *shingles;     /**< ascending, each once; borrowed */
    size_t count;
};

/**
 * Files of text that have some shingles: those below DOPPEL_TEXT_HELD_BELOW are looked up, and of
 * one that many have, the 1 024 first are told. In order of id; `distance` is how many they share.
 * As doppel_library_near_texts. Records of corpora are not told.
 */
DOPPEL_API enum doppel_status doppel_library_share_shingles(
    struct doppel_library *library, const struct doppel_shingle_lookup *lookup,
    doppel_text_candidate_visitor *visitor, void *context, struct doppel_error *error);

/** How many records there are, or fewer: the ids from the first to the last. DOPPEL_OK;
 * DOPPEL_E_IO; _CORRUPT. Takes no longer in a large library. */
DOPPEL_API enum doppel_status doppel_library_records_at_most(struct doppel_library *library,
                                                             uint64_t *out,
                                                             struct doppel_error *error);

/** The last record that has an id of its corpus, and is not damaged; 0: none has. DOPPEL_OK;
 * DOPPEL_E_IO; _CORRUPT */
DOPPEL_API enum doppel_status doppel_library_record_called(struct doppel_library *library,
                                                           const char *record_id, uint64_t *out,
                                                           struct doppel_error *error);

/** Whether others have changed the library, or somebody its manual labels, since the last call with
 * the same `version`, which is 0 at first. */
DOPPEL_API enum doppel_status doppel_library_changed(struct doppel_library *library,
                                                     int64_t *version, bool *out_changed,
                                                     struct doppel_error *error);

/** Whether the library was moved, removed or replaced since it was opened: what others commit is
 * not seen any more. */
DOPPEL_API bool doppel_library_is_moved(struct doppel_library *library);

/* ---- recordings ----
 *
 * Items of scheme peaks32 have no codes: their peaks are the attachment
 * (doppel_audio_track_write's), of which doppel_library_add keeps the strong ones. The postings of
 * these are in an index in the folder `recordings` of the library, which changes with the items, in
 * the same transactions. It is derived: a writer rebuilds it when files of it are gone.
 *
 * A handle that has added or removed a recording keeps others from doing so until it is closed or
 * released. For the first of them, and when postings become many, it commits what was changed
 * before. */

/**
 * Make ready to add a file: when recordings or videos are concerned, by the record, by the item at
 * the path or by those with the same bytes, commit, and wait for the right to change them. So an
 * addition that follows in a transaction does not end it. In this order processes never wait for
 * each other: first for that right, then to begin.
 * @param out_tracks the handle holds the right. As doppel_library_add
 */
DOPPEL_API enum doppel_status doppel_library_prepare(struct doppel_library *library,
                                                     const char *path,
                                                     const struct doppel_record *record,
                                                     bool *out_tracks, struct doppel_error *error);

/** Commit, and let others change recordings and videos. */
DOPPEL_API enum doppel_status doppel_library_release(struct doppel_library *library,
                                                     struct doppel_error *error);

/**
 * The recordings of the library as a set, as of the last commit of anybody.
 *
 * The set reads through a connection of its own: while threads search in it, other calls with the
 * library are fine, but for this one and doppel_library_close.
 *
 * @param out borrowed until the library is closed, or until this call gives another set because
 * something was committed since; on failure the one before goes on to be good
 * @return DOPPEL_OK; DOPPEL_E_CORRUPT, _BUSY (it is rebuilt by another process), _IO, _MEMORY
 */
DOPPEL_API enum doppel_status doppel_library_recordings(struct doppel_library *library,
                                                        const struct doppel_recordings **out,
                                                        struct doppel_error *error);

/* ---- videos ----
 *
 * Items of scheme frames64 have no codes in their fingerprint, either: the frames are the
 * attachment (doppel_video_track_write's), of which doppel_library_add keeps the codes and the
 * strong peaks of the audio. The 64-bit codes are in an index in the folder `videos`, and the
 * postings of the audio are among those of doppel_library_recordings, under the same id. Both are
 * derived, as that one is. */

/** Recordings and videos that a search came upon and could not read, the first of them. */
enum { DOPPEL_UNREADABLE_MAX = 16 };
struct doppel_unreadable {
    size_t count;
    uint64_t ids[DOPPEL_UNREADABLE_MAX];
};

/** Add those that were met in a set since the last call, and those that are not in it: what is kept
 * of them is damaged, and they may be what is sought. Thread-safe, as the sets are.
 * @param kind of the set: AUDIO doppel_library_recordings, VIDEO doppel_library_videos, IMAGE
 *             doppel_library_parts */
DOPPEL_API void doppel_library_take_unreadable(struct doppel_library *library,
                                               enum doppel_kind kind,
                                               struct doppel_unreadable *out);

/** The pictures of scheme local as a set: their points are the attachment, too, of which
 * doppel_library_add keeps the first DOPPEL_LOCAL_KEPT; the postings are in the folder `parts`. As
 * doppel_library_recordings. */
DOPPEL_API enum doppel_status doppel_library_parts(struct doppel_library *library,
                                                   const struct doppel_local_set **out,
                                                   struct doppel_error *error);

/** The videos of the library as a set. As doppel_library_recordings. */
DOPPEL_API enum doppel_status doppel_library_videos(struct doppel_library *library,
                                                    const struct doppel_videos **out,
                                                    struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
