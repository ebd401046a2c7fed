/* Inputs of requests as rows of jobs keep them: objects of JSON, as a client may send them; of a
 * file what is said of it, and {"upload":true}. */
#ifndef DOPPEL_SERVE_JOBS_JOB_INPUTS_H
#define DOPPEL_SERVE_JOBS_JOB_INPUTS_H

#include "serve/inputs.h"

/* @return given (free); NULL: no memory, or a text that is not UTF-8 */
char *job_input_to_json(const struct request_input *input);

/* @param out given (inputs_free), with one input, which has an error where it is none any more.
 * DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_MEMORY */
enum doppel_status job_input_from_json(const struct service *service, const char *text,
                                       struct inputs *out, struct doppel_error *error);

#endif
