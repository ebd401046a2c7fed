/* An outcome as a frame, and back with nothing believed. */
#include "worker/protocol.h"

#include <stdlib.h>
#include <string.h>

#include "core/attached.h"
#include "core/bytes.h"
#include "worker/frame.h"

/* After the frame header (value: 0): serial u64, status u16, kind u8, quality u8, width u32, height
 * u32, then the sizes u32 of fingerprint, attachment and message, which follow in this order. */
enum { ANSWER_BYTES = FRAME_HEADER_BYTES + 32 };

void doppel_outcome_free(struct doppel_outcome *outcome)
{
    doppel_fingerprint_free(&outcome->fingerprint);
    free(outcome->attachment);
    *outcome = (struct doppel_outcome){0};
}

static size_t fingerprint_bytes(const struct doppel_outcome *outcome)
{
    return outcome->error.status || !outcome->fingerprint.scheme
               ? 0
               : doppel_fingerprint_size(&outcome->fingerprint);
}

static size_t message_bytes(const struct doppel_outcome *outcome)
{
    return strlen(outcome->error.message);
}

size_t answer_size(const struct doppel_outcome *outcome)
{
    return ANSWER_BYTES + fingerprint_bytes(outcome) + outcome->attachment_size +
           message_bytes(outcome);
}

size_t answer_write(const struct doppel_outcome *outcome, uint8_t *out, size_t capacity)
{
    size_t fingerprint_size = fingerprint_bytes(outcome), message_size = message_bytes(outcome);
    size_t size = answer_size(outcome);
    if (size > capacity)
        return 0;
    frame_header_write(out, FRAME_ANSWER, 0);
    put_u64(out + 8, outcome->tag);
    put_u16(out + 16, (uint16_t)outcome->error.status);
    out[18] = (uint8_t)outcome->kind;
    out[19] = outcome->quality;
    put_u32(out + 20, outcome->width);
    put_u32(out + 24, outcome->height);
    put_u32(out + 28, (uint32_t)fingerprint_size);
    put_u32(out + 32, (uint32_t)outcome->attachment_size);
    put_u32(out + 36, (uint32_t)message_size);
    out += ANSWER_BYTES;
    if (fingerprint_size)
        doppel_fingerprint_write(&outcome->fingerprint, out);
    if (outcome->attachment_size)
        memcpy(out + fingerprint_size, outcome->attachment, outcome->attachment_size);
    memcpy(out + fingerprint_size + outcome->attachment_size, outcome->error.message, message_size);
    return size;
}

/* Bytes of the well-formed UTF-8 sequence at `text`, 0 if there is none. */
static size_t utf8_whole_length(const uint8_t *text, size_t left)
{
    size_t length = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    if (length == 1)
        return text[0] >= ' ' && text[0] != 0x7f;
    if (text[0] < 0xc2 || text[0] > 0xf4 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool beyond = (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f);
    bool control = text[0] == 0xc2 && text[1] < 0xa0;
    return overlong || beyond || control ? 0 : length;
}

/* A sentence may hold bytes of the file. */
void sentence_copy(const uint8_t *text, size_t size, char out[512])
{
    size_t used = 0;
    for (size_t at = 0; at < size;) {
        size_t length = utf8_whole_length(text + at, size - at);
        if (used + (length ? length : 1) > 511)
            break;
        if (length)
            memcpy(out + used, text + at, length);
        else
            out[used] = '?';
        used += length ? length : 1;
        at += length ? length : 1;
    }
    out[used] = '\0';
}

/* Of recordings, videos and keypoints the attachment alone tells. */
static bool has_codes(enum doppel_scheme_id scheme)
{
    return !scheme_is_attached(scheme) && scheme != DOPPEL_SCHEME_VPDQ;
}

/* The fingerprint is of the scheme and version that were asked for, and its positions ascend. */
static bool is_fingerprint_of(const struct doppel_fingerprint *fingerprint,
                              const struct doppel_order *wanted)
{
    if (fingerprint->scheme != wanted->scheme || fingerprint->version != wanted->version ||
        (fingerprint->count != 0) != has_codes(wanted->scheme))
        return false;
    for (uint32_t i = 1; i < fingerprint->count; i++)
        if (fingerprint->positions[i] < fingerprint->positions[i - 1])
            return false;
    return true;
}

static enum answer read_codes(const uint8_t *data, size_t size, const struct doppel_order *wanted,
                              struct doppel_fingerprint *out)
{
    enum doppel_status status = doppel_fingerprint_read(data, size, out, NULL);
    if (status == DOPPEL_E_MEMORY)
        return ANSWER_NO_MEMORY;
    return !status && is_fingerprint_of(out, wanted) ? ANSWER_GOOD : ANSWER_NONSENSE;
}

static enum answer read_success(const uint8_t *body, size_t fingerprint_size,
                                size_t attachment_size, const struct doppel_order *wanted,
                                struct doppel_outcome *outcome)
{
    enum answer codes = ANSWER_GOOD;
    if (outcome->kind == DOPPEL_KIND_UNKNOWN || (wanted->look && fingerprint_size))
        return ANSWER_NONSENSE;
    if (!wanted->look)
        codes = read_codes(body, fingerprint_size, wanted, &outcome->fingerprint);
    if (codes || attachment_size == 0)
        return codes;
    outcome->attachment = malloc(attachment_size);
    if (!outcome->attachment)
        return ANSWER_NO_MEMORY;
    memcpy(outcome->attachment, body + fingerprint_size, attachment_size);
    outcome->attachment_size = attachment_size;
    return ANSWER_GOOD;
}

/* The fields of fixed size, each in its range. */
static bool read_fixed(const uint8_t *data, struct doppel_outcome *outcome)
{
    outcome->tag = get_u64(data + 8);
    outcome->error.status = (enum doppel_status)get_u16(data + 16);
    outcome->kind = (enum doppel_kind)data[18];
    outcome->quality = data[19];
    outcome->width = get_u32(data + 20);
    outcome->height = get_u32(data + 24);
    return frame_value(data) == 0 && get_u16(data + 16) <= DOPPEL_E_CANCELLED &&
           data[18] <= DOPPEL_KIND_VIDEO && outcome->quality <= 100;
}

enum answer answer_read(const uint8_t *data, size_t size, const struct worker_order *order,
                        struct doppel_outcome *out)
{
    struct doppel_outcome outcome = {0};
    if (size < ANSWER_BYTES || size > PROTOCOL_LONG_BYTES || !frame_is(data, size, FRAME_ANSWER) ||
        !read_fixed(data, &outcome) || outcome.tag != order->serial)
        return ANSWER_NONSENSE;
    uint64_t fingerprint_size = get_u32(data + 28), attachment_size = get_u32(data + 32),
             message_size = get_u32(data + 36);
    if (size != ANSWER_BYTES + fingerprint_size + attachment_size + message_size)
        return ANSWER_NONSENSE;
    const uint8_t *body = data + ANSWER_BYTES;
    if (outcome.error.status == DOPPEL_OK) {
        enum answer answer =
            read_success(body, fingerprint_size, attachment_size, &order->wanted, &outcome);
        if (answer) {
            doppel_outcome_free(&outcome);
            return answer;
        }
    } else if (fingerprint_size || attachment_size || !message_size) {
        return ANSWER_NONSENSE;
    }
    sentence_copy(body + fingerprint_size + attachment_size, message_size, outcome.error.message);
    *out = outcome;
    return ANSWER_GOOD;
}
