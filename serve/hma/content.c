/* /c/bank/NAME/content and /signal: items on a list, each with one signal. */
#include "serve/hma/hma.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "serve/writer.h"

enum { LONGEST_NAME = 1000 };

/* What a path names. */
struct bank_place {
    char bank[LONGEST_NAME + 1];
    uint64_t id; /* of a content; 0: none */
};

static struct bank_place bank_place_of(const struct exchange *exchange)
{
    struct bank_place place = {0};
    size_t size = strcspn(exchange->rest, "/");
    const char *number = strrchr(exchange->rest, '/') + 1;
    char *end;
    memcpy(place.bank, exchange->rest, size < LONGEST_NAME ? size : LONGEST_NAME);
    unsigned long long id = strtoull(number, &end, 10);
    place.id = *number >= '0' && *number <= '9' && !*end ? id : 0;
    return place;
}

/* ---- adding ---- */

struct content_wish {
    const struct bank_place *place;
    const struct hma_signal *signal;
    uint64_t id; /* of the content */
};

static enum doppel_status add_pdq(struct doppel_library *library, const struct doppel_code *code,
                                  const struct doppel_metadata *about, uint64_t *out_id,
                                  struct doppel_error *error)
{
    enum { BEST_QUALITY = 100 };
    enum doppel_added added;
    struct doppel_item item = {.path = (char *)"",
                               .record = {.kind = DOPPEL_KIND_IMAGE,
                                          .scheme = DOPPEL_SCHEME_PDQ,
                                          .version = hma_pdq()->version,
                                          .quality = BEST_QUALITY}};
    enum doppel_status status;
    TRY(doppel_fingerprint_make(hma_pdq(), hma_pdq()->code_bits, 1, &item.record.fingerprint,
                                error));
    item.record.fingerprint.codes[0] = *code;
    TRY(doppel_library_import(library, &item, about, &added, out_id, error));
done:
    doppel_fingerprint_free(&item.record.fingerprint);
    return status;
}

static enum doppel_status add_content(void *context, struct doppel_library *library,
                                      struct doppel_error *error)
{
    struct content_wish *wish = context;
    char *lists[] = {(char *)wish->place->bank};
    const struct doppel_metadata about = {.lists = lists, .list_count = 1};
    const struct doppel_exact_digest exact = {.algorithm = DOPPEL_EXACT_MD5,
                                              .bytes = wish->signal->md5};
    enum doppel_list_state state;
    bool added;
    enum doppel_status status;
    TRY(hma_bank_state(library, wish->place->bank, &state, error));
    if (wish->signal->is_md5) {
        TRY(doppel_library_add_exact(library, &exact, &wish->id, &added, error));
        TRY(doppel_library_set_metadata(library, wish->id, &about, error));
    } else {
        TRY(add_pdq(library, &wish->signal->code, &about, &wish->id, error));
    }
done:
    return status;
}

static void add_signal(struct exchange *exchange, const struct hma_signal *signal)
{
    const struct bank_place place = bank_place_of(exchange);
    struct content_wish wish = {.place = &place, .signal = signal};
    struct doppel_error error;
    if (writer_change(exchange, add_content, &wish, &error)) {
        exchange_fail(exchange, &error);
        return;
    }
    exchange->status = HTTP_OK;
    doppel_json_object_begin(&exchange->json, NULL);
    doppel_json_integer(&exchange->json, "id", wish.id);
    doppel_json_object_begin(&exchange->json, "signals");
    hma_put_signal(&exchange->json, signal);
    doppel_json_object_end(&exchange->json);
    doppel_json_object_end(&exchange->json);
}

enum handled hma_add_file(struct exchange *exchange)
{
    struct hma_signal signal;
    if (exchange_argument(exchange, "url"))
        return hma_fetch(exchange);
    if (!exchange->at_desk)
        return TAKES_TIME;
    if (hma_read_upload(exchange, &signal))
        add_signal(exchange, &signal);
    return ANSWERED;
}

enum handled hma_add_signals(struct exchange *exchange)
{
    struct hma_signal signal;
    if (!exchange->at_desk)
        return TAKES_TIME;
    json_t *root = hma_read_object(exchange);
    const char *type = json_object_iter_key(json_object_iter(root));
    if (root && json_object_size(root) != 1)
        exchange_problem(exchange, HTTP_BAD_REQUEST,
                         "a content has one signal, as {\"pdq\":\"f8f8…\"}: send others by "
                         "themselves");
    else if (root && hma_read_signal(exchange, type, json_string_value(json_object_get(root, type)),
                                     &signal))
        add_signal(exchange, &signal);
    json_decref(root);
    return ANSWERED;
}

/* ---- asking ---- */

static bool is_in_bank(const struct doppel_metadata *about, const char *bank)
{
    for (size_t i = 0; i < about->list_count; i++)
        if (strcmp(about->lists[i], bank) == 0)
            return true;
    return false;
}

static void put_signals(struct doppel_json *json, const struct doppel_item *item)
{
    static const char md5[] = "md5:";
    struct hma_signal signal = {.is_md5 = strncmp(item->path, md5, sizeof md5 - 1) == 0};
    bool has_md5 = signal.is_md5 &&
                   !doppel_hex_decode(item->path + sizeof md5 - 1, signal.md5, sizeof signal.md5);
    bool has_code = item->record.scheme == DOPPEL_SCHEME_PDQ && item->record.fingerprint.count;
    if (has_code)
        signal = (struct hma_signal){.code = item->record.fingerprint.codes[0]};
    doppel_json_object_begin(json, "signals");
    if (has_code || has_md5)
        hma_put_signal(json, &signal);
    doppel_json_object_end(json);
}

/* Contents are not disabled one by one: 1 is that of what is enabled. */
static void put_content_fields(struct exchange *exchange, const struct bank_place *place,
                               enum doppel_list_state state, const struct doppel_item *item)
{
    struct doppel_json *json = &exchange->json;
    doppel_json_object_begin(json, NULL);
    doppel_json_integer(json, "id", item->id);
    doppel_json_integer(json, "disable_until_ts", 1);
    doppel_json_object_begin(json, "collab_metadata");
    doppel_json_object_end(json);
    doppel_json_null(json, "original_media_uri");
    hma_put_bank(json, "bank", place->bank, state);
    if (hma_is_asked(exchange, "include_signals"))
        put_signals(json, item);
    doppel_json_object_end(json);
}

static enum doppel_status put_content(struct exchange *exchange, struct library_reader *reader,
                                      struct doppel_error *error)
{
    const struct bank_place place = bank_place_of(exchange);
    struct doppel_metadata about = {0};
    struct doppel_item item = {0};
    enum doppel_list_state state;
    enum doppel_status status;
    TRY(hma_bank_state(reader->library, place.bank, &state, error));
    TRY(doppel_library_get(reader->library, place.id, false, &item, error));
    TRY(doppel_library_get_metadata(reader->library, place.id, &about, error));
    if (!is_in_bank(&about, place.bank))
        TRY(doppel_fail(error, DOPPEL_E_NOT_FOUND, "the bank has no such content"));
    put_content_fields(exchange, &place, state, &item);
    exchange->status = HTTP_OK;
done:
    doppel_metadata_free(&about);
    doppel_item_free(&item);
    return status;
}

enum handled hma_content(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_content);
}

/* ---- removing ---- */

enum doppel_status hma_take_off(struct doppel_library *library, const char *bank, uint64_t id,
                                struct doppel_error *error)
{
    struct doppel_metadata about = {0};
    struct doppel_item item = {0};
    enum doppel_status status;
    TRY(doppel_library_remove_from_list(library, id, bank, error));
    TRY(doppel_library_get_metadata(library, id, &about, error));
    if (about.list_count)
        goto done;
    status = doppel_library_get(library, id, false, &item, error);
    if (!status && !doppel_item_has_file(&item))
        TRY(doppel_library_remove(library, id, error));
    if (status == DOPPEL_E_NOT_FOUND) /* a text, which stays */
        status = DOPPEL_OK;
done:
    doppel_item_free(&item);
    doppel_metadata_free(&about);
    return status;
}

struct removal {
    const struct bank_place *place;
    uint64_t count;
};

static enum doppel_status remove_content(void *context, struct doppel_library *library,
                                         struct doppel_error *error)
{
    struct removal *removal = context;
    enum doppel_list_state state;
    enum doppel_status status = hma_bank_state(library, removal->place->bank, &state, error);
    if (status)
        return status;
    status = hma_take_off(library, removal->place->bank, removal->place->id, error);
    removal->count = !status;
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

enum handled hma_remove_content(struct exchange *exchange)
{
    struct doppel_error error;
    if (!exchange->at_desk)
        return TAKES_TIME;
    const struct bank_place place = bank_place_of(exchange);
    struct removal removal = {.place = &place};
    if (writer_change(exchange, remove_content, &removal, &error)) {
        exchange_fail(exchange, &error);
        return ANSWERED;
    }
    exchange->status = HTTP_OK;
    doppel_json_object_begin(&exchange->json, NULL);
    doppel_json_integer(&exchange->json, "deleted", removal.count);
    doppel_json_object_end(&exchange->json);
    return ANSWERED;
}
