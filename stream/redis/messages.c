/* Messages of a stream as records in JSON. */
#include "stream/redis/consumer.h"

#include <string.h>

static bool is_list(const redisReply *reply, size_t least)
{
    return reply && reply->type == REDIS_REPLY_ARRAY && reply->elements >= least;
}

bool messages_add(struct stream_messages *messages, const redisReply *list)
{
    for (size_t i = 0; is_list(list, 1) && i < list->elements; i++) {
        const redisReply *entry = list->element[i];
        if (!is_list(entry, 2) || !is_list(entry->element[1], 2)) /* deleted meanwhile */
            continue;
        const struct stream_message message = {entry->element[0]->str, entry->element[1]};
        if (!array_push(messages, message))
            return false;
    }
    return true;
}

const redisReply *messages_of_stream(const redisReply *reply)
{
    return is_list(reply, 1) && is_list(reply->element[0], 2) ? reply->element[0]->element[1]
                                                              : NULL;
}

static bool is_called(const redisReply *name, const char *wanted)
{
    return name->len == strlen(wanted) && memcmp(name->str, wanted, name->len) == 0;
}

static enum doppel_status fields_as_object(const redisReply *fields, struct doppel_json *line,
                                           struct doppel_error *error)
{
    doppel_json_object_begin(line, NULL);
    for (size_t i = 0; i + 1 < fields->elements; i += 2) {
        const redisReply *name = fields->element[i], *value = fields->element[i + 1];
        if (memchr(name->str, 0, name->len) || memchr(value->str, 0, value->len))
            return doppel_fail(error, DOPPEL_E_FORMAT, "a field has a byte 0");
        if (is_called(name, "meta"))
            doppel_json_raw(line, name->str, value->str, value->len);
        else
            doppel_json_text_of(line, name->str, value->str, value->len);
    }
    doppel_json_object_end(line);
    return doppel_json_status(line, error);
}

enum doppel_status message_line(const struct stream_message *message, struct doppel_json *line,
                                const char **out, size_t *out_size, struct doppel_error *error)
{
    const redisReply *fields = message->fields;
    for (size_t i = 0; i + 1 < fields->elements; i += 2)
        if (is_called(fields->element[i], "json")) {
            *out = fields->element[i + 1]->str;
            *out_size = fields->element[i + 1]->len;
            return DOPPEL_OK;
        }
    doppel_json_clear(line);
    enum doppel_status status = fields_as_object(fields, line, error);
    *out = line->bytes;
    *out_size = line->size;
    return status;
}
