/* Files that jobs are about, until these have ended: in the library's folder `jobs`, in one folder
 * a job, which is called by its id, and each by the number of its input. */
#ifndef DOPPEL_SERVE_JOBS_UPLOADS_H
#define DOPPEL_SERVE_JOBS_UPLOADS_H

#include <doppel/library.h>

#include "serve/inputs.h"

struct uploads;

/* What was left by jobs that ended goes, and, where no other service uses the library, what was
 * never accepted. @param out given (uploads_close) */
enum doppel_status uploads_open(const char *library_folder, bool durable,
                                struct doppel_library *library, struct uploads **out,
                                struct doppel_error *error);
void uploads_close(struct uploads *uploads);

/* Whether this process alone works on the jobs of the library, from now until it closes. */
bool uploads_lock(struct uploads *uploads);

bool uploads_are_locked(const struct uploads *uploads);

/* Where uploads come in, so that they need not be copied. */
const char *uploads_folder(const struct uploads *uploads);

/* Keep the files among inputs, for a job that has no id yet. @param out_draft by which they are
 * known until then. Thread-safe */
enum doppel_status uploads_save(struct uploads *uploads, const struct inputs *inputs,
                                uint64_t *out_draft, struct doppel_error *error);

/* They are those of a job. */
enum doppel_status uploads_name(struct uploads *uploads, uint64_t draft, uint64_t job,
                                struct doppel_error *error);
void uploads_drop_draft(struct uploads *uploads, uint64_t draft);

/* The file of an input, to be read. @param out given (large_buffer_free). DOPPEL_E_NOT_FOUND;
 * DOPPEL_E_IO */
enum doppel_status uploads_read(const struct uploads *uploads, uint64_t job, uint64_t number,
                                struct large_buffer *out, struct doppel_error *error);

/* One is not needed any more; and all of a job. */
void uploads_remove_one(const struct uploads *uploads, uint64_t job, uint64_t number);
void uploads_remove(const struct uploads *uploads, uint64_t job);

#endif
