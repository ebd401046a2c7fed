/* JSON that is kept in a library, as a member of the object that was begun last. */
#ifndef DOPPEL_COMPARE_KEPT_JSON_H
#define DOPPEL_COMPARE_KEPT_JSON_H

#include <doppel/json_writer.h>

/* Append it as we print it. @param kept NULL, or no JSON: nothing */
void write_kept_json(struct doppel_json *json, const char *key, const char *kept);

#endif
