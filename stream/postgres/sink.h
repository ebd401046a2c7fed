/* Copying the log of a library to PostgreSQL. */
#ifndef DOPPEL_STREAM_POSTGRES_SINK_H
#define DOPPEL_STREAM_POSTGRES_SINK_H

#include <doppel/stream.h>

/* As doppel_log_sink */
enum doppel_status postgres_sink(struct doppel_run *run, struct doppel_library *library,
                                 const struct doppel_log_sink_options *options,
                                 struct doppel_log_sink_counts *out_counts,
                                 struct doppel_error *error);

#endif
