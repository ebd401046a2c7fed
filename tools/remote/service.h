/* A doppel service, `doppel serve`, in place of a library here: --server. */
#ifndef DOPPEL_TOOLS_REMOTE_SERVICE_H
#define DOPPEL_TOOLS_REMOTE_SERVICE_H

#include <jansson.h>

#include <doppel/client.h>

#include "core/json_writer.h"
#include "tools/args/options.h"
#include "tools/output/messages.h"

struct remote {
    struct doppel_client *client;
    struct report *report;
    const char *url; /* borrowed */
};

/* Nothing is sent yet. @param out given (remote_close). As doppel_client_new. */
enum doppel_status remote_open(const struct settings *settings, struct report *report,
                               struct remote *out, struct doppel_error *error);
void remote_close(struct remote *remote);

/* Send, and again where the service is away, or has too much to do: so what is sent must be done
 * once, however often it comes. @param out given (doppel_client_answer_free). As doppel_client_send
 */
enum doppel_status remote_send(const struct remote *remote,
                               const struct doppel_client_request *request,
                               struct doppel_client_answer *out, struct doppel_error *error);

/* Say that what was answered makes no sense. */
enum doppel_status remote_fail_answer(const struct remote *remote, struct doppel_error *error);

/* Add a word to a path, so that it stays one. */
void remote_add_word(struct doppel_json *path, const char *word);

/* @param path from the first '/' on. @param out given (json_decref). As doppel_client_send;
 * DOPPEL_E_FORMAT: what is answered is no object of JSON */
enum doppel_status remote_get(const struct remote *remote, const char *path, json_t **out,
                              struct doppel_error *error);

/* Send an object of JSON, to which the answer is nothing. @param value taken */
enum doppel_status remote_tell(const struct remote *remote, const char *method, const char *path,
                               json_t *value, struct doppel_error *error);

/* @param row borrowed. @return false: no more are wanted */
typedef bool remote_visitor(void *context, const json_t *row);

/* With --semantic, add its parameters to a path. */
enum { REMOTE_PATH = 192 };
void remote_add_meaning(const struct settings *settings, char path[static REMOTE_PATH]);

/* Each entry of the list `key` of an answer, and of all pages that follow it: "items", "groups" or
 * "marks"; and of the list "links", if there is one.
 * @param path of the first; where there may be more, with something after '?' */
enum doppel_status remote_each(const struct remote *remote, const char *path, const char *key,
                               remote_visitor *visit, void *context, struct doppel_error *error);

/* Add the members of an object, but for those called so. @param except names, with blanks around
 * each */
void remote_put_members(struct doppel_json *json, const json_t *object, const char *except);

/* Print a row as it came. */
struct output;
void remote_print(struct output *output, const json_t *row);

#endif
