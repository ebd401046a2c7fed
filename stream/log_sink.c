/* Copies of the log: in PostgreSQL, if doppel was built with the headers of libpq. */
#include <doppel/stream.h>

#ifdef HAVE_LIBPQ
#include "stream/postgres/sink.h"
#endif

enum doppel_status doppel_log_sink(struct doppel_run *run, struct doppel_library *library,
                                   const struct doppel_log_sink_options *options,
                                   struct doppel_log_sink_counts *out_counts,
                                   struct doppel_error *error)
{
#ifdef HAVE_LIBPQ
    return postgres_sink(run, library, options, out_counts, error);
#else
    (void)run, (void)library, (void)options, (void)out_counts;
    return doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                       "this doppel was built without libpq, and reaches no PostgreSQL");
#endif
}
