/* A file that was read by one scheme, read again by another one, for a search. */
#ifndef DOPPEL_INTAKE_OTHER_SCHEME_H
#define DOPPEL_INTAKE_OTHER_SCHEME_H

#include <doppel/intake.h>

/* How it is read: `run` borrowed; the rest as for the first time. */
struct other_scheme_reader {
    struct doppel_run *run;
    struct doppel_read_options read;
    struct doppel_run *bare; /* given (other_scheme_reader_free): without cache, telling nobody */
};
void other_scheme_reader_free(struct other_scheme_reader *reader);

/* The `fingerprint` of struct doppel_search_options; `context` is the reader. DOPPEL_E_CHANGED: it
 * has other bytes by now; DOPPEL_E_NOT_FOUND: standard input is gone. */
enum doppel_status other_scheme_read(void *context, const struct doppel_record *query,
                                     const char *name, const struct doppel_scheme *scheme,
                                     struct doppel_record *out, struct doppel_error *error);

#endif
