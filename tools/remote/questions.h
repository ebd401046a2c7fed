/* Files on their way to a service: many in one request. */
#ifndef DOPPEL_TOOLS_REMOTE_QUESTIONS_H
#define DOPPEL_TOOLS_REMOTE_QUESTIONS_H

#include <jansson.h>

#include "tools/args/options.h"
#include "tools/output/messages.h"
#include "tools/remote/service.h"

enum { REMOTE_KEY = 33 };

/* What is done with the answer about a file. @param answer borrowed; NULL: there is none, since it
 * could not be read. @return false: no more are wanted */
typedef bool remote_answered(void *context, const char *path, const json_t *answer,
                             const char *failure);

struct remote_question {
    const struct settings *settings;
    struct report *report;
    struct remote remote;
    const char *path;                        /* of the request, with what follows '?' */
    bool writes;                             /* what is sent twice must be done once */
    bool tells;                              /* what the command line says of the files goes, too */
    bool (*is_answer)(const json_t *answer); /* whether it makes sense */
    remote_answered *answered;
    void *context;
};

/* Read the files that the command line names, and ask about them, in their order.
 * @return DOPPEL_OK, also where files could not be read; DOPPEL_E_CANCELLED; else it could not go
 * on
 */
enum doppel_status remote_ask(const struct remote_question *question, struct doppel_error *error);

/* The same by sending the files. */
enum doppel_status remote_upload(const struct remote_question *question,
                                 struct doppel_error *error);

/* Take the one result of an answer about one input. @param name of the input. @param out_go_on
 * untouched on failure. @return DOPPEL_E_FORMAT: there is none */
enum doppel_status remote_take_result(const struct remote_question *question, const char *name,
                                      const struct doppel_client_answer *answer, bool *out_go_on,
                                      struct doppel_error *error);

/* A word that is new to each request, for those that write. */
void remote_make_key(char out[static REMOTE_KEY]);

/* What an item is called that comes from a file here: unlike those of other machines. Given (free);
 * NULL: it has no name */
char *remote_id_of(const struct settings *settings, const char *path);

#endif
