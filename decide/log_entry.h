/* A decision about a file as the log of a library keeps it. */
#ifndef DOPPEL_DECIDE_LOG_ENTRY_H
#define DOPPEL_DECIDE_LOG_ENTRY_H

#include "decide/file_decider.h"

/* @param path absolute. @param source or NULL. @param version of the scheme of its record */
enum doppel_status decide_log(struct doppel_library *library,
                              const struct doppel_compare_options *compare, const char *path,
                              const char *source, uint16_t version,
                              const struct file_decision *decision, struct doppel_error *error);

#endif
