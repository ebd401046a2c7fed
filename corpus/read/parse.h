/* The fields of one JSON object, as they are written: what simdjson is used for. */
#ifndef DOPPEL_CORPUS_READ_PARSE_H
#define DOPPEL_CORPUS_READ_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PARSE_SLACK = 64 }; /* bytes that are readable beyond a line */

enum json_problem {
    JSON_FINE,
    JSON_MEMORY,
    JSON_TOO_LONG,  /* for the library */
    JSON_BAD_UTF8,  /* nothing was visited */
    JSON_CONTROL,   /* likewise: a byte below 32 in a string */
    JSON_OPEN,      /* likewise: a string or the object is not closed */
    JSON_NO_OBJECT, /* likewise */
    JSON_BROKEN,    /* after what was visited */
    JSON_MORE       /* something follows the object */
};

struct json; /* of one thread */
struct json *json_new(void);
void json_free(struct json *json);

/* Where a value stands in an object: names of fields, and numbers of elements. */
struct json_path {
    char *const *steps;
    size_t count;
    const char *token; /* what the last visit found there, as for a visitor; NULL: nothing */
    size_t token_size;
};

enum { JSON_MAX_PATHS = 8 };

/* Visits look for these, too, the last of equal names. @param paths borrowed for good */
void json_look_for(struct json *json, struct json_path *const *paths, size_t count);

/* A field: `key` is what stands after its first quote, up to `value` at most; `value` the first
 * token of the value (a whole string or number, or the bracket of an array or object), maybe with
 * white space behind it. */
typedef void json_field_visitor(void *context, const char *key, const char *value, size_t size);

/* Visit the fields of the object that `line` is, in order. What is nested is passed over: of it
 * only brackets are looked at. @param line readable PARSE_SLACK beyond size */
enum json_problem json_visit(struct json *json, const char *line, size_t size,
                             json_field_visitor *visitor, void *context);

/* Bytes of the object, array or string that begins at `value`, up to its own end; 0: it has none
 * within `size`. Only quotes and brackets are looked at. */
size_t json_extent(const char *value, size_t size);

/* Whether this is an object, whole and without fault; JSON_NO_OBJECT: something else.
 * @param value readable PARSE_SLACK beyond size, as for json_visit_strings */
enum json_problem json_check_object(struct json *json, const char *value, size_t size);

/* Whether it is UTF-8 throughout. */
bool json_is_utf8(const char *bytes, size_t size);

/* False ends it. `bytes` may hold NULs. */
typedef bool json_string_visitor(void *context, const char *bytes, size_t size);

/* Visit the strings of an array; JSON_NO_OBJECT: it is none, or holds something else. */
enum json_problem json_visit_strings(struct json *json, const char *value, size_t size,
                                     json_string_visitor *visitor, void *context);

#ifdef __cplusplus
}
#endif
#endif
