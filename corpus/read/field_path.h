/* Names of fields that stand in others: "meta.content", "messages[0].content". */
#ifndef DOPPEL_CORPUS_READ_FIELD_PATH_H
#define DOPPEL_CORPUS_READ_FIELD_PATH_H

#include <stdbool.h>

#include "corpus/read/parse.h"

/* Zero-initialised it is none. */
struct field_path {
    char *words; /* the name, cut into steps */
    char **steps;
    struct json_path json; /* of no steps where the name is a plain one */
};

/** Take a name apart at its dots and brackets; a dot at its beginning is left out, as jq writes it.
 * False: no memory. @param out given (field_path_free) */
bool field_path_init(struct field_path *out, const char *name);
void field_path_free(struct field_path *path);

#endif
