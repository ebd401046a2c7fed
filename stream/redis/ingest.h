/* Deciding about the messages of a consumer group. */
#ifndef DOPPEL_STREAM_REDIS_INGEST_H
#define DOPPEL_STREAM_REDIS_INGEST_H

#include <doppel/stream.h>

/* As doppel_stream_ingest */
enum doppel_status redis_ingest(struct doppel_run *run, struct doppel_decider *decider,
                                const struct doppel_stream_options *given,
                                struct doppel_stream_counts *out_counts,
                                struct doppel_error *error);

#endif
