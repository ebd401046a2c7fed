/* What is known of an input: read by a worker, where it is no code. */
#ifndef DOPPEL_SERVE_INPUT_RECORD_H
#define DOPPEL_SERVE_INPUT_RECORD_H

#include "serve/inputs.h"

/* Let an input be the file at a path, if it lies below an allowed folder; else it has an error. It
 * is opened when it is read: a request may name more than can be open. */
void input_name_path(const struct service *service, struct request_input *input, const char *path);

/* What is known of an input: of a code that alone, which is taken from it; of all else what a
 * worker reads.
 * @param out given (doppel_record_free). As doppel_fingerprint. Thread-safe */
enum doppel_status input_record(struct service *service, struct request_input *input,
                                struct doppel_record *out, struct doppel_error *error);

/* The same of a file that was read, by another scheme. DOPPEL_E_NOT_FOUND: it is no file */
enum doppel_status input_read_again(const struct service *service,
                                    const struct request_input *input,
                                    const struct doppel_scheme *scheme, struct doppel_record *out,
                                    struct doppel_error *error);

/* A descriptor that reads an input's bytes from their beginning; given. -1: it has none, as a code,
 * or they cannot be read */
int request_input_open(const struct service *service, const struct request_input *input);

/* What a worker reads of an upload. As doppel_fingerprint. Thread-safe */
enum doppel_status upload_record(const struct service *service, const struct large_buffer *file,
                                 const struct doppel_read_options *read, struct doppel_record *out,
                                 struct doppel_error *error);

/* Its digests of the makes by which the library has items, where it has bytes.
 * @param library one of this thread's; NULL: a reader's */
enum doppel_status input_exact(struct service *service, struct doppel_library *library,
                               struct request_input *input, struct doppel_error *error);

/* What is decided about: as input_record, and of a file the digests. Of one that cannot be read,
 * but is on a list of hashes, its bytes are known alone. */
enum doppel_status input_to_decide(struct service *service, struct request_input *input,
                                   struct doppel_record *out, struct doppel_error *error);

#endif
