/* Files on their way to a library in a cluster: those that are ready go together. */
#ifndef DOPPEL_TOOLS_CLUSTERED_FILES_H
#define DOPPEL_TOOLS_CLUSTERED_FILES_H

#include "intake/reader.h"
#include "tools/args/options.h"
#include "tools/output/messages.h"

enum { CLUSTERED_FILES = 256 }; /* at most, in one batch */

/* What is done with a batch, in order: also of files that could not be read, as their records say.
 * @param files borrowed */
typedef enum doppel_status clustered_taker(void *context, struct intake_file *files, size_t count,
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
