/* What the files of the intake share: the window of files between the walk and the caller. */
#ifndef DOPPEL_INTAKE_INTAKE_INTERNAL_H
#define DOPPEL_INTAKE_INTAKE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include <doppel/worker.h>

#include "intake/archives.h"
#include "intake/reader.h"

/* So many files at most are between the walk and the caller, so that one slow file neither stops
 * the others nor lets them pile up. */
enum { WINDOW = 1024 };

enum slot_state {
    SLOT_AT_WORKER,
    SLOT_TWIN, /* waits for another slot with the same bytes */
    SLOT_READY,
    SLOT_PASSED_OVER /* nothing to say of it */
};

struct intake_slot {
    enum slot_state state;
    const struct doppel_scheme *scheme; /* that its kind asks for; borrowed from the options */
    bool moves;                         /* it is an image that moves, read as a video */
    bool has_pages;                     /* it is named like an image, and is a document of pages */
    unsigned exact_kinds; /* digests of other makes that are wanted: 1 << enum doppel_exact */
    struct intake_file file;
    struct walk_entry entry;
};

struct intake {
    const struct intake_options *options;
    struct walk *walk;
    struct walk *counter; /* runs ahead to know how many files there will be; NULL when done */
    struct archives archives;
    uint64_t member_bytes; /* of members, in memory */
    struct doppel_pool *pool;
    uint64_t next_in, next_out; /* slot n lies at n % WINDOW */
    uint64_t counted, passed_over;
    uint64_t poor;           /* pictures with too little structure, of which nothing was said yet */
    uint64_t looks_like_ocr; /* texts that do, of which nothing was said yet */
    struct doppel_run_progress progress; /* videos_total: those that the counter met */
    bool walked, cache_failed;
    char *here; /* the working directory, NULL when not known: the cache wants absolute paths */
    struct intake_slot slots[WINDOW]; /* last: set when they are taken, a megabyte in all */
};

/* The slot ends, with a record (DOPPEL_OK) or a reason why there is none. */
void slot_ready(struct intake_slot *slot, enum doppel_status status, const char *reason);

/* Whether files of this kind are to be read. */
bool intake_wants(const struct intake *intake, enum doppel_kind kind);

/* The largest file of a kind that is read. */
uint64_t intake_max_bytes(const struct intake *intake, enum doppel_kind kind);

bool named_as_tiff(const char *path);

/* Whether a file of this kind is taken for what it is: a text that is named like a picture, a
 * audio or a video, or like what programs write beside a picture, is not, unless only texts are
 * wanted. */
bool slot_may_be(const struct intake *intake, const struct intake_slot *slot,
                 enum doppel_kind kind);

/* How a video, or a recording, is read where that can be chosen: the cache tells records apart by
 * it. */
/* Above the format of a text. */
enum { READING_BITS = 8 };

enum { READ_FAST = 1, READ_WITHOUT_AUDIO = 2, READ_VIDEO_AS_AUDIO = 1 };

/* The slot's scheme and reading, if it is a file of this kind. */
void slot_take_kind(const struct intake *intake, struct intake_slot *slot, enum doppel_kind kind);

/* Of a file that was tried as a video or a recording, and is neither: the sentence of those that
 * are of no kind at all. */
void slot_name_unknown(const struct intake *intake, struct intake_slot *slot);

/* Tell the kind of an open file: the slot ends unless it is one that is wanted. */
void slot_probe(struct intake *intake, struct intake_slot *slot, int fd);

/* Of a file that was ordered as a video and is of another kind: from now on it is of that, and so
 * are those that wait for it. */
void slot_turn_to(struct intake *intake, struct intake_slot *slot, enum doppel_kind kind);

/* Whether a file was named on the command line, or in a list, and not met in a folder. */
bool named_on_command_line(const struct intake *intake, const struct intake_slot *slot);

/* What is wanted: "picture, text, recording or video". */
void intake_wanted(const struct intake *intake, char out[64]);

/* Whether the attachment of a record is wanted by those who take it: of texts, recordings and
 * videos it always is, as it holds what is said of them. */
bool keeps_attachment(const struct intake *intake, enum doppel_kind kind);

/* Whether the slot's file has more bytes than are allowed. @param out why */
bool slot_is_too_large(const struct intake *intake, const struct intake_slot *slot,
                       struct doppel_error *out);

/* Whether an image, or a video's frame, has more pixels than a worker reads. */
bool has_too_many_pixels(const struct intake *intake, const struct doppel_record *record);

/* Whether the cache cannot hold what this run wants to know of the file. */
bool slot_goes_past_cache(const struct intake *intake, const struct intake_slot *slot);

/* Take the record of these bytes under the slot's scheme from the cache. @return false without */
bool slot_recall(struct intake *intake, struct intake_slot *slot,
                 const struct doppel_digest *wanted);

/* Nothing is known of the file any more but its bytes. */
void slot_forget_record(struct intake_slot *slot, const struct doppel_digest *digest);

/* Let the cache know the file's digest by its path, and what came of its bytes. A cache that cannot
 * be written costs time, not results. */
void slot_keep_digest(struct intake *intake, const struct intake_slot *slot);
void slot_keep_record(struct intake *intake, const struct intake_slot *slot);

/* The same from those who asked for the file, of bytes alone. */
bool slot_recall_elsewhere(struct intake *intake, struct intake_slot *slot,
                           const struct doppel_digest *digest);

/* Whether enough is known of the slot's bytes by its digests of other makes: then it is ready. */
bool slot_is_listed(const struct intake *intake, struct intake_slot *slot);

/* Whether an open file of no kind that is wanted is listed all the same: then it is ready. */
bool slot_is_listed_anyway(const struct intake *intake, struct intake_slot *slot, int fd);

/* Digest a file that was given up unread after all: it may be listed. */
void slot_read_for_lists(struct intake *intake, struct intake_slot *slot);

/* The same as slot_recall of a file that has not changed since it was digested. */
bool slot_recall_by_path(struct intake *intake, struct intake_slot *slot);

/* Read a file that the cache does not know by its path: it becomes ready, or goes to a worker. */
enum doppel_status slot_begin_reading(struct intake *intake, struct intake_slot *slot,
                                      struct doppel_error *error);

/* Give file number `number` to a worker after all, or again: its duplicate was of no help, or it is
 * of another kind than its first bytes told. */
enum doppel_status slot_read_again(struct intake *intake, uint64_t number,
                                   struct doppel_error *error);

/* The other kind that a file ordered as a video is read as, by its outcome or what the cache knows:
 * a recording, or an image that moves and cannot be read as a video. UNKNOWN: none, or none that is
 * wanted. */
enum doppel_kind slot_kind_after_all(const struct intake *intake, const struct intake_slot *slot);

/* An outcome of a worker becomes the record of file number `outcome->tag`, and the cache's, unless
 * the file changed while it was read: then it is of bytes that nobody digested. A video that is a
 * audio after all goes to a worker once more. */
enum doppel_status slot_take_outcome(struct intake *intake, struct doppel_outcome *outcome,
                                     struct doppel_error *error);

/* The outcome's parts become the record's. @return false when they are not of what the scheme
 * makes, or cannot be read */
bool record_take_outcome(const struct doppel_scheme *scheme, struct doppel_record *record,
                         struct doppel_outcome *outcome);

/* A video is done with, well or not. @param spared the cache knew it, or a video with the same
 * bytes did */
void slot_count_video(struct intake *intake, const struct intake_slot *slot, bool spared);

/* Show how far all are. */
void intake_show_progress(struct intake *intake);

/* Say what is worth knowing of a file that was read. */
void slot_say(struct intake *intake, const struct intake_slot *slot);
/* And at the end, of pictures that cannot be distinguished. */
void intake_say_poor(struct intake *intake);
/* And of texts that look like OCR. */
void intake_say_ocr(struct intake *intake);

/* What is known of `from` is known of `slot` too: they have the same bytes. */
void slot_share(struct intake_slot *slot, const struct intake_slot *from);

#endif
