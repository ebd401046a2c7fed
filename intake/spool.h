/* Standard input as a file that can be read anywhere. */
#ifndef DOPPEL_INTAKE_SPOOL_H
#define DOPPEL_INTAKE_SPOOL_H

#include <stdint.h>

#include <doppel/core.h>

/**
 * All that comes from `in`, in a file without a name; a regular file at its beginning is used as it
 * is.
 *
 * @param max_bytes more are DOPPEL_E_LIMIT; 0 = no limit
 * @param out_fd    close-on-exec; given (close)
 */
enum doppel_status spool(int in, uint64_t max_bytes, int *out_fd, struct doppel_error *error);

#endif
