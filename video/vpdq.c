/* Lists of frames as vPDQ prints them: a line a frame, "number,quality,hash,seconds". */
#include <doppel/video.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

enum { HASH_DIGITS = 64, QUALITY_MAX = 100, INTEGER_DIGITS = 10, FRACTION_DIGITS = 9 };

void doppel_vpdq_free(struct doppel_vpdq *list)
{
    free(list->frames);
    *list = (struct doppel_vpdq){0};
}

/* ---- a line ---- */

/* What is left of a line. */
struct rest {
    const char *at, *end;
};

static bool skip_rest(struct rest *rest, char wanted)
{
    if (rest->at == rest->end || *rest->at != wanted)
        return false;
    rest->at++;
    return true;
}

/* @return how many digits there are; none, or more than `most`, are no number: 0 */
static size_t take_number(struct rest *rest, size_t most, uint64_t *out)
{
    size_t digits = 0;
    uint64_t value = 0;
    for (; rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9'; rest->at++, digits++) {
        if (digits == most)
            return 0;
        value = value * 10 + (uint64_t)(*rest->at - '0');
    }
    *out = value;
    return digits;
}

static bool take_hash(struct rest *rest, struct doppel_code *out)
{
    char digits[HASH_DIGITS + 1];
    if (rest->end - rest->at < HASH_DIGITS)
        return false;
    memcpy(digits, rest->at, HASH_DIGITS);
    digits[HASH_DIGITS] = '\0';
    rest->at += HASH_DIGITS;
    return doppel_code_from_hex(digits, 256, out) == DOPPEL_OK;
}

/* Seconds with or without decimals. */
static bool take_seconds(struct rest *rest, double *out)
{
    uint64_t whole, fraction = 0;
    double unit = 1;
    if (!take_number(rest, INTEGER_DIGITS, &whole))
        return false;
    if (skip_rest(rest, '.')) {
        size_t digits = take_number(rest, FRACTION_DIGITS, &fraction);
        if (!digits)
            return false;
        while (digits--)
            unit *= 10;
    }
    *out = (double)whole + (double)fraction / unit;
    return true;
}

static bool take_frame_rest(struct rest *rest, struct doppel_vpdq_frame *out)
{
    uint64_t number, quality;
    if (!take_number(rest, INTEGER_DIGITS, &number) || number > UINT32_MAX ||
        !skip_rest(rest, ',') || !take_number(rest, 3, &quality) || quality > QUALITY_MAX ||
        !skip_rest(rest, ',') || !take_hash(rest, &out->code) || !skip_rest(rest, ',') ||
        !take_seconds(rest, &out->seconds))
        return false;
    out->number = (uint32_t)number;
    out->quality = (uint8_t)quality;
    skip_rest(rest, '\r');
    return rest->at == rest->end || *rest->at == '\n';
}

/* ---- a list ---- */

bool doppel_vpdq_is_text(const char *head, size_t size)
{
    struct rest rest = {head, head + size};
    uint64_t number, quality;
    struct doppel_code code;
    return take_number(&rest, INTEGER_DIGITS, &number) && skip_rest(&rest, ',') &&
           take_number(&rest, 3, &quality) && skip_rest(&rest, ',') && take_hash(&rest, &code) &&
           skip_rest(&rest, ',');
}

enum doppel_status doppel_vpdq_parse(const char *text, size_t size, struct doppel_vpdq *out,
                                     struct doppel_error *error)
{
    ARRAY(struct doppel_vpdq_frame) frames = {0};
    struct rest rest = {text, size ? text + size : text};
    size_t line = 1;
    enum doppel_status status = DOPPEL_OK;
    for (; rest.at < rest.end && !status; line++) {
        struct doppel_vpdq_frame frame;
        if (!take_frame_rest(&rest, &frame))
            status = doppel_fail(error, DOPPEL_E_FORMAT,
                                 "line %zu is no \"number,quality,hash,seconds\" of vPDQ", line);
        else if (!array_push(&frames, frame))
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu frames", line);
        skip_rest(&rest, '\n');
    }
    if (!status && !frames.count)
        status = doppel_fail(error, DOPPEL_E_FORMAT, "a list of vPDQ without a line");
    if (status)
        array_free(&frames);
    else
        *out = (struct doppel_vpdq){frames.items, frames.count};
    return status;
}

/* Seconds in whole milliseconds: printf's decimal point depends on the user's language. */
size_t doppel_vpdq_print(const struct doppel_vpdq_frame *frame, char out[128])
{
    char hash[HASH_DIGITS + 1];
    doppel_code_to_hex(&frame->code, 256, hash);
    uint64_t ms =
        frame->seconds > 0 && frame->seconds < 1e10 ? (uint64_t)(frame->seconds * 1000 + .5) : 0;
    int size = snprintf(out, 128, "%" PRIu32 ",%u,%s,%" PRIu64 ".%03u\n", frame->number,
                        frame->quality, hash, ms / 1000, (unsigned)(ms % 1000));
    return (size_t)size;
}
