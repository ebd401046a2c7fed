/**
 * doppel/library_requests.h: requests that are to be done once, however often they come, and what
 * was answered. As doppel/library_decisions.h says, what changes the library is kept by the next
 * doppel_library_commit.
 */
#ifndef DOPPEL_LIBRARY_REQUESTS_H
#define DOPPEL_LIBRARY_REQUESTS_H

#include <stdbool.h>

#include <doppel/library.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Borrowed. */
struct doppel_library_request {
    const char *client; /**< whose key it is; "": everybody's */
    const char *key;    /**< that the client chose */
    struct doppel_digest body;
};

/** So long a request is remembered. */
enum { DOPPEL_REQUEST_SECONDS = 24 * 60 * 60 };

/**
 * Begin a request, or find the one with its key. What is older than DOPPEL_REQUEST_SECONDS goes.
 *
 * @param out its number
 * @return DOPPEL_OK; DOPPEL_E_ARGUMENT: the key came with another body
 */
DOPPEL_API enum doppel_status doppel_library_begin_request(
    struct doppel_library *library, const struct doppel_library_request *request, uint64_t *out,
    struct doppel_error *error);

/** Keep what is answered to one of its inputs: with the decision, in the same transaction. */
DOPPEL_API enum doppel_status doppel_library_keep_answer(struct doppel_library *library,
                                                         uint64_t request, uint64_t number,
                                                         const char *answer,
                                                         struct doppel_error *error);

/** What was answered to one; false ends the visit. Borrowed. */
typedef bool doppel_answer_visitor(void *context, uint64_t number, const char *answer);
/** By number. DOPPEL_E_CORRUPT, after the others: some are damaged. DOPPEL_E_CANCELLED */
DOPPEL_API enum doppel_status doppel_library_each_answer(struct doppel_library *library,
                                                         uint64_t request,
                                                         doppel_answer_visitor *visitor,
                                                         void *context, struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
