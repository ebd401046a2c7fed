/* AcoustID's fingerprints as fpcalc writes them. The codes themselves are made in media/, since
 * their library needs a decoder's. */
#include <doppel/audio.h>

#include <math.h>
#include <string.h>

#include "core/array.h"
#include "core/text/point_locale.h"
#include "core/try.h"

enum { NUMBER_MAX = 20 }; /* characters */

struct text_span {
    const char *text;
    size_t size;
};

enum doppel_status doppel_chromaprint_fingerprint(const uint32_t *codes, size_t count,
                                                  struct doppel_fingerprint *out,
                                                  struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_CHROMAPRINT);
    struct doppel_fingerprint made;
    if (!count)
        return doppel_fail(error, DOPPEL_E_FLAT, "too short for a Chromaprint: it takes 3 seconds");
    if (count > UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a Chromaprint of %zu codes", count);
    enum doppel_status status =
        doppel_fingerprint_make(scheme, scheme->code_bits, (uint32_t)count, &made, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < made.count; i++) {
        made.codes[i].word[0] = codes[i];
        made.positions[i] = (uint32_t)lrint(i * DOPPEL_CHROMAPRINT_STEP_MS);
    }
    *out = made;
    return DOPPEL_OK;
}

static bool begins_chromaprint(const char *text, size_t size, const char *name)
{
    size_t length = strlen(name);
    return size >= length && memcmp(text, name, length) == 0;
}

bool doppel_chromaprint_is_text(const char *head, size_t size)
{
    return begins_chromaprint(head, size, "DURATION=") ||
           begins_chromaprint(head, size, "FINGERPRINT=");
}

/* The rest of the line that begins with `name`; its text is NULL when there is none. */
static struct text_span chromaprint_line(const char *text, size_t size, const char *name)
{
    size_t length = strlen(name);
    while (size) {
        const char *newline = memchr(text, '\n', size);
        size_t line = newline ? (size_t)(newline - text) : size;
        if (begins_chromaprint(text, line, name))
            return (struct text_span){text + length, line - length};
        text += line + (newline != NULL);
        size -= line + (newline != NULL);
    }
    return (struct text_span){NULL, 0};
}

/* A number up to the next comma, which is skipped, too. */
static bool next_number(struct text_span *span, double *out)
{
    char copy[NUMBER_MAX + 1], *end;
    const char *comma = memchr(span->text, ',', span->size);
    size_t size = comma ? (size_t)(comma - span->text) : span->size;
    if (size == 0 || size > NUMBER_MAX)
        return false;
    memcpy(copy, span->text, size);
    copy[size] = '\0';
    locale_t before = point_locale_enter();
    *out = strtod(copy, &end);
    point_locale_leave(before);
    if (comma && size + 1 == span->size)
        return false;
    span->text += size + (comma != NULL);
    span->size -= size + (comma != NULL);
    return end == copy + strspn(copy, "0123456789.-") && *(end + strspn(end, " \r")) == '\0';
}

static bool is_code(double number)
{
    return number == floor(number) && number >= INT32_MIN && number <= UINT32_MAX;
}

enum doppel_status doppel_chromaprint_parse(const char *text, size_t size,
                                            struct doppel_fingerprint *out,
                                            uint64_t *out_duration_ms, struct doppel_error *error)
{
    ARRAY(uint32_t) codes = {0};
    struct text_span rest = chromaprint_line(text, size, "FINGERPRINT="),
                     said = chromaprint_line(text, size, "DURATION=");
    double number, duration = 0;
    enum doppel_status status = DOPPEL_OK;
    if (!rest.text)
        rest = chromaprint_line(text, size, "");
    while (rest.size) {
        if (!next_number(&rest, &number) || !is_code(number))
            TRY(doppel_fail(error, DOPPEL_E_FORMAT, "no list of numbers as fpcalc -raw has it"));
        if (!array_push(&codes, (uint32_t)(int64_t)number))
            TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a Chromaprint"));
    }
    if (!codes.count)
        TRY(doppel_fail(error, DOPPEL_E_FORMAT, "no numbers in it"));
    TRY(doppel_chromaprint_fingerprint(codes.items, codes.count, out, error));
    if (!said.size || !next_number(&said, &duration) || !(duration >= 0 && duration < 1e9))
        duration = 0;
    if (out_duration_ms)
        *out_duration_ms = (uint64_t)llround(duration * 1000);
done:
    array_free(&codes);
    return status;
}
