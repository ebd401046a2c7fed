/* JSON that is kept in a library, as a member. */
#include "compare/kept_json.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* 15 digits give back every rounded decimal as it was written. */
enum { FLAGS = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) };

void write_kept_json(struct doppel_json *json, const char *key, const char *kept)
{
    json_t *value = kept ? json_loads(kept, 0, NULL) : NULL;
    char *text = value ? json_dumps(value, FLAGS) : NULL;
    if (text)
        doppel_json_raw(json, key, text, strlen(text));
    free(text);
    json_decref(value);
}
