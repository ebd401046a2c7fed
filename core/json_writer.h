/** doppel/json_writer.h: results as JSON. Part of doppel/core.h.
 *
 * A struct doppel_json is text that grows. Each function appends a member to the object, or an
 * element to the array, that was begun last; the comma before it is added where it is needed.
 *
 *     struct doppel_json json = {0};
 *     doppel_json_object_begin(&json, NULL);
 *     doppel_json_text(&json, "relation", "near");
 *     doppel_json_array_begin(&json, "rotations");
 *     doppel_json_integer(&json, NULL, 90);
 *     doppel_json_array_end(&json);
 *     doppel_json_object_end(&json);            {"relation":"near","rotations":[90]}
 *
 * Without memory, the rest is left out and `failed` is set: look at it once, at the end. */
#ifndef DOPPEL_JSON_WRITER_H
#define DOPPEL_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero-initialised it is empty. Not for two threads at a time. */
struct doppel_json {
    char *bytes;           /**< NUL-terminated; NULL: nothing was written */
    size_t size, capacity; /**< bytes, without the NUL; bytes */
    bool failed;           /**< something is missing for want of memory */
};

/** Free its memory; it is empty then. */
DOPPEL_API void doppel_json_free(struct doppel_json *json);
/** Empty it, but keep its memory for the next. */
DOPPEL_API void doppel_json_clear(struct doppel_json *json);
/** DOPPEL_OK, or DOPPEL_E_MEMORY when something is missing. */
DOPPEL_API enum doppel_status doppel_json_status(const struct doppel_json *json,
                                                 struct doppel_error *error);

/* In all that follows, `key` is UTF-8; NULL: an element of an array, or the whole. */

DOPPEL_API void doppel_json_object_begin(struct doppel_json *json, const char *key);
DOPPEL_API void doppel_json_object_end(struct doppel_json *json);
DOPPEL_API void doppel_json_array_begin(struct doppel_json *json, const char *key);
DOPPEL_API void doppel_json_array_end(struct doppel_json *json);

/** Any bytes; each that is not UTF-8 becomes U+FFFD. @param text NULL: nothing is written */
DOPPEL_API void doppel_json_text(struct doppel_json *json, const char *key, const char *text);
/** The same with `size` bytes, of which none is NUL. */
DOPPEL_API void doppel_json_text_of(struct doppel_json *json, const char *key, const char *text,
                                    size_t size);
/** The same; where it is not UTF-8, KEY_base64 follows. @param key not NULL. @param path NULL:
 * nothing is written */
DOPPEL_API void doppel_json_path(struct doppel_json *json, const char *key, const char *path);
/** Bytes as base64. */
DOPPEL_API void doppel_json_base64(struct doppel_json *json, const char *key, const void *bytes,
                                   size_t size);
DOPPEL_API void doppel_json_integer(struct doppel_json *json, const char *key, uint64_t value);
/** What may be below 0. */
DOPPEL_API void doppel_json_signed(struct doppel_json *json, const char *key, int64_t value);
/** Rounded to `decimals`, without zeros at the end: "0.5", "3.0". JSON has no infinity: such a
 * number is left out. */
DOPPEL_API void doppel_json_number(struct doppel_json *json, const char *key, double value,
                                   int decimals);
/** Rounded to three significant digits: "1.23e-9". */
DOPPEL_API void doppel_json_rate(struct doppel_json *json, const char *key, double rate);
/** With 15 significant digits: for what is not rounded. */
DOPPEL_API void doppel_json_real(struct doppel_json *json, const char *key, double value);
DOPPEL_API void doppel_json_boolean(struct doppel_json *json, const char *key, bool value);
DOPPEL_API void doppel_json_null(struct doppel_json *json, const char *key);
/** An array of strings; where there are none nothing is written. */
DOPPEL_API void doppel_json_texts(struct doppel_json *json, const char *key,
                                  const char *const *texts, size_t count);
/** An array of codes in hexadecimal, each with its position: [["8f00…",0],…]. */
DOPPEL_API void doppel_json_codes(struct doppel_json *json, const char *key,
                                  const struct doppel_fingerprint *fingerprint);
/** As "artist", "title" and "album", each where there is one. */
DOPPEL_API void doppel_json_audio_tags(struct doppel_json *json,
                                       const struct doppel_audio_tags *tags);
/** A value that is JSON. */
DOPPEL_API void doppel_json_raw(struct doppel_json *json, const char *key, const char *value,
                                size_t size);

/* ---- between the values of JSON Lines ---- */

/** Bytes as they are, without a comma. */
DOPPEL_API void doppel_json_append(struct doppel_json *json, const char *bytes, size_t size);
/** A newline. */
DOPPEL_API void doppel_json_end_line(struct doppel_json *json);

#ifdef __cplusplus
}
#endif
#endif
