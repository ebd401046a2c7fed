/* Sources of messages: Redis, if doppel was built with hiredis. */
#include <doppel/stream.h>

#ifdef HAVE_HIREDIS
#include "stream/redis/ingest.h"
#endif

enum doppel_status doppel_stream_ingest(struct doppel_run *run, struct doppel_decider *decider,
                                        const struct doppel_stream_options *options,
                                        struct doppel_stream_counts *out_counts,
                                        struct doppel_error *error)
{
#ifdef HAVE_HIREDIS
    return redis_ingest(run, decider, options, out_counts, error);
#else
    (void)run, (void)decider, (void)options, (void)out_counts;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "this doppel was built without hiredis, and reads no streams");
#endif
}
