/* Files that could not be read, as a library remembers them. */
#ifndef DOPPEL_DECIDE_KNOWN_FAILURES_H
#define DOPPEL_DECIDE_KNOWN_FAILURES_H

#include <doppel/library.h>

#include <doppel/run.h>

/* Whether a file that has not changed would fail again. @param path absolute. @param out why */
bool failure_is_known(const struct doppel_run *run, struct doppel_library *library,
                      const char *path, const struct doppel_file_stamp *stamp,
                      struct doppel_error *out);

/* Remember it until the file changes, where the file is to blame. @param path absolute */
enum doppel_status failure_keep(const struct doppel_run *run, struct doppel_library *library,
                                const char *path, const struct doppel_file_stamp *stamp,
                                const struct doppel_error *reason, struct doppel_error *error);

#endif
