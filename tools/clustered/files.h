/* Files on their way to a library in a cluster: those that are ready go together. */
#ifndef DOPPEL_TOOLS_CLUSTERED_FILES_H
#define DOPPEL_TOOLS_CLUSTERED_FILES_H

#include "intake/reader.h"
#include "tools/args/options.h"
#include "tools/output/messages.h"

enum { CLUSTERED_FILES = 256 }; /* at most, in one batch */

/* Files that were read together, in order: also those that could not be, as their records say. */
struct clustered_batch {
    struct intake_file files[CLUSTERED_FILES];
    uint64_t lines[CLUSTERED_FILES]; /* of a list on standard input, from 1; 0: none */
    size_t count;
};

/* What is done with a batch. @param batch borrowed */
typedef enum doppel_status clustered_taker(void *context, const struct clustered_batch *batch,
                                           struct doppel_error *error);

struct clustered_reading {
    const struct settings *settings;
    struct report *report;
    bool every_name;    /* files that are named twice come twice */
    bool stdin_operand; /* "-" among the operands is a file to read */
    clustered_taker *take;
    void *context;
};

/* Read the files that the command line names; a batch is what is ready when the one before was
 * taken, and never waited for. @param out_any whether there were any. @return DOPPEL_OK, also where
 * files could not be read; DOPPEL_E_CANCELLED; else it could not go on */
enum doppel_status clustered_read(const struct clustered_reading *reading, bool *out_any,
                                  struct doppel_error *error);

/* Why a file is not in the library, and cannot be; NULL: nothing is in the way. Borrowed from it */
const char *clustered_obstacle(const struct intake_file *file);

#endif
