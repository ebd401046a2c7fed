/* What the files of the intake share: the window of files between the walk and the caller. */
#ifndef DOPPEL_TOOLS_INTAKE_ROOM_H
#define DOPPEL_TOOLS_INTAKE_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include <doppel/worker.h>

#include "tools/intake.h"

/* So many files at most are between the walk and the caller, so that one slow file neither stops
 * the others nor lets them pile up. */
enum { WINDOW = 1024 };

enum slot_state {
    SLOT_AT_WORKER,
    SLOT_TWIN, /* waits for another slot with the same bytes */
    SLOT_READY,
    SLOT_PASSED_OVER /* nothing to say of it */
};

struct slot {
    enum slot_state state;
    const struct doppel_scheme *scheme; /* that its kind asks for; borrowed from the settings */
    struct intake_file file;
    struct walk_entry entry;
};

struct intake {
    const struct intake_options *options;
    struct walk *walk;
    struct walk *counter; /* runs ahead to know how many files there will be; NULL when done */
    struct doppel_pool *pool;
    struct slot slots[WINDOW];
    uint64_t next_in, next_out; /* slot n lies at n % WINDOW */
    uint64_t counted, done, passed_over;
    bool walked, cache_failed;
    char *here; /* the working directory, "" when not known: the cache wants absolute paths */
};

struct doppel_file_stamp stamp_of(const struct stat *status);

/* The slot ends, with a record (DOPPEL_OK) or a reason why there is none. */
void slot_ready(struct slot *slot, enum doppel_status status, const char *reason);

/* Whether files of this kind are to be read. */
bool intake_wants(const struct intake *intake, enum doppel_kind kind);

/* Whether a file of this kind is taken for what it is: a text that is named like a picture or a
 * sound, or like what programs write beside a picture, is not, unless only texts are wanted. */
bool slot_may_be(const struct intake *intake, const struct slot *slot, enum doppel_kind kind);

/* The slot's scheme and reading, if it is a file of this kind. */
void slot_take_kind(const struct intake *intake, struct slot *slot, enum doppel_kind kind);

/* Tell the kind of an open file: the slot ends unless it is one that is wanted. */
void slot_probe(struct intake *intake, struct slot *slot, int fd);

/* Whether a file was named on the command line, or in a list, and not met in a folder. */
bool named_on_command_line(const struct intake *intake, const struct slot *slot);

/* What is wanted: "picture, text or sound". */
void intake_wanted(const struct intake *intake, char out[64]);

/* Whether the attachment of a record is wanted by those who take it: of texts and sounds it always
 * is, as it holds what is said of them. */
bool keeps_attachment(const struct intake *intake, enum doppel_kind kind);

/* The same for a file that has not changed since it was digested. */
bool slot_recall_by_path(struct intake *intake, struct slot *slot);

/* Read a file that the cache does not know by its path: it becomes ready, or goes to a worker. */
enum doppel_status slot_read(struct intake *intake, struct slot *slot, struct doppel_error *error);

/* Give file number `number`, a twin, to a worker after all: its double was of no help. */
enum doppel_status slot_read_twin(struct intake *intake, uint64_t number,
                                  struct doppel_error *error);

/* An outcome of a worker becomes the slot's record, and the cache's, unless the file changed while
 * it was read: then it is of bytes that nobody digested. */
void slot_take_outcome(struct intake *intake, struct slot *slot, struct doppel_outcome *outcome);

/* What is known of `from` is known of `slot` too: they have the same bytes. */
void slot_share(struct slot *slot, const struct slot *from);

#endif
