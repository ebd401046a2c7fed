/* What a request is about: files, texts, codes and paths, from any form of body. */
#ifndef DOPPEL_SERVE_INPUTS_H
#define DOPPEL_SERVE_INPUTS_H

#include <jansson.h>

#include <doppel/intake.h>
#include <doppel/library.h>

#include "serve/exchange.h"

enum input_form {
    INPUT_FILE,
    INPUT_TEXT,
    INPUT_CODE,
    INPUT_PATH,
    INPUT_RECORD,
    INPUT_SIGNATURE,
    INPUT_DIGESTS /* of a file that nobody can read as anything */
};

struct request_input {
    enum input_form form;
    const char *id;   /* of the client's, kept with the item; NULL: it has none. Borrowed */
    const char *name; /* what the client calls it; NULL: nothing. Borrowed, as all is */
    const struct large_buffer *file; /* INPUT_FILE */
    const char *text;                /* INPUT_TEXT */
    size_t text_size;
    const char *code; /* INPUT_CODE, in hex; `fingerprint` is it */
    struct doppel_fingerprint fingerprint;
    struct doppel_record *record;          /* INPUT_RECORD; given; it may be taken from it */
    struct doppel_library_text *signature; /* INPUT_SIGNATURE; given; `fingerprint` is it, too */
    uint16_t signature_version;            /* of its scheme */
    uint16_t *lanes;                       /* of the signature; given */
    char *path;                            /* INPUT_PATH, absolute, and allowed; given */
    struct doppel_exact_digests *exact;    /* of its bytes, sent, or by input_exact(); NULL: none */
    const json_t *object;                  /* that it was read from; NULL: no JSON */
    const char *source, *date;             /* NULL: not known */
    const char *client;                    /* who sent it, to be logged; NULL: nobody with a name */
    struct doppel_metadata metadata;       /* labels, lists and meta; what it names is borrowed */
    struct doppel_error error;             /* status != OK: it is none, and why */
};

struct inputs {
    ARRAY(struct request_input) all;
    json_t *json; /* what the strings lie in; NULL: no JSON */
    bool many;    /* asked as a list: the client expects one, however long it is */
};

/* Read the body of a request. On failure its reply is set, and there are none. One without an
 * input is a failure.
 * @param out given (inputs_free), also when it fails. What is in it is borrowed from the exchange
 */
bool inputs_read(struct exchange *exchange, struct inputs *out);

/* Add one, of which nothing is known yet. @return NULL: no memory */
struct request_input *inputs_add(struct inputs *inputs, enum input_form form);

/* Add what an object of JSON says is an input. @param object borrowed as long as that is used.
 * DOPPEL_OK, also when it cannot be read; DOPPEL_E_ARGUMENT: it is none, and why; DOPPEL_E_MEMORY
 */
enum doppel_status inputs_add_object(const struct service *service, struct inputs *inputs,
                                     json_t *object, struct doppel_error *error);

/* What an object says of an input beside what it is. @return false: it is not well formed */
bool input_read_metadata(const json_t *object, struct request_input *input);

/* Free what an input holds, but not itself. */
void input_free(struct request_input *input);

/* A field that is none of `known`, which ends in NULL: such a one is a mistake that is told. NULL:
 * there is none. Borrowed */
const char *unknown_field(json_t *object, const char *const *known);

/* A body that is an object of JSON, given (json_decref). NULL: it is none */
json_t *exchange_json(struct exchange *exchange);

void inputs_free(struct inputs *inputs);

#endif
