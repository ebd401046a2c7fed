/* Files of folders as they come and settle, from the inside. */
#ifndef DOPPEL_INTAKE_WATCH_H
#define DOPPEL_INTAKE_WATCH_H

#include <doppel/intake.h>

/* The path of the next file that has settled, as a walk's `feed` gives it; NULL: there is none for
 * now. Borrowed until the next call. @param context a struct doppel_watch */
const char *watch_next_path(void *context);

/* Wait until a file may have settled. DOPPEL_OK; DOPPEL_E_CANCELLED: the run is; DOPPEL_E_IO */
enum doppel_status watch_wait(struct doppel_watch *watch, struct doppel_error *error);

#endif
