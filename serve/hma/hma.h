/* What clients of Meta's Hasher-Matcher-Actioner ask (facebook/ThreatExchange, folder
 * hasher-matcher-actioner): the same routes, fields and status codes, over the library. A bank is a
 * list, a content of it an item that has one code or digest. */
#ifndef DOPPEL_SERVE_HMA_HMA_H
#define DOPPEL_SERVE_HMA_HMA_H

#include "serve/answers/answers.h"

/* Of the service */
enum handled hma_status(struct exchange *exchange);

/* Files to signals: HMA's word for codes and digests */
enum handled hma_fetch(struct exchange *exchange);
enum handled hma_hash(struct exchange *exchange);
enum handled hma_compare(struct exchange *exchange);
enum handled hma_signal_types(struct exchange *exchange);
enum handled hma_content_types(struct exchange *exchange);

/* What the banks have that is like a signal */
enum handled hma_raw_lookup(struct exchange *exchange);
enum handled hma_lookup(struct exchange *exchange);
enum handled hma_lookup_file(struct exchange *exchange);
enum handled hma_index_status(struct exchange *exchange);

/* Banks, and what is in them */
enum handled hma_banks(struct exchange *exchange);
enum handled hma_make_bank(struct exchange *exchange);
enum handled hma_bank(struct exchange *exchange);
enum handled hma_change_bank(struct exchange *exchange);
enum handled hma_remove_bank(struct exchange *exchange);
enum handled hma_add_file(struct exchange *exchange);
enum handled hma_add_signals(struct exchange *exchange);
enum handled hma_content(struct exchange *exchange);
enum handled hma_remove_content(struct exchange *exchange);

/* ---- what they share ---- */

enum { HMA_MD5_BYTES = 16 };

struct hma_signal {
    bool is_md5;                /* `video_md5`; else `pdq` */
    struct doppel_code code;    /* of `pdq` */
    uint8_t md5[HMA_MD5_BYTES]; /* of `video_md5` */
};

const char *hma_type_name(const struct hma_signal *signal);
/* As a member of the object that was begun last: "pdq":"f8f8…" */
void hma_put_signal(struct doppel_json *json, const struct hma_signal *signal);

/* @return false: there is no such type, or it is no such signal, and the reply says so */
bool hma_read_signal(struct exchange *exchange, const char *type, const char *text,
                     struct hma_signal *out);
/* That of the one file of a form, whose field is `photo` or `video`. At a desk. @return likewise */
bool hma_read_upload(struct exchange *exchange, struct hma_signal *out);

/* The scheme of `pdq`. */
const struct doppel_scheme *hma_pdq(void);

/* An object in the body; given (json_decref). NULL: it is none, and the reply says so */
json_t *hma_read_object(struct exchange *exchange);

/* Whether a query has "true" for a name. */
bool hma_is_asked(const struct exchange *exchange, const char *name);
/* Whether a name is among those with commas between; NULL has all. */
bool hma_names(const char *names, const char *name);

/* The state of a bank. DOPPEL_E_NOT_FOUND: there is none of this name */
enum doppel_status hma_bank_state(struct doppel_library *library, const char *bank,
                                  enum doppel_list_state *out, struct doppel_error *error);
/* As an object. */
void hma_put_bank(struct doppel_json *json, const char *key, const char *bank,
                  enum doppel_list_state state);

/* Take an item off a bank; one that has no file and is in no bank any more leaves the library.
 * DOPPEL_E_NOT_FOUND: it is not in the bank */
enum doppel_status hma_take_off(struct doppel_library *library, const char *bank, uint64_t id,
                                struct doppel_error *error);

#endif
