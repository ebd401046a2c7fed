/* A match as JSON. */
#ifndef DOPPEL_COMPARE_MATCH_JSON_H
#define DOPPEL_COMPARE_MATCH_JSON_H

#include <doppel/json_writer.h>
#include <doppel/match.h>

/* Append the fields of a match to the object that was begun last; transform only where something
 * was transformed. */
DOPPEL_API void doppel_match_to_json(struct doppel_json *json, const struct doppel_match *match);

#endif
